"""Many tables of one column, as in influxdb-comparisons, use case `multi-measurement`.

`scale` x 50 tables (the document's measurements), each with 50 points of one random number and no
tags: about one point per shard for a year in InfluxDB, where shards then hold a week.

Where the document's code leaves something open or does not fit, we decided:

- Tables are called `measurement_0000` and so on, the column `field_0`. The code has `Measurement-0`
  and `Field-0`, which few databases accept without quotes.
- Each table has exactly 50 points; the code draws the table of each point. Here the time has 50
  sections, and each table has a point at a random time in each section: the points of all tables
  mix as in the code, and any point can be drawn alone.
- A day by default, as in the help of the document's program.

`multi-measurement-or` reads two random tables at once and exists only by name, because a query is
about one table. `measurement-rows` reads one random table; two instances read as much as one of the
document's, in two requests.

Bits per value: multiples of 1/8192 from 0 to 1 on the grid (13 bits), and 53 random bits with full
precision.
"""

from collections.abc import Callable, Sequence

import numpy as np
from pydantic import Field, model_validator

from simulator.data.block import ColumnData, Rows, Values
from simulator.data.mixer import below, key_of
from simulator.data.query import Query, RowsQuery, Selection, count_rows
from simulator.data.query_type import QueryType, RandomParameters, impossible
from simulator.data.schema import Column, Index, Role, Table, Type
from simulator.data.walks import Precision
from simulator.data.workloads.base import EndMs, Params, Workload
from simulator.data.workloads.shared.fleets import draw_shares
from simulator.data.workloads.shared.windows import DAY_MS

TABLES_PER_SCALE = 50
POINTS = 50
MOST_SCALE = 200
_MOST_SECTION_MS = (1 << 31) - 1
_NAME = "measurement_%04d"
"""The four digits keep names of parts of a table different from names of other tables."""
_GROUP = "multi_measurement"


class MultiMeasurementParams(Params):
    """Number of tables, and the distribution of their points."""

    scale: int = Field(
        1, ge=1, le=MOST_SCALE, description="a fiftieth of the number of tables, of 50 points each"
    )
    duration_ms: EndMs = Field(DAY_MS, ge=1, description="end of the data, exclusive")
    precision: Precision = Field(
        Precision.GRID, description="grid: about 13 bits a value; full: every bit of a double"
    )

    @property
    def tables(self) -> int:
        """The number of tables."""
        return self.scale * TABLES_PER_SCALE

    @property
    def section_ms(self) -> int:
        """The time in which every table has one point."""
        return self.duration_ms // POINTS

    @model_validator(mode="after")
    def _has_sections(self) -> "MultiMeasurementParams":
        if not 1 <= self.section_ms <= _MOST_SECTION_MS:
            raise ValueError(
                f"from start to end are {self.duration_ms} ms, and a table has a point in each"
                f" fiftieth of them, of 1 to {_MOST_SECTION_MS} ms; choose another end"
            )
        return self


class MultiMeasurement(Workload):
    """Tables without tags; row n of each is in section n of the time."""

    name = "multi-measurement"
    version = 1
    params_model = MultiMeasurementParams
    has_end = True
    params: MultiMeasurementParams

    def __init__(self, params: MultiMeasurementParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        columns = (
            Column("time", Type.TIMESTAMP, Role.TIME),
            Column("field_0", Type.FLOAT64, Role.FIELD, exact=params.precision is Precision.GRID),
        )
        key = ("time",)
        self.tables = tuple(
            Table(
                _NAME % number, columns, key, indices=(Index("series", key),), group=_GROUP,
                distinct_times=True,
            )
            for number in range(params.tables)
        )  # fmt: skip

    @property
    def precision(self) -> Precision:
        return self.params.precision

    def size(self, table: Table) -> int:
        return POINTS

    def series(self, table: Table) -> int:
        """Return 0: a table is one series, which workers cannot share."""
        return 0

    def last_ms(self, rows: int) -> int:
        return self.start_ms + self.params.duration_ms

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        return {column.name: self._draw_column(table, column, rows) for column in table.columns}

    def _draw_column(self, table: Table, column: Column, rows: Rows) -> ColumnData:
        key = key_of(self.seed, f"{table.name}.{column.name}")
        if column.role is Role.TIME:
            section = self.params.section_ms
            return Values(self.start_ms + rows * section + below(key, rows, section))
        return draw_shares(key, rows, self.params.precision)

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        section = self.params.section_ms
        first = 0 if selection.since is None else (selection.since - self.start_ms) // section
        stop = POINTS
        if selection.until is not None:
            stop = -((self.start_ms - selection.until) // section)
        return np.arange(max(first, 0), min(max(stop, 0), POINTS))

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return no queries, because all queries are about random tables."""
        return {}

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        """Return the document's type, and types that can be asked in its place."""

        def make_type(name: str, query: Callable[[Table], Query]) -> QueryType:
            parameters = RandomParameters(self.seed, name)

            def instance(number: int) -> Query:
                (place,) = parameters.among(number, len(tables), 1)
                return query(tables[place])

            return QueryType(instance)

        everything = Selection(since=self.start_ms, until=self.start_ms + self.params.duration_ms)
        return {
            "multi-measurement-or": impossible(
                "it reads two tables at once, which the language of queries does not express;"
                " measurement-rows reads one"
            ),
            "measurement-rows": make_type(
                "measurement-rows",
                lambda table: RowsQuery(table, tuple(c.name for c in table.columns), everything),
            ),
            "count-measurement": make_type("count-measurement", count_rows),
        }
