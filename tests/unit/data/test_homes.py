"""The data of homes has the tables, sensors, values and changes that the document gives it."""

from itertools import pairwise

import numpy as np
import pytest

from simulator.data.query import Condition, OneOf, Operator, Selection
from simulator.data.schema import Type
from simulator.data.walks import Distribution, Precision
from simulator.data.workloads.homes.changes import HomeChanges
from simulator.data.workloads.homes.tables import CONFIG
from simulator.data.workloads.homes.workload import Homes, HomesParams
from tests.unit.data.generated import draw_table, table_of

START_MS = 1_451_606_400_000
HOUR_MS, DAY_MS = 3_600_000, 86_400_000
ROOM, HOME = ["sensor_id", "home_id", "room_id"], ["sensor_id", "home_id"]
TAGS = {
    "air_condition_room": ROOM,
    "air_quality_room": ROOM,
    "light_level_room": ROOM,
    "window_state_room": [*ROOM, "window"],
    "radiator_valve_room": [*ROOM, "radiator"],
    "air_condition_outdoor": HOME,
    "weather_outdoor": HOME,
    "home_state": HOME,
    "home_config": HOME,
    "camera_detection": HOME,
    "water_level": HOME,
    "water_leakage_room": ROOM,
    "door_state": [*HOME, "door_id"],
}
TABLES = list(TAGS)
BOUNDS = {
    "air_condition_room": {"temperature": (15, 28), "humidity": (25, 60)},
    "air_quality_room": {"co2_level": (200, 3000), "co_level": (0, 10)},
    "light_level_room": {"level": (1e-5, 1e5)},
    "window_state_room": {"state": (0, 1)},
    "radiator_valve_room": {"opening_level": (0, 100)},
    "air_condition_outdoor": {"temperature": (-20, 28), "humidity": (5, 95)},
    "weather_outdoor": {
        "pressure": (900, 1200), "wind_speed": (0, 60), "wind_direction": (0, 359),
        "precipitation": (5, 95),
    },
    "home_state": {"state": (0, 2)},
    "camera_detection": {},
    "water_level": {"level": (0, 8000)},
    "water_leakage_room": {"leakage": (0, 1)},
    "door_state": {"state": (0, 1)},
}  # fmt: skip


def homes(seed=1, **params):
    return Homes(HomesParams(**params), seed, START_MS)


def drawn(name, rows=None, seed=1, **params):
    return draw_table(homes(seed, **params), name, rows)


def values(name, **params):
    return {column: data.values() for column, data in drawn(name, **params).items()}


def test_thirteen_tables_have_the_documents_tags_and_fields():
    tables = {table.name: table for table in homes().tables}

    assert {name: [tag.name for tag in table.tags] for name, table in tables.items()} == TAGS
    for name, bounds in BOUNDS.items():
        fields = [column.name for column in tables[name].fields]
        battery = [] if name == "home_state" else ["battery_voltage"]
        texts = [c.name for c in tables[name].fields if c.type is Type.TEXT]
        assert [field for field in fields if field not in texts] == [*bounds, *battery]
    assert [c.name for c in tables[CONFIG].fields] == ["config_string"]
    assert not any(column.nullable for table in tables.values() for column in table.columns)


@pytest.mark.parametrize("distribution", Distribution)
@pytest.mark.parametrize("precision", Precision)
@pytest.mark.parametrize("name", BOUNDS)
def test_values_stay_within_their_bounds(name, distribution, precision):
    data = values(name, scale=60, distribution=distribution, precision=precision)
    battery = {"battery_voltage": (1, 3.2)} if "battery_voltage" in data else {}
    for column, (low, high) in {**BOUNDS[name], **battery}.items():
        assert data[column].min() >= low - 1e-9
        assert data[column].max() <= high + 1e-9


def changes(homes=7, interval_ms=60_000, hours=100):
    end_ms = hours * HOUR_MS // interval_ms * interval_ms
    return HomeChanges(homes, interval_ms, end_ms, time_key=1, turn_key=2)


@pytest.mark.parametrize("count", [1, 2, 7, 1000])
@pytest.mark.parametrize("interval_ms", [1, 60_000, 3_600_000])
def test_a_home_changes_every_1_to_12_hours(count, interval_ms):
    found = changes(count, interval_ms, hours=800 if count < 100 else 80)
    rows = np.arange(found.rows)
    times, whose = found.seen_ms(rows), found.homes_at(rows)

    assert np.diff(times).min() >= 0
    assert times[-1] < found.end_ms
    assert not (times % interval_ms).any()
    assert sorted(whose[:count].tolist()) == [*range(count)]
    assert not times[:count].any()
    gaps = []
    for home in range(min(count, 50)):
        own = times[whose == home]
        assert found.end_ms - own[-1] <= 12 * HOUR_MS + interval_ms
        gaps += [b - a for a, b in pairwise(own.tolist())]
    assert min(gaps) >= HOUR_MS - interval_ms
    assert min(gaps) > 0
    assert max(gaps) <= 12 * HOUR_MS + interval_ms
    assert abs(np.mean(gaps) / HOUR_MS - 6.5) < 0.6
    if count == 7 and interval_ms < HOUR_MS:
        assert np.histogram(gaps, 11, (HOUR_MS, 12 * HOUR_MS))[0].min() > 0


@pytest.mark.parametrize("count", [1, 3, 40])
def test_changes_before_an_instant_are_counted_without_drawing_them(count):
    found = changes(count, hours=50)
    times = found.seen_ms(np.arange(found.rows))
    instants = {0, 1, 60_000, HOUR_MS, HOUR_MS + 1, *times.tolist(), *(times + 1).tolist()}
    instants |= {*range(0, found.end_ms + 1, 7 * 60_000 + 13)}

    for instant in instants:
        assert found.before(instant) == np.count_nonzero(times < instant), instant


def test_the_rows_of_some_homes_are_found_without_drawing_them():
    found = changes(40, hours=50)
    whose = found.homes_at(np.arange(found.rows))
    for first, stop in ((0, found.rows), (17, 130), (41, 42), (5, 5)):
        expected = np.flatnonzero(np.isin(whose, [3, 17]))
        expected = expected[(expected >= first) & (expected < stop)]
        assert found.rows_of_homes(np.array([3, 17]), first, stop).tolist() == expected.tolist()


def test_candidates_are_narrowed_by_room_and_any_row_can_match_a_number():
    workload = homes(scale=12)
    table = table_of(workload, "air_quality_room")
    room = Selection((OneOf("room_id", ("4",)),), until=START_MS + HOUR_MS)
    warm = Selection(compared=(Condition("co2_level", Operator.MORE, 500.0),))

    assert len(workload.candidates(table, room)) == 12 * 60
    assert workload.candidates(table, warm) is None
    assert workload.candidates(table_of(workload, CONFIG), Selection()) is None


def test_the_documents_query_types_are_asked_or_say_why_not():
    types = homes(scale=3).query_types(homes(scale=3).tables, aligned=False)
    functions = ["count", "sum", "mean", "min", "max", "first", "last"]
    shapes = ["bare-agg", "group-agg", "ungrouped-agg", "window-agg",
              "group-window-transpose-low-card"]  # fmt: skip
    named = ["1-home-12-hours", "aggregate-keep", "standalone-filter", "sorted-pivot"]

    varying = [name for name, each in types.items() if each.varies]
    assert {*varying} == {*named, *(f"{s}-{f}" for s in shapes for f in functions)}
    problems = {name for name, each in types.items() if each.problem}
    assert problems == {f"{s}-{f}" for s in shapes[1:] for f in ("first", "last")}
    for name in varying:
        if name not in problems:
            found = [types[name].instance(number) for number in range(20)]
            assert len({*found}) == 20
            for query in found:
                selection = query.selection
                assert START_MS <= selection.since < selection.until <= START_MS + DAY_MS
    assert {name for name, each in types.items() if not each.varies} == {
        "temperature-mean-by-hour-and-home", "newest-per-room", *(f"count-{n}" for n in TABLES)
    }  # fmt: skip
    short = homes(duration_ms=6 * HOUR_MS).query_types(homes().tables, aligned=False)
    assert "asks about 12 h, and the data has 6 h" in short["1-home-12-hours"].problem
