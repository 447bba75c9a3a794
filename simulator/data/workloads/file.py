"""The rows of a user's own file (`insert --data`), prepared by the command line.

A prepared file is a folder of plain arrays, one or two per column, named by `content_path`. A block
takes one read of each array, without parsing; memory does not grow with the file. With an Arrow
file, each worker would load pyarrow.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator

from simulator.data.block import Array, Coded, ColumnData, Rows, Texts, Values
from simulator.data.query import NewestQuery, Query, count_rows
from simulator.data.ranges import LANE_ROWS, RowRange
from simulator.data.schema import (
    FLOATS,
    Column,
    Role,
    Table,
    TimeUnit,
    Type,
    dtype_of,
    usual_indices,
)
from simulator.data.workloads.base import Params, Workload
from simulator.data.workloads.shared.windows import ASKED_FIELDS, field_queries
from simulator.errors import counted
from simulator.frozen import Frozen

_COUNTED_ROWS = 1 << 20
"""Number of rows in a portion when NULLs are counted."""
_READ_ROWS = 2000
"""Number of rows that take as long to read as one more read."""


class Content(StrEnum):
    """The content of a file of the prepared folder: values of a column, row by row."""

    VALUES = "values"
    """Numbers, instants and booleans, in the representation of a block."""
    VALID = "valid"
    """False where the value is NULL; only for columns with NULLs."""
    CODES = "codes"
    """Indices in LEVELS, for a text column with few distinct values."""
    LEVELS = "levels"
    """The distinct values, as .npy."""
    BYTES = "bytes"
    """All texts, concatenated, for a text column with many distinct values."""
    OFFSETS = "offsets"
    """Offsets in BYTES where each text starts, and where the last one ends."""


class OnError(StrEnum):
    """Treatment of a cell that does not have the type of its column (`--on-error`)."""

    STOP = "stop"
    """Nothing is inserted."""
    TEXT = "text"
    """The whole column is stored as text."""
    NULL = "null"
    """The cell is stored as NULL."""
    SKIP = "skip"
    """The row is left out."""


def content_path(folder: Path, column: int, content: Content) -> Path:
    """Return the file with this content of the column."""
    return folder / f"{column}.{content}"


class FileColumn(Frozen):
    """A column of the file."""

    name: str
    type: Type
    role: Role
    nullable: bool = False
    """True if the column has NULLs."""
    coded: bool = False
    """True if the column contains texts with few distinct values."""
    summable: bool = False
    """True if the column is numeric and its sum fits into its type, so that databases return it."""


class BadCells(Frozen):
    """Cells without the type of their column, or rows with a wrong number of cells."""

    column: str
    """Name of the column; empty for rows with a wrong number of cells."""
    expected: str
    """The expected content of each cell, such as "a number"."""
    action: OnError
    count: int
    lines: int = 0
    """Number of lines that the rows with a wrong number of cells take."""
    first: tuple[str, ...]
    """Line and content of the first few bad cells or rows."""

    def describe(self) -> str:
        """Return a sentence about the problem, the consequence for the data, and the remedy."""
        cases = ", ".join(self.first) + (", ..." if self.count > len(self.first) else "")
        one = self.count == 1
        if self.column:
            verb = "is" if one else "are"
            found = f"column {self.column!r}: {counted(self.count, 'cell')} {verb} not"
        else:
            lines = f" on {counted(self.lines, 'line')}" if self.lines > self.count else ""
            found = f"{counted(self.count, 'row')}{lines} {'does' if one else 'do'} not have"
        return f"{found} {self.expected} ({cases}); {_CONSEQUENCE[self.action]}; correct the file"


_CONSEQUENCE = {
    OnError.STOP: "nothing was inserted",
    OnError.TEXT: "the whole column is stored as text, so no query computes with it",
    OnError.NULL: "stored as NULL, so sums and averages do not include them",
    OnError.SKIP: "these rows are left out, so the table has fewer rows than the file",
}


class Nanoseconds(StrEnum):
    """Treatment of times that are finer than a microsecond (`--nanoseconds`)."""

    STOP = "stop"
    """Such times are bad cells."""
    CUT = "cut"
    """Such times are cut to microseconds."""
    KEEP = "keep"
    """The finer part is stored in a separate column."""


class RepeatedHour(StrEnum):
    """Treatment of times that clocks show twice, when summer time ends (`--repeated-hour`)."""

    STOP = "stop"
    """Such times are bad cells."""
    FIRST = "first"
    SECOND = "second"


class FileReading(Params):
    """The user's options for reading a file."""

    time_column: str = ""
    """Time column, or several separated by commas; empty: the only column with times."""
    time_format: str = ""
    time_zone: str = ""
    """Zone of times without a zone; empty: UTC."""
    repeated_hour: RepeatedHour = RepeatedHour.STOP
    nanoseconds: Nanoseconds = Nanoseconds.STOP
    tags: tuple[str, ...] = ()
    only_columns: tuple[str, ...] = ()
    """Names of the columns to read; empty: all columns."""
    drop_columns: tuple[str, ...] = ()
    null: tuple[str, ...] = ()
    """Cells that mean NULL, in addition to the standard ones."""
    delimiter: str = ""
    decimal_comma: bool = False
    skip_lines: int = 0
    comment: str = ""
    """Prefix of lines that are left out."""
    heading: bool = True
    measurement: str = ""
    """Measurement to read from a file of line protocol; empty: the only measurement."""
    on_error: OnError = OnError.STOP


class FileParams(FileReading):
    """The file, how it was read, its columns, and the place of the arrays."""

    source: str
    """Name of the file as the user gave it."""
    files: tuple[str, ...] = ()
    """The files that `source` matches, if there are several."""
    sha256: str
    rows: int = Field(ge=1, le=LANE_ROWS)
    table: str = Field(pattern=r"^[a-z][a-z0-9_]{0,41}$")
    """Name of the table, which needs no quotes in any database."""
    columns: tuple[FileColumn, ...]
    unique: bool = False
    """True if (tags, time) was found to be different in every row."""
    bad_cells: tuple[BadCells, ...] = ()
    folder: str
    """Folder of the arrays; unless it is `kept`, it exists only during the command."""
    kept: bool = False
    """True if `prepare` has written the folder."""
    claim: str = ""
    """Volume claim with the folder, which pods mount; empty: the folder is on this machine."""

    @field_validator("columns")
    @classmethod
    def _expect_a_time(cls, columns: tuple[FileColumn, ...]) -> tuple[FileColumn, ...]:
        times = [each for each in columns if each.role is Role.TIME]
        if [(each.type, each.nullable) for each in times] != [(Type.TIMESTAMP, False)]:
            raise ValueError("expected one column with the time of every row")
        if len({each.name.lower() for each in columns}) < len(columns):
            raise ValueError("expected another name for each column")
        if any(each.coded and each.type is not Type.TEXT for each in columns):
            raise ValueError("expected codes of texts only")
        return columns


class File(Workload):
    """One table, the rows of a file, numbered from 0 in lane 0."""

    name = "file"
    version = 1
    params_model = FileParams
    has_end = True
    incidental = frozenset({"source", "files", "folder", "kept", "claim", "seed", "start_ms"})
    params: FileParams
    time_rises = False
    """False, because rows are in the order of the file."""

    def __init__(self, params: FileParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        columns = tuple(
            Column(c.name, c.type, c.role, nullable=c.nullable, exact=c.type not in FLOATS)
            for c in params.columns
        )
        table = Table(
            params.table,
            columns,
            key=(),
            time_unit=TimeUnit.MICROSECOND,
            indices=usual_indices(columns),
        )
        key = (*(tag.name for tag in table.tags), table.time.name) if params.unique else ()
        self.tables = (replace(table, key=key),)
        self._places = {column.name: place for place, column in enumerate(columns)}
        self._folder = Path(params.folder)
        self._levels = lru_cache(maxsize=None)(self._read_levels)

    def size(self, table: Table) -> int:
        return self.params.rows

    def nulls(self, table: Table, ranges: Iterable[RowRange]) -> int | None:
        """Return how many cells of these rows are NULL; None once the prepared folder is gone."""
        if not self._folder.is_dir():
            return None
        names = {column.name for column in table.columns if column.nullable}
        nullable = [n for n, column in enumerate(self.params.columns) if column.name in names]
        portions = (
            item.numbers(low, min(low + _COUNTED_ROWS, len(item)))
            for item in ranges
            for low in range(0, len(item), _COUNTED_ROWS)
        )
        return sum(
            int(np.count_nonzero(~self._read_items(place, Content.VALID, np.dtype(np.bool_), rows)))
            for rows in portions
            for place in nullable
        )

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        return {
            column.name: self._read_column(self._places[column.name], rows)
            for column in table.columns
        }

    def _read_column(self, index: int, rows: Rows) -> ColumnData:
        column, valid = self.params.columns[index], None
        if column.nullable:
            valid = self._read_items(index, Content.VALID, np.dtype(np.bool_), rows)
        if column.coded:
            codes = self._read_items(index, Content.CODES, np.dtype(np.int64), rows)
            return Coded(codes, self._levels(index), valid)
        if column.type is Type.TEXT:
            return self._read_texts(index, rows, valid)
        return Values(self._read_items(index, Content.VALUES, dtype_of(column.type), rows), valid)

    def _read_items(
        self, index: int, content: Content, dtype: np.dtype[np.generic], rows: Rows
    ) -> Array:
        def read(run: Rows) -> Array:
            first, last = int(run[0]), int(run[-1])
            span = self._read(index, content, dtype, first, last + 1)
            return span if len(span) == len(run) else span[run - first]

        runs = _split_runs(rows)
        return read(rows) if len(runs) == 1 else np.concatenate([read(run) for run in runs])

    def _read_texts(self, index: int, rows: Rows, valid: NDArray[np.bool_] | None) -> Texts:
        contents, starts, lengths = [], [], []
        base = 0
        for run in _split_runs(rows):
            first, last = int(run[0]), int(run[-1])
            offsets = self._read(index, Content.OFFSETS, np.dtype(np.int64), first, last + 2)
            begin, end = int(offsets[0]), int(offsets[-1])
            contents.append(self._read(index, Content.BYTES, np.dtype(np.uint8), begin, end))
            starts.append(offsets[run - first] - begin + base)
            lengths.append(offsets[run - first + 1] - offsets[run - first])
            base += end - begin
        one, *others = contents
        content = np.concatenate(contents) if others else one
        return Texts(content, np.concatenate(starts), np.concatenate(lengths), valid)

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
        """Return queries that fit any table, about the first numeric fields and the first tag."""
        (table,) = tables
        asked: dict[str, Query] = {f"count-{table.base}": count_rows(table)}
        numbers = [c.name for c in self.params.columns if c.summable and c.role is Role.FIELD]
        tag = table.tags[0].name if table.tags else None
        asked |= field_queries(table, numbers, tag)
        if tag and table.key == (tag, table.time.name):
            newest = NewestQuery(table, (tag,), tuple(numbers[:ASKED_FIELDS]))
            asked[f"newest-per-{tag}"] = newest
        return asked


def _split_runs(rows: Rows) -> list[Rows]:
    """Cut rows that are far apart, such as every eighth batch of a file, into runs to read."""
    span = int(rows[-1]) - int(rows[0]) + 1
    breaks = np.flatnonzero(np.diff(rows) > 1) + 1 if span > len(rows) else np.empty(0, np.int64)
    skipped = span - len(rows)
    return np.split(rows, breaks) if len(breaks) * _READ_ROWS < skipped else [rows]
