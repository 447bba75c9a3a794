"""The three tables of "Benchmarking Mysql, Postgres, MongoDB performance in NoSQL mode".

`slim` has two integers and no key; `light` a counter as its primary key, three integers and one
secondary index; `large` a counter, a text of 200 letters and eight integers. The document's
programs write random values for a time, so the tables have no end: each worker has its own rows.

Where the document's text and its programs disagree or leave something open, we decided:

- `timestamp` is the second since 1970, in 32 bits, and rises, as its name and type suggest. The
  number in the text's example does not fit into the type; in the programs, `light` and `large` lack
  the column. In `large` it is the first of the eight integers, so there are ten columns.
- `--rows-per-second` rows of a worker have the same timestamp, at any rate of sending, because rows
  are a function of their number. The document asks about a rate of 1,000.
- All other integers are uniform, and not negative: 31 bits, as in the programs, and 15 bits in the
  columns `smallint` of the text.
- The secondary index is on `val1`, because the statement in the text names a column that does not
  exist. Like all indices, it is created if the target's option `create_indices` is set.
- The database generates the primary key by default (--primary-key); `slim` has none.
- The text of `large` always has 200 letters, as in the programs. Pairs of letters are drawn with 16
  bits, so some pairs are 4 % more frequent than others.
- The programs' read mode asks for ranges of the counter, which is not part of our rows; the queries
  here read all rows.

No columns identify a row: equal rows are possible and counted. A database that replaces rows with
the same tags and time cannot store these tables.
"""

from collections.abc import Sequence
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simulator.data.block import ColumnData, Rows, Values
from simulator.data.mixer import below, draw, draw_each, key_of
from simulator.data.query import Aggregate, AggregateQuery, Function, Query, count_rows
from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import Column, Index, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.data.workloads.base import Params, Workload

LETTERS = np.frombuffer(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8)
TEXT_LETTERS = 200
_LETTERS_A_DRAW = 8
_SECONDS = 1 << 31
"""Upper bound of timestamps, reached in 2038."""
_BOUNDS = {Type.INT16: 1 << 15, Type.INT32: 1 << 31}


class NosqlParams(Params):
    """Number of rows with the same timestamp."""

    rows_per_second: int = Field(
        1000, ge=1, le=LANE_ROWS, description="rows of a worker with the same timestamp"
    )


class _Nosql(Workload):
    """One table without an end; its rows have a timestamp and random values."""

    version = 1
    params_model = NosqlParams
    params: NosqlParams
    table: ClassVar[Table]

    def __init__(self, params: NosqlParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        self._start_s = start_ms // 1000
        self.tables = (self.table,)

    @property
    def lane_rows(self) -> int:
        """Return the number of rows with timestamps of 32 bits."""
        seconds = _SECONDS - self._start_s if self._start_s >= -_SECONDS else 0
        return min(max(seconds, 0) * self.params.rows_per_second, LANE_ROWS)

    def last_ms(self, rows: int) -> int:
        return (self._start_s + max(rows - 1, 0) // self.params.rows_per_second) * 1000

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        return {column.name: Values(self._draw_column(column, rows)) for column in table.columns}

    def _draw_column(self, column: Column, rows: Rows) -> NDArray[np.generic]:
        if column.role is Role.TIME:
            seconds = (rows & (LANE_ROWS - 1)) // self.params.rows_per_second
            return (seconds + self._start_s).astype(np.int32)
        key = key_of(self.seed, f"{self.name}.{column.name}")
        if column.type is Type.TEXT:
            return _draw_texts(key, rows)
        numbers = below(key, rows, _BOUNDS[column.type])
        return numbers.astype(np.int16 if column.type is Type.INT16 else np.int32)

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        (table,) = tables
        functions = (Function.MIN, Function.MAX, Function.AVG)
        numbers = [column.name for column in table.fields if column.type in _BOUNDS][:2]
        stats = tuple(Aggregate(function, name) for name in numbers for function in functions)
        return {
            f"count-{table.base}": count_rows(table),
            f"{table.base}-stats": AggregateQuery(table, stats),
        }


class Slim(_Nosql):
    """Two integers, without key and index."""

    name = "slim"
    default_key = PrimaryKey.NONE
    table = Table(
        "slim",
        (
            Column("timestamp", Type.INT32, Role.TIME),
            Column("value", Type.INT32, Role.FIELD),
        ),
        key=(),
        time_unit=TimeUnit.SECOND,
    )


class Light(_Nosql):
    """A counter and three integers, one of them with an index."""

    name = "light"
    default_key = PrimaryKey.DB
    table = Table(
        "light",
        (
            Column("timestamp", Type.INT32, Role.TIME),
            Column("val1", Type.INT16, Role.FIELD),
            Column("val2", Type.INT16, Role.FIELD),
        ),
        key=(),
        time_unit=TimeUnit.SECOND,
        indices=(Index("val1", ("val1",)),),
    )


class Large(_Nosql):
    """A counter, a text and eight integers."""

    name = "large"
    default_key = PrimaryKey.DB
    table = Table(
        "large",
        (
            Column("value", Type.TEXT, Role.FIELD, max_characters=TEXT_LETTERS),
            Column("timestamp", Type.INT32, Role.TIME),
            *(Column(f"col{place}", Type.INT32, Role.FIELD) for place in range(2, 9)),
        ),
        key=(),
        time_unit=TimeUnit.SECOND,
    )


def _draw_texts(key: int, rows: Rows) -> NDArray[np.generic]:
    draws = np.arange(TEXT_LETTERS // _LETTERS_A_DRAW)
    pairs = draw_each(draw(key, draws), rows).view(np.uint16)
    letters: NDArray[np.generic] = _list_pairs().take(pairs).view(f"S{TEXT_LETTERS}")
    return letters.ravel()


@cache
def _list_pairs() -> NDArray[np.uint16]:
    """Return the two letters for each 16-bit value."""
    numbers = np.arange(1 << 16) * len(LETTERS) ** 2 >> 16
    both = np.stack(np.divmod(numbers, len(LETTERS)), axis=1)
    return np.ascontiguousarray(LETTERS[both]).view(np.uint16).ravel()
