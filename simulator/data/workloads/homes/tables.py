"""The thirteen kinds of measurements of workload `homes`: their tags, fields and walks.

Numbers and names come from the document's code.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from simulator.data.schema import Column, Index, Role, Table, Type
from simulator.data.walks import Clamped, UpDown, Walk
from simulator.data.workloads.homes.sensors import ID_DIGITS

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
        """The table; its series is the sensor."""
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


def kinds(*, exact: bool) -> tuple[HomeTable, ...]:
    """Return the thirteen kinds; `exact`: doubles are on a grid."""

    def measure(
        name: str, *drawn: Column, place_tag: str | None = None, **walks: Walk
    ) -> HomeTable:
        walks["battery_voltage"] = _BATTERY
        numbers = (_number(each, exact=exact) for each in walks)
        return HomeTable(name, (*drawn, *numbers), walks, name.endswith("_room"), place_tag)

    return (
        measure("air_condition_room", temperature=_walk(15, 28, 15), humidity=_walk(25, 60, 40)),
        measure(
            "air_quality_room",
            co2_level=_walk(200, 3000, 300),
            co_level=UpDown(0.001, 0.0001, 0, 10, start=0),
        ),
        measure("light_level_room", level=_walk(1e-5, 1e5, 10_000)),
        measure("window_state_room", _contact("state"), place_tag="window"),
        measure("radiator_valve_room", place_tag="radiator", opening_level=_walk(0, 100, 0)),
        measure("air_condition_outdoor", temperature=_walk(-20, 28, 0), humidity=_walk(5, 95, 80)),
        measure(
            "weather_outdoor",
            pressure=Clamped(0, 10, 900, 1200, start=1000),
            wind_speed=_walk(0, 60, 0),
            wind_direction=_walk(0, 359, 90),
            precipitation=_walk(5, 95, 80),
        ),
        HomeTable("home_state", (_integer("state"), _text("state_string", HOME_STATES))),
        HomeTable(CONFIG, (_long_text("config_string", LONGEST_KIB << 10),)),
        measure(
            "camera_detection",
            _text("object_type", OBJECTS),
            _text("object_kind", sum(OBJECTS.values(), ())),
        ),
        measure("water_level", level=_walk(0, 8000, 5000)),
        measure("water_leakage_room", _contact("leakage")),
        measure("door_state", _contact("state"), place_tag="door_id"),
    )


def _walk(low: float, high: float, start: float) -> Clamped:
    return Clamped(0, 1, low, high, start)


def _contact(name: str) -> Column:
    """Return a field that is 0 or 1."""
    return _number(name, exact=True)


def _number(name: str, *, exact: bool) -> Column:
    return Column(name, Type.FLOAT64, Role.FIELD, exact=exact)


def _integer(name: str) -> Column:
    return Column(name, Type.INT64, Role.FIELD)


def _text(name: str, values: Iterable[str]) -> Column:
    return _long_text(name, max(map(len, values)))


def _long_text(name: str, most: int) -> Column:
    return Column(name, Type.TEXT, Role.FIELD, max_characters=most)
