"""Telemetry of smart homes, as in influxdb-comparisons, use case `iot`.

Thirteen tables (the document's measurements) of different sizes. A home has 4 to 9 rooms, each with
1 to 3 windows, a radiator for each window, and a sensor of air condition, air quality and light;
and 1 to 3 doors, 2 sensors of water leakage and one of each other kind. Numbers of rooms, windows
and doors are drawn for each home, so that tables have different numbers of series: 55.5 per home on
average. Each series has a point every 60 s, except in `home_config`.

Where the document's text and the versions of its code disagree, or do not fit, we decided:

- A day by default, as in the text and the later code; six hours are shorter than the windows of its
  queries.
- The tables are as in the current code. Early versions write `home_config` into `home_state`, and
  `water_level` into `light_level_room`.
- Batteries lose and gain 0.01 V per step (deviation 0.005) in all tables, as in most of the code;
  elsewhere it is 1 V.
- The kind of an unknown object is `unknown`; the code writes `uknown`.
- `home_config`: a configuration has 10 to 19 KiB of the 86 characters from `(` to `~` without the
  backslash, as in the later code. The first one is at the start; then it changes every 1 to 12 h
  (6.5 h on average), and at other ticks there is no point. The code draws a number of hours at each
  tick, so that most of its changes come an hour after the one before. A batch of 1,000
  configurations is 15 MB: choose `--batch` so that the database takes it.
- `room_id` is a tag of the tables of rooms; others do not have that column, so that no tag is NULL.
- Contacts and states of homes are drawn at each tick, from the first on.
- Seed 0 is a seed like any other, not the current time.

Walks have the laws of the document's code, not its values.

- `distribution=documented`: walks begin where they do in the document. None has a drift, so none
  stays on a bound.
- `distribution=unpinned`, the default: they begin anywhere between their bounds, and are reflected
  there, so that all homes and times are alike.
- Batteries and `co_level` move from bound to bound in both. In the code they stop at a bound for
  the rest of the step, which makes a period of 440 steps 0.3 % longer.

Bits per value: on the grid, batteries and `co_level` are multiples of 1/1024 (11 and 13 bits), all
others of 1/64 (10 to 23 bits; the light has most). With full precision they fill a double.
"""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property, lru_cache
from math import ceil, floor

import numpy as np
from pydantic import Field, model_validator

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.fleet import select_fleet_rows, select_members, walks_at
from simulator.data.mixer import (
    Hashes,
    below,
    draw,
    draw_from,
    key_of,
    letters_of,
    random_texts,
    scale,
)
from simulator.data.query import Query, Selection
from simulator.data.query_type import QueryType
from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import Table
from simulator.data.walks import Clamped, Distribution, Precision, UpDown, Walks
from simulator.data.workloads.base import DurationMs, EndMs
from simulator.data.workloads.homes.changes import LEAST_GAP_MS, HomeChanges
from simulator.data.workloads.homes.queries import list_drawn_types, list_fixed_queries
from simulator.data.workloads.homes.tables import (
    CONFIG,
    CONFIG_LETTERS,
    HOME_STATES,
    LONGEST_KIB,
    MOST_ROOMS,
    MOST_WINDOWS,
    OBJECTS,
    SHORTEST_KIB,
    Sensors,
    draw_sensors,
    list_kinds,
)
from simulator.data.workloads.shared.fleets import FleetWorkload, NumberedParams, texts
from simulator.data.workloads.shared.windows import HOUR_MS, MINUTE_MS

MOST_HOMES = 1_000_000
SENSORS_PER_HOME = 55.5
"""Mean number of sensors in a home."""
_MOST_LEVELS = 1 << 15
_CONTACT = np.array([0.0, 1.0])
_STATES, _STATE_TEXTS = np.arange(len(HOME_STATES)), texts(HOME_STATES)
_TYPES, _KINDS = texts(tuple(OBJECTS)), texts(sum(OBJECTS.values(), ()))
_KIND_BOUND = 12  # 1, 4 and 6 divide it


class HomesParams(NumberedParams):
    """The homes, their time, and how their values are drawn."""

    series_per_member = SENSORS_PER_HOME
    most_members = MOST_HOMES

    scale: int = Field(1, ge=1, le=MOST_HOMES, description="number of homes")
    interval_ms: DurationMs = Field(
        MINUTE_MS, ge=1, le=LEAST_GAP_MS, description="time between two points of a series"
    )
    duration_ms: EndMs = Field(24 * HOUR_MS, ge=1, description="end of the data, exclusive")
    distribution: Distribution = Field(
        Distribution.UNPINNED,
        description="documented: values begin where they do in the document",
    )

    @model_validator(mode="after")
    def _fits_a_lane(self) -> "HomesParams":
        if self.ticks * self.scale * MOST_ROOMS * MOST_WINDOWS > LANE_ROWS:
            raise ValueError(
                f"scale {self.scale} x {self.ticks} points per sensor can be more than"
                f" {LANE_ROWS} rows per table; reduce the scale, or choose an earlier end"
            )
        return self


class Homes(FleetWorkload):
    """Thirteen tables of smart homes. Row n of a table is (tick, sensor) = divmod(n, sensors).

    Rows of `home_config` are the changes of homes/changes.py and depend on the number of homes.
    """

    name = "homes"
    version = 1
    params_model = HomesParams
    params: HomesParams

    def __init__(self, params: HomesParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        exact = params.precision is Precision.GRID
        self._kinds = {kind.name: kind for kind in list_kinds(exact=exact)}
        self.tables = tuple(kind.table for kind in self._kinds.values())
        self._walks = {
            name: Walks(name, kind.walks, seed, params.distribution, params.precision)
            for name, kind in self._kinds.items()
        }
        self._changes = HomeChanges(
            params.scale,
            params.interval_ms,
            params.ticks * params.interval_ms,
            time_key=key_of(seed, "home_config.time"),
            turn_key=key_of(seed, "home_config.turn"),
        )
        self._tags = lru_cache(maxsize=None)(
            lambda table: self._sensors[table].tags(self._kinds[table].place_tag)
        )

    @cached_property
    def _sensors(self) -> Mapping[str, Sensors]:
        first, homes = self.params.scale_offset, self.params.scale
        found = draw_sensors(self.seed, first + homes)
        return {name: sensors.since(first) for name, sensors in found.items()}

    def size(self, table: Table) -> int:
        if table.name == CONFIG:
            return self._changes.rows
        return self.params.ticks * len(self._sensors[table.name])

    def series(self, table: Table) -> int:
        """Return the number of sensors; 1 for `home_config`, where homes have no fixed order."""
        return 1 if table.name == CONFIG else len(self._sensors[table.name])

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        asked = {column.name for column in table.fields}
        if table.name == CONFIG:
            series, since_start = self._changes.homes_at(rows), self._changes.seen_ms(rows)
            fields = self._draw_configurations(rows) if asked else {}
        else:
            ticks, series = np.divmod(rows, len(self._sensors[table.name]))
            since_start = ticks * self.params.interval_ms
            numbers = series + self._sensors[table.name].before
            walked = walks_at(self._walks[table.name].only(asked), ticks, numbers)
            fields = {name: self._put_on_grid(table.name, name, v) for name, v in walked.items()}
            if asked - fields.keys():
                fields |= self._draw_fields(table.name, ticks, numbers)
        levels = self._tags(table.name)
        return {
            table.time.name: Values(since_start + self.start_ms),
            **{tag.name: Coded(series, levels[tag.name]) for tag in table.tags},
            **{column.name: fields[column.name] for column in table.fields},
        }

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        params, tags = self.params, self._tags(table.name)
        if table.name != CONFIG:
            return select_fleet_rows(
                tags, selection, params.ticks, self.start_ms, params.interval_ms
            )
        changes = self._changes
        seen = selection.places(lambda t: changes.before(t - self.start_ms), changes.rows)
        homes = select_members(tags, selection)
        if len(homes) == params.scale:
            return None if 2 * len(seen) > changes.rows else np.arange(seen.start, seen.stop)
        return changes.rows_of_homes(homes, seen.start, seen.stop)

    def _put_on_grid(self, table: str, name: str, values: Array) -> ColumnData:
        """Return a walk with the fleet's precision; coded if its grid has few levels."""
        if self.params.precision is Precision.FULL:
            return Values(values)
        walk = self._kinds[table].walks[name]
        assert isinstance(walk, Clamped | UpDown)
        unit = 1024 if isinstance(walk, UpDown) else 64
        first, last = ceil(walk.low * unit), floor(walk.high * unit)
        steps = np.clip(np.floor(values * unit).astype(np.int64), first, last)
        if last - first < _MOST_LEVELS:
            return Coded(steps - first, _make_grid(first, last, unit))
        return Values(steps / unit)

    def _draw_fields(self, table: str, ticks: Rows, series: Rows) -> dict[str, ColumnData]:
        """Return the fields that are drawn at each tick."""
        hashes = draw_from(draw(key_of(self.seed, f"{table}.drawn"), series), ticks)
        match table:
            case "home_state":
                states = scale(hashes, len(HOME_STATES))
                return {
                    "state": Coded(states, _STATES),
                    "state_string": Coded(states, _STATE_TEXTS),
                }
            case "camera_detection":
                return _detect(hashes)
        contact = self._kinds[table].columns[0].name
        return {contact: Coded(scale(hashes, 2), _CONTACT)}

    def _draw_configurations(self, rows: Rows) -> dict[str, ColumnData]:
        sizes = below(key_of(self.seed, "config.size"), rows, LONGEST_KIB - SHORTEST_KIB + 1)
        lengths = (SHORTEST_KIB + sizes) << 10
        key = key_of(self.seed, "config.text")
        return {"config_string": random_texts(key, rows, lengths, letters_of(CONFIG_LETTERS))}

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        return list_fixed_queries({table.base: table for table in tables})

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        windows = self._make_windows(aligned=aligned, until_ms=until_ms)
        named = {table.base: table for table in tables}
        return list_drawn_types(named, windows, self.params.scale, self.params.scale_offset)


def _detect(hashes: Hashes) -> dict[str, ColumnData]:
    """Return the objects that a camera detects: types, and kinds of a type, are equally likely."""
    counts = np.array([len(each) for each in OBJECTS.values()])
    types, places = np.divmod(scale(hashes, len(OBJECTS) * _KIND_BOUND), _KIND_BOUND)
    of_type = np.cumsum(counts) - counts
    return {
        "object_type": Coded(types, _TYPES),
        "object_kind": Coded(of_type[types] + places % counts[types], _KINDS),
    }


@cache
def _make_grid(first: int, last: int, unit: int) -> Array:
    return np.arange(first, last + 1) / unit
