"""Rows that a module knows that its database cannot store."""

import time

import numpy as np
import pytest

from simulator.data.dataset import DatasetReader
from simulator.data.ranges import RowRange
from simulator.errors import UnstorableError
from simulator.modules import MODULES, database_class
from simulator.modules.contract import Database
from simulator.modules.graphite.database import GraphiteOptions
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
    block = reader.drawn(reader.tables[0], np.arange(10))
    graphite = database_class("graphite")

    with pytest.raises(UnstorableError, match=problem):
        graphite(GraphiteOptions(url="http://h")).check_rows(block)
    kept = GraphiteOptions(url="http://h", retention_s=41 * 86400)
    if days_ago > 0:
        graphite(kept).check_rows(block)
