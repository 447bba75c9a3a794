"""Workload cpu: the table of both documents, its values, and the queries of TSBS."""

import numpy as np
import pytest

from simulator.data.query import AggregateQuery, Condition, NewestQuery, Operator, RowsQuery
from simulator.data.query_type import askable
from simulator.data.schema import Type
from simulator.data.walks import Precision
from simulator.data.workloads.cpu import Cpu, CpuParams, UsageType
from simulator.data.workloads.devops import Devops, DevopsParams

START_MS = 1_451_606_400_000
HOUR_MS, MINUTE_MS = 3_600_000, 60_000
KINDS = [(UsageType.INTEGERS, Precision.GRID), (UsageType.DOUBLES, Precision.GRID),
         (UsageType.DOUBLES, Precision.FULL)]  # fmt: skip


def fleet(seed=1, **params):
    return Cpu(CpuParams(**{"duration_ms": 6 * HOUR_MS, **params}), seed, START_MS)


def drawn(rows=None, seed=1, **params):
    workload = fleet(seed, **params)
    (table,) = workload.tables
    chosen = np.arange(workload.size(table)) if rows is None else np.array(rows)
    return workload.draw(table, chosen)


def types(*, hours=30, scale=50, aligned=False):
    workload = fleet(scale=scale, duration_ms=hours * HOUR_MS)
    return workload.query_types(workload.tables, aligned=aligned)


def test_columns_are_those_of_both_documents():
    (table,) = fleet().tables
    cpu = Devops(DevopsParams(), 1, START_MS).tables[0]

    assert table.name == "cpu"
    assert [each.name for each in table.columns] == [each.name for each in cpu.columns]
    assert (len(table.tags), len(table.fields)) == (10, 10)
    assert {field.type for field in table.fields} == {Type.INT32}
    assert fleet(scale=7).size(table) == 7 * 2160


def test_hosts_and_doubles_are_those_of_devops():
    devops = Devops(DevopsParams(scale=5), 3, START_MS)
    theirs = devops.draw(devops.tables[0], np.arange(50))
    ours = drawn(range(50), 3, scale=5, usage="doubles")

    for name, data in theirs.items():
        assert np.array_equal(ours[name].values(), data.values())


def test_query_types_have_the_names_of_tsbs():
    assert [*types()] == [
        "single-groupby-1-1-1", "single-groupby-1-1-12", "single-groupby-1-8-1",
        "single-groupby-5-1-1", "single-groupby-5-1-12", "single-groupby-5-8-1",
        "cpu-max-all-1", "cpu-max-all-8", "cpu-max-all-32-24",
        "double-groupby-1", "double-groupby-5", "double-groupby-all",
        "high-cpu-all", "high-cpu-1", "groupby-orderby-limit", "single-lastpoint", "lastpoint",
        "count-cpu",
    ]  # fmt: skip
    assert len(askable(types())) == 18
    assert types(scale=31)["cpu-max-all-32-24"].problem.startswith("it asks about 32 hosts")
    assert types(hours=11)["double-groupby-1"].problem.startswith("it asks about 12 h")


@pytest.mark.parametrize(
    ("name", "fields", "hosts", "hours", "bucket"),
    [
        ("single-groupby-1-1-1", 1, 1, 1, MINUTE_MS),
        ("single-groupby-5-1-12", 5, 1, 12, MINUTE_MS),
        ("single-groupby-5-8-1", 5, 8, 1, MINUTE_MS),
        ("cpu-max-all-8", 10, 8, 8, HOUR_MS),
        ("cpu-max-all-32-24", 10, 32, 24, HOUR_MS),
        ("double-groupby-5", 5, 0, 12, HOUR_MS),
        ("double-groupby-all", 10, 0, 12, HOUR_MS),
    ],
)
def test_instances_aggregate_as_their_name_says(name, fields, hosts, hours, bucket):
    queries = [types()[name].instance(number) for number in range(5)]

    for query in queries:
        assert isinstance(query, AggregateQuery)
        assert len(query.aggregates) == fields
        assert query.bucket == bucket
        assert [len({*one.values}) for one in query.selection.one_of] == [hosts] * bool(hosts)
        assert query.selection.until - query.selection.since == hours * HOUR_MS
        assert query.by == (() if hosts else ("hostname",))
    assert len({*queries}) == 5


def test_busy_rows_newest_rows_and_newest_minutes():
    busy, last = types()["high-cpu-all"].instance(3), types()["lastpoint"].instance(0)
    newest = types()["groupby-orderby-limit"].instance(3)

    assert isinstance(busy, RowsQuery)
    assert busy.selection.compared == (Condition("usage_user", Operator.MORE, 90),)
    assert isinstance(last, NewestQuery)
    assert (last.tags, len(last.columns)) == (("hostname",), 10)
    of_one = [types()["single-lastpoint"].instance(number) for number in range(9)]
    hosts = {query.selection.one_of[0].values for query in of_one}
    assert {query.columns for query in of_one} == {last.columns}
    assert len(hosts) > 1
    assert all(len(names) == 1 for names in hosts)
    assert (newest.newest, newest.bucket, newest.selection.since) == (5, MINUTE_MS, None)
    assert START_MS + HOUR_MS <= newest.selection.until <= START_MS + 30 * HOUR_MS


@pytest.mark.parametrize(("usage", "precision"), KINDS)
def test_fewer_fields_are_the_first_ones_of_all(usage, precision):
    """With one it is the use case cpu-single of TSBS."""
    params = {"scale": 5, "usage": usage, "precision": precision}
    assert (fleet(**params).precision is None) == (usage is UsageType.INTEGERS)
    every = drawn(range(500), **params)
    for count in (1, 4):
        few = drawn(range(500), fields=count, **params)

        assert [*few] == [*every][: 11 + count]
        for name, data in few.items():
            assert np.array_equal(data.values(), every[name].values())


def test_types_that_ask_about_more_fields_than_there_are_name_both_numbers():
    workload = fleet(scale=50, duration_ms=30 * HOUR_MS, fields=1)
    every = workload.query_types(workload.tables, aligned=False)
    asked = askable(every)

    assert [name for name in every if name not in asked] == [
        "single-groupby-5-1-1", "single-groupby-5-1-12", "single-groupby-5-8-1", "double-groupby-5",
    ]  # fmt: skip
    assert every["double-groupby-5"].problem == ("it asks about 5 fields, and the table cpu has 1")
    assert len(asked["cpu-max-all-8"].instance(0).aggregates) == 1
    assert asked["lastpoint"].instance(0).columns == ("usage_user",)
