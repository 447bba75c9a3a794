"""One table of many series with few points, as in influxdb-comparisons, use case `metaquery`.

`example_measurement` has the tags `x` and `y`, each with `scale` values, and `scale` squared points
with random tags, spread evenly over the time. About 63 % of the combinations of tags occur, and
most series have one or two points: the cardinality is high.

Where the document's code leaves something open or does not fit, we decided:

- The code calls the tags `X` and `Y`. Here they are lower case, because SQL folds names.
- Points are whole milliseconds apart, so every point has a different time; a day has room for 9,295
  squared points.
- Tags have 100 values by default; the code has one value and a single point.
- `cardinality`, a number of series, determines the scale. In the code, the scale is a ninth of the
  cardinality in every use case.

Queries have the names of the document's programs:

- `tag-values`: the values of `x`, with the number of rows of each. The document lists 200 of them.
- `cardinality`: the number of series, counted in the rows. The document asks InfluxDB's index.
- `field-keys` reads a database's catalogue, and exists by name only.
- `group-window-transpose-high-card`: an aggregate of `val` by `x` and hour in 12 random hours, with
  `-count`, `-sum`, `-mean`, `-min`, `-max`, `-first` and `-last`.

Bits per value: `val` is a multiple of 1/8192 from 0 to 1 on the grid (13 bits), and has 53 random
bits with full precision.
"""

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import Field, model_validator

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.mixer import below, key_of
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    Query,
    Selection,
    count_rows,
)
from simulator.data.query_type import QueryType, impossible
from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import Column, Index, Role, Table, Type
from simulator.data.walks import Precision
from simulator.data.workloads.base import EndMs, Params, Workload
from simulator.data.workloads.shared.fleets import compute_wanted_series, draw_shares, texts
from simulator.data.workloads.shared.windows import DAY_MS, FUNCTIONS, HOUR_MS, Windows

MOST_SCALE = 1 << 20
OCCURRING = 1 - 1 / math.e
"""The share of the combinations of tags that occur."""
_TABLE, _TAGS, _TAG = "example_measurement", ("x", "y"), "Tag-%d"
_HOURS = 12


class MetaqueryParams(Params):
    """Number of tags, and the distribution of the points."""

    scale: int = Field(
        100,
        ge=1,
        le=MOST_SCALE,
        description="values of each of the two tags; its square is the number of points",
    )
    duration_ms: EndMs = Field(DAY_MS, ge=1, description="end of the data, exclusive")
    cardinality: int = Field(
        0, ge=0, description="approximate number of series; replaces --scale; 0: use --scale"
    )
    precision: Precision = Field(
        Precision.GRID, description="grid: about 13 bits a value; full: every bit of a double"
    )

    @property
    def points(self) -> int:
        """Number of all points."""
        return self.scale**2

    @property
    def step_ms(self) -> int:
        """The time from one point to the next."""
        return self.duration_ms // self.points

    @model_validator(mode="before")
    @classmethod
    def _as_many_as_series(cls, given: Any) -> Any:
        wanted = compute_wanted_series(given)
        return {**given, "scale": round(math.sqrt(wanted / OCCURRING))} if wanted else given

    @model_validator(mode="after")
    def _fits_the_time(self) -> "MetaqueryParams":
        if not self.step_ms:
            raise ValueError(
                f"scale {self.scale} makes {self.points} points, and from start to end are"
                f" {self.duration_ms} ms, one for each point at least; choose a later end"
            )
        if self.points > LANE_ROWS:
            raise ValueError(f"scale {self.scale} makes more than {LANE_ROWS} points; reduce it")
        return self


class Metaquery(Workload):
    """One table; its row n is the n-th point in time."""

    name = "metaquery"
    version = 1
    params_model = MetaqueryParams
    has_end = True
    params: MetaqueryParams

    def __init__(self, params: MetaqueryParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        exact = params.precision is Precision.GRID
        characters, key = len(_TAG % (MOST_SCALE - 1)), (*_TAGS, "time")
        table = Table(
            _TABLE,
            (
                Column("time", Type.TIMESTAMP, Role.TIME),
                *(Column(tag, Type.TEXT, Role.TAG, max_characters=characters) for tag in _TAGS),
                Column("val", Type.FLOAT64, Role.FIELD, exact=exact),
            ),
            key,
            indices=(Index("series", key),),
            distinct_times=True,
        )
        self.tables = (table,)

    @property
    def precision(self) -> Precision:
        return self.params.precision

    def size(self, table: Table) -> int:
        return self.params.points

    def series(self, table: Table) -> int:
        """Return 0: the series of a point are random."""
        return 0

    def last_ms(self, rows: int) -> int:
        return self.start_ms + self.params.duration_ms

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        return {column.name: self._draw_column(column, rows) for column in table.columns}

    def _draw_column(self, column: Column, rows: Rows) -> ColumnData:
        if column.role is Role.TIME:
            return Values(rows * self.params.step_ms + self.start_ms)
        key = key_of(self.seed, f"{_TABLE}.{column.name}")
        if column.role is Role.TAG:
            return Coded(below(key, rows, self.params.scale), self._texts)
        return draw_shares(key, rows, self.params.precision)

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        step, points = self.params.step_ms, self.params.points
        chosen = selection.places(lambda t: -((self.start_ms - t) // step), points)
        return None if 2 * len(chosen) > points else np.arange(chosen.start, chosen.stop)

    @cached_property
    def _texts(self) -> Array:
        return texts([_TAG % number for number in range(self.params.scale)])

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        (table,) = tables
        return {
            "tag-values": AggregateQuery(table, (Aggregate(Function.COUNT),), by=_TAGS[:1]),
            "cardinality": DistinctQuery(table, _TAGS),
            f"count-{table.base}": count_rows(table),
        }

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        (table,) = tables
        end = self.start_ms + self.params.points * self.params.step_ms
        until = end if until_ms is None else min(end, until_ms)
        windows = Windows(self.seed, self.start_ms, until, aligned)
        types: dict[str, QueryType] = {}
        for function_name, function in FUNCTIONS.items():
            name = f"group-window-transpose-high-card-{function_name}"
            asked = (Aggregate(function, "val"),)
            query = AggregateQuery(table, asked, by=_TAGS[:1], bucket=HOUR_MS)
            types[name] = windows.make_type(name, query, _HOURS, HOUR_MS)
        types["field-keys"] = impossible("it reads the database's catalogue, not the rows")
        return types
