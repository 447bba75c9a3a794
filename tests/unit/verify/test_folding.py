"""Truths of a dataset: on several threads, and from the rows that a workload can name."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Coded, Values
from simulator.data.fleet import select_fleet_rows
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    RowsQuery,
    Selection,
)
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.data.workloads import WORKLOADS
from simulator.data.workloads.base import Params, Workload
from simulator.verify.truth import folding as fold_tasks
from simulator.verify.truth.folding import FoldTasks, fold_here, fold_rows, truths
from simulator.verify.truth.oracle import Oracle
from tests.fuzzing import try_cases
from tests.unit import specs

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
        return select_fleet_rows({"host": HOSTS}, selection, TICKS, 0, 10)

    def queries(self, tables):
        raise NotImplementedError


@pytest.fixture(autouse=True)
def fleet(monkeypatch):
    monkeypatch.setitem(WORKLOADS, Fleet.name, Fleet)
    monkeypatch.setattr(Fleet, "drawn", 0)
    monkeypatch.setattr(Fleet, "columns", set())
    monkeypatch.setattr(fold_tasks, "FOLD_TASK_ROWS", 64)
    monkeypatch.setattr(fold_tasks, "VERIFY_BLOCK_ROWS", 48)
    monkeypatch.setattr(fold_tasks, "_LEAST_ROWS", 4)


def dataset(*ranges, primary_key=PrimaryKey.NONE, parts=1, every=(0, 0)):
    take, each = every
    return specs.dataset(
        workload="fleet",
        primary_key=primary_key,
        parts=parts,
        ranges=tuple(RowRange(start=a, stop=b, take=take, every=each) for a, b in ranges),
    )


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
    RowsQuery(CPU, ("usage",), Selection(compared=(Condition("usage", Operator.MORE, 48),))),
]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("parts", [1, 4])
def test_truths_are_those_of_one_fold_over_all_rows(threads, parts):
    source = dataset((0, 1000), (1000, 3000), parts=parts)

    fold = partial(fold_here, threads=threads)

    assert truths(EVERY, source, fold) == in_one(EVERY, source)


def test_only_the_rows_of_an_instance_are_drawn():
    queries = [of_host(host, since, since + 600) for host in range(10) for since in (0, 990)]
    found = truths(queries, WHOLE)

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
                selection=Selection((), (Condition("usage", Operator.MORE, 7),)),
            ),
            {"usage"},
        ),
    ],
)
def test_only_the_columns_that_a_query_reads_are_drawn_and_no_other_table(query, columns):
    net = RowRange(start=0, stop=3000, table=1)
    both = WHOLE.with_ranges([*WHOLE.ranges, net])

    assert truths([query], both) == in_one([query], WHOLE)
    Fleet.columns.clear()
    truths([query], both)
    assert Fleet.columns == {("cpu", name) for name in {"time", *columns}}


def test_no_more_rows_are_drawn_by_name_than_the_dataset_has_and_then_all_once():
    queries = [of_host(host, since, since + 1200) for host in range(10) for since in range(60)]
    found = truths(queries, WHOLE)

    assert Fleet.drawn <= 2 * 3000
    assert found == in_one(queries, WHOLE)


@pytest.mark.parametrize("ranges", [[], [(0, 50)], [(40, 41), (45, 120), (2990, 3000)]])
def test_rows_that_the_dataset_does_not_have_are_no_candidates(ranges):
    source = dataset(*ranges)
    queries = [of_host(5, 0, 200), RowsQuery(CPU, (), Selection(since=2000, until=3000))]

    assert truths(queries, source) == in_one(queries, source)


def test_a_key_made_by_the_client_is_selected_too():
    source = dataset((0, 3000), primary_key=PrimaryKey.CLIENT)
    table = DatasetReader(source).table("cpu")
    rows = RowsQuery(table, ("id", "usage"), Selection((OneOf("host", ("host_2",)),), until=30))
    (truth,) = truths([rows], source).values()

    assert [row[0] for row in truth.answer.rows] == ["host_20", "host_210", "host_220"]


def test_a_failure_in_a_thread_is_raised_and_ends_the_others(monkeypatch):
    draw = Fleet.draw

    def broken(self, table, rows):
        if rows[0] >= 640:
            raise OSError("cannot read the file")
        return draw(self, table, rows)

    monkeypatch.setattr(Fleet, "draw", broken)
    with pytest.raises(OSError, match="cannot read"):
        truths(EVERY[:1], WHOLE)
    assert Fleet.drawn <= 1000


# --- tasks that others fold --------------------------------------------------------------------


class Helper:
    """Another process that folds tasks."""

    def __init__(self, shared, source):
        self.shared, self.reader = shared, DatasetReader(source)
        self.given = []

    def fold(self, task):
        oracle = Oracle(self.shared.queries)
        assert fold_rows(task.ranges, self.reader, oracle, lambda: True)
        return oracle.to_bytes()

    def take(self):
        task = self.shared.take()
        if task:
            self.given.append(task)
        return task

    def help_out(self):
        while task := self.take():
            self.shared.merge_bytes(task.number, self.fold(task))


def answered(shared):
    return {query: shared.truth(query) for query in EVERY}


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("helpers", [1, 2, 4])
def test_the_truth_is_the_same_by_however_many_it_is_folded(seed, helpers):
    rng = np.random.default_rng(seed)
    cuts = sorted({0, 3000, *rng.integers(3000, size=rng.integers(20)).tolist()})
    gone = int(rng.integers(len(cuts) - 1))
    source = dataset(*(r for place, r in enumerate(itertools.pairwise(cuts)) if place != gone))
    shared = FoldTasks(EVERY, source)
    team = [Helper(shared, source) for _ in range(helpers)]
    with ThreadPoolExecutor(helpers + 1) as pool:
        ends = [pool.submit(helper.help_out) for helper in team]
        ends.append(pool.submit(fold_here, shared, int(rng.integers(1, 3))))
    for end in ends:
        end.result()

    assert answered(shared) == in_one(EVERY, source)


def test_what_others_do_not_bring_back_is_folded_here_and_not_merged_again():
    shared = FoldTasks(EVERY, WHOLE)
    slow, lost = Helper(shared, WHOLE), Helper(shared, WHOLE)
    for helper in (slow, lost, slow):
        helper.take()
    fold_here(shared)
    for task in slow.given:
        shared.merge_bytes(task.number, slow.fold(task))

    assert answered(shared) == in_one(EVERY, WHOLE)
    assert shared.take() is None


def test_a_task_is_dropped_here_as_soon_as_another_has_brought_it_back(monkeypatch):
    shared = FoldTasks(EVERY, dataset((0, 64)))
    helper = Helper(shared, WHOLE)
    task = helper.take()
    content = helper.fold(task)
    draw = Fleet.draw

    def overtaken(self, table, rows):
        shared.merge_bytes(task.number, content)
        return draw(self, table, rows)

    monkeypatch.setattr(Fleet, "draw", overtaken)
    Fleet.drawn = 0
    fold_here(shared, 1)

    assert Fleet.drawn == 48  # one block of two
    assert answered(shared) == in_one(EVERY, dataset((0, 64)))


def test_tasks_get_smaller_until_their_folds_can_be_sent():
    shared = FoldTasks(EVERY, WHOLE)
    helper = Helper(shared, WHOLE)
    for _ in range(3):
        shared.shrink(helper.take().number)
    smallest = helper.take()
    helper.help_out()
    fold_here(shared)

    assert [sum(map(len, p.ranges)) for p in helper.given[:4]] == [64, 32, 16, 8]
    assert smallest.ranges[0].start == 0
    assert answered(shared) == in_one(EVERY, WHOLE)


def test_tasks_too_small_to_be_sent_are_folded_here():
    shared = FoldTasks(EVERY, WHOLE)
    helper = Helper(shared, WHOLE)
    while task := helper.take():
        shared.shrink(task.number)
    fold_here(shared)

    assert len(helper.given) == 5
    assert answered(shared) == in_one(EVERY, WHOLE)


def test_a_task_that_cannot_be_cut_is_folded_here():
    source = dataset((0, 3000), every=(50, 100))
    shared = FoldTasks(EVERY, source)
    helper = Helper(shared, source)
    shared.shrink(helper.take().number)
    shared.shrink(helper.take().number)
    helper.help_out()
    fold_here(shared)

    assert answered(shared) == in_one(EVERY, source)


def test_small_ranges_are_folded_together():
    source = dataset(*((start, start + 3) for start in range(0, 300, 10)))
    shared = FoldTasks(EVERY, source)
    helper = Helper(shared, source)
    helper.help_out()

    assert [len(task.ranges) for task in helper.given] == [22, 9]  # a range is cut
    assert answered(shared) == in_one(EVERY, source)


@pytest.mark.parametrize(
    ("spoilt", "problem"),
    [
        (lambda _: b"", "JSON"),
        (lambda _: b"\0" * 100, "JSON"),
        (lambda content: content[:-1], "is not there"),
        (lambda content: content + b"x", "belong to no array"),
        (lambda content: content.replace(b'"<i8"', b'"<f8"', 1), "of kind 'i'"),
        (lambda content: content.replace(b'"<i8"', b'"|O"', 1), "pattern"),
        (lambda content: content.replace(b'"rows"', b'"roes"', 1), "expected the arrays"),
        (lambda content: content.replace(b'"fold":0', b'"fold":99', 1), "is not there"),
        (lambda content: content.replace(b'"fold":0', b'"fold":-1', 1), "is not there"),
    ],
)
def test_bytes_that_are_no_fold_are_refused_and_change_nothing(spoilt, problem):
    shared = FoldTasks(EVERY, WHOLE)
    helper = Helper(shared, WHOLE)
    task = helper.take()
    content = helper.fold(task)
    assert spoilt(content) != content
    with pytest.raises(ValueError, match=problem):
        shared.merge_bytes(task.number, spoilt(content))
    fold_here(shared)

    assert answered(shared) == in_one(EVERY, WHOLE)


@given(content=st.binary(max_size=40), place=st.integers(0, 10**6))
@try_cases(200)
def test_any_bytes_are_a_fold_or_are_refused(content, place):
    source = dataset((0, 100))
    shared = FoldTasks(EVERY, source)
    helper = Helper(shared, source)
    task = helper.take()
    whole = helper.fold(task)
    place %= len(whole)
    with suppress(ValueError):
        shared.merge_bytes(task.number, whole[:place] + content + whole[place + len(content) :])
    fold_here(shared, 1)
    with suppress(ValueError):  # a fold may hold a text that is none
        answered(shared)
