"""Workload dashboard: clusters of hosts, the two tables that devops has not, and the panels."""

import numpy as np
import pytest

from simulator.data.block import Block
from simulator.data.query import OneOf, RowsQuery
from simulator.data.query_type import askable
from simulator.data.workloads.dashboard import (
    CLUSTER_HOSTS,
    DATA,
    META,
    Dashboard,
    DashboardParams,
    list_whole_clusters,
)
from simulator.data.workloads.devops import Devops, DevopsParams
from simulator.verify.truth.oracle import Oracle
from tests.unit.data.generated import draw_table, table_of

START_MS = 1_451_606_400_000
HOUR_MS = 3_600_000
TABLES = ["cpu", "diskio", "disk", "kernel", "mem", "net", "nginx", "postgresql", "redis",
          "system", "status"]  # fmt: skip
DERIVATIVES = {"http-request-duration", "http-requests", "nginx-requests", "throughput"}
PANELS = {
    "availability", "cpu-num", "cpu-utilization", "disk-allocated", "disk-usage",
    "disk-utilization", "kapa-cpu", "kapa-load", "kapa-ram", "memory-total", "memory-utilization",
    "queue-bytes", "redis-memory-utilization", "system-load", *DERIVATIVES,
}  # fmt: skip


def fleet(seed=1, **params):
    return Dashboard(DashboardParams(**params), seed, START_MS)


def values(name, seed=1, **params):
    drawn = draw_table(fleet(seed, **params), name)
    return {column: data.values() for column, data in drawn.items()}


def types(**params):
    workload = fleet(**params)
    return workload.query_types(workload.tables, aligned=True)


def test_tables_are_those_of_devops_and_two_more():
    tables, devops = fleet().tables, Devops(DevopsParams(), 1, START_MS).tables

    assert [table.name for table in tables] == TABLES
    assert {table.group for table in tables} == {"dashboard"}
    for ours, theirs in zip(tables, devops, strict=False):
        names = ["cluster_id" if c.name == "team" else c.name for c in theirs.columns]
        assert [column.name for column in ours.columns] == names
        assert ours.key == ("cluster_id", "hostname", "time")
    assert [c.name for c in tables[9].fields] == ["n_cpus", "load1", "load5", "load15"]
    assert [c.name for c in tables[10].fields] == ["service_up"]


def test_values_are_those_of_devops():
    devops = Devops(DevopsParams(scale=12), 3, START_MS)
    rows, ours = np.arange(100), fleet(3, scale=12)
    for table in devops.tables:
        theirs = devops.draw(table, rows)
        found = ours.draw(table_of(ours, table.name), rows)
        for column in table.columns:
            if column.name not in ("hostname", "team", "path"):
                assert np.array_equal(found[column.name].values(), theirs[column.name].values()), (
                    column
                )


def test_ten_hosts_are_a_cluster_and_the_first_is_alone():
    tags = values("cpu", scale=23, duration_ms=10_000)
    found = [
        (cluster.decode(), name.decode())
        for cluster, name in zip(tags["cluster_id"], tags["hostname"], strict=True)
    ]

    assert (len(META), len(DATA), CLUSTER_HOSTS) == (3, 7, 10)
    assert found == [
        ("0", "kapacitor_1"),
        *(("1", name) for name in META + DATA),
        *(("2", name) for name in META + DATA),
        ("3", "meta_1"),
        ("3", "meta_2"),
    ]


@pytest.mark.parametrize(
    ("first", "hosts", "expected"),
    [(0, 1, []), (0, 10, []), (0, 11, [1]), (0, 31, [1, 2, 3]), (1, 10, [1]), (2, 19, [2]),
     (11, 10, [2]), (12, 18, []), (12, 19, [3])],
)  # fmt: skip
def test_whole_clusters_have_all_their_hosts(first, hosts, expected):
    assert [*list_whole_clusters(first, hosts)] == expected


def test_panels_are_the_documents_and_say_which_cannot_be_asked():
    found = types(scale=31)
    drawn = {name: each for name, each in found.items() if each.varies}

    assert {*drawn} == PANELS
    assert {name for name, each in drawn.items() if each.problem} == DERIVATIVES
    assert all("derivative" in drawn[name].problem for name in DERIVATIVES)
    assert {*found} - PANELS == {f"count-{name}" for name in TABLES}
    for each in askable(drawn).values():
        instances = [each.instance(number) for number in range(30)]
        assert len({*instances}) > 25
        for query in instances:
            selection = query.selection
            assert selection.since >= START_MS
            assert selection.until == selection.since + HOUR_MS <= START_MS + 6 * HOUR_MS


def test_panels_ask_about_the_clusters_that_are_whole():
    found = types(scale=25, scale_offset=8)["cpu-utilization"]
    asked = [found.instance(number).selection.one_of for number in range(50)]

    assert {*asked} == {(OneOf("cluster_id", (c,)),) for c in ("2", "3")}
    assert types(scale=10)["cpu-num"].problem == (
        "it asks about a cluster, and the fleet has none of 10 hosts; --scale 11 makes one"
    )
    assert not types(scale=1)["kapa-load"].problem
    assert "kapacitor_1" in types(scale=25, scale_offset=8)["kapa-load"].problem
    short = types(scale=25, duration_ms=HOUR_MS - 1)["availability"]
    assert "it asks about 1 h" in short.problem


EXPECTED = {
    "availability": 1, "cpu-num": 1, "cpu-utilization": 10 * 60, "disk-allocated": 1,
    "disk-usage": 7, "disk-utilization": 7 * 60, "kapa-cpu": 360, "kapa-load": 360,
    "kapa-ram": 360, "memory-total": 7, "memory-utilization": 10 * 60, "queue-bytes": 10 * 60,
    "redis-memory-utilization": 10 * 60, "system-load": 10 * 60,
}  # fmt: skip


@pytest.mark.parametrize("name", EXPECTED)
def test_a_panel_has_a_row_for_each_of_its_hosts_and_times(name):
    workload = fleet(scale=21, duration_ms=3 * HOUR_MS)
    query = workload.query_types(workload.tables, aligned=True)[name].instance(3)
    rows = workload.candidates(query.table, query.selection)
    answered = len(rows)
    if not isinstance(query, RowsQuery):
        oracle = Oracle([query])
        oracle.add(Block(query.table, 0, rows, workload.draw(query.table, rows)))
        answered = len(oracle.truth(query).answer.rows)

    assert answered == EXPECTED[name]
