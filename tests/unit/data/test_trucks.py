"""Workload trucks: tables, values and irregularities as in the document, and its queries."""

import numpy as np
import pytest

from simulator.data.ranges import RowRange
from simulator.data.workloads.trucks.tables import FIELDS
from simulator.data.workloads.trucks.workload import Nulls, Trucks, TrucksParams
from tests.unit.data.generated import draw_table, table_of

START_MS = 1_451_606_400_000
HOUR_MS = 3_600_000
TABLES = ["readings", "diagnostics"]


def fleet(seed=1, **params):
    return Trucks(TrucksParams(**{"duration_ms": 6 * HOUR_MS, **params}), seed, START_MS)


def drawn(name, seed=1, **params):
    return draw_table(fleet(seed, **params), name)


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
