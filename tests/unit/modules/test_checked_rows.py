"""Rows that modules check, wrap and return."""

import json
import time

import numpy as np
import pytest

from simulator.data.query import RowsQuery, outputs
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import UnstorableError
from simulator.modules import MODULES, database_class
from simulator.modules.contract import Database
from simulator.modules.graphite.database import GraphiteOptions
from simulator.modules.graphite.session import GraphiteSession
from simulator.modules.opentsdb.session import OpenTsdbSession
from simulator.protocol.records import RecordFormat
from tests.unit import specs
from tests.unit.specs import dataset

DAY_MS = 86_400_000


TAGS = {"opentsdb": {"max_tags": 12}}


def blocks(module, precision, **changes):
    """Return the first rows of each table of a fleet, checked by a module."""
    options = database_class(module).options_model(url="http://h", **TAGS.get(module, {}))
    database = database_class(module)(options)
    fleet = dataset(workload="devops", params={"scale": 3, "precision": precision}, **changes)
    reader = DatasetReader(fleet)
    for place, table in enumerate(reader.tables):
        (block,) = next(reader.blocks([RowRange(start=0, stop=20, table=place)]))
        database.check_rows(block)
        yield table.name


@pytest.mark.parametrize("module", MODULES)
def test_the_capabilities_name_the_modules_that_check_rows(module):
    cls = database_class(module)

    assert cls.capabilities.checks_rows == (cls.check_rows is not Database.check_rows)


@pytest.mark.parametrize("module", ["victoriametrics", "opentsdb"])
def test_a_walk_on_the_grid_is_storable(module):
    assert len(list(blocks(module, "grid", start_ms=1_767_225_600_000))) == 9


def test_the_tags_of_a_row_are_compared_with_the_options_of_the_target(monkeypatch):
    monkeypatch.setitem(TAGS, "opentsdb", {"max_tags": 10})
    checked = blocks("opentsdb", "grid", start_ms=1_767_225_600_000)

    assert next(checked) == "cpu"
    with pytest.raises(UnstorableError, match="a row has 11 tags, and this server allows 10; set"):
        next(checked)


@pytest.mark.parametrize("workload", ["slim", "light"])
def test_seconds_in_32_bits_are_milliseconds_in_64(workload):
    options = database_class("victoriametrics").options_model(url="http://h")
    database = database_class("victoriametrics")(options)
    reader = DatasetReader(dataset(workload=workload, start_ms=1_780_272_000_000))
    (block,) = next(reader.blocks([RowRange(start=0, stop=20)]))

    database.check_rows(block)


def test_full_doubles_are_storable_where_numbers_are_binary():
    assert len(list(blocks("opentsdb", "full", start_ms=1_767_225_600_000))) == 9
    with pytest.raises(UnstorableError, match=r"column usage_\w+: \d+\.\d{7,} .* more than 6 dec"):
        list(blocks("victoriametrics", "full", start_ms=1_767_225_600_000))


@pytest.mark.parametrize(("days_ago", "problem"), [(-1, "in the future"), (40, "longer ago than")])
def test_times_are_compared_with_the_options_of_the_target(days_ago, problem):
    start_ms = int(time.time()) * 1000 - days_ago * DAY_MS
    reader = DatasetReader(dataset(params={"tick_ms": 1000}, start_ms=start_ms))
    block = reader.draw_rows(reader.tables[0], np.arange(10))
    graphite = database_class("graphite")

    with pytest.raises(UnstorableError, match=problem):
        graphite(GraphiteOptions(url="http://h")).check_rows(block)
    kept = GraphiteOptions(url="http://h", retention_s=41 * 86400)
    if days_ago > 0:
        graphite(kept).check_rows(block)


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


STORING = [name for name in MODULES if database_class(name).capabilities.stores]


@pytest.mark.parametrize("workload", ["iot", "cpu"])
@pytest.mark.parametrize("module", STORING)
def test_a_module_returns_the_columns_of_a_table_whatever_their_order(module, workload):
    database = database_class(module)
    given = {
        name: "x" if field.is_required() else field.get_default(call_default_factory=True)
        for name, field in database.options_model.model_fields.items()
    }
    made = database(database.options_model.model_construct(**given))
    for key in database.capabilities.primary_keys:
        dataset = specs.dataset(workload=workload, primary_key=key)
        for table in DatasetReader(dataset).tables:
            query = RowsQuery(table)
            found = made.render(query).outputs
            assert {*map(_named, found)} == {*map(_named, outputs(query))}


def _named(column):
    """A column without how its values arrive."""
    return column.name, column.type, column.unit
