"""Rows as points: what is refused, which partial aggregates are asked for, and spans of time."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Values
from simulator.data.query import Aggregate, AggregateQuery, Function, NewestQuery
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.errors import UnstorableError
from simulator.modules.base import Unsupported
from simulator.modules.shared.metrics.limits import Checked, Limits
from simulator.modules.shared.metrics.partials import (
    Part,
    aggregated,
    assembled,
    doubtful,
    merged,
    parts,
)
from simulator.modules.shared.metrics.points import Series, rows_of, windows
from simulator.modules.shared.metrics.session import newest_parts

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"
LIMITS = Limits(
    product="Metrics",
    letters=LETTERS,
    large_integers=False,
    more_in_tags=".",
    told="small letters",
    finer="try another",
)
TIME = Column("time", Type.INT64, Role.TIME)
SITE = Column("site", Type.TEXT, Role.TAG)
LEVEL = Column("level", Type.FLOAT64, Role.FIELD, nullable=True)
COUNT = Column("starts", Type.INT64, Role.FIELD)
TABLE = Table("t", (TIME, SITE, LEVEL, COUNT), ("site", "time"), TimeUnit.MICROSECOND)


def batch(**changes):
    data = {
        "time": Values(np.array([1000, 2000])),
        "site": Coded(np.array([0, 1]), np.array([b"a", b"b.c"])),
        "level": Values(np.array([np.nan, 1.5]), np.array([False, True])),
        "starts": Values(np.array([-(2**53), 2**53])),
    }
    return Block(TABLE, 0, np.arange(2), {**data, **changes})


def test_times_come_in_the_databases_unit():
    assert Checked(LIMITS, TABLE, "t", 1000).times(batch()).tolist() == [1, 2]
    coarse = Table("t", TABLE.columns, (), TimeUnit.SECOND)
    assert Checked(LIMITS, coarse, "t", 1000).times(batch()).tolist() == [10**6, 2 * 10**6]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"time": Values(np.array([1000, 2001]))}, "column time: 2001 us is not a whole milli"),
        ({"site": Coded(np.zeros(2, int), np.array([b"a b"]))}, "column site: 'a b' cannot be"),
        ({"site": Coded(np.zeros(2, int), np.array([b""]))}, "column site: .*an empty text"),
        ({"site": Values(np.array([b"a", b"B"]))}, "column site: 'B' cannot be a tag"),
        (
            {"site": Coded(np.zeros(2, int), np.array([b"a"]), np.array([True, False]))},
            "column site: a tag cannot be NULL",
        ),
        ({"level": Values(np.array([np.inf, 0]))}, "column level: cannot be infinite"),
        ({"starts": Values(np.array([0, 2**53 + 1]))}, f"column starts: {2**53 + 1} is beyond"),
        ({"starts": Values(np.array([0, -(2**63)]))}, f"column starts: -{2**63} is beyond"),
    ],
)
def test_a_value_that_cannot_be_held_is_named(change, told):
    with pytest.raises(UnstorableError, match=told):
        Checked(LIMITS, TABLE, "t", 1000).times(batch(**change))


NOTE = Column("note", Type.TEXT, Role.FIELD)


@pytest.mark.parametrize(
    ("name", "columns", "told"),
    [
        ("a table", TABLE.columns, "table 'a table': names in Metrics are made of small letters"),
        ("t", (*TABLE.columns, Column("Odd", Type.INT16, Role.FIELD)), "column 'Odd': names"),
        ("t", (*TABLE.columns, NOTE), "column note: is text"),
        ("t", (*TABLE.columns, Column("f", Type.FLOAT32, Role.TAG)), "column f: is float32"),
        ("t", (TIME, SITE, LEVEL), "t: Metrics needs a field that is never NULL"),
    ],
)
def test_a_table_that_cannot_be_held_is_refused_as_such(name, columns, told):
    with pytest.raises(UnstorableError, match=told):
        Checked(LIMITS, Table(name, columns, ()), name, 1000)


def query(*wanted, **more):
    return AggregateQuery(TABLE, tuple(Aggregate(Function(f), c) for f, c in wanted), **more)


def test_rows_are_counted_by_a_field_that_is_never_null():
    assert parts(query(("count", None), ("count", "site"))) == [Part("starts", "count")]


def test_groups_are_those_of_rows_not_of_values():
    by_site = parts(query(("max", "level"), by=("site",)))
    assert by_site == [Part("level", "max", ("site",)), Part("starts", "count", ("site",))]


@pytest.mark.parametrize(
    "asked",
    [
        query(("sum", "time")),
        query(("avg", "site")),
        query(("min", "time"), by=("site",)),
        query(("min", "time"), since=5),
    ],
)
def test_what_is_no_value_cannot_be_added_up(asked):
    with pytest.raises(Unsupported):
        parts(asked)


def test_an_answer_is_put_together_from_parts():
    asked = query(
        ("count", None), ("avg", "level"), ("sum", "starts"), ("min", "site"), ("max", "time")
    )
    found = {
        Part("starts", "count"): {(): 4.0},
        Part("level", "sum"): {(): 4.5},
        Part("level", "count"): {(): 3.0},
        Part("starts", "sum"): {(): 10.0},
        Part("starts", "min"): {(): 1.0},
        Part("starts", "max"): {(): 4.0},
        Part("starts", "count", ("site",)): {("b",): 1.0, ("a",): 3.0},
    }
    assert set(parts(asked)) == set(found)
    assert assembled(asked, found, (7, 9)) == [(4, 1.5, 10, "a", 9)]


def test_an_answer_about_nothing():
    asked = query(("count", None), ("avg", "level"), ("sum", "starts"), ("min", "site"))
    found = {part: {} for part in parts(asked)}
    assert assembled(asked, found, None) == [(0, None, None, None)]
    assert assembled(query(("max", "starts"), by=("site",)), {}, None) == []


@pytest.mark.parametrize(
    ("ends", "count", "doubted"),
    [((0.0, 10.0), 5.0, False), ((-(2.0**52), 1.0), 3.0, True), ((0.0, 2.0**53), 1.0, True)],
)
def test_integers_that_doubles_may_have_rounded_are_doubted(ends, count, doubted):
    asked = query(("sum", "starts"))
    found = {
        Part("starts", "sum"): {(): 1.0},
        Part("starts", "count"): {(): count},
        Part("starts", "min"): {(): ends[0]},
        Part("starts", "max"): {(): ends[1]},
    }
    assert doubtful(asked, found) == ([COUNT] if doubted else [])


def test_aggregates_of_points_are_exact_and_of_what_was_asked():
    large = 2**60 + 1
    asked = query(("sum", "starts"), by=("site",), bucket=10, where=(("site", "a"),), until=25)
    series = [
        Series("starts", ("a",), [(1, large), (9, large), (20, 5), (25, 7)]),
        Series("starts", ("b",), [(1, 1)]),
    ]
    found = aggregated(asked, COUNT, series)
    assert found[Part("starts", "sum", ("site",))] == {("a", 0): 2 * large, ("a", 20): 5}
    assert found[Part("starts", "count", ("site",))] == {("a", 0): 2, ("a", 20): 1}


@pytest.mark.parametrize(
    ("function", "expected"), [("count", 6), ("sum", 6), ("min", 1), ("max", 3)]
)
def test_partial_aggregates_merge(function, expected):
    assert merged(function, [((), 1), ((), 3), ((), 2)]) == {(): expected}


def test_the_last_points_are_the_newest_row_only_where_a_tag_is_one_series():
    assert newest_parts(NewestQuery(TABLE, "site", ("starts",))) == [
        Part("starts", "last", ("site",))
    ]
    more_tags = replace(TABLE, columns=(*TABLE.columns, Column("rack", Type.TEXT, Role.TAG)))
    for table in (more_tags, replace(TABLE, parts=4)):
        assert newest_parts(NewestQuery(table, "site", ("starts",))) == []
    for column in ("level", "time"):
        assert newest_parts(NewestQuery(TABLE, "site", (column,))) == []


def test_points_of_one_instant_and_series_are_a_row():
    found = rows_of(
        TABLE,
        [
            Series("starts", ("a",), [(1, 10), (2, 20)]),
            Series("starts", ("b",), [(1, 30)]),
            Series("level", ("a",), [(2, 0.5)]),
        ],
    )
    assert sorted(found) == [[1, "a", None, 10], [1, "b", None, 30], [2, "a", 0.5, 20]]


@pytest.mark.parametrize("rows", [1, 7, 100, 10**6])
def test_spans_of_time_cover_every_bucket_once(rows):
    width = 3600
    counts = [(0, 5), (3600, 90), (7200, 1), (36_000, 700), (72_000, 3)]
    found = list(windows(counts, width, rows, finest=2))
    assert all(begin < end for begin, end in found)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(found))
    for start, _ in counts:
        covered = sum(min(e, start + width) - max(b, start) for b, e in found if e > start
                      and b < start + width)  # fmt: skip
        assert covered == width
    if rows == 10**6:
        assert found == [(0, 72_000 + width)]


def test_no_spans_of_nothing():
    assert list(windows([], 3600, 10, 1)) == []
