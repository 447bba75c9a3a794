"""From the file to the prepared folder: open, type, check, write."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cli.files.bad_cells import Checker, Retyped
from cli.files.cells import CellType, Text
from cli.files.columns import writer
from cli.files.delimited import DelimitedSource
from cli.files.objects import uri_of
from cli.files.parquet import ParquetSource
from cli.files.request import EPOCHS, Request
from cli.files.roles import columns_of, table_name
from cli.files.source import Source, readable
from cli.files.times import EpochTime, FormattedTime
from simulator.data.schema import INTEGERS, Column, Role, Type
from simulator.data.workloads.file import FileParams
from simulator.errors import ConfigError

SHOWN_ROWS = 3


@dataclass(frozen=True, slots=True)
class Converted:
    """A prepared file, and what the preview shows of it."""

    params: FileParams
    file_types: tuple[str, ...]
    first_rows: tuple[list[object], ...]
    """The first values of each column."""


def convert(request: Request, folder: Path, sha256: str) -> Converted:
    """Write the file's rows into the folder; ConfigError if one cannot be stored."""
    with readable(request.name):
        source = (
            DelimitedSource(request)
            if not request.is_parquet
            else ParquetSource(request.path, request.name)
        )
        timed, types = _with_time_format(request, source)
        # Each column is retyped at most from empty to integer, to number, to text.
        for _ in range(3 * len(types) + 1):
            columns = columns_of(timed, source.names, types, source.first)
            stored = [_stored(each, column) for each, column in zip(types, columns, strict=True)]
            try:
                return _write(request, source, columns, stored, folder=folder, sha256=sha256)
            except Retyped as change:
                types[change.index] = change.cell_type
                for path in folder.glob("[0-9]*.*"):
                    path.unlink()
    raise AssertionError(f"{request.name}: the types of its columns do not settle")


def _with_time_format(request: Request, source: Source) -> tuple[Request, list[CellType]]:
    """Return the request with its time column, and the types with --time-format applied."""
    types = list(source.types)
    if not request.time_format:
        return request, types
    names = source.names
    if request.time_column and request.time_column not in names:
        return request, types  # reported with the other problems
    wanted = [names.index(request.time_column)] if request.time_column else range(len(names))
    fitting = {}
    for index in wanted:
        made = _timed(request, types[index])
        cells = source.first.columns[index]
        if made and 2 * int(made.parse(cells)[1].sum()) < len(cells) - cells.null_count:
            fitting[index] = made
    if len(fitting) != 1:
        found = ", ".join(names[index] for index in fitting) or "none"
        where = f"column {request.time_column!r}" if request.time_column else "one column"
        raise ConfigError(
            f"--time-format {request.time_format!r}: expected it to fit {where}, and it fits"
            f" {found}; correct the format, or name the column with --time-column"
        )
    ((index, made),) = fitting.items()
    types[index] = made
    return replace(request, time_column=names[index]), types


def _timed(request: Request, cell_type: CellType) -> CellType | None:
    """Return the type of the column if its cells are times in the given format."""
    if request.time_format in EPOCHS:
        is_integer = cell_type.type in INTEGERS
        return EpochTime(request.time_format, cell_type) if is_integer else None
    is_text = cell_type.type is Type.TEXT or not request.is_parquet
    return FormattedTime(request.time_format) if is_text else None


def _stored(cell_type: CellType, column: Column) -> CellType:
    """Return the type as the column stores it: a number that is a tag is text."""
    as_text = column.role is Role.TAG and cell_type.type is not Type.TEXT
    return Text(cell_type.shown) if as_text else cell_type


def _write(  # noqa: PLR0913
    request: Request,
    source: Source,
    columns: Sequence[Column],
    types: Sequence[CellType],
    *,
    folder: Path,
    sha256: str,
) -> Converted:
    where = f"--data: {request.name}"
    checker = Checker(request, source, columns, types)
    writers = [
        writer(where, source.place, folder, index, column) for index, column in enumerate(columns)
    ]
    first_rows: list[list[object]] = [[] for _ in columns]
    rows = 0
    for portion in map(checker.checked, source.portions()):
        if not len(portion.rows):
            continue
        for each, array in zip(writers, portion.columns, strict=True):
            each.add(array, portion.rows)
        if not rows:
            first_rows = [array.slice(0, SHOWN_ROWS).to_pylist() for array in portion.columns]
        rows += len(portion.rows)
    if not rows:
        raise ConfigError(f"{where}: has no rows left without those that --on-error skip left out")
    params = FileParams(
        source=uri_of(request.file) or str(request.file.resolve()),
        sha256=sha256,
        rows=rows,
        table=table_name(request.file),
        columns=tuple(each.finish() for each in writers),
        delimiter=request.delimiter,
        time_format=request.time_format,
        on_error=request.on_error,
        bad_cells=(*source.left_out(), *checker.bad_cells()),
        folder=str(folder),
    )
    return Converted(params, tuple(each.shown for each in types), tuple(first_rows))
