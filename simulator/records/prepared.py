"""A user's file as converted by `prepare`: a folder of plain arrays, and its description."""

import hashlib
from collections.abc import Sequence
from errno import ENOTSUP
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field, ValidationError

from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.data.hashes import block_hashes
from simulator.data.query import Output
from simulator.data.ranges import lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey, Role
from simulator.data.workloads.file import File, FileColumn, FileParams
from simulator.errors import ConfigError
from simulator.frozen import Frozen, first_problem
from simulator.records.arrays import expect_as_described

MAX_ROWS = 50_000_000
"""Maximum number of rows to search for duplicates; a search takes 8 bytes of memory per row."""
_BLOCK_ROWS = 1 << 16


def key_columns(params: FileParams) -> list[FileColumn]:
    """Return the columns that are tags or the time."""
    return [column for column in params.columns if column.role in (Role.TAG, Role.TIME)]


def has_key(params: FileParams) -> bool:
    """Return whether the rows have a key; False if there are too many rows to search."""
    key = key_columns(params)
    searched = params.rows <= MAX_ROWS and not any(column.nullable for column in key)
    return searched and are_distinct(params, [column.name for column in key], PrimaryKey.NONE)


def are_distinct(params: FileParams, names: Sequence[str], primary_key: PrimaryKey) -> bool:
    """Return whether no two rows are equal in all these columns.

    Rows are compared by hash. A collision (once in 2**14 files of MAX_ROWS rows) only hides a key.
    """
    dataset = Dataset(
        workload=File.name,
        workload_version=File.version,
        params=params.model_dump(),
        seed=0,
        start_ms=0,
        primary_key=primary_key,
        parts=1,
    )
    reader = DatasetReader(dataset)
    (table,) = reader.tables
    columns = [Output(name, table.column(name).type, table.time_unit) for name in names]
    hashes = np.empty(params.rows, np.uint64)
    for (block,) in reader.blocks((lane_range(0, 0, params.rows),), _BLOCK_ROWS):
        first = int(block.rows[0])
        hashes[first : first + len(block)] = block_hashes(columns, block)
    hashes.sort()
    return not bool((hashes[1:] == hashes[:-1]).any())


NAME = "file.json"
"""File name of the description."""
_MOST_BYTES = 4 << 20
_PIECE_BYTES = 1 << 20


class PreparedFile(Frozen):
    """The description of the folder."""

    format_version: Literal[1] = 1
    program_version: str = __version__
    params: FileParams
    size_bytes: int = Field(ge=0)
    sha256: str
    """SHA-256 of the arrays, in the order of their names."""


def is_prepared(folder: Path) -> bool:
    """Return whether `prepare` has written a folder."""
    try:
        return (folder / NAME).is_file()
    except OSError:
        return False


def describe(folder: Path, params: FileParams) -> PreparedFile:
    """Return the description of a folder with complete arrays."""
    size_bytes, sha256 = _digest(folder)
    return PreparedFile(params=params, size_bytes=size_bytes, sha256=sha256)


def read_prepared_file(folder: Path, shown: str) -> PreparedFile:
    """Return the description of a folder; ConfigError if the folder has changed.

    `shown`: name of the folder for messages.
    """
    try:
        _expect_own(folder / NAME)
        with (folder / NAME).open("rb") as source:
            found = PreparedFile.model_validate_json(source.read(_MOST_BYTES))
        content = _digest(folder)
    except ValidationError as error:
        raise ConfigError(
            f"--data: {shown}/{NAME}: is not a description of `prepare`: {first_problem(error)}"
        ) from error
    except OSError as error:
        raise ConfigError(
            f"--data: {shown}: cannot be read: {error.strerror or error}; expected a folder that"
            " `prepare` has written"
        ) from error
    if content != (found.size_bytes, found.sha256):
        raise ConfigError(
            f"--data: {shown}: has {content[0]:,} bytes, expected {found.size_bytes:,} with another"
            " SHA-256; copy the whole folder again, or prepare the file again"
        )
    try:
        expect_as_described(folder, found.params)
        params = _locate(folder, found.params)
        _expect_key(params)
    except (ValueError, OSError) as error:
        raise ConfigError(
            f"--data: {shown}: is not as {NAME} describes it: {error}; prepare the file again"
        ) from error
    return found.model_copy(update={"params": params})


def _expect_key(params: FileParams) -> None:
    if params.unique and not has_key(params):
        raise ValueError("tags and time are described as different in every row, and are not")


def _locate(folder: Path, params: FileParams) -> FileParams:
    """Return the parameters with the given folder instead of the folder that they name."""
    return params.model_copy(update={"folder": str(folder), "files": (), "kept": True, "claim": ""})


def _digest(folder: Path) -> tuple[int, str]:
    size_bytes, sha256 = 0, hashlib.sha256()
    for path in sorted(folder.glob("[0-9]*.*")):
        _expect_own(path)
        sha256.update(path.name.encode())
        with path.open("rb") as source:
            while piece := source.read(_PIECE_BYTES):
                size_bytes += len(piece)
                sha256.update(piece)
    return size_bytes, sha256.hexdigest()


def _expect_own(path: Path) -> None:
    """Raise OSError for a link, pipe or device, which may lead elsewhere, or never end."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OSError(ENOTSUP, f"{path.name} is a link, pipe or device, expected a file")
