"""Workload trucks: tables, values and irregularities as in the document, and its queries."""

import numpy as np
import pytest

from simulator.data.query import AggregateQuery, NewestQuery
from simulator.data.query_type import askable
from simulator.data.ranges import RowRange
from simulator.data.walks import Precision
from simulator.data.workloads.trucks.tables import FIELDS
from simulator.data.workloads.trucks.workload import Nulls, Trucks, TrucksParams
from tests.unit.data.generated import draw_table, table_of

START_MS = 1_451_606_400_000
HOUR_MS = 3_600_000
TABLES = ["readings", "diagnostics"]
BOUNDS = {
    "latitude": (-90, 90), "longitude": (-180, 180), "elevation": (0, 5000), "velocity": (0, 100),
    "heading": (0, 360), "grade": (0, 100), "fuel_consumption": (0, 50), "fuel_state": (0, 1),
    "current_load": (0, 5000), "status": (0, 5),
}  # fmt: skip
STEPS = {
    "latitude": 0.005, "longitude": 0.005, "elevation": 10, "velocity": 10, "heading": 5,
    "grade": 5, "fuel_consumption": 5,
}  # fmt: skip


def fleet(seed=1, **params):
    return Trucks(TrucksParams(**{"duration_ms": 6 * HOUR_MS, **params}), seed, START_MS)


def drawn(name, seed=1, **params):
    return draw_table(fleet(seed, **params), name)


def by_truck(data, field):
    """Return the ticks and values of each truck, in the order of time."""
    names, ticks = data["name"].codes, (data["time"].values() - START_MS) // 10_000
    for truck in np.unique(names):
        own = np.flatnonzero(names == truck)
        own = own[np.argsort(ticks[own])]
        yield ticks[own], data[field].values()[own]


def test_tables_tags_and_fields_are_the_documents():
    tags = ["name", "fleet", "driver", "model", "device_version", "load_capacity", "fuel_capacity",
            "nominal_fuel_consumption"]  # fmt: skip
    tables = fleet().tables

    assert [table.name for table in tables] == TABLES
    for table in tables:
        assert [tag.name for tag in table.tags] == tags
        assert [field.name for field in table.fields] == [*FIELDS[table.name]]
    assert [len(table.fields) for table in tables] == [7, 3]


@pytest.mark.parametrize("name", TABLES)
def test_one_row_in_10_has_a_null_field_and_one_in_100_a_null_tag(name):
    workload = fleet(scale=10)
    table = table_of(workload, name)
    rows = np.arange(10_000)
    data = workload.draw(table, rows)
    nulls = {c.name: len(rows) - len(data[c.name].present()) for c in table.columns}

    assert {n for n, count in nulls.items() if not count} <= {"time", "name", "velocity", "status"}
    assert sum(nulls[field.name] for field in table.fields) == 1000
    assert sum(nulls[tag.name] for tag in table.tags) == 100
    for columns, total in ((table.fields, 1000), (table.tags, 100)):
        some = [nulls[column.name] for column in columns if column.nullable]
        assert np.array(some) == pytest.approx(total / len(some), rel=0.9 if total == 100 else 0.2)
    ranges = [RowRange(start=5, stop=9000, take=7, every=19), RowRange(start=9500, stop=9999)]
    chosen = workload.draw(table, np.concatenate([item.numbers() for item in ranges]))
    missing = sum(len(each) - len(each.present()) for each in chosen.values())
    assert workload.nulls(table, ranges) == missing
    fields = table.only({field.name for field in table.fields})
    of_fields = sum(len(chosen[c.name]) - len(chosen[c.name].present()) for c in table.fields)
    assert workload.nulls(fields, ranges) == of_fields < missing


@pytest.mark.parametrize("nulls", Nulls)
def test_only_what_may_be_null_is_nullable(nulls):
    for table in fleet(nulls=nulls).tables:
        found = {c.role.value for c in table.columns if c.nullable}
        assert found == {Nulls.ALL: {"tag", "field"}, Nulls.FIELDS: {"field"}}.get(nulls, set())
        data = drawn(table.name, nulls=nulls)
        for column in table.columns:
            assert (data[column.name].valid is not None) == column.nullable


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("field", STEPS)
def test_steps_are_as_long_as_the_documents_and_no_bound_holds_a_walk(field, precision):
    data = drawn("readings", scale=60, precision=precision)
    steps, pinned = [], []
    low, high = BOUNDS[field]
    for ticks, values in by_truck(data, field):
        next_to = np.diff(ticks) == 1
        steps.append(np.diff(values)[next_to])
        pinned.append((values <= low + 1e-9) | (values >= high - 1e-9))
    deviation = np.sqrt(np.concatenate(steps).var())

    if precision is Precision.FULL or STEPS[field] > 1:
        assert deviation == pytest.approx(STEPS[field] / np.sqrt(3), rel=0.06)
    assert np.concatenate(pinned).mean() < 0.02


def test_fuel_falls_until_the_tank_is_filled_again():
    data = drawn("diagnostics", scale=20, precision="full", duration_ms=24 * HOUR_MS)
    fills = 0
    for ticks, values in by_truck(data, "fuel_state"):
        rises = np.flatnonzero(np.diff(values) > 0)
        fills += len(rises)
        assert (values[rises] < 0.02).all()
        assert (values[rises + 1] > 0.98).all()
        falls = np.delete(np.diff(values) / np.diff(ticks), rises)
        assert falls.mean() == pytest.approx(-0.0005, rel=0.02)
    assert fills == pytest.approx(20 * 8640 / 2000, rel=0.1)


def test_loads_change_once_in_20_intervals_and_are_uniform():
    data = drawn("diagnostics", scale=50)
    changed = [np.diff(values)[np.diff(ticks) == 1] != 0
               for ticks, values in by_truck(data, "current_load")]  # fmt: skip
    loads = data["current_load"].values()

    assert np.concatenate(changed).mean() == pytest.approx(0.05, rel=0.05)
    assert loads.mean() == pytest.approx(2500, rel=0.03)
    assert loads.std() == pytest.approx(5000 / np.sqrt(12), rel=0.03)


def test_tags_follow_from_the_truck_and_capacities_from_the_model():
    data = drawn("readings", scale=500, duration_ms=100_000, nulls="none")
    of_model = {
        b"F-150": (2000, 200, 15), b"G-2000": (5000, 300, 19), b"H-2": (1500, 150, 12),
    }  # fmt: skip
    numbers = zip(
        data["model"].values().tolist(),
        data["load_capacity"].values().tolist(),
        data["fuel_capacity"].values().tolist(),
        data["nominal_fuel_consumption"].values().tolist(),
        strict=True,
    )

    assert {(model, tuple(each)) for model, *each in numbers} == {*of_model.items()}
    counts = {tag: len(np.unique(data[tag].levels)) for tag in data if tag in ("name", "fleet",
              "driver", "model", "device_version")}  # fmt: skip
    assert counts == {"name": 500, "fleet": 4, "driver": 6, "model": 3, "device_version": 4}


def test_query_types_have_the_names_of_tsbs():
    workload = fleet(scale=50, duration_ms=24 * HOUR_MS)
    types = workload.query_types(workload.tables, aligned=False)

    assert len(types) == len(askable(types)) == 13 + 2
    assert isinstance(types["avg-load"].instance(0), AggregateQuery)
    fleets = {types["last-loc"].instance(n).selection.one_of[0].values for n in range(100)}
    trucks = {types["single-last-loc"].instance(n).selection.one_of[0].values for n in range(500)}
    assert (len(fleets), len(trucks)) == (4, 50)
    assert isinstance(types["last-loc"].instance(0), NewestQuery)
