"""The fleet's data has the counts, columns and values that the reference document gives it."""

import hashlib
import re

import numpy as np
import pytest
from pydantic import ValidationError

from simulator.data import walks
from simulator.data.block import Block, Coded
from simulator.data.hashes import block_hashes
from simulator.data.query import Compared, OneOf, Operator, RowsQuery, Selection, outputs
from simulator.data.query_type import askable
from simulator.data.schema import Role, Type, dtype_of
from simulator.data.walks import Clamped, Distribution, Precision, free_walks
from simulator.data.workloads.cpu import Cpu, CpuParams
from simulator.data.workloads.devops.workload import Devops, DevopsParams
from simulator.data.workloads.shared.fleets import MOST_MEMBERS
from simulator.data.workloads.shared.hosts import DATACENTERS, PERCENTS
from simulator.data.workloads.shared.measurements import measurements
from simulator.verify.truth.oracle import Oracle

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


def table_of(workload, name):
    return next(table for table in workload.tables if table.name == name)


def drawn(name, rows=None, seed=1, **params):
    workload = fleet(seed, **params)
    table = table_of(workload, name)
    chosen = np.arange(workload.size(table)) if rows is None else np.array(rows)
    return workload.draw(table, chosen)


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


def test_every_point_is_drawn_once():
    workload = fleet(scale=3)
    keys = [workload.draw(table, np.arange(workload.size(table))) for table in workload.tables]
    points = {
        (table.name, host, time)
        for table, data in zip(workload.tables, keys, strict=True)
        for host, time in zip(
            data["hostname"].values().tolist(), data["time"].values().tolist(), strict=True
        )
    }

    assert len(points) == 3 * 19_440


def test_tables_tags_and_fields_are_the_documents():
    workload = fleet()

    assert {table.name: len(table.fields) for table in workload.tables} == FIELDS
    assert sum(FIELDS.values()) == 101
    for table in workload.tables:
        assert [tag.name for tag in table.tags] == COMMON + OWN.get(table.name, [])


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("name", TABLES)
def test_every_column_has_its_type(name, precision):
    workload = fleet(scale=4, precision=precision)
    table = table_of(workload, name)
    data = workload.draw(table, np.arange(100))

    assert list(data) == [column.name for column in table.columns]
    for column in table.columns:
        array = data[column.name].values()
        assert len(array) == 100
        assert array.dtype.kind == dtype_of(column.type).kind
        assert column.type is Type.TEXT or array.dtype == dtype_of(column.type)
        assert column.exact == (column.type is not Type.FLOAT64 or precision is Precision.GRID)


def test_hosts_are_written_tick_by_tick():
    data = drawn("cpu", range(7), scale=3)

    assert data["hostname"].values().tolist() == [
        b"host_0", b"host_1", b"host_2", b"host_0", b"host_1", b"host_2", b"host_0",
    ]  # fmt: skip
    assert (data["time"].values() - START_MS).tolist() == [0, 0, 0, 10_000, 10_000, 10_000, 20_000]


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("precision", Precision)
def test_any_rows_are_those_of_the_whole_table(name, precision):
    workload = fleet(scale=5, precision=precision, duration_ms=7_200_000)
    table = table_of(workload, name)
    columns = outputs(RowsQuery(table))

    def hashes(rows):
        return block_hashes(columns, Block(table, 0, rows, workload.draw(table, rows)))

    whole = hashes(np.arange(3600))
    for rows in (np.arange(1, 3600, 7), np.arange(1234, 1301), np.array([0, 1, 3599])):
        assert np.array_equal(hashes(rows), whole[rows])


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("precision", Precision)
def test_a_column_alone_is_that_of_the_whole_table_and_takes_one_walk_at_most(
    name, precision, monkeypatch
):
    walked = []

    def counted(keys, ticks):
        walked.append(len(keys))
        return free_walks(keys, ticks)

    monkeypatch.setattr(walks, "free_walks", counted)
    workload, rows = fleet(precision=precision), np.arange(100)
    table = table_of(workload, name)
    whole = workload.draw(table, rows)
    assert sum(walked) == {"disk": 1, "mem": 3, "kernel": 5, "redis": 30}.get(name, FIELDS[name])
    for column in table.columns:
        walked.clear()
        alone = workload.draw(table.only({column.name}), rows)
        assert [*alone] == [*dict.fromkeys(("time", column.name))]
        assert np.array_equal(alone[column.name].values(), whole[column.name].values())
        assert sum(walked) <= 1


@pytest.mark.parametrize(
    ("distribution", "precision", "expected"),
    [
        (Distribution.UNPINNED, Precision.GRID, "d401c37409f945fc"),
        (Distribution.UNPINNED, Precision.FULL, "3172de040f539799"),
        (Distribution.DOCUMENTED, Precision.GRID, "76e3f95f6f72c3ae"),
        (Distribution.DOCUMENTED, Precision.FULL, "6406be12f22031ce"),
    ],
)
def test_rows_are_those_of_this_version(distribution, precision, expected):
    """If they change, `version` is to be raised."""
    workload = fleet(scale=3, distribution=distribution, precision=precision)
    digest = hashlib.sha256()
    for table in workload.tables:
        rows = np.arange(0, workload.size(table), 11)
        block = Block(table, 0, rows, workload.draw(table, rows))
        digest.update(block_hashes(outputs(RowsQuery(table)), block).tobytes())

    assert (workload.version, digest.hexdigest()[:16]) == (1, expected)


@pytest.mark.parametrize("name", TABLES)
def test_a_longer_run_and_a_larger_fleet_begin_alike(name):
    short = drawn(name, range(10), scale=1)
    longer = drawn(name, range(10), scale=1, duration_ms=864_000_000)
    larger = drawn(name, range(0, 1000, 100), scale=100)

    for column, data in short.items():
        assert np.array_equal(data.values(), longer[column].values())
        assert np.array_equal(data.values(), larger[column].values())


def test_tags_share_one_array_of_codes_and_keep_their_levels():
    workload = fleet(scale=10)
    for table in workload.tables:
        one, other = (workload.draw(table, np.arange(first, first + 50)) for first in (0, 50))
        tags = [one[tag.name] for tag in table.tags]

        assert all(isinstance(tag, Coded) and tag.codes is tags[0].codes for tag in tags)
        assert all(one[tag.name].levels is other[tag.name].levels for tag in table.tags)
        for column in table.with_role(Role.FIELD):
            if isinstance(one[column.name], Coded):
                assert one[column.name].levels is other[column.name].levels


@pytest.mark.parametrize(
    ("tag", "count"),
    [
        ("hostname", 3000), ("region", 9), ("datacenter", 23), ("rack", 100), ("os", 3),
        ("arch", 2), ("team", 4), ("service", 20), ("service_version", 2),
        ("service_environment", 3),
    ],
)  # fmt: skip
def test_tags_of_every_point_take_all_their_values(tag, count):
    levels = drawn("cpu", range(1), scale=3000)[tag].levels

    assert len(levels) == 3000
    assert len(np.unique(levels)) == count


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


def test_nginx_and_redis_are_different_servers():
    ports = [drawn(name, range(1), scale=100)["port"].levels for name in ("nginx", "redis")]

    assert (ports[0] == ports[1]).mean() < 0.1


@pytest.mark.parametrize("distribution", Distribution)
@pytest.mark.parametrize("precision", Precision)
def test_memory_and_disk_add_up(distribution, precision):
    params = {"scale": 20, "distribution": distribution, "precision": precision}
    memory, disk = values("mem", **params), values("disk", **params)

    assert set(np.unique(memory["total"] >> 30)) == {8, 12, 16}
    for part in ("used", "cached", "buffered"):
        assert memory[part].min() >= 0
        assert (memory[part] <= memory["total"]).all()
    assert np.array_equal(memory["used"] + memory["available"], memory["total"])
    assert np.array_equal(memory["free"], memory["available"])
    for part in ("used", "available", "buffered"):
        exact = 100 * memory[part] / memory["total"]
        assert np.abs(memory[f"{part}_percent"] - exact).max() <= 1 / 64
    assert set(np.unique(disk["total"])) == {1 << 40}
    assert np.array_equal(disk["used"] + disk["free"], disk["total"])
    assert disk["free"].min() >= 0
    assert np.array_equal(disk["used_percent"], 100 * disk["used"] >> 40)
    assert np.array_equal(disk["inodes_free"], disk["free"] >> 12)
    assert np.array_equal(disk["inodes_used"], disk["used"] >> 12)
    assert set(np.unique(disk["inodes_total"])) == {1 << 28}


def test_the_kernel_booted_once_and_redis_counts_its_seconds():
    kernel = values("kernel", scale=500)
    redis = values("redis", scale=2, interval_ms=2500, duration_ms=25_000)

    assert len(np.unique(kernel["boot_time"][:500])) > 200
    assert kernel["boot_time"].max() < 240
    assert np.array_equal(kernel["boot_time"][:500], kernel["boot_time"][-500:])
    assert redis["uptime_in_seconds"][::2].tolist() == [0, 2, 5, 7, 10, 12, 15, 17, 20, 22]


@pytest.mark.parametrize("name", ["diskio", "kernel", "net"])
@pytest.mark.parametrize("distribution", Distribution)
def test_counters_of_every_host_rise(name, distribution):
    for column, data in values(name, scale=50, distribution=distribution).items():
        if data.dtype == np.int64 and column not in ("time", "boot_time"):
            assert np.diff(data.reshape(-1, 50), axis=0).min() >= 0
            assert data[-1] > 2160


@pytest.mark.parametrize("name", ["nginx", "postgresql", "redis"])
def test_documented_gauges_are_pinned_and_unpinned_ones_are_not(name):
    gauges = [
        column
        for column, data in drawn(name, range(1)).items()
        if isinstance(data, Coded) and len(data.levels) in (101, 1001)
    ]
    documented = values(name, scale=20, distribution=Distribution.DOCUMENTED)
    unpinned = values(name, scale=20)

    assert len(gauges) == {"nginx": 4, "postgresql": 15, "redis": 16}[name]
    for gauge in gauges:
        pinned = documented[gauge].reshape(-1, 20)[260:]
        assert (pinned == documented[gauge].max()).mean() > 0.9999
        assert np.bincount(unpinned[gauge]).max() < 0.06 * len(unpinned[gauge])
        assert (np.diff(unpinned[gauge].reshape(-1, 20), axis=0) == 0).mean() < 0.2


GAUGES = [
    (each.name, column, walk)
    for each in measurements(exact=True)
    for column, walk in each.walks.items()
    if isinstance(walk, Clamped) and 1 < walk.high <= 10_000
]


def test_gauges_stay_between_their_bounds_with_the_documents_moments():
    hosts, found = 2000, {}
    assert len(GAUGES) == 10 + 4 + 15 + 18
    for table in {name: None for name, *_ in GAUGES}:
        found[table] = values(table, scale=hosts, duration_ms=200_000)
    for table, column, walk in GAUGES:
        data = found[table][column].reshape(20, hosts).astype(float)
        steps = np.diff(data, axis=0)
        where = (table, column)

        assert data.min() >= 0, where
        assert data.max() <= walk.high, where
        assert data[0].mean() == pytest.approx(walk.high / 2, abs=walk.high * 0.03), where
        assert data[0].std() == pytest.approx(walk.high / 12**0.5, rel=0.06), where
        root = np.sqrt(walk.mean**2 + walk.deviation**2)
        assert np.sqrt((steps**2).mean()) == pytest.approx(root, rel=0.12), where
        assert abs(steps.mean()) < root / 50, where


def test_doubles_on_the_grid_are_multiples_of_a_64th():
    usage = drawn("cpu", scale=10)["usage_user"]

    assert isinstance(usage, Coded)
    assert usage.levels is PERCENTS
    assert np.array_equal(usage.values() * 64 % 1, np.zeros(len(usage)))


def test_doubles_of_full_precision_are_all_different():
    usage = values("cpu", scale=10, precision=Precision.FULL)["usage_user"]

    assert len(np.unique(usage)) == len(usage)


def test_rows_depend_on_the_seed():
    one, other = (values("cpu", seed=seed, scale=50) for seed in (1, 2))

    assert (one["usage_user"] == other["usage_user"]).mean() < 0.01
    assert (one["rack"] == other["rack"]).mean() < 0.1


def matching(data, since, until, hosts):
    time = data["time"].values()
    chosen = np.isin(data["hostname"].values(), hosts) & (time >= since) & (time < until)
    return np.flatnonzero(chosen).tolist()


@pytest.mark.parametrize(
    ("since", "until"), [(0, 3_600_000), (9_999, 50_001), (10_000, 10_001), (-5, 99_999_999)]
)
def test_candidates_are_the_rows_that_match(since, until):
    workload = fleet(scale=6)
    table = table_of(workload, "cpu")
    hosts = ("host_1", "host_4", "host_9")
    selection = Selection((OneOf("hostname", hosts),), (), START_MS + since, START_MS + until)
    everything = workload.draw(table, np.arange(workload.size(table)))
    expected = matching(
        everything, START_MS + since, START_MS + until, [host.encode() for host in hosts]
    )

    assert workload.candidates(table, selection).tolist() == expected


def test_candidates_are_narrowed_by_every_tag():
    workload = fleet(scale=200, duration_ms=20_000)
    table = table_of(workload, "disk")
    data = workload.draw(table, np.arange(400))
    selection = Selection((OneOf("fstype", ("ext4", "ext3")), OneOf("team", ("SF",))))
    expected = np.isin(data["fstype"].values(), [b"ext3", b"ext4"])
    expected &= data["team"].values() == b"SF"

    found = workload.candidates(table, selection)
    assert found.tolist() == np.flatnonzero(expected).tolist()
    assert 0 < len(found) < 400


def test_any_row_can_match_without_tags_and_time():
    workload = fleet(scale=3)
    table = table_of(workload, "cpu")
    busy = Selection(compared=(Compared("usage_user", Operator.MORE, 90.0),))

    assert workload.candidates(table, Selection()) is None
    assert workload.candidates(table, busy) is None


def test_no_row_can_match_after_the_end():
    workload = fleet(scale=3)
    table = table_of(workload, "cpu")
    found = workload.candidates(table, Selection(since=START_MS + 99_999_999))

    assert found.tolist() == []
    assert [len(data) for data in workload.draw(table, found).values()] == [0] * len(table.columns)


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


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"scale": 0}, "greater than or equal to 1"),
        ({"duration_ms": 9_999}, "less than an interval of"),
        ({"scale": 10**8, "duration_ms": 10**12}, "rows per table"),
        ({"distribution": "pinned"}, "documented"),
        ({"precision": "13"}, "grid"),
        ({"devices": 3}, "Extra inputs"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params, message):
    with pytest.raises(ValidationError, match=message):
        DevopsParams(**params)


def truth(workload, query, rows):
    oracle = Oracle([query])
    for start in range(0, len(rows), 5000):
        part = rows[start : start + 5000]
        oracle.add(Block(query.table, 0, part, workload.draw(query.table, part)))
    return oracle.truth(query).answer


def test_the_candidates_of_a_query_give_its_true_answer():
    workload = fleet(scale=6)
    types = workload.query_types(workload.tables, aligned=True)
    query = types["1-host-1-hr"].instance(0)
    few = workload.candidates(query.table, query.selection)

    assert len(few) == 360
    answer = truth(workload, query, few)
    assert len(answer.rows) == 60
    assert answer == truth(workload, query, np.arange(workload.size(query.table)))


@pytest.mark.parametrize("name", TABLES)
def test_no_text_is_longer_than_its_column_declares(name):
    workload = fleet(scale=20_000, duration_ms=10_000)
    table = table_of(workload, name)
    data = workload.draw(table, np.arange(20_000))

    lengths = {
        tag.name: int(np.strings.str_len(data[tag.name].values()).max()) for tag in table.tags
    }
    assert lengths.pop("hostname") == len("host_19999")
    assert lengths == {t.name: t.max_characters for t in table.tags if t.name != "hostname"}
    assert table.column("hostname").max_characters == len(f"host_{MOST_MEMBERS - 1}")
    with pytest.raises(ValidationError, match="less than or equal to 100000000"):
        DevopsParams(scale=MOST_MEMBERS + 1, duration_ms=10_000)
