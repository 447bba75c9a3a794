"""Preparation of the user's file for a sweep, and again for later queries."""

import hashlib
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from iotbench.machine.inputs import problem_of
from iotbench.machine.objects import here, name_of, uri_of
from iotbench.machine.scratch import scratch_folder
from iotbench.machine.streams import say, width_of
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.rows.files.request import FilesRequest
from simulator.data.dataset import Dataset
from simulator.data.reader import DatasetReader
from simulator.data.schema import ID, PrimaryKey
from simulator.data.workloads.file import File, FileParams, FileReading
from simulator.errors import ConfigError, counted
from simulator.records.prepared import (
    MAX_ROWS,
    are_distinct,
    has_key,
    key_columns,
    read_prepared_file,
)

if TYPE_CHECKING:  # it loads pyarrow
    from iotbench.rows.files.convert import Converted

_SHOWN_DIGITS = 12
_MAX_SHOWN = 26
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = "%Y-%m-%d %H:%M:%S"
_LOCAL, _ZONED = ("timestamp[", "time %"), ("tz=", "%z", "%Z")


@contextmanager
def prepare_file(request: FilesRequest, *, quiet: bool, sha256: str = "") -> Iterator[FileParams]:
    """Read the file; the prepared rows exist inside the context only.

    ConfigError if a digest is given and the file has a different digest.
    """
    with scratch_folder("data") as folder:
        params = convert_file(request, folder, quiet=quiet, sha256=sha256)
        expect_key(params, request.primary_key)
        yield params


def read_folder(path: Path, primary_key: PrimaryKey) -> FileParams:
    """Return the rows in a folder of `prepare` on this machine; ConfigError if it is damaged."""
    params = read_prepared_file(path, str(path)).params
    where = {"folder": str(path.resolve()), "source": str(path.resolve())}
    params = params.model_copy(update=where)
    expect_key(params, primary_key)
    return params


@contextmanager
def reopen(dataset: Dataset, *, quiet: bool) -> Iterator[Dataset]:
    """Make the rows of a stored dataset available again; a file is read again if necessary."""
    if dataset.workload != File.name:
        yield dataset
        return
    DatasetReader(dataset)  # refuses another version of the workload
    before = FileParams(**dataset.params)
    if before.claim:  # pods read it again
        yield dataset
        return
    if before.kept:
        _expect_same(before, read_folder(Path(before.source), dataset.primary_key))
        yield dataset
        return
    files = tuple(map(Path, before.files or (before.source,)))
    gone = [file for file in files if not uri_of(file) and problem_of(file)]
    if gone:
        raise ConfigError(
            f"{gone[0]}: {problem_of(gone[0])}: the answers cannot be checked without the inserted"
            " file; put it back, or run insert again"
        )
    reading = FileReading(**before.model_dump(include={*FileReading.model_fields}))
    request = FilesRequest(files, reading, dataset.primary_key)
    with prepare_file(request, quiet=True, sha256=before.sha256) as params:
        here_now = {"folder": params.folder, "source": params.source, "table": params.table}
        _expect_same(before.model_copy(update=here_now), params)
        if not quiet:
            rows = counted(before.rows, "row")
            say(f"{before.source}: read again, {rows}", err=True)
        found = before.model_copy(update={"folder": params.folder})
        yield dataset.model_copy(update={"params": found.model_dump(mode="json")})


def _expect_same(before: FileParams, params: FileParams) -> None:
    if params != before:
        raise ConfigError(
            f"{before.source}: another version of this program or of pyarrow inserted it with"
            " other types or values; run insert again"
        )


def _read_state(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    return found.st_size, found.st_mtime_ns


def _digest(paths: Sequence[Path]) -> str:
    """Return the digest of a file; for several files, the digest of their digests."""
    digests = []
    for path in paths:
        try:
            with path.open("rb") as file:
                digests.append(hashlib.file_digest(file, "sha256").hexdigest())
        except OSError as error:
            raise ConfigError(f"{path}: cannot be read: {error.strerror or error}") from error
    one, *others = digests
    return hashlib.sha256("".join(digests).encode()).hexdigest() if others else one


def _expect_content(request: FilesRequest, path: Path) -> None:
    """Raise ConfigError if the uncompressed content of a file differs from its manifest."""
    from iotbench.rows.files.source import digest_of  # noqa: PLC0415 - loads pyarrow

    found = digest_of(path, request.name)
    if found != request.content_sha256:
        raise ConfigError(
            f"--data: {request.name}: is not the file of its manifest {request.name}.json, which"
            f" has SHA-256 {request.content_sha256[:_SHOWN_DIGITS]}..., and the file"
            f" {found[:_SHOWN_DIGITS]}...; generate it again, or remove the manifest"
        )


def convert_file(
    request: FilesRequest, folder: Path, *, quiet: bool, sha256: str = ""
) -> FileParams:
    """Write the rows of a file into a folder, and show a preview unless `quiet`.

    ConfigError if a digest is given and the file has a different digest.
    """
    from iotbench.rows.files.convert import (  # noqa: PLC0415 - pyarrow is loaded only for a file
        convert,
    )
    from iotbench.rows.files.source import unpack  # noqa: PLC0415 - loads pyarrow

    if not quiet:
        say(f"reading {request.name}", err=True)
    with ExitStack() as stack:
        files = request.files()
        copies = [stack.enter_context(here(file)) for file in files]
        before = [_read_state(copy) for copy in copies]
        digest = _digest(copies)
        if sha256 and digest != sha256:
            raise ConfigError(
                f"{request.name}: the file has changed since it was inserted, so the answers cannot"
                " be checked; restore it, or run insert again"
            )
        if request.content_sha256 not in ("", digest):
            _expect_content(request, copies[0])
        readable = [
            stack.enter_context(unpack(copy, name_of(file)))
            for file, copy in zip(files, copies, strict=True)
        ]
        found = convert(request, readable, folder, digest)
        changed = [
            file
            for file, copy, was in zip(files, copies, before, strict=True)
            if _read_state(copy) != was
        ]
    if changed:
        raise ConfigError(
            f"--data: {name_of(changed[0])}: was written to while it was read; try again when it is"
            " done"
        )
    params = with_key(found.params)
    if not quiet:
        _show_preview(params, found)
    return params


def _show_preview(params: FileParams, found: "Converted") -> None:
    """Print columns, types, roles and the first rows on standard error."""
    file_types, rows = found.file_types, counted(params.rows, "row")
    lines = [f"{params.source}: {rows} for table {params.table}", ""]
    after = [""]
    if any(name.startswith(_LOCAL) and not any(z in name for z in _ZONED) for name in file_types):
        zone = params.time_zone or "UTC"
        after.append(f"time: the file names no zone; its clocks are those of {zone}")
    first, last = (_EPOCH + timedelta(microseconds=each) for each in found.times_us)
    after.append(f"time: {first:{_TIME}} in the first row, {last:{_TIME}} in the last")
    after.append(_describe_key(params))
    after += [f"warning: --data: {bad.describe()}" for bad in params.bad_cells]
    table = _make_table(params, file_types, found.first_rows)
    parts: list[TextTable | str] = [*map(_clean, lines), table, *map(_clean, after)]
    say(draw(parts, width_of(sys.stderr)).rstrip("\n"), err=True)


def _make_table(
    params: FileParams, types: Sequence[str], first: Sequence[Sequence[object]]
) -> TextTable:
    """Return a table with as many of the first rows as fit the width."""
    most = max(map(len, first), default=0)
    table = TextTable("Column", "In the file", "Stored as", "Role", quiet=True)
    for number in range(most):
        table.add_column(f"Row {number + 1}", CellKind.ID, drop=most - number)
    for column, file_type, values in zip(params.columns, types, first, strict=True):
        stored = f"{column.type}{', has NULLs' if column.nullable else ''}"
        cells = (column.name, file_type, stored, column.role.value, *map(_shorten, values))
        table.add_row(*map(_clean, cells))
    return table


def _shorten(value: object) -> str:
    shown = "NULL" if value is None else str(value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 1]}…"


def _clean(value: str) -> str:
    """Return text in which ? replaces control characters, which a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in value)


def _describe_key(params: FileParams) -> str:
    names = [c.name for role in ("tag", "time") for c in params.columns if c.role == role]
    key = ", ".join(names)
    if params.unique:
        return f"key: no two rows have the same ({key})"
    return f"key: none found; ({key}) repeats, has NULLs, or was not searched"


def with_key(params: FileParams) -> FileParams:
    """Return the parameters, with `unique` set if the rows have a searchable key."""
    return params.model_copy(update={"unique": True}) if has_key(params) else params


def expect_key(params: FileParams, primary_key: PrimaryKey) -> None:
    """Raise ConfigError if the primary key requires a natural key and the rows have none.

    For rows on this machine, the concatenated parts of the key must be distinct too.
    """
    if primary_key is not PrimaryKey.CLIENT:
        return
    names = ", ".join(column.name for column in key_columns(params))
    if not params.unique:
        raise ConfigError(
            f"--primary-key client: needs ({names}) to be different in every row and never NULL, in"
            f" a file of at most {MAX_ROWS:,} rows; name more --tags, or use another primary key"
        )
    if not (params.claim or are_distinct(params, [ID.name], PrimaryKey.CLIENT)):
        raise ConfigError(
            f"--primary-key client: ({names}), concatenated, are equal for two rows; use another"
            " primary key"
        )
