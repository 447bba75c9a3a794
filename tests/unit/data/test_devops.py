"""The fleet's data has the counts, columns and values that the reference document gives it."""

import re

import numpy as np
import pytest

from simulator.data.query import outputs
from simulator.data.query_type import askable
from simulator.data.workloads.cpu import Cpu, CpuParams
from simulator.data.workloads.devops import Devops, DevopsParams
from simulator.data.workloads.shared.hosts import DATACENTERS
from tests.unit.data.generated import draw_table

START_MS = 1_451_606_400_000
FIELDS = {
    "cpu": 10, "diskio": 7, "disk": 7, "kernel": 6, "mem": 9, "net": 8, "nginx": 7,
    "postgresql": 16, "redis": 31,
}  # fmt: skip
TABLES = list(FIELDS)
COMMON = [
    "hostname", "region", "datacenter", "rack", "os", "arch", "team", "service",
    "service_version", "service_environment",
]  # fmt: skip
OWN = {
    "diskio": ["serial"],
    "disk": ["path", "fstype"],
    "net": ["interface"],
    "nginx": ["port", "server"],
    "redis": ["port", "server"],
}


def fleet(seed=1, **params):
    return Devops(DevopsParams(**params), seed, START_MS)


def drawn(name, rows=None, seed=1, **params):
    return draw_table(fleet(seed, **params), name, rows)


def values(name, seed=1, **params):
    return {column: data.values() for column, data in drawn(name, seed=seed, **params).items()}


@pytest.mark.parametrize(
    ("params", "points"),
    [
        ({}, 19_440),
        ({"duration_ms": 86_400_000}, 77_760),
        ({"duration_ms": 86_400_000, "scale": 1000}, 77_760_000),
        ({"duration_ms": 25_000, "interval_ms": 10_000}, 18),
    ],
)
def test_points_are_the_documents(params, points):
    workload = fleet(**params)

    assert sum(workload.size(table) for table in workload.tables) == points


def test_tables_tags_and_fields_are_the_documents():
    workload = fleet()

    assert {table.name: len(table.fields) for table in workload.tables} == FIELDS
    assert sum(FIELDS.values()) == 101
    for table in workload.tables:
        assert [tag.name for tag in table.tags] == COMMON + OWN.get(table.name, [])


def test_hosts_are_written_tick_by_tick():
    data = drawn("cpu", range(7), scale=3)

    assert data["hostname"].values().tolist() == [
        b"host_0", b"host_1", b"host_2", b"host_0", b"host_1", b"host_2", b"host_0",
    ]  # fmt: skip
    assert (data["time"].values() - START_MS).tolist() == [0, 0, 0, 10_000, 10_000, 10_000, 20_000]


def test_tags_of_every_point_take_all_their_values():
    data = drawn("cpu", range(1), scale=3000)

    assert {tag: len(np.unique(data[tag].levels)) for tag in COMMON} == {
        "hostname": 3000, "region": 9, "datacenter": 23, "rack": 100, "os": 3, "arch": 2,
        "team": 4, "service": 20, "service_version": 2, "service_environment": 3,
    }  # fmt: skip


def test_a_datacenter_lies_in_its_region():
    data = drawn("cpu", range(1), scale=3000)
    places = zip(data["region"].levels.tolist(), data["datacenter"].levels.tolist(), strict=True)
    expected = {
        (region.encode(), (region + letter).encode())
        for region, letters in DATACENTERS.items()
        for letter in letters
    }

    assert set(places) == expected


@pytest.mark.parametrize(
    ("name", "tag", "form"),
    [
        ("diskio", "serial", rb"\d{3}-\d{3}-\d{3}"),
        ("disk", "path", rb"/dev/sda\d"),
        ("disk", "fstype", rb"ext3|ext4|btrfs"),
        ("net", "interface", rb"eth[0-3]"),
        ("nginx", "port", rb"\d{4,5}"),
        ("nginx", "server", rb"nginx_\d{1,5}"),
        ("redis", "port", rb"\d{4,5}"),
        ("redis", "server", rb"redis_\d{1,5}"),
    ],
)
def test_tags_of_one_table_have_the_documents_form(name, tag, form):
    levels = drawn(name, range(1), scale=2000)[tag].levels.tolist()

    assert [text for text in levels if not re.fullmatch(form, text)] == []
    assert tag != "port" or all(1024 <= int(text) <= 21_023 for text in levels)


def test_queries_ask_for_columns_that_exist():
    workload = fleet(scale=3)
    asked = {
        name: [output.name for output in outputs(query)]
        for name, query in workload.queries(workload.tables).items()
    }

    assert asked["cpu-mean-by-hour-and-host"][:3] == ["hostname", "bucket", "avg_usage_user"]
    assert len(asked["cpu-mean-by-hour-and-host"]) == 12
    assert asked["newest-per-host"] == ["hostname", "usage_user", "usage_system"]
    assert {name for name in asked if name.startswith("count-")} == {f"count-{n}" for n in TABLES}


def test_query_types_are_those_of_the_document_and_of_tsbs():
    workload = fleet(scale=32, duration_ms=86_400_000)
    types = workload.query_types(workload.tables, aligned=False)
    cpu = Cpu(CpuParams(scale=32), 1, START_MS)
    of_tsbs = cpu.query_types(cpu.tables, aligned=False)
    del of_tsbs["single-lastpoint"]  # is of ours

    assert [*types][:8] == [
        "1-host-1-hr", "2-host-1-hr", "4-host-1-hr", "8-host-1-hr", "16-host-1-hr", "32-host-1-hr",
        "1-host-12-hr", "groupby",
    ]  # fmt: skip
    assert askable(types) == types
    assert {*of_tsbs} < {*types}
    for name, each in of_tsbs.items():
        ours, theirs = types[name].instance(7), each.instance(7)
        assert getattr(ours, "selection", None) == getattr(theirs, "selection", None)
        assert [one.name for one in outputs(ours)] == [one.name for one in outputs(theirs)]
        assert ours.table.name == "cpu"
