"""The homes of workload `homes`: how many rooms, windows and doors each has, and its sensors.

Sensors are numbered through all homes from 1, in each home room by room (per window the window and
its radiator, then air condition, air quality and light), then the home's own: the document's
order. A home's sensors do not depend on the homes after it.
"""

from dataclasses import dataclass

import numpy as np

from simulator.data.block import Array, Rows
from simulator.data.digits import digits
from simulator.data.mixer import below, key_of
from simulator.data.octets import side_by_side

ID_DIGITS = 13
LEAST_ROOMS, ROOMS = 4, 6
"""4 to 9 rooms."""
MOST_ROOMS = LEAST_ROOMS + ROOMS - 1
MOST_WINDOWS = MOST_DOORS = 3
"""Windows of each room, and doors of each home; at least one of each."""
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
    """Numbers from 1 in each home."""
    places: Rows | None = None
    """The number of the window or radiator in its room, or of the door in its home."""
    before: int = 0
    """Sensors of this kind in homes before these."""

    def __len__(self) -> int:
        return len(self.homes)

    def since(self, home: int) -> "Sensors":
        """Return the sensors of this home and those after it."""
        before = int(np.searchsorted(self.homes, home))
        rooms = None if self.rooms is None else self.rooms[before:]
        places = None if self.places is None else self.places[before:]
        return Sensors(self.homes[before:], self.numbers[before:], rooms, places, before)

    def tags(self, place_tag: str | None) -> dict[str, Array]:
        """Return the text of each series: tag -> one text per series."""
        found = {"sensor_id": ids(self.numbers), "home_id": ids(self.homes)}
        if self.rooms is not None:
            found["room_id"] = _DIGIT.take(self.rooms)
        if place_tag is not None and self.places is not None:
            found[place_tag] = _DIGIT.take(self.places)
        return found


_DIGIT = np.array([b"%d" % digit for digit in range(10)])


def ids(numbers: Rows) -> Array:
    """Return numbers as 13 digits."""
    return side_by_side(digits(numbers.view(np.uint64), ID_DIGITS), len(numbers)).view(
        f"S{ID_DIGITS}"
    )


def sensors_of(seed: int, homes: int) -> dict[str, Sensors]:
    """Return the sensors of each kind."""
    all_homes = np.arange(homes)
    rooms = LEAST_ROOMS + below(key_of(seed, "rooms"), all_homes, ROOMS)
    doors = 1 + below(key_of(seed, "doors"), all_homes, MOST_DOORS)
    room_home, room = _each(rooms)
    windows = below(key_of(seed, "windows"), room_home << _PLACE_BITS | room, MOST_WINDOWS) + 1

    of_room = 2 * windows + len(OF_A_ROOM)
    before_room = np.cumsum(of_room) - of_room
    last_room = np.cumsum(rooms) - 1
    in_rooms = before_room[last_room] + of_room[last_room]  # of this home and those before it
    others = len(OF_A_HOME) + LEAKS + doors
    before_home = np.cumsum(others) - others
    first_of_room = 1 + before_room + before_home[room_home]
    first_of_home = 1 + in_rooms + before_home

    window_room, window = _each(windows)
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
    door_home, door = _each(doors)
    found["door_state"] = Sensors(door_home, first_leak[door_home] + LEAKS + door, None, door)
    return found


def _each(counts: Rows) -> tuple[Rows, Rows]:
    """Return for each counted item its owner, and its number there from 0."""
    owners = np.repeat(np.arange(len(counts)), counts)
    return owners, np.arange(len(owners)) - np.repeat(np.cumsum(counts) - counts, counts)
