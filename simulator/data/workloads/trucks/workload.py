"""Trucks that send measurements late, out of order and with gaps: TSBS, use case `iot`.

Two tables, `readings` (seven fields) and `diagnostics` (three), with eight tags: a point per truck
and interval; 89.1 % of the points are sent. Rows are numbered in the order of sending, in which
time does not rise: each truck in turn sends nine points at once, and one batch in 20 comes rounds
later (deliveries.py). Per table, 1 % of the batches and 10 % of the points of other batches are
missing, and 30 % of the points are late within their batch.

Where the document's text and code leave something open or do not fit here, we decided:

- A batch has ten points of one truck. In the code it has ten points of the whole stream; with
  hundreds of trucks they have the same time, and a late batch is not late.
- Strata make shares exact, so that any row can be drawn alone; the code draws for each batch.
- One row in ten has a NULL field, one in 100 a NULL tag, as in the code. `name` is never NULL, so
  that truck and time identify a row; `velocity` and `status` are never NULL either, because
  databases that store each value as a point count rows by a field. OpenTSDB and Graphite have no
  NULL tag: use `nulls=fields`.
- The fleet grows batch by batch from `initial_scale` to `scale`; the last truck joins for the last
  batch. By default (0) it does not grow, as in the code.
- Capacities and the nominal consumption are tags, as in the code; they are integers, not floats. A
  load is up to 5000 for every truck, as in the code.
- Positions start anywhere on earth; the code uses a quarter of it, and starts elevations below 500.
- `fuel_state` falls by 0.0005 in each interval on average, as in the code, but with a deviation of
  0.0001, and is 1 again when it would be 0. `current_load` changes once in 20 intervals.
- A day by default, as in TSBS. The start is the dataset's; TSBS has 2016-01-01.
- `distribution=documented`: walks stop at their bounds, start where the code does (velocity, grade
  and status 0, consumption 25, the tank full). `unpinned`: they are reflected, and start anywhere.
- The tables form no group, because a payload that mixes tables needs rising times.

Bits per value: on the grid, doubles are whole numbers (elevation, velocity, heading, grade and
load, which the code rounds like that, too) or multiples of 1/64 (positions to 1.7 km, where the
code has five decimals); with full precision all bits are random.
"""

from collections.abc import Collection, Iterable, Sequence
from enum import StrEnum
from functools import cached_property

import numpy as np
from pydantic import Field as Described
from pydantic import model_validator

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.fleet import select_members, walks_at
from simulator.data.mixer import below, draw, fractions, key_of
from simulator.data.query import Query, Selection
from simulator.data.query_type import QueryType
from simulator.data.ranges import RowRange
from simulator.data.schema import Table
from simulator.data.walks import Distribution, Precision, Walks
from simulator.data.workloads.base import EndMs
from simulator.data.workloads.shared.fleets import MOST_MEMBERS, FleetParams, FleetWorkload, Members
from simulator.data.workloads.shared.windows import DAY_MS
from simulator.data.workloads.trucks.deliveries import POINTS, Absent, Deliveries, number_pairs
from simulator.data.workloads.trucks.queries import list_drawn_types, list_fixed_queries
from simulator.data.workloads.trucks.tables import (
    FIELDS,
    FUEL,
    FULL_LOAD,
    LOAD,
    MODEL_TAGS,
    MODELS,
    TANK,
    TRUCK,
    TRUCK_TAGS,
    WALKS,
    make_truck_table,
)

_NULL_FIELD_ROWS, _NULL_TAG_ROWS = 10, 100
"""Numbers of rows among which one has a NULL."""
_LOAD_TICKS = 20
"""Number of ticks among which one changes the load."""
_MOST_TOGETHER, _MOST_BATCHES = 400, 64
"""Limits up to which trucks are drawn for all ticks at once; beyond them, batch by batch."""


class Nulls(StrEnum):
    """Values that may be NULL."""

    ALL = "all"
    FIELDS = "fields"
    NONE = "none"


class TrucksParams(FleetParams):
    """The fleet of trucks, its growth, and its NULLs."""

    scale: int = Described(1, ge=1, le=MOST_MEMBERS, description="number of trucks")
    duration_ms: EndMs = Described(DAY_MS, ge=1, description="end of the data, exclusive")
    initial_scale: int = Described(
        0,
        ge=0,
        description="number of trucks at the start; the fleet grows until the end; 0: all of them",
    )
    nulls: Nulls = Described(
        Nulls.ALL,
        description="all: 10 % of the rows have a NULL field, 1 % a NULL tag; fields: for databases"
        " without NULL tags",
    )

    @property
    def batches(self) -> int:
        """Number of batches of ten points that a truck makes; a truncated batch is not sent."""
        return self.ticks // POINTS

    @model_validator(mode="after")
    def _holds_batches(self) -> "TrucksParams":
        if self.ticks and not self.batches:
            raise ValueError(
                f"from start to end are {self.ticks} intervals, and a truck sends ten at once;"
                " choose a later end"
            )
        if self.initial_scale > self.scale:
            raise ValueError(
                f"initial_scale {self.initial_scale} is more than scale {self.scale}, to which the"
                " fleet grows; choose a smaller one"
            )
        return self


class Trucks(FleetWorkload):
    """Two tables of a fleet of trucks."""

    name = "trucks"
    version = 1
    params_model = TrucksParams
    params: TrucksParams
    time_rises = False

    def __init__(self, params: TrucksParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        self.tables = tuple(
            make_truck_table(
                name,
                exact=params.precision is Precision.GRID,
                null_tags=params.nulls is Nulls.ALL,
                null_fields=params.nulls is not Nulls.NONE,
            )
            for name in FIELDS
        )
        initial = params.initial_scale or params.scale
        self._sends = {
            name: Deliveries(name, seed, params.batches, params.scale, initial) for name in FIELDS
        }
        self._walks = {
            name: Walks(name, walks, seed, params.distribution, params.precision)
            for name, walks in WALKS.items()
        }
        self._absent = {table.name: self._make_absences(table) for table in self.tables}

    def nulls(self, table: Table, ranges: Iterable[RowRange]) -> int:
        """Return how many values are NULL in these rows: all fields, all tags, or both."""
        listed, names = list(ranges), {column.name for column in table.columns}
        absences = self._absent[table.name]
        return sum(each.count(listed) for each in absences if names.issuperset(each.columns))

    def size(self, table: Table) -> int:
        return self._sends[table.name].rows

    def series(self, table: Table) -> int:
        """Return 0: trucks send batches, and their number grows."""
        return 0

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        ticks, trucks = self._sends[table.name].points(rows)
        valid: dict[str, Array] = {}
        for absent in self._absent[table.name]:
            valid |= absent.present(rows)
        fields = self._draw_fields(table, ticks, trucks)
        return {
            table.time.name: Values(ticks * self.params.interval_ms + self.start_ms),
            **{t.name: Coded(trucks, self._tags[t.name], valid.get(t.name)) for t in table.tags},
            **{f.name: self._encode_field(table, f.name, fields, valid) for f in table.fields},
        }

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        start, interval = self.start_ms, self.params.interval_ms
        ticks = selection.places(lambda t: -((start - t) // interval), self._ticks)
        members = select_members(self._tags, selection)
        return self._sends[table.name].candidates(members, ticks.start, ticks.stop)

    @property
    def _ticks(self) -> int:
        return self.params.batches * POINTS

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        readings, diagnostics = tables
        return list_fixed_queries(readings, diagnostics)

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        windows = self._make_windows(aligned=aligned, until_ms=until_ms)
        readings, diagnostics = tables
        return list_drawn_types(readings, diagnostics, windows, self.params.scale)

    def _make_absences(self, table: Table) -> list[Absent]:
        found = []
        for columns, rows in ((table.fields, _NULL_FIELD_ROWS), (table.tags, _NULL_TAG_ROWS)):
            names = tuple(column.name for column in columns if column.nullable)
            if names:
                key = key_of(self.seed, f"{table.name}.null.{columns[0].role}")
                found.append(Absent(key, rows, names))
        return found

    def _encode_field(
        self, table: Table, name: str, fields: dict[str, Array], valid: dict[str, Array]
    ) -> ColumnData:
        values, present = fields[name], valid.get(name)
        grid = FIELDS[table.name][name]
        if grid is None:
            return Values(values.astype(np.int64), present)
        if self.params.precision is Precision.FULL:
            return Values(values, present)
        levels = self._levels[name]
        codes = ((values - levels[0]) * grid.steps).astype(np.int64)
        return Coded(codes, levels, present)

    def _draw_fields(self, table: Table, ticks: Rows, trucks: Rows) -> dict[str, Array]:
        asked = {column.name for column in table.fields}
        found = self._draw_walks(table.name, asked & WALKS[table.name].keys(), ticks, trucks)
        if FUEL in found:
            found[FUEL] = self._derive_fuel(found[FUEL], trucks)
        if LOAD in asked:
            found[LOAD] = self._draw_load(ticks, trucks)
        return found

    def _draw_walks(
        self, table: str, names: Collection[str], ticks: Rows, trucks: Rows
    ) -> dict[str, Array]:
        """Return these walks. Trucks that send the same batch share its ticks."""
        found = {name: np.empty(len(ticks)) for name in names}
        if not names or not len(ticks):
            return found
        walks, order = self._walks[table].only(names), np.lexsort((trucks, ticks))
        edges = np.flatnonzero(np.diff(ticks[order] // POINTS)) + 1
        is_wide = len(np.unique(trucks)) > _MOST_TOGETHER and len(edges) < _MOST_BATCHES
        for rows in np.split(order, edges) if is_wide else [order]:
            for name, values in walks_at(walks, ticks[rows], trucks[rows]).items():
                found[name][rows] = values
        return found

    def _derive_fuel(self, used: Array, trucks: Rows) -> Array:
        """Return the share of fuel left; an empty tank is full again."""
        shares: Array = used / TANK
        if self.params.distribution is Distribution.UNPINNED:
            shares += fractions(draw(key_of(self.seed, f"{FUEL}.start"), trucks))
        left: Array = 1 - (shares - np.floor(shares))
        return left

    def _draw_load(self, ticks: Rows, trucks: Rows) -> Array:
        """Return the load, which changes once in each stratum of ticks."""
        strata, places = np.divmod(ticks, _LOAD_TICKS)
        changes = below(
            key_of(self.seed, f"{LOAD}.change"), number_pairs(trucks, strata), _LOAD_TICKS
        )
        hashes = draw(key_of(self.seed, LOAD), number_pairs(trucks, strata + (places >= changes)))
        if self.params.precision is Precision.FULL:
            return fractions(hashes) * FULL_LOAD
        loads: Array = np.floor(fractions(hashes) * (FULL_LOAD + 1))
        return loads

    @cached_property
    def _levels(self) -> dict[str, Array]:
        """The values that each field of doubles has on the grid."""
        grids = (item for fields in FIELDS.values() for item in fields.items())
        return {name: grid.levels for name, grid in grids if grid is not None}

    @cached_property
    def _tags(self) -> dict[str, Array]:
        """Tag -> the value of each truck."""
        members = Members(self.seed, self.params.scale)
        models = members.numbers("model", len(MODELS))
        return {
            "name": members.format_numbers(TRUCK),
            **{tag: members.tag(tag, values) for tag, values in TRUCK_TAGS.items()},
            **{tag: np.array(v, np.int16).take(models) for tag, v in MODEL_TAGS.items()},
        }
