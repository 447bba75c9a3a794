"""`--out-of-order`: an exact share of the rows is sent late, each row once, each known alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.dataset import Correction
from simulator.data.late import GROUPS, Late, LateOrder
from simulator.data.query import Selection
from simulator.data.ranges import LANE_ROWS, RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.workloads import GENERATORS, WORKLOADS
from tests.unit import specs

HOUR_MS = 3_600_000


def order_of(rows, of, total, rows_by, seed=1):
    return LateOrder.fit(Late(rows=rows, of=of, by_ms=1), total, rows_by, seed, "events")


@st.composite
def orders(draw):
    of = draw(st.integers(2, 40))
    rows = draw(st.integers(1, of // 2))
    strata = draw(st.integers(1, 9))
    total = draw(st.integers(GROUPS * strata * of + 1, 9 * strata * of))
    return order_of(rows, of, total, GROUPS * strata * of, draw(st.integers(0, 99)))


@given(orders())
def test_each_row_is_sent_once_and_known_alone(order):
    places = np.arange(order.total)
    rows = order.rows_at(places)

    assert not order.problem
    assert np.sort(rows).tolist() == places.tolist()
    assert order.places_of(rows).tolist() == places.tolist()
    some = places[:: max(order.total // 7, 1)]
    assert order.rows_at(some).tolist() == rows[some].tolist()


@given(orders())
def test_a_row_is_late_by_no_more_than_it_may_and_the_others_keep_their_order(order):
    rows = order.rows_at(np.arange(order.total))
    behind = np.maximum.accumulate(rows) - rows
    punctual = rows[behind == 0]

    assert (np.diff(punctual) > 0).all()
    assert behind.max() < (GROUPS + 1) * order.group_rows
    assert np.count_nonzero(behind) <= order.groups * order.strata * order.late.rows
    assert (behind[: order.begins] == 0).all()


@pytest.mark.parametrize(("rows", "of"), [(1, 20), (3, 10), (1, 2), (7, 1000)])
def test_the_share_is_exact_and_the_delays_are_spread(rows, of):
    order = order_of(rows, of, 600_000, 30_000)
    sent = order.rows_at(np.arange(order.total))
    behind = np.maximum.accumulate(sent) - sent
    middle = behind[order.begins : order.total - GROUPS * order.group_rows]

    late = middle[middle > 0]
    assert len(late) / len(middle) == pytest.approx(rows / of, rel=0.01)
    assert late.min() > 0.9 * order.group_rows
    assert late.max() <= GROUPS * order.group_rows
    assert late.mean() == pytest.approx(2 * order.group_rows, rel=0.1)


def dataset(workload, late, **params):
    return specs.dataset(
        workload=workload,
        workload_version=WORKLOADS[workload].version,
        params=params,
        start_ms=1_767_225_600_000,
        late=late,
    )


SCALED = {
    "cpu": {"scale": 5},
    "devops": {"scale": 2},
    "dashboard": {"scale": 11},
    "homes": {"scale": 9, "duration_ms": 240 * HOUR_MS, "interval_ms": HOUR_MS // 6},
    "metaquery": {"scale": 60},
    "ohlcv": {"years": 1},
}
LATE = Late(rows=1, of=2, by_ms=60 * HOUR_MS)
SHORT = Late(rows=1, of=10, by_ms=HOUR_MS)
SECONDS = Late(rows=1, of=10, by_ms=9_000)
"""Where a second has a thousand rows."""
DENSE = ("slim", "light", "large")


@pytest.mark.parametrize("name", ["iot", *DENSE, *SCALED])
def test_every_workload_has_the_same_rows_and_about_its_share_of_them_late(name):
    late = LATE if name == "homes" else SECONDS if name in DENSE else SHORT
    plain, reader = (DatasetReader(dataset(name, each, **SCALED.get(name, {})))
                     for each in (None, late))  # fmt: skip
    assert [*reader.late_problems()] == []
    assert not reader.time_rises
    for place, table in enumerate(reader.tables):
        order = reader.orders[place]
        whole = order.groups * order.group_rows
        count = min(max(3 * order.group_rows * GROUPS, 1), whole, order.total)
        numbers = np.arange(count)
        block, rows = reader.draw_rows(table, numbers), order.rows_at(numbers)
        same = plain.draw_rows(table, np.sort(rows))
        back = np.argsort(np.argsort(rows))
        for column, found in block.data.items():
            assert found.values().tolist() == same.data[column].take(back).values().tolist()
        times = block.data[table.time.name].values()
        behind = np.maximum.accumulate(times) - times
        most = late.by_ms * table.time_unit.per_second / 1000
        assert 0.5 * late.rows / late.of < (behind > 0).mean() <= late.rows / late.of
        if name != "ohlcv":  # whose nights have no rows
            assert behind.max() <= 1.4 * most


def test_workloads_that_are_in_no_order_of_time_say_so():
    assert {*GENERATORS} - {"iot", *DENSE, *SCALED} == {
        "trucks", "multi-measurement",
    }  # fmt: skip
    (problem,) = DatasetReader(dataset("trucks", SHORT)).late_problems()
    assert problem == (
        "workload trucks has its rows in another order than that of time; leave it out"
    )
    (problem,) = DatasetReader(dataset("multi-measurement", SHORT, scale=1)).late_problems()
    assert "and 49 other tables: has fewer than the 30 rows in that time" in problem


def test_lanes_are_out_of_order_each_by_itself():
    reader = DatasetReader(dataset("iot", SHORT, devices=3))
    for lane in (0, 7):
        (block,) = next(reader.blocks([lane_range(lane, 0, 20_000)], 20_000))
        sequence = block.data["sequence_number"].values()
        behind = np.maximum.accumulate(sequence) - sequence
        assert sequence.min() == 0
        assert sequence.max() < 20_000 + 4 * reader.orders[0].group_rows
        settled = behind[reader.orders[0].begins :]
        assert (settled > 0).mean() == pytest.approx(0.1, rel=0.02)
        assert (block.rows >> 40 == lane).all()


def test_the_rows_of_a_selection_are_found_where_they_are_sent():
    reader = DatasetReader(dataset("cpu", SHORT, scale=5))
    (table,) = reader.tables
    window = Selection(since=1_767_225_600_000 + HOUR_MS, until=1_767_225_600_000 + 2 * HOUR_MS)
    rows = reader.candidates(table, window)
    assert rows is not None
    whole = reader.draw_rows(table, np.arange(reader.sizes[0]))
    times = whole.data["time"].values()
    wanted = np.flatnonzero((times >= window.since) & (times < window.until))

    assert np.isin(wanted, rows).all()
    assert (np.diff(rows) > 0).all()


def test_corrected_rows_stay_those_of_their_places():
    plain = dataset("iot", SHORT, devices=3)
    ranges = (RowRange(start=5000, stop=6000),)
    corrections = (Correction(number=1, ranges=ranges),)
    corrected = plain.model_copy(update={"corrections": corrections, "ranges": ranges})
    readers = (DatasetReader(each) for each in (plain, corrected))
    before, after = (each.draw_rows(each.tables[0], np.arange(4000, 7000)) for each in readers)

    kept = [c for c in before.data if c != "temperature"]
    assert all((before.data[c].values() == after.data[c].values()).all() for c in kept)
    changed = before.data["temperature"].values() != after.data["temperature"].values()
    assert changed[1000:2000].mean() > 0.9
    assert not changed[:1000].any()
    assert not changed[2000:].any()


def test_only_the_share_and_time_of_the_same_order_are_the_same_rows():
    one, other = (dataset("iot", late) for late in (None, SHORT))

    assert one.origin != other.origin
    assert "late" not in one.origin
    assert DatasetReader(other).orders[0].total == LANE_ROWS
