"""Rows as series: NULLs, sends, long lines, and what other readers make of them."""

import json
from collections import defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Block, Coded, Values
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode import series
from simulator.encode.series import SeriesLines

TIME = Column("time", Type.INT64, Role.TIME)
SITE = Column("site", Type.TEXT, Role.TAG, nullable=True)
RACK = Column("rack", Type.INT16, Role.TAG)
LEVEL = Column("level", Type.FLOAT64, Role.FIELD, nullable=True)
COUNT = Column("count", Type.INT64, Role.FIELD)
ON = Column("on", Type.BOOL, Role.FIELD)
TABLE = Table("t", (TIME, SITE, RACK, LEVEL, COUNT, ON), ("site", "rack", "time"))
SITES = np.array([b'a "b"\\n', "Zürich".encode()])


def block(rows, sites, racks, nulls=()):
    """Rows whose values follow from their number."""
    number = np.arange(rows)
    named = np.array([site is not None for site in sites])
    return Block(
        TABLE,
        0,
        number,
        {
            "time": Values(number * 7 + 5),
            "site": Coded(np.array([site or 0 for site in sites]), SITES, named),
            "rack": Values(np.array(racks, np.int16)),
            "level": Values(
                np.where(np.isin(number, nulls), np.nan, number / 4), ~np.isin(number, nulls)
            ),
            "count": Values(-number),
            "on": Values(number % 2 == 0),
        },
    )


def encode(batch, batch_rows=10**6):
    encoder = SeriesLines(TABLE, {c.name: f"m_{c.name}" for c in TABLE.columns}, {"of": "t"})
    return encoder.encode(batch, batch_rows, batch.data["time"].values())


def points(body):
    """(metric, labels) -> [(time, value)], as any reader of JSON sees them."""
    found = defaultdict(list)
    for line in body.splitlines():
        item = json.loads(line)
        assert len(item["values"]) == len(item["timestamps"]) > 0
        key = tuple(sorted(item["metric"].items()))
        found[key] += zip(item["timestamps"], item["values"], strict=True)
    return found


def expected(batch):
    """The points, one by one in plain Python."""
    found = defaultdict(list)
    sites, valid = batch.data["site"].values(), batch.data["site"].valid
    for row in range(len(batch)):
        for column in (LEVEL, COUNT, ON):
            data = batch.data[column.name]
            if data.valid is not None and not data.valid[row]:
                continue
            labels = {"__name__": f"m_{column.name}", "of": "t",
                      "rack": str(batch.data["rack"].values()[row])}  # fmt: skip
            if valid[row]:
                labels["site"] = sites[row].decode()
            instant = int(batch.data["time"].values()[row])
            found[tuple(sorted(labels.items()))].append((instant, data.values()[row].item()))
    return found


@given(st.data())
def test_every_point_is_there_once_and_in_its_send(data):
    rows = data.draw(st.integers(0, 40))
    some = st.lists(st.sampled_from([0, 1, None]), min_size=rows, max_size=rows)
    racks = st.lists(st.integers(-2, 2), min_size=rows, max_size=rows)
    nulls = data.draw(st.sets(st.integers(0, 40)))
    batch = block(rows, data.draw(some), data.draw(racks), [*nulls])
    batch_rows = data.draw(st.integers(1, 50))

    bodies = encode(batch, batch_rows)

    starts = range(0, rows, batch_rows)
    assert len(bodies) == len(starts)
    for start, body in zip(starts, bodies, strict=True):
        assert points(body) == expected(batch.slice(start, min(start + batch_rows, rows)))


@pytest.mark.parametrize("racks", [[1] * 9, [1, 2, 3] * 3])
def test_rows_between_edges_may_be_none(monkeypatch, racks):
    monkeypatch.setattr(series, "_LINE_ROWS", 2)
    batch = block(9, [1] * 9, racks)
    encoder = SeriesLines(TABLE, {c.name: f"m_{c.name}" for c in TABLE.columns}, {"of": "t"})
    edges = [0, 0, 1, 6, 6, 9, 9]
    bodies = encoder.between(batch, np.array(edges), batch.data["time"].values())
    assert [points(body) for body in bodies] == [
        expected(batch.slice(first, stop)) for first, stop in pairwise(edges)
    ]


@pytest.mark.parametrize("batch_rows", [7, 10, 25, 100])
def test_no_line_is_longer_than_readers_take(monkeypatch, batch_rows):
    monkeypatch.setattr(series, "_LINE_ROWS", 10)
    batch = block(100, [0, 1] * 50, [3] * 100)
    bodies = encode(batch, batch_rows)
    lengths = [len(json.loads(ln)["values"]) for body in bodies for ln in body.splitlines()]
    assert max(lengths) <= 10
    assert len(bodies) == -(-100 // batch_rows)
    for start, body in zip(range(0, 100, batch_rows), bodies, strict=True):
        assert points(body) == expected(batch.slice(start, min(start + batch_rows, 100)))


def test_a_table_without_tags_is_one_series():
    table = Table("t", (TIME, COUNT), ("time",))
    batch = Block(table, 0, np.arange(2), {
        "time": Values(np.array([1, 2])), "count": Values(np.array([10, 200]))
    })  # fmt: skip
    encoder = SeriesLines(table, {"count": "c"}, {})
    assert encoder.encode(batch, 5, np.array([1, 2])) == [
        b'{"metric":{"__name__":"c"},"values":[10,200],"timestamps":[1,2]}\n'
    ]
