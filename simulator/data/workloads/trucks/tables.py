"""The two tables of workload `trucks`: tags, fields and walks, with the numbers of TSBS."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from simulator.data.block import Array
from simulator.data.schema import Column, Index, Role, Table, Type
from simulator.data.walks import Clamped, Drifting, Walk
from simulator.data.workloads.shared.fleets import MOST_MEMBERS, Tag, find_longest

TRUCK = "truck_%d"
FLEETS = ("East", "West", "North", "South")
MODELS = ("F-150", "G-2000", "H-2")
TRUCK_TAGS: Mapping[str, Tag] = {
    "fleet": FLEETS,
    "driver": ("Derek", "Rodney", "Albert", "Andy", "Seth", "Trish"),
    "model": MODELS,
    "device_version": ("v1.0", "v1.5", "v2.0", "v2.3"),
}
"""Tags of text, after the truck's name -> their values."""
MODEL_TAGS: Mapping[str, tuple[int, ...]] = {
    "load_capacity": (2000, 5000, 1500),
    "fuel_capacity": (200, 300, 150),
    "nominal_fuel_consumption": (15, 19, 12),
}
"""Tags of numbers, which follow from the model -> their value for each."""
ALWAYS = ("name", "velocity", "status")
"""Columns that are never NULL."""

FULL_LOAD = 5000
FUEL, LOAD, STATUS = "fuel_state", "current_load", "status"
TANK = 10_000
"""Steps of the walk of `fuel_state` from a full tank to an empty one."""


def _make_walk(step: float, low: float, high: float, start: float | None = None) -> Clamped:
    """Return a walk; its steps have the deviation of uniform steps from -step to step."""
    return Clamped(0, step / math.sqrt(3), low, high, start)


@dataclass(frozen=True, slots=True)
class GridField:
    """A field of doubles on a grid from 0, or from minus the bound, to the bound."""

    bound: int
    steps: int
    """Number of grid steps in one unit."""
    is_signed: bool = False

    @property
    def levels(self) -> Array:
        """The values of the grid."""
        bound = self.bound * self.steps
        levels: Array = np.arange(-bound if self.is_signed else 0, bound + 1) / self.steps
        return levels


FIELDS: Mapping[str, Mapping[str, GridField | None]] = {
    "readings": {
        "latitude": GridField(90, 64, is_signed=True),
        "longitude": GridField(180, 64, is_signed=True),
        "elevation": GridField(5000, 1),
        "velocity": GridField(100, 1),
        "heading": GridField(360, 1),
        "grade": GridField(100, 1),
        "fuel_consumption": GridField(50, 64),
    },
    "diagnostics": {FUEL: GridField(1, 64), LOAD: GridField(FULL_LOAD, 1), STATUS: None},
}
"""Table -> field -> its grid; None: an integer."""
WALKS: Mapping[str, Mapping[str, Walk]] = {
    "readings": {
        "latitude": _make_walk(0.005, -90, 90),
        "longitude": _make_walk(0.005, -180, 180),
        "elevation": _make_walk(10, 0, 5000),
        "velocity": _make_walk(10, 0, 100, start=0),
        "heading": _make_walk(5, 0, 360),
        "grade": _make_walk(5, 0, 100, start=0),
        "fuel_consumption": _make_walk(5, 0, 50, start=25),
    },
    "diagnostics": {FUEL: Drifting(5), STATUS: Clamped(0, 1, 0, 5, start=0)},
}


def make_truck_table(name: str, *, exact: bool, null_tags: bool, null_fields: bool) -> Table:
    """Return a table; `exact`: its doubles are on a grid."""
    lengths = {"name": len(TRUCK % (MOST_MEMBERS - 1))}
    lengths |= {tag: find_longest(values) for tag, values in TRUCK_TAGS.items()}
    columns = [Column("time", Type.TIMESTAMP, Role.TIME)]
    for tag, length in lengths.items():
        nullable = null_tags and tag not in ALWAYS
        columns.append(Column(tag, Type.TEXT, Role.TAG, nullable, max_characters=length))
    columns += [Column(tag, Type.INT16, Role.TAG, null_tags) for tag in MODEL_TAGS]
    for field, grid in FIELDS[name].items():
        kind = Type.INT64 if grid is None else Type.FLOAT64
        nullable = null_fields and field not in ALWAYS
        columns.append(Column(field, kind, Role.FIELD, nullable, exact=exact or grid is None))
    key = ("name", "time")
    return Table(name, tuple(columns), key, indices=(Index("series", key),))
