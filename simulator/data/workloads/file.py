"""The rows of a user's own file (`insert --data`), which the command line has prepared.

A prepared file is a folder of plain arrays, one or two per column, named by `content_path`. A block
is one read of each: no parsing, no library, and memory that does not grow with the file. (An Arrow
file would cut its columns into record batches, and each worker would have to load pyarrow.)
"""

from collections.abc import Sequence
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ConfigDict

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.query import Aggregate, AggregateQuery, Function, NewestQuery, Query
from simulator.data.schema import FLOATS, Column, Role, Table, TimeUnit, Type, dtype_of
from simulator.data.workloads.base import Params, Workload

_ASKED_FIELDS = 2


class Content(StrEnum):
    """What one file of the prepared folder holds of a column, row by row."""

    VALUES = "values"
    """Numbers, instants and booleans, as a block has them."""
    VALID = "valid"
    """False where the value is NULL; only of columns that have NULLs."""
    CODES = "codes"
    """Of a text with few different values: their place in LEVELS."""
    LEVELS = "levels"
    """The different values, as .npy."""
    BYTES = "bytes"
    """Of a text with many different values: the texts, one behind the other."""
    OFFSETS = "offsets"
    """Where each text begins in BYTES, and where the last one ends."""


def content_path(folder: Path, column: int, content: Content) -> Path:
    """Return the file with this content of the column."""
    return folder / f"{column}.{content}"


class FileColumn(BaseModel):
    """A column of the file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    type: Type
    role: Role
    nullable: bool = False
    """Whether there are NULLs in it."""
    coded: bool = False
    """Whether it is a text with few different values."""
    summable: bool = False
    """Whether it is a number whose sum fits into its type, so that databases can return it."""


class FileParams(Params):
    """What the file is, what its columns are, and where its rows lie prepared."""

    source: str
    sha256: str
    rows: int
    table: str
    columns: tuple[FileColumn, ...]
    unique: bool = False
    """Whether (tags, time) was seen to be different in every row."""
    folder: str
    """Exists only as long as the command that prepared it."""


class File(Workload):
    """One table, the rows of a file, numbered from 0 in lane 0."""

    name = "file"
    version = 1
    params_model = FileParams
    params: FileParams

    def __init__(self, params: FileParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        columns = tuple(
            Column(c.name, c.type, c.role, nullable=c.nullable, exact=c.type not in FLOATS)
            for c in params.columns
        )
        table = Table(params.table, columns, key=(), time_unit=TimeUnit.MICROSECOND)
        key = (*(tag.name for tag in table.tags), table.time.name) if params.unique else ()
        self._table = Table(params.table, columns, key, time_unit=TimeUnit.MICROSECOND)
        self._folder = Path(params.folder)
        self._levels = lru_cache(maxsize=None)(self._read_levels)

    @property
    def tables(self) -> tuple[Table, ...]:
        """The one table."""
        return (self._table,)

    @property
    def rows(self) -> int:
        """The file's rows."""
        return self.params.rows

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        """Return these rows of the file; their numbers rise."""
        columns = enumerate(self.params.columns)
        return {column.name: self._column(index, column, rows) for index, column in columns}

    def _column(self, index: int, column: FileColumn, rows: Rows) -> ColumnData:
        valid = (
            self._items(index, Content.VALID, np.dtype(np.bool_), rows) if column.nullable else None
        )
        if column.coded:
            codes = self._items(index, Content.CODES, np.dtype(np.int64), rows)
            return Coded(codes, self._levels(index), valid)
        if column.type is Type.TEXT:
            return Values(self._texts(index, rows), valid)
        return Values(self._items(index, Content.VALUES, dtype_of(column.type), rows), valid)

    def _items(
        self, index: int, content: Content, dtype: np.dtype[np.generic], rows: Rows
    ) -> Array:
        first, last = int(rows[0]), int(rows[-1])
        span = self._read(index, content, dtype, first, last + 1)
        return span if len(span) == len(rows) else span[rows - first]

    def _texts(self, index: int, rows: Rows) -> Array:
        first, last = int(rows[0]), int(rows[-1])
        offsets = self._read(index, Content.OFFSETS, np.dtype(np.int64), first, last + 2)
        content = self._read(
            index, Content.BYTES, np.dtype(np.uint8), int(offsets[0]), int(offsets[-1])
        )
        starts = offsets[rows - first] - offsets[0]
        lengths = offsets[rows - first + 1] - offsets[rows - first]
        texts = np.zeros((len(rows), max(int(lengths.max()), 1)), np.uint8)
        shift = starts - (np.cumsum(lengths) - lengths)  # from its place among the taken bytes
        taken = np.repeat(shift, lengths) + np.arange(lengths.sum())
        texts[np.arange(texts.shape[1]) < lengths[:, None]] = content[taken]
        return texts.reshape(-1).view(f"S{texts.shape[1]}")

    def _read(
        self, index: int, content: Content, dtype: np.dtype[np.generic], start: int, stop: int
    ) -> Array:
        path = content_path(self._folder, index, content)
        return np.fromfile(path, dtype, stop - start, offset=start * dtype.itemsize)

    def _read_levels(self, index: int) -> Array:
        with content_path(self._folder, index, Content.LEVELS).open("rb") as file:
            levels: Array = np.load(file, allow_pickle=False)
        return levels

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return what can be asked of any table: of its first numeric fields and its first tag."""
        (table,) = tables
        count = AggregateQuery(table, (Aggregate(Function.COUNT),))
        asked: dict[str, Query] = {f"count-{table.name}": count}
        numbers = [c.name for c in self.params.columns if c.summable and c.role is Role.FIELD]
        tag = table.tags[0].name if table.tags else None
        for field in numbers[:_ASKED_FIELDS]:
            highest, lowest = Aggregate(Function.MAX, field), Aggregate(Function.MIN, field)
            stats = (highest, Aggregate(Function.AVG, field), lowest)
            asked[f"{field}-min-max"] = AggregateQuery(table, (highest, lowest))
            asked[f"{field}-stats"] = AggregateQuery(table, stats)
            if tag:
                asked[f"{field}-stats-per-{tag}"] = AggregateQuery(table, stats, by=(tag,))
        if tag and table.key == (tag, table.time.name):
            newest = NewestQuery(table, tag, tuple(numbers[:_ASKED_FIELDS]))
            asked[f"newest-per-{tag}"] = newest
        return asked
