"""The thirteen kinds of measurements of workload `homes`: their tags, fields and walks.

Numbers and names come from the document's code.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from simulator.data.block import Array, Rows
from simulator.data.digits import digits
from simulator.data.mixer import below, key_of
from simulator.data.octets import side_by_side
from simulator.data.schema import Column, Index, Role, Table, Type
from simulator.data.walks import Clamped, UpDown, Walk

ID_DIGITS = 13
LEAST_ROOMS, ROOMS = 4, 6
"""Minimum number of rooms, and number of possible counts: 4 to 9 rooms."""
MOST_ROOMS = LEAST_ROOMS + ROOMS - 1
MOST_WINDOWS = MOST_DOORS = 3
"""Maximum number of windows in a room, and of doors in a home; the minimum is one."""
LEAKS = 2

OF_A_ROOM = ("air_condition_room", "air_quality_room", "light_level_room")
OF_A_HOME = (
    "air_condition_outdoor",
    "weather_outdoor",
    "home_state",
    "home_config",
    "camera_detection",
    "water_level",
)
"""Tables in the order of their sensors; water_leakage_room and door_state follow."""
_PLACE_BITS = 4


@dataclass(frozen=True, slots=True)
class Sensors:
    """The sensors of one kind; each is a series, in the order of homes."""

    homes: Rows
    numbers: Rows
    rooms: Rows | None = None
    """Number of each sensor's room, counted from 1 in each home."""
    places: Rows | None = None
    """The number of the window or radiator in its room, or of the door in its home."""
    before: int = 0
    """Number of sensors of this kind in earlier homes."""

    def __len__(self) -> int:
        return len(self.homes)

    def since(self, home: int) -> "Sensors":
        """Return the sensors of this home and of later homes."""
        before = int(np.searchsorted(self.homes, home))
        rooms = None if self.rooms is None else self.rooms[before:]
        places = None if self.places is None else self.places[before:]
        return Sensors(self.homes[before:], self.numbers[before:], rooms, places, before)

    def tags(self, place_tag: str | None) -> dict[str, Array]:
        """Return tag -> the text of each series."""
        found = {"sensor_id": format_ids(self.numbers), "home_id": format_ids(self.homes)}
        if self.rooms is not None:
            found["room_id"] = _DIGIT.take(self.rooms)
        if place_tag is not None and self.places is not None:
            found[place_tag] = _DIGIT.take(self.places)
        return found


_DIGIT = np.array([b"%d" % digit for digit in range(10)])


def format_ids(numbers: Rows) -> Array:
    """Return numbers as 13 digits."""
    return side_by_side(digits(numbers.view(np.uint64), ID_DIGITS), len(numbers)).view(
        f"S{ID_DIGITS}"
    )


def draw_sensors(seed: int, homes: int) -> dict[str, Sensors]:
    """Return the sensors of each kind."""
    all_homes = np.arange(homes)
    rooms = LEAST_ROOMS + below(key_of(seed, "rooms"), all_homes, ROOMS)
    doors = 1 + below(key_of(seed, "doors"), all_homes, MOST_DOORS)
    room_home, room = _number_items(rooms)
    windows = below(key_of(seed, "windows"), room_home << _PLACE_BITS | room, MOST_WINDOWS) + 1

    of_room = 2 * windows + len(OF_A_ROOM)
    before_room = np.cumsum(of_room) - of_room
    last_room = np.cumsum(rooms) - 1
    in_rooms = before_room[last_room] + of_room[last_room]  # of this home and those before it
    others = len(OF_A_HOME) + LEAKS + doors
    before_home = np.cumsum(others) - others
    first_of_room = 1 + before_room + before_home[room_home]
    first_of_home = 1 + in_rooms + before_home

    window_room, window = _number_items(windows)
    of_window = first_of_room[window_room] + 2 * window
    place = room_home[window_room], room[window_room] + 1, window + 1
    found = {
        "window_state_room": Sensors(place[0], of_window, *place[1:]),
        "radiator_valve_room": Sensors(place[0], of_window + 1, *place[1:]),
    }
    after_windows = first_of_room + 2 * windows
    for number, name in enumerate(OF_A_ROOM):
        found[name] = Sensors(room_home, after_windows + number, room + 1)
    for number, name in enumerate(OF_A_HOME):
        found[name] = Sensors(all_homes, first_of_home + number)

    leak_home, leak = np.repeat(all_homes, LEAKS), np.tile(np.arange(LEAKS), homes)
    drawn = below(key_of(seed, "leaks"), leak_home << _PLACE_BITS | leak, 2520)  # 4 to 9 divide it
    first_leak = first_of_home + len(OF_A_HOME)
    found["water_leakage_room"] = Sensors(
        leak_home, first_leak[leak_home] + leak, drawn % rooms[leak_home] + 1
    )
    door_home, door = _number_items(doors)
    found["door_state"] = Sensors(door_home, first_leak[door_home] + LEAKS + door, None, door)
    return found


def _number_items(counts: Rows) -> tuple[Rows, Rows]:
    """Return the owner of each counted item, and the item's number from 0 within the owner."""
    owners = np.repeat(np.arange(len(counts)), counts)
    return owners, np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)


CONFIG = "home_config"
SHORTEST_KIB, LONGEST_KIB = 10, 19
CONFIG_LETTERS = bytes(set(range(40, 127)) - set(b"\\"))

HOME_STATES = ("Empty", "Half", "Full")
OBJECTS: Mapping[str, tuple[str, ...]] = {
    "animal": ("cat", "dog", "bird", "unknown"),
    "human": ("man", "woman", "child", "unknown"),
    "vehicle": ("car", "lorry", "truck", "motorcycle", "bicycle", "unknown"),
    "unknown": ("unknown",),
}
"""Objects that a camera detects: type -> kinds."""

_BATTERY = UpDown(0.01, 0.005, 1, 3.2, start=3.2)


@dataclass(frozen=True, slots=True)
class HomeTable:
    """One table: its tags without home and sensor, and its fields."""

    name: str
    columns: tuple[Column, ...]
    walks: Mapping[str, Walk] = field(default_factory=dict)
    in_room: bool = False
    place_tag: str | None = None

    @property
    def table(self) -> Table:
        """The table, in which each sensor is a series."""
        tags = [("sensor_id", ID_DIGITS), ("home_id", ID_DIGITS)]
        tags += [("room_id", 1)] if self.in_room else []
        tags += [(self.place_tag, 1)] if self.place_tag else []
        columns = (
            Column("time", Type.TIMESTAMP, Role.TIME),
            *(Column(tag, Type.TEXT, Role.TAG, max_characters=n) for tag, n in tags),
            *self.columns,
        )
        indices = (Index("series", ("sensor_id", "time")), Index("home", ("home_id", "time")))
        return Table(self.name, columns, ("sensor_id", "time"), indices=indices, group="homes")


def list_kinds(*, exact: bool) -> tuple[HomeTable, ...]:
    """Return the thirteen kinds; `exact`: doubles are on a grid."""

    def measure(
        name: str, *drawn: Column, place_tag: str | None = None, **walks: Walk
    ) -> HomeTable:
        walks["battery_voltage"] = _BATTERY
        numbers = (_make_double(each, exact=exact) for each in walks)
        return HomeTable(name, (*drawn, *numbers), walks, name.endswith("_room"), place_tag)

    return (
        measure(
            "air_condition_room",
            temperature=_make_walk(15, 28, 15),
            humidity=_make_walk(25, 60, 40),
        ),
        measure(
            "air_quality_room",
            co2_level=_make_walk(200, 3000, 300),
            co_level=UpDown(0.001, 0.0001, 0, 10, start=0),
        ),
        measure("light_level_room", level=_make_walk(1e-5, 1e5, 10_000)),
        measure("window_state_room", _make_double("state"), place_tag="window"),
        measure("radiator_valve_room", place_tag="radiator", opening_level=_make_walk(0, 100, 0)),
        measure(
            "air_condition_outdoor",
            temperature=_make_walk(-20, 28, 0),
            humidity=_make_walk(5, 95, 80),
        ),
        measure(
            "weather_outdoor",
            pressure=Clamped(0, 10, 900, 1200, start=1000),
            wind_speed=_make_walk(0, 60, 0),
            wind_direction=_make_walk(0, 359, 90),
            precipitation=_make_walk(5, 95, 80),
        ),
        HomeTable(
            "home_state",
            (
                Column("state", Type.INT64, Role.FIELD),
                _make_text("state_string", max(map(len, HOME_STATES))),
            ),
        ),
        HomeTable(CONFIG, (_make_text("config_string", LONGEST_KIB << 10),)),
        measure(
            "camera_detection",
            _make_text("object_type", max(map(len, OBJECTS))),
            _make_text("object_kind", max(map(len, sum(OBJECTS.values(), ())))),
        ),
        measure("water_level", level=_make_walk(0, 8000, 5000)),
        measure("water_leakage_room", _make_double("leakage")),
        measure("door_state", _make_double("state"), place_tag="door_id"),
    )


def _make_walk(low: float, high: float, start: float) -> Clamped:
    return Clamped(0, 1, low, high, start)


def _make_double(name: str, *, exact: bool = True) -> Column:
    return Column(name, Type.FLOAT64, Role.FIELD, exact=exact)


def _make_text(name: str, most: int) -> Column:
    return Column(name, Type.TEXT, Role.FIELD, max_characters=most)
