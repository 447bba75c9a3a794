"""Conversion of files to the prepared folder: open, type, check, write."""

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from iotbench.machine.objects import name_of, uri_of
from iotbench.rows.files.bad_cells import Checker, Retyped
from iotbench.rows.files.cells import CellType, TextCells
from iotbench.rows.files.columns import writer
from iotbench.rows.files.content import is_parquet
from iotbench.rows.files.delimited import DelimitedPart
from iotbench.rows.files.lines import LinesPart, looks_like_lines
from iotbench.rows.files.names import column_names
from iotbench.rows.files.records import Malformed
from iotbench.rows.files.request import EPOCHS, FilesRequest
from iotbench.rows.files.roles import columns_of
from iotbench.rows.files.source import FilePart, FileSource, Portion, readable
from iotbench.rows.files.times import EpochTime, Finer, FormattedTime, Instants, unit_of
from iotbench.rows.files.zones import expect_zone
from simulator.data.schema import FLOATS, INTEGERS, Column, Role, Type
from simulator.data.workloads.file import FileParams, Nanoseconds, OnError
from simulator.errors import ConfigError

_BATCH_ROWS = 1 << 16


class ParquetPart(FilePart):
    """A Parquet file."""

    unit = "row"

    def __init__(self, path: Path, name: str) -> None:
        """Read the schema; `name` is the user's name of the file."""
        self._path, self.name = path, name
        with pa.OSFile(str(path)) as file:
            schema = parquet.ParquetFile(file).schema_arrow
        self._read_names = schema.names
        self.names = column_names(schema.names)
        self.types = tuple(_plain(pa.array([], each)).type for each in schema.types)

    def portions(self, columns: Sequence[int]) -> Iterator[tuple[Portion, Sequence[Malformed]]]:
        names = [self._read_names[column] for column in columns]
        # Arrow takes a name with a point for a nested column, so then all columns are read.
        only = None if any("." in name for name in names) else names
        # Arrow's threads read ahead, and would wait for Python's lock at the end of a Python file.
        with pa.OSFile(str(self._path)) as file:
            read = 0
            for batch in parquet.ParquetFile(file).iter_batches(_BATCH_ROWS, columns=only):
                places = columns if only is None else map(batch.schema.names.index, names)
                rows = np.arange(read + 1, read + len(batch) + 1)
                yield Portion([_plain(batch.column(place)) for place in places], rows), ()
                read += len(batch)

    def no_rows(self) -> str:
        return "has no rows"


def _plain(column: Any) -> Any:
    """Return a column in a type that can be stored; for example, bytes become text."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.dictionary_decode())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_fixed_size_binary(kind):
        return _plain(column.cast(pa.binary()))
    if pa.types.is_binary(kind):
        return column.view(pa.string())
    return column.view(pa.large_string()) if pa.types.is_large_binary(kind) else column


SHOWN_ROWS = 3


@dataclass(frozen=True, slots=True)
class Converted:
    """Prepared rows, and the facts for their preview."""

    params: FileParams
    file_types: tuple[str, ...]
    first_rows: tuple[list[object], ...]
    """The first values of each column."""
    times_us: tuple[int, ...]
    """Times of the first and the last row."""


def convert(request: FilesRequest, copies: Sequence[Path], folder: Path, sha256: str) -> Converted:
    """Convert the files, which are read from `copies`, and write their rows to the folder.

    ConfigError if a row cannot be stored.
    """
    parts = [_open(request, file, at) for file, at in zip(request.files(), copies, strict=True)]
    given = request.reading
    declared = {
        "time_column": given.time_column or parts[0].time,
        "tags": given.tags or tuple(dict.fromkeys(tag for part in parts for tag in part.tags)),
    }
    request = replace(request, reading=given.model_copy(update=declared))
    with readable(request.name):
        source = FileSource(request, parts)
    if source.is_typed and request.reading.on_error is OnError.TEXT:
        raise ConfigError(
            "--on-error text: the columns of a Parquet file have types, and those of line protocol;"
            " use null"
        )
    expect_zone(request.reading.time_zone)
    time, types = _choose_types(request, source)
    # Each column is retyped at most from empty to integer, to number, to text.
    for _ in range(3 * len(types) + 1):
        for each in types:
            if isinstance(each, Instants):
                each.reading = request.reading
        columns = columns_of(request, time, source, types)
        try:
            with readable(request.name):
                return _write(request, source, columns, types, folder=folder, sha256=sha256)
        except Retyped as change:
            types[change.index] = change.cell_type
            for path in folder.glob("[0-9]*.*"):
                path.unlink()
    raise AssertionError(f"{request.name}: the types of its columns do not settle")


def _open(request: FilesRequest, file: Path, copy: Path) -> FilePart:
    name, reading = name_of(file), request.reading
    with readable(name):
        is_lines = not is_parquet(copy) and looks_like_lines(copy, f"--data: {name}")
        of_text = {
            "--delimiter": reading.delimiter,
            "--comment": reading.comment,
            "--skip-lines": reading.skip_lines,
            "--no-heading": not reading.heading,
            "--null": reading.null,
            "--decimal": reading.decimal_comma,
        }
        of_lines: dict[str, object] = {"--measurement": reading.measurement}
        if is_lines or is_parquet(copy):
            kind = "line protocol" if is_lines else "a Parquet file"
            needless = of_text if is_lines else {**of_text, **of_lines}
        else:
            kind, needless = "not line protocol", of_lines
        if given := [option for option, value in needless.items() if value]:
            raise ConfigError(
                [f"{each}: does not apply to {name}, which is {kind}; omit it" for each in given]
            )
        if is_lines:
            return LinesPart(copy, name, reading.measurement)
        if is_parquet(copy):
            return ParquetPart(copy, name)
        return DelimitedPart(copy, name, reading)


def _choose_types(request: FilesRequest, source: FileSource) -> tuple[str, list[CellType]]:
    """Return the name of the time column, empty if unknown, and the types of all columns."""
    types, reading, time = list(source.types), request.reading, source.time
    if reading.time_format and not time:
        time = source.names[_find_time_column(request, source)]
    if time in source.names:  # another name is reported with the other problems
        index = source.names.index(time)
        if reading.time_format:
            given = reading.time_format
            types[index] = EpochTime(given) if given in EPOCHS else FormattedTime(given)
        elif types[index].type in FLOATS | INTEGERS:
            unit = unit_of(source.first.columns[index])
            types[index] = EpochTime(unit, recognised=True) if unit else types[index]
    clocks = (each for each in types if isinstance(each, Instants))
    if reading.time_zone and not any(each.is_local for each in clocks):
        raise ConfigError(
            f"--time-zone: the times of {request.name} have a zone, or count from 1970; leave it"
            " out"
        )
    return time, types


def _find_time_column(request: FilesRequest, source: FileSource) -> int:
    """Return the index of the only column with times in the given format; ConfigError otherwise."""
    given = request.reading.time_format
    is_count = given in EPOCHS
    kind = EpochTime(given, recognised=True) if is_count else FormattedTime(given)
    fitting = []
    for index, cells in enumerate(source.first.columns):
        stored = source.types[index].type
        is_candidate = stored is Type.TEXT or not source.is_typed
        if stored not in FLOATS | INTEGERS if is_count else not is_candidate:
            continue
        present = int(kind.present(cells).sum())
        if present and 2 * int(kind.wrong(cells).sum()) < present:
            fitting.append(index)
    if len(fitting) != 1:
        found = ", ".join(source.names[index] for index in fitting) or "none"
        raise ConfigError(
            f"--time-format {given!r}: expected it to fit one column, and it fits {found}; correct"
            " the format, or name the column with --time-column"
        )
    return fitting[0]


def _choose_stored_type(cell_type: CellType, column: Column) -> CellType:
    """Return the type in which the column is stored; a numeric tag is stored as text."""
    as_text = column.role is Role.TAG and cell_type.type is not Type.TEXT
    return TextCells(cell_type.shown) if as_text else cell_type


def _write(  # noqa: PLR0913
    request: FilesRequest,
    source: FileSource,
    columns: Sequence[Column],
    types: Sequence[CellType],
    *,
    folder: Path,
    sha256: str,
) -> Converted:
    where = f"--data: {request.name}"
    stored = [
        _choose_stored_type(each, column) for each, column in zip(types, columns, strict=True)
    ]
    places = [*range(len(columns))]
    if request.reading.nanoseconds is Nanoseconds.KEEP:
        for place, kind in enumerate(types):
            if isinstance(kind, Instants):
                rest = Column(f"{columns[place].name}_ns", Type.INT16, Role.FIELD)
                if rest.name.lower() in {each.name.lower() for each in columns}:
                    raise ConfigError(
                        f"{where}: column {rest.name!r}: --nanoseconds keep needs that name; rename"
                        f" the column, or leave it out with --drop-columns {shlex.quote(rest.name)}"
                    )
                columns, stored = [*columns, rest], [*stored, Finer(kind)]
                places.append(place)
    checker = Checker(request, source, columns, stored, places)
    writers = [
        writer(where, source.place, folder, index, column) for index, column in enumerate(columns)
    ]
    first_rows: list[list[object]] = [[] for _ in columns]
    rows = 0
    for portion in map(checker.check, source.portions()):
        if not len(portion.rows):
            continue
        for each, array in zip(writers, portion.columns, strict=True):
            each.add(array, portion.rows)
        if not rows:
            first_rows = [array.slice(0, SHOWN_ROWS).to_pylist() for array in portion.columns]
        rows += len(portion.rows)
    bad_cells = (*source.left_out(), *checker.bad_cells())
    if not rows:
        left_out = "; ".join(bad.describe() for bad in bad_cells)
        raise ConfigError(f"{where}: no row is left by --on-error skip: {left_out}")
    files = request.files()
    whole = [uri_of(file) or str(file.resolve()) for file in files]
    params = FileParams(
        **request.reading.model_dump(),
        source=whole[0] if len(whole) == 1 else request.name,
        files=tuple(whole) if len(whole) > 1 else (),
        sha256=sha256,
        rows=rows,
        table=source.table or request.table,
        columns=tuple(each.finish() for each in writers),
        bad_cells=bad_cells,
        folder=str(folder),
    )
    time = next(each for each in writers if each.column.role is Role.TIME)
    shown = tuple(kind.shown for kind in stored)
    return Converted(params, shown, tuple(first_rows), tuple(time.ends))
