"""Files of one table, read portion by portion in bounded memory."""

import hashlib
import lzma
import shlex
import shutil
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import pyarrow as pa
import pyarrow.compute as pc

from iotbench.machine.scratch import scratch_folder
from iotbench.rows.files.cells import CellType, invalid_utf8
from iotbench.rows.files.content import PARQUET, open_content
from iotbench.rows.files.names import split_names
from iotbench.rows.files.records import Malformed
from iotbench.rows.files.request import FilesRequest
from iotbench.rows.files.types import find_declared_type, guess
from simulator.data.block import Array
from simulator.data.workloads.file import BadCells, FileReading, OnError
from simulator.errors import ConfigError, counted, nearest
from simulator.records.compression import compression_in

SHOWN_CASES = 3
"""Number of bad cells of a column to show and store."""
_MAX_SHOWN = 300
_SHOWN_BYTES = 20
_SHOWN_NAMES = 3
_UNREADABLE = (
    pa.ArrowException, BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError,
)  # fmt: skip
_OF_FILE = 1 << 40
"""Offset of the row numbers of the second file; the third file has twice that offset."""


@dataclass(frozen=True, slots=True)
class Portion:
    """Consecutive rows."""

    columns: list[Any]
    """An Arrow array for each column."""
    rows: Array
    """Number of each row; `FileSource.place` describes the number."""


@dataclass(slots=True)
class Tally:
    """Bad cells of one column, or malformed records with one reason."""

    expected: str
    action: OnError = OnError.SKIP
    column: str = ""
    count: int = 0
    lines: int = 0
    """Number of lines of the records."""
    first: list[str] = field(default_factory=list)
    """Place and content of the first few cells or records."""

    def bad_cells(self) -> BadCells:
        """Return the tally in the form that results store."""
        kept = {each: getattr(self, each) for each in BadCells.model_fields}
        return BadCells(**{**kept, "first": tuple(self.first)})


class FilePart(ABC):
    """One file."""

    name: str
    """Name of the file as the user gave it."""
    unit: str
    """Unit of row numbers: line or row."""
    names: tuple[str, ...]
    """Names of all columns."""
    types: tuple[Any, ...] = ()
    """Arrow types that the file declares; empty: cells are text."""
    time = ""
    """Time column, if the file names it."""
    tags: tuple[str, ...] = ()
    """Tag columns that the file names."""
    table = ""
    """Table, if the file names it."""
    well_formed = "quotes that open and close a cell"
    """Description of well-formed records, for messages."""

    @abstractmethod
    def portions(self, columns: Sequence[int]) -> Iterator[tuple[Portion, Sequence[Malformed]]]:
        """Yield the rows in order, with these columns, and each portion's malformed records."""

    @abstractmethod
    def no_rows(self) -> str:
        """Return why the file has no rows."""

    @property
    def where(self) -> str:
        """Prefix of error messages."""
        return f"--data: {self.name}"


class FileSource:
    """The rows of all files, with the columns that are to be stored."""

    names: tuple[str, ...]
    types: tuple[CellType, ...]
    first: Portion
    """The first rows, for inspection; `portions` yields these rows again."""

    def __init__(self, request: FilesRequest, parts: Sequence[FilePart]) -> None:
        """Inspect the first rows; ConfigError if there are no rows."""
        self._reading, self._name, self._parts = request.reading, request.name, parts
        self._rejects: dict[str, Tally] = {}
        self._places = [_match_columns(part, parts[0]) for part in parts]
        self._types = _unify_types(parts)
        self.columns = _select(parts[0], request.reading)
        self.names = tuple(name for name, _ in self.columns)
        times = split_names(request.reading.time_column, parts[0].names)
        self.time = "_".join(times)
        """Name of the time column, if the user gave one."""
        first = next(self.portions(), None)
        if first is None:
            raise ConfigError(self._explain_empty())
        self.first = first
        self.types = tuple(
            find_declared_type(cells.type)
            if self._types and len(sources) == 1
            else guess(cells, decimal_comma=self._reading.decimal_comma)
            for (_, sources), cells in zip(self.columns, first.columns, strict=True)
        )

    @property
    def is_typed(self) -> bool:
        """True if the files declare the types of columns."""
        return bool(self._types)

    @property
    def table(self) -> str:
        """Name of the table, as given in the first file."""
        return self._parts[0].table

    def portions(self) -> Iterator[Portion]:
        """Yield all rows in order; ConfigError for a malformed record."""
        self._rejects = {}
        needed = sorted({place for _, sources in self.columns for place in sources})
        for number, (part, places) in enumerate(zip(self._parts, self._places, strict=True)):
            for portion, malformed in part.portions([places[place] for place in needed]):
                self._reject(number, malformed)
                if not len(portion.rows):
                    continue
                rows = portion.rows + number * _OF_FILE
                pairs = zip(needed, portion.columns, strict=True)
                cells = {place: self._convert(part, place, array) for place, array in pairs}
                columns = [_join([cells[each] for each in of]) for _, of in self.columns]
                self._check_utf8(columns, rows)
                yield Portion(columns, rows)

    def place(self, row: int, height: int = 1) -> str:
        """Return the place of a row: "line 17", "lines 17 to 19", or "row 17" in Parquet."""
        file, number = divmod(row, _OF_FILE)
        part = self._parts[file]
        where = f"{part.unit} {number}"
        if height > 1:
            where = f"{part.unit}s {number} to {number + height - 1}"
        return where + (f" of {part.name}" if len(self._parts) > 1 else "")

    def left_out(self) -> tuple[BadCells, ...]:
        """Return the malformed records that were left out."""
        return tuple(each.bad_cells() for each in self._rejects.values())

    def _convert(self, part: FilePart, place: int, cells: Any) -> Any:
        """Return a column's cells in the type of all files; the user's NULL markers become NULL."""
        if not self._types:
            if not self._reading.null:
                return cells
            markers = pa.array(self._reading.null, cells.type)
            is_null = pc.is_in(pc.utf8_trim_whitespace(cells), markers)
            return pc.if_else(is_null, pa.scalar(None, cells.type), cells)
        wanted = self._types[place]
        name = self._parts[0].names[place]
        refusal = ConfigError(
            f"{part.where}: column {name!r}: is {cells.type}, and {wanted} in other files;"
            f" insert the files separately, or leave it out with --drop-columns {shlex.quote(name)}"
        )
        if not (_is_kept(cells.type, wanted) or cells.null_count == len(cells)):
            raise refusal
        try:
            return cells if cells.type == wanted else cells.cast(wanted)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise refusal from error

    def _reject(self, number: int, malformed: Sequence[Malformed]) -> None:
        """Count malformed records; ConfigError for the first one unless they are to be left out."""
        part = self._parts[number]
        cells = counted(len(part.names), "cell")
        for each in malformed:
            row = each.line + number * _OF_FILE
            if self._reading.on_error is not OnError.SKIP:
                found = f"expected {cells} as in the heading, found {each.cells}: {each.text}"
                wrong = f"{each.reason}: {each.text}" if each.reason else found
                hint = "" if each.reason else "; --delimiter and --skip-lines define the cells"
                last = each.line + each.height - 1
                place = f"lines {each.line} to {last}" if each.height > 1 else f"line {each.line}"
                raise ConfigError(
                    f"{part.where}: {place}: {wrong}; correct the line, or leave such"
                    f" rows out with --on-error skip{hint}"
                )
            expected = part.well_formed if each.reason else cells
            rejects = self._rejects.setdefault(expected, Tally(expected))
            rejects.count += 1
            rejects.lines += each.height
            if rejects.count <= SHOWN_CASES:
                place = self.place(row, each.height)
                rejects.first.append(f"{place}: {each.text if each.reason else each.cells}")

    def _explain_empty(self) -> str:
        if self._rejects:
            left_out = "; ".join(bad.describe() for bad in self.left_out())
            return f"--data: {self._name}: no row is left by --on-error skip: {left_out}"
        return f"{self._parts[0].where}: {self._parts[0].no_rows()}"

    def _check_utf8(self, columns: Sequence[Any], rows: Array) -> None:
        for column, cells in zip(self.names, columns, strict=True):
            found = invalid_utf8(cells)
            if found:
                place = (
                    f"--data: {self._name}: {self.place(int(rows[found[0]]))}, column {column!r}"
                )
                raise not_utf8(place, found[1])


def _match_columns(part: FilePart, first: FilePart) -> list[int]:
    """Return the indices of the first file's columns in a file; ConfigError if columns differ."""
    lacks = [name for name in first.names if name not in part.names]
    other = [name for name in part.names if name not in first.names]
    if lacks or other or bool(part.types) != bool(first.types):
        found = [f"lacks {name!r}" for name in lacks] + [f"has {name!r}" for name in other]
        differs = ", ".join(found[:_SHOWN_NAMES]) or "is of another kind"
        raise ConfigError(
            f"{part.where}: {differs}, unlike {first.name}; the files of a table must have"
            " the same columns: insert this one separately"
        )
    return list(range(len(first.names))) if part is first else [*map(part.names.index, first.names)]


def _unify_types(parts: Sequence[FilePart]) -> Sequence[Any]:
    """Return types that hold the columns of all files; empty: text.

    A column without a common type gets the type of the first file; rows of other types are
    reported.
    """
    first = parts[0]
    if not first.types:
        return first.types
    of_names = ([part.types[part.names.index(name)] for part in parts] for name in first.names)
    return [_find_common(types) or types[0] for types in of_names]


def _find_common(types: Sequence[Any]) -> Any:
    """Return a type that holds the values of all types; None if there is none."""
    try:
        schemas = [pa.schema([("", each)]) for each in types]
        return pa.unify_schemas(schemas, promote_options="permissive").field(0).type
    except pa.ArrowException:
        return None


def _is_kept(found: Any, wanted: Any) -> bool:
    """Return whether a cast keeps all values; text to number, or number to boolean, does not."""
    if pa.types.is_decimal(found) and pa.types.is_floating(wanted):
        return False  # the cast rounds
    is_time = pa.types.is_timestamp(found) and pa.types.is_timestamp(wanted)
    return is_time or bool(_find_common([found, wanted]) == wanted)


def _select(part: FilePart, reading: FileReading) -> tuple[tuple[str, tuple[int, ...]], ...]:
    """Return the columns to store, with the places of their cells; ConfigError for unknown names.

    A time that is joined from several columns takes the place of the first of these columns.
    """
    names = part.names
    times = split_names(reading.time_column, names) if reading.time_column else ()
    wanted = {
        "--time-column": times if len(times) > 1 else (),
        "--only-columns": reading.only_columns,
        "--drop-columns": reading.drop_columns,
    }
    problems = [
        f"{option}: no column {name!r} ({nearest(name, names)})"
        for option, given in wanted.items()
        for name in given
        if name not in names
    ]
    needed = {*times, *reading.tags}
    problems += [
        f"--drop-columns: {name!r} is needed for time or tags"
        for name in reading.drop_columns
        if name in needed
    ]
    if problems:
        raise ConfigError(problems)
    joined = [names.index(name) for name in times] if len(times) > 1 else []
    chosen = {*(reading.only_columns or names)} - {*reading.drop_columns} | needed
    return tuple(
        ("_".join(times), tuple(joined)) if place in joined[:1] else (name, (place,))
        for place, name in enumerate(names)
        if name in chosen and place not in joined[1:]
    )


def _join(cells: Sequence[Any]) -> Any:
    """Return one column as it is, or several columns joined as text; NULL if a text is blank."""
    if len(cells) == 1:
        return cells[0]
    whole = [pc.utf8_trim_whitespace(each.cast(pa.string())) for each in cells]
    texts = [pc.if_else(pc.equal(each, ""), pa.scalar(None, pa.string()), each) for each in whole]
    return pc.binary_join_element_wise(*texts, " ")


def not_utf8(place: str, content: bytes) -> ConfigError:
    """Return the error for a text that is not valid UTF-8."""
    return ConfigError(
        f"{place}: {content[:_SHOWN_BYTES]!r} is not valid UTF-8; convert the file, for example"
        " with iconv -f LATIN1 -t UTF-8, or leave the column out with --drop-columns"
    )


@contextmanager
def readable(name: str) -> Iterator[None]:
    """Raise errors of reading a file as ConfigError with the user's name of the file."""
    try:
        yield
    except _UNREADABLE as error:
        raise ConfigError(f"--data: {name}: cannot be read: {str(error)[:_MAX_SHOWN]}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"--data: {name}: cannot be read: {reason}") from error


@contextmanager
def unpack(path: Path, name: str) -> Iterator[Path]:
    """Yield the path of a file, or of a temporary unpacked copy of compressed Parquet.

    Parquet requires random access, which a compressed file does not offer.
    """
    with ExitStack() as stack:
        with readable(name):
            if compression_in(path):
                with open_content(path, f"--data: {name}") as content:
                    if content.peek(len(PARQUET)).startswith(PARQUET):
                        path = stack.enter_context(scratch_folder("unpacked")) / path.name
                        with path.open("wb") as file:
                            shutil.copyfileobj(content, file)
        yield path


def digest_of(path: Path, name: str) -> str:
    """Return the SHA-256 of a file's uncompressed content; errors contain the user's `name`."""
    with readable(name), open_content(path, f"--data: {name}") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
