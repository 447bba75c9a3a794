"""The truth of the queries of trucks, against what TSBS asks for in plain Python."""

from collections import defaultdict

import numpy as np
import pytest

from simulator.data.block import Block
from simulator.data.derived import innermost
from simulator.data.query_type import askable
from simulator.data.workloads.trucks.workload import Trucks, TrucksParams
from simulator.verify.truth.oracle import Oracle

START_MS = 1_451_606_400_000
MINUTE_MS, HOUR_MS, DAY_MS = 60_000, 3_600_000, 86_400_000
PERIOD_MS = 10 * MINUTE_MS


def trucks(interval_ms, precision="grid"):
    """Two days and two hours of trucks."""
    params = TrucksParams(
        scale=40, interval_ms=interval_ms, duration_ms=50 * HOUR_MS, precision=precision
    )
    return Trucks(params, 7, START_MS)


@pytest.fixture(scope="module", params=["grid", "full"])
def fleet(request):
    return trucks(2 * MINUTE_MS, request.param)


@pytest.fixture(scope="module")
def rows(fleet):
    return rows_of(fleet)


def rows_of(fleet):
    """Table -> its rows as dictionaries, in the order of sending."""
    found = {}
    for table in fleet.tables:
        data = fleet.draw(table, np.arange(fleet.size(table)))
        columns = {}
        for name, column in data.items():
            values = column.values().tolist()
            valid = [True] * len(values) if column.valid is None else column.valid.tolist()
            columns[name] = [
                (value.decode() if isinstance(value, bytes) else value) if is_valid else None
                for value, is_valid in zip(values, valid, strict=True)
            ]
        found[table.name] = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
    return found


def instance(fleet, name, number=0):
    return fleet.query_types(fleet.tables, aligned=False)[name].instance(number)


def true_rows(fleet, query):
    oracle = Oracle([query])
    table = innermost(query).table
    for part in np.array_split(np.arange(fleet.size(table)), 7):
        oracle.add(Block(table, 0, part, fleet.draw(table, part)))
    truth = oracle.truth(query)
    assert not truth.undecided
    return truth.answer.rows


def selected(query, rows):
    """The rows of the window and the fleet of an instance."""
    selection = innermost(query).selection
    ((of_fleet,),) = (one.values for one in selection.one_of)
    return [
        row
        for row in rows
        if row["fleet"] == of_fleet
        and (selection.since is None or selection.since <= row["time"] < selection.until)
    ]


def means(rows, column, *tags, width=PERIOD_MS):
    """(tags, start of the period) -> the mean."""
    groups = defaultdict(list)
    for row in rows:
        start = row["time"] - row["time"] % width
        groups[(*(row[tag] for tag in tags), start)].append(row[column])
    return {group: sum(values) / len(values) for group, values in groups.items()}


def newest_rows(rows):
    found = {}
    for row in sorted(rows, key=lambda row: row["time"]):
        found[row["name"]] = row
    return found


def runs(periods, holds):
    """Yield (tags, first period, end) of the runs in which it holds, after one in which not."""
    series = defaultdict(list)
    for (*tags, start), mean in sorted(periods.items(), key=str):
        series[tuple(tags)].append((start, holds(mean)))
    for tags, states in series.items():
        for place in range(1, len(states)):
            start, held = states[place]
            if held and not states[place - 1][1]:
                ends = [later for later, held in states[place:] if not held]
                yield tags, start, ends[0] if ends else None


def sorted_rows(found):
    return sorted(found, key=lambda row: [(value is not None, value) for value in row])


def test_all_thirteen_types_of_tsbs_can_be_asked(fleet):
    assert {*askable(fleet.query_types(fleet.tables, aligned=False))} == {
        "last-loc", "single-last-loc", "low-fuel", "high-load", "stationary-trucks",
        "long-driving-sessions", "long-daily-sessions", "avg-vs-projected-fuel-consumption",
        "avg-daily-driving-duration", "avg-daily-driving-session", "avg-load", "daily-activity",
        "breakdown-frequency", "count-readings", "count-diagnostics",
    }  # fmt: skip


def test_types_whose_window_is_longer_than_the_data_say_so():
    short = Trucks(TrucksParams(duration_ms=2 * HOUR_MS), 7, START_MS)
    types = short.query_types(short.tables, aligned=False)

    assert types["long-driving-sessions"].problem == "it asks about 4 h, and the data has 2 h"
    assert types["long-daily-sessions"].problem.startswith("it asks about 24 h")
    assert not types["stationary-trucks"].problem


def test_low_fuel_and_high_load_are_those_of_the_newest_rows(fleet, rows):
    found = {"low": [], "high": []}
    for number in range(8):
        low = instance(fleet, "low-fuel", number)
        high = instance(fleet, "high-load", number)
        lows = [
            (name, row["fuel_state"])
            for name, row in newest_rows(selected(low, rows["diagnostics"])).items()
            if row["fuel_state"] is not None and row["fuel_state"] < 0.1
        ]
        highs = [
            (name, row["current_load"], row["load_capacity"])
            for name, row in newest_rows(selected(high, rows["diagnostics"])).items()
            if None not in (row["current_load"], row["load_capacity"])
            and row["current_load"] / row["load_capacity"] > 0.9
        ]
        assert [*true_rows(fleet, low)] == sorted(lows)
        assert [*true_rows(fleet, high)] == sorted(highs)
        found["low"] += lows
        found["high"] += highs
    assert found["low"]
    assert found["high"]


@pytest.mark.parametrize("precision", ["grid", "full"])
def test_stationary_trucks_are_those_that_hardly_moved_in_ten_minutes(precision):
    # With a point in each window, one truck in a hundred is slow enough.
    slow = trucks(PERIOD_MS, precision)
    readings, total = rows_of(slow)["readings"], 0
    for number in range(60):
        query = instance(slow, "stationary-trucks", number)
        window = selected(query, readings)
        stationary = [
            (name,)
            for (name, _), mean in means(window, "velocity", "name", width=1 << 62).items()
            if mean < 1
        ]
        selection = innermost(query).selection
        assert selection.until - selection.since == PERIOD_MS
        assert [*true_rows(slow, query)] == sorted(stationary)
        total += len(stationary)
    assert total


@pytest.mark.parametrize(
    ("name", "hours", "most"), [("long-driving-sessions", 4, 22), ("long-daily-sessions", 24, 60)]
)
def test_long_sessions_count_the_periods_in_which_a_truck_drove(fleet, rows, name, hours, most):
    long, others = [], 0
    for number in range(10):
        query = instance(fleet, name, number)
        selection = innermost(query).selection
        assert selection.until - selection.since == hours * HOUR_MS
        drove = defaultdict(int)
        for (truck, _), mean in means(
            selected(query, rows["readings"]), "velocity", "name"
        ).items():
            drove[truck] += mean > 1
        expected = sorted((truck, count) for truck, count in drove.items() if count > most)
        assert [*true_rows(fleet, query)] == expected
        long += expected
        others += len(drove) - len(expected)
    assert long
    assert others or name == "long-daily-sessions"


def test_daily_drives_and_sessions(fleet, rows):
    periods = means(rows["readings"], "velocity", "name")
    days = defaultdict(lambda: defaultdict(int))
    for (truck, start), mean in periods.items():
        if mean > 1:
            days[truck][start // DAY_MS] += 1
    sessions = defaultdict(list)
    for (truck,), start, end in runs(periods, lambda mean: mean > 5):
        sessions[truck, start - start % DAY_MS].append(None if end is None else end - start)
    mean_of = {
        group: [length for length in lengths if length is not None]
        for group, lengths in sessions.items()
    }

    assert [*true_rows(fleet, instance(fleet, "avg-daily-driving-duration"))] == sorted(
        (truck, sum(counts.values()) / len(counts)) for truck, counts in days.items()
    )
    assert [*true_rows(fleet, instance(fleet, "avg-daily-driving-session"))] == sorted(
        (*group, sum(lengths) / len(lengths) if lengths else None)
        for group, lengths in mean_of.items()
    )
    assert len(sessions) > 20
    assert any(None in lengths for lengths in sessions.values())


def test_activity_and_breakdowns(fleet, rows):
    active = defaultdict(int)
    by_fleet = means(rows["diagnostics"], "status", "name", "fleet", "model")
    for (_, of_fleet, model, start), mean in by_fleet.items():
        if mean < 1:
            active[of_fleet, model, start - start % DAY_MS] += 1
    broken = defaultdict(int)
    by_model = means(rows["diagnostics"], "status", "name", "model")
    for (_, model), _, _ in runs(by_model, lambda mean: mean >= 1):
        broken[model] += 1

    assert [*true_rows(fleet, instance(fleet, "daily-activity"))] == sorted_rows(
        (*group, count) for group, count in active.items()
    )
    assert [*true_rows(fleet, instance(fleet, "breakdown-frequency"))] == sorted_rows(
        broken.items()
    )
    assert len(active) > 30
    assert sum(broken.values()) > 100
