"""Truths of a dataset: on several threads, and from the rows that a workload can name."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest

from simulator.data.block import Coded, Values
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.fleet import FleetTable
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Compared,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    RowsQuery,
    Selection,
)
from simulator.data.ranges import RowRange
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.data.workloads import WORKLOADS
from simulator.data.workloads.base import Params, Workload
from simulator.verify import folding
from simulator.verify.folding import folded, truths
from simulator.verify.oracle import Oracle

HOSTS = np.array([b"host_%d" % host for host in range(10)])
TICKS = 300
CPU = Table(
    "cpu",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("host", Type.TEXT, Role.TAG),
        Column("usage", Type.INT64, Role.FIELD),
    ),
    key=("host", "time"),
)
NET = replace(CPU, name="net")


class Fleet(Workload):
    """Two tables of ten hosts; it counts the rows that it draws, and which columns of which."""

    name = "fleet"
    version = 1
    params_model = Params
    drawn = 0
    columns: ClassVar[set[tuple[str, str]]] = set()

    @property
    def tables(self):
        return (CPU, NET)

    def draw(self, table, rows):
        type(self).drawn += len(rows)
        self.columns.update((table.name, column.name) for column in table.columns)
        ticks, hosts = np.divmod(rows, len(HOSTS))
        usage = rows * 7919 % 101 - 50
        data = {"time": Values(ticks * 10), "host": Coded(hosts, HOSTS), "usage": Values(usage)}
        return {column.name: data[column.name] for column in table.columns}

    def candidates(self, table, selection):
        assert table == CPU
        return FleetTable({"host": HOSTS}, len(HOSTS), TICKS, 0, 10).candidates(selection)

    def queries(self, tables):
        raise NotImplementedError


@pytest.fixture(autouse=True)
def fleet(monkeypatch):
    monkeypatch.setitem(WORKLOADS, Fleet.name, Fleet)
    monkeypatch.setattr(Fleet, "drawn", 0)
    monkeypatch.setattr(Fleet, "columns", set())
    monkeypatch.setattr(folding, "_PIECE_ROWS", 64)
    monkeypatch.setattr(folding, "VERIFY_BLOCK_ROWS", 48)


def dataset(*ranges, primary_key=PrimaryKey.NONE, parts=1):
    return Dataset(
        workload="fleet", workload_version=1, params={}, seed=1, start_ms=0,
        primary_key=primary_key, parts=parts,
        ranges=tuple(RowRange(start=start, stop=stop) for start, stop in ranges),
    )  # fmt: skip


WHOLE = dataset((0, 1000), (1000, 3000))
USAGE = tuple(Aggregate(function, "usage") for function in Function)


def of_host(host, since, until):
    selection = Selection((OneOf("host", (f"host_{host}",)),), since=since, until=until)
    return AggregateQuery(CPU, USAGE, (), 60, selection)


def in_one(queries, source):
    """Fold all rows into one oracle."""
    oracle = Oracle(queries)
    for rows in source.ranges:
        for turn in DatasetReader(source).blocks((rows,)):
            for block in turn:
                oracle.add(block)
    return {query: oracle.truth(query) for query in queries}


EVERY = [
    AggregateQuery(CPU, USAGE, ("host",), 600),
    AggregateQuery(CPU, (Aggregate(Function.COUNT),)),
    NewestQuery(CPU, ("host",), ("usage",)),
    DistinctQuery(CPU, ("host", "time")),
    of_host(3, 100, 700),
    of_host(4, 0, 3000),
    RowsQuery(CPU, (), Selection((OneOf("host", ("host_1", "host_9")),), until=40)),
    RowsQuery(CPU, (), Selection((OneOf("host", ("host_1",)),)), 5),
    NewestQuery(CPU, ("host",), ("usage",), Selection(since=2000, until=2100)),
    RowsQuery(CPU, ("usage",), Selection(compared=(Compared("usage", Operator.MORE, 48),))),
]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("parts", [1, 4])
def test_truths_are_those_of_one_fold_over_all_rows(threads, parts):
    source = dataset((0, 1000), (1000, 3000), parts=parts)

    assert truths(EVERY, source, threads) == in_one(EVERY, source)


def test_only_the_rows_of_an_instance_are_drawn():
    queries = [of_host(host, since, since + 600) for host in range(10) for since in (0, 990)]
    found = truths(queries, WHOLE, 1)

    assert Fleet.drawn == 20 * 60
    assert found == in_one(queries, WHOLE)


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        (AggregateQuery(CPU, (Aggregate(Function.COUNT),)), set()),
        (AggregateQuery(CPU, (Aggregate(Function.COUNT),), ("host",)), {"host"}),
        (AggregateQuery(CPU, (Aggregate(Function.MIN, "usage"),), bucket=600), {"usage"}),
        (NewestQuery(CPU, ("host",), ()), {"host"}),
        (RowsQuery(CPU, (), Selection(until=600)), {"host", "usage"}),
        (of_host(3, 0, 600), {"host", "usage"}),
        (
            AggregateQuery(
                CPU,
                (Aggregate(Function.COUNT),),
                selection=Selection((), (Compared("usage", Operator.MORE, 7),)),
            ),
            {"usage"},
        ),
    ],
)
def test_only_the_columns_that_a_query_reads_are_drawn_and_no_other_table(query, columns):
    net = RowRange(start=0, stop=3000, table=1)
    both = WHOLE.with_ranges([*WHOLE.ranges, net])

    assert truths([query], both, 1) == in_one([query], WHOLE)
    Fleet.columns.clear()
    truths([query], both, 1)
    assert Fleet.columns == {("cpu", name) for name in {"time", *columns}}


def test_no_more_rows_are_drawn_by_name_than_the_dataset_has_and_then_all_once():
    queries = [of_host(host, since, since + 1200) for host in range(10) for since in range(60)]
    found = truths(queries, WHOLE, 2)

    assert Fleet.drawn <= 2 * 3000
    assert found == in_one(queries, WHOLE)


@pytest.mark.parametrize("ranges", [[], [(0, 50)], [(40, 41), (45, 120), (2990, 3000)]])
def test_rows_that_the_dataset_does_not_have_are_no_candidates(ranges):
    source = dataset(*ranges)
    queries = [of_host(5, 0, 200), RowsQuery(CPU, (), Selection(since=2000, until=3000))]

    assert truths(queries, source, 2) == in_one(queries, source)


def test_a_key_made_by_the_client_is_selected_too():
    source = dataset((0, 3000), primary_key=PrimaryKey.CLIENT)
    table = DatasetReader(source).table("cpu")
    rows = RowsQuery(table, ("id", "usage"), Selection((OneOf("host", ("host_2",)),), until=30))
    (truth,) = truths([rows], source, 1).values()

    assert [row[0] for row in truth.answer.rows] == ["host_20", "host_210", "host_220"]


def test_a_failure_in_a_thread_is_raised_and_ends_the_others():
    taken = []

    def pieces():
        for piece in range(1000):
            taken.append(piece)
            yield broken() if piece == 3 else iter(())

    def broken():
        raise OSError("cannot read the file")
        yield

    with pytest.raises(OSError, match="cannot read"):
        folded(EVERY[:1], pieces(), 2)
    assert len(taken) < 1000
