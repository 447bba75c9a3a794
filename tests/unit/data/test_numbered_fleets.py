"""Parts of larger fleets (`scale_offset`), and fleets of so many series (`cardinality`)."""

import numpy as np
import pytest

from simulator.data.block import Block
from simulator.data.hashes import block_hashes
from simulator.data.query import RowsQuery, outputs
from simulator.data.walks import Precision
from simulator.data.workloads.cpu import Cpu
from simulator.data.workloads.dashboard import Dashboard
from simulator.data.workloads.devops import Devops
from simulator.data.workloads.homes.tables import CONFIG
from simulator.data.workloads.homes.workload import Homes

START_MS = 1_451_606_400_000
HOSTS, FLEETS = [Devops, Dashboard, Cpu], [Devops, Dashboard, Cpu, Homes]
SERIES = {Devops: 9, Dashboard: 11, Cpu: 1, Homes: 55.5}
TICKS = 7


def fleet(cls, **params):
    made = cls.params_model(interval_ms=60_000, duration_ms=TICKS * 60_000, **params)
    return cls(made, 5, START_MS)


def hashes(workload, table):
    """Return the hash of each row of a table: a row for each tick, a column for each series."""
    rows = np.arange(workload.size(table))
    block = Block(table, 0, rows, workload.draw(table, rows))
    return block_hashes(outputs(RowsQuery(table)), block).reshape(TICKS, -1)


@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("cls", FLEETS)
def test_parts_of_a_fleet_are_the_rows_of_the_whole(cls, precision):
    more = {"usage": "doubles"} if cls is Cpu else {}
    whole = fleet(cls, scale=30, precision=precision, **more)
    parts = [
        fleet(cls, scale=scale, scale_offset=first, precision=precision, **more)
        for first, scale in ((0, 12), (12, 1), (13, 17))
    ]
    for place, table in enumerate(whole.tables):
        if table.name == CONFIG:
            continue
        found = [hashes(part, part.tables[place]) for part in parts]
        assert np.array_equal(np.hstack(found), hashes(whole, table)), table.name


def test_configurations_of_parts_have_sensors_of_their_own():
    found = []
    for first in (0, 4):
        part = fleet(Homes, scale=4, scale_offset=first)
        table = next(table for table in part.tables if table.name == CONFIG)
        found.append(part.draw(table, np.arange(part.size(table)))["sensor_id"].values())

    assert [len({*sensors}) for sensors in found] == [4, 4]
    assert {*found[0]}.isdisjoint(found[1])


@pytest.mark.parametrize(
    ("cls", "name", "tag", "form"),
    [(Devops, "1-host-1-hr", "hostname", "host_{}"), (Cpu, "high-cpu-1", "hostname", "host_{}"),
     (Homes, "1-home-12-hours", "home_id", "{:013}")],
)  # fmt: skip
def test_queries_ask_about_the_members_that_the_part_has(cls, name, tag, form):
    params = cls.params_model(scale=5, scale_offset=70, duration_ms=86_400_000)
    workload = cls(params, 5, START_MS)
    asked = workload.query_types(workload.tables, aligned=False)[name]
    found = {asked.instance(number).selection.one_of[0] for number in range(60)}

    assert {one.column for one in found} == {tag}
    assert {one.values[0] for one in found} == {form.format(member) for member in range(70, 75)}
    query = asked.instance(0)
    assert len(workload.candidates(query.table, query.selection)) > 0


@pytest.mark.parametrize("cls", FLEETS)
def test_a_cardinality_makes_as_many_members_as_it_has_series_for(cls):
    for wanted in (100, 1000, 12_345):
        params = cls.params_model(scale=7, cardinality=wanted)
        assert params.scale == int(wanted / SERIES[cls])
        assert cls.params_model(**params.model_dump(mode="json")) == params
    assert cls.params_model(scale=7).scale == 7


@pytest.mark.parametrize("cls", HOSTS)
def test_a_cardinality_is_the_number_of_series_that_are_stored(cls):
    workload = fleet(cls, cardinality=1000)
    series = 0
    for table in workload.tables:
        data = workload.draw(table, np.arange(workload.series(table) * 2))
        tags = zip(*(data[tag.name].values().tolist() for tag in table.tags), strict=True)
        series += len({*tags})

    assert 1000 - SERIES[cls] < series <= 1000


def test_homes_have_about_as_many_series():
    workload = fleet(Homes, cardinality=20_000)
    series = sum(map(workload.series, workload.tables)) - 1 + workload.params.scale

    assert abs(series / 20_000 - 1) < 0.02
