"""Workload metaquery: many series of few points, and the queries about them."""

import numpy as np
import pytest

from simulator.data.block import Block
from simulator.data.query import DistinctQuery
from simulator.data.workloads.metaquery import MOST_SCALE, Metaquery, MetaqueryParams
from simulator.verify.truth.oracle import Oracle

START_MS = 1_451_606_400_000
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
FUNCTIONS = ["count", "sum", "mean", "min", "max", "first", "last"]


def made(seed=1, **params):
    return Metaquery(MetaqueryParams(**params), seed, START_MS)


def whole(workload):
    (table,) = workload.tables
    return Block(
        table,
        0,
        rows := np.arange(workload.size(table)),
        workload.draw(table, rows),
    )


def columns(workload):
    return {name: data.values() for name, data in whole(workload).data.items()}


def truth(query, block):
    oracle = Oracle([query])
    oracle.add(block)
    return oracle.truth(query).answer.rows


@pytest.mark.parametrize(("scale", "step"), [(1, DAY_MS), (100, 8_640), (1000, 86)])
def test_points_are_the_square_of_the_scale_and_spread_over_the_time(scale, step):
    workload = made(scale=scale)
    found = columns(workload)

    assert np.array_equal(found["time"], START_MS + np.arange(scale**2) * step)
    assert list(found) == ["time", "x", "y", "val"]
    assert workload.last_ms(scale**2) == START_MS + DAY_MS


@pytest.mark.parametrize("wanted", [1, 1000, 50_000, 250_000])
def test_a_cardinality_is_about_the_number_of_series(wanted):
    workload = made(scale=3, cardinality=wanted)
    found = columns(workload)
    series = len({*zip(found["x"], found["y"], strict=True)})

    assert abs(series - wanted) <= 0.02 * wanted
    assert MetaqueryParams(**workload.params.model_dump(mode="json")) == workload.params


def test_the_largest_scales_are_accepted():
    assert MetaqueryParams(scale=9295).step_ms == 1
    largest = made(scale=MOST_SCALE, duration_ms=1 << 41)
    (table,) = largest.tables
    last = largest.draw(table, np.array([MOST_SCALE**2 - 1]))

    assert last["time"].values().tolist() == [START_MS + (1 << 41) - 2]
    assert table.column("x").max_characters == len(f"Tag-{MOST_SCALE - 1}")


def test_the_documents_queries_are_asked_or_say_why_not():
    workload = made()
    types = workload.query_types(workload.tables, aligned=False)
    drawn = [f"group-window-transpose-high-card-{name}" for name in FUNCTIONS]

    assert {*types} == {*drawn, "tag-values", "cardinality", "field-keys",
                        "count-example_measurement"}  # fmt: skip
    assert {name for name, each in types.items() if each.problem} == {"field-keys"}
    for name in drawn:
        windows = [types[name].instance(number).selection for number in range(20)]
        assert len({*windows}) == 20
        assert {each.until - each.since for each in windows} == {12 * HOUR_MS}
    short = made(duration_ms=11 * HOUR_MS)
    late = short.query_types(short.tables, aligned=False)[drawn[0]]
    assert "it asks about 12 h, and the data has 11 h" in late.problem


def test_their_answers_are_those_of_the_rows():
    workload = made(scale=60)
    block, types = whole(workload), workload.query_types(workload.tables, aligned=True)
    found = {name: data.values() for name, data in block.data.items()}
    series = {*zip(found["x"], found["y"], strict=True)}
    levels, counts = np.unique(found["x"], return_counts=True)
    names = [level.decode() for level in levels]

    cardinality = types["cardinality"].instance(0)
    assert isinstance(cardinality, DistinctQuery)
    assert truth(cardinality, block) == ((len(series),),)
    assert truth(types["tag-values"].instance(0), block) == tuple(
        zip(names, counts.tolist(), strict=True)
    )
