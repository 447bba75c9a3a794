"""Records of files as payloads, of the modules that do more than send them as they are."""

import json

import pytest

from simulator.data.schema import Column, Role, Table, Type
from simulator.modules.graphite.session import GraphiteSession
from simulator.modules.opentsdb.session import OpenTsdbSession
from simulator.protocol.records import RecordFormat

TABLES = [
    Table(
        name,
        (
            Column("time", Type.TIMESTAMP, Role.TIME),
            Column("host", Type.TEXT, Role.TAG),
            Column("load", Type.FLOAT64, Role.FIELD),
        ),
        ("host", "time"),
    )
    for name in ("cpu", "cpu-total", "bench")
]
POINTS = [{"metric": "cpu.load", "value": value, "tags": {"host": "a"}} for value in range(9)]
LINES = b"".join(json.dumps(point, separators=(",", ":")).encode() + b"\n" for point in POINTS)
WIDTH = len(LINES) // len(POINTS)


def opentsdb(*, prefix="", limit_bytes=None, request_points=None):
    session = OpenTsdbSession(None, None, prefix=prefix, sync=True, request_points=request_points)
    session.limit_bytes = limit_bytes
    return session.envelope(TABLES, RecordFormat.OPENTSDB)


@pytest.mark.parametrize(
    ("limits", "counts"),
    [
        ({}, [9]),
        ({"limit_bytes": 9 * WIDTH + 1}, [9]),
        ({"limit_bytes": 9 * WIDTH}, [8, 1]),
        ({"limit_bytes": 4 * WIDTH + 1}, [4, 4, 1]),
        ({"limit_bytes": 1}, [1] * 9),
        ({"request_points": 2}, [2, 2, 2, 2, 1]),
        ({"request_points": 9}, [9]),
        ({"request_points": 5, "limit_bytes": 4 * WIDTH + 1}, [4, 4, 1]),
    ],
)
def test_opentsdb_gets_all_points_in_requests_within_its_limits(limits, counts):
    bodies = opentsdb(**limits)(LINES, 9)

    assert [len(json.loads(body)) for body in bodies] == counts
    assert [point for body in bodies for point in json.loads(body)] == POINTS
    longest = limits.get("limit_bytes", 1 << 20)
    assert all(len(body) <= longest or len(json.loads(body)) == 1 for body in bodies)


def test_opentsdb_gets_the_prefix_before_each_metric():
    (body,) = opentsdb(prefix="bench.")(LINES, 9)

    assert json.loads(body) == [{**point, "metric": "bench.cpu.load"} for point in POINTS]


def test_graphite_gets_the_path_of_the_newest_generation_of_each_table():
    session = GraphiteSession(None, None, None, prefix="bench.", retention_s=9)
    session.generations._marked["created"] = {"cpu": 3, "cpu-total": 1, "bench": 7}
    lines = b"cpu.cpu.load 1 5\ncpu-total.bench.load 2 5\nbench.a.load 3 5\ncpu.b.load 4 6\n"

    assert session.envelope(TABLES, RecordFormat.GRAPHITE)(lines, 4) == (
        b"bench.cpu.3.cpu.load 1 5\nbench.cpu-total.1.bench.load 2 5\nbench.bench.7.a.load 3 5\n"
        b"bench.cpu.3.b.load 4 6\n"
    )
