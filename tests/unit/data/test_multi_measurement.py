"""Workload multi-measurement: as many tables as the scale says, whose points mix in time."""

import numpy as np
import pytest

from simulator.data.query import AggregateQuery, RowsQuery, outputs
from simulator.data.schema import names_of
from simulator.data.workloads.multi_measurement import (
    MOST_SCALE,
    POINTS,
    MultiMeasurement,
    MultiMeasurementParams,
)

START_MS = 1_451_606_400_000
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
SECTION_MS = DAY_MS // 50


def made(seed=1, **params):
    return MultiMeasurement(MultiMeasurementParams(**params), seed, START_MS)


def drawn(workload, table, column):
    return workload.draw(table, np.arange(POINTS))[column].values()


@pytest.mark.parametrize("scale", [1, 3, MOST_SCALE])
def test_a_scale_makes_fifty_tables_of_fifty_points(scale):
    workload = made(scale=scale)
    tables = workload.tables

    assert len({table.name for table in tables}) == len(tables) == 50 * scale
    assert [tables[0].name, tables[49].name] == ["measurement_0000", "measurement_0049"]
    assert {workload.size(table) for table in tables} == {50}
    assert [column.name for column in tables[0].columns] == ["time", "field_0"]
    assert {table.group for table in tables} == {"multi_measurement"}


@pytest.mark.parametrize("parts", [1, 4, 12])
def test_parts_of_tables_have_different_names(parts):
    stored = [table.stored(table.primary_key, parts) for table in made(scale=5).tables]

    assert len({*names_of(stored)}) == 250 * parts


def test_every_table_has_a_point_in_each_section_of_the_time_and_all_mix():
    workload = made()
    times = np.array([drawn(workload, table, "time") for table in workload.tables]) - START_MS
    sections, places = np.divmod(times, SECTION_MS)

    assert np.array_equal(sections, np.tile(np.arange(50), (50, 1)))
    shares = np.histogram(places, 10, (0, SECTION_MS))[0] / places.size
    assert np.abs(shares - 0.1).max() < 0.03
    order = np.argsort(times[:, 7]).tolist()
    assert order != np.argsort(times[:, 8]).tolist()
    assert workload.last_ms(50) == START_MS + DAY_MS


def test_queries_are_about_random_tables_and_the_documents_says_why_it_is_not_asked():
    workload = made()
    types = workload.query_types(workload.tables, aligned=False)

    assert [*types] == ["multi-measurement-or", "measurement-rows", "count-measurement"]
    assert "reads two tables at once" in types["multi-measurement-or"].problem
    for name, kind in (("measurement-rows", RowsQuery), ("count-measurement", AggregateQuery)):
        found = [types[name].instance(number) for number in range(200)]
        assert {type(query) for query in found} == {kind}
        assert len({query.table.name for query in found}) > 40
        assert found[:9] == [types[name].instance(number) for number in range(9)]
    rows = types["measurement-rows"].instance(0)
    assert [output.name for output in outputs(rows)] == ["time", "field_0"]
    assert len(workload.candidates(rows.table, rows.selection)) == 50
