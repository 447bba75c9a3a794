"""A user's file that `prepare` has converted: a folder of plain arrays, and what they are."""

import hashlib
from errno import ENOTSUP
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError

from simulator import __version__
from simulator.data.workloads.file import FileParams
from simulator.errors import ConfigError
from simulator.frozen import Frozen
from simulator.records.arrays import expect_as_described
from simulator.records.keys import has_key
from simulator.records.manifest import first_problem

NAME = "file.json"
"""File name of the description in the folder."""
_MOST_BYTES = 4 << 20
_PIECE_BYTES = 1 << 20


class PreparedFile(Frozen):
    """The contents of the folder."""

    format_version: Literal[1] = 1
    program_version: str = __version__
    params: FileParams
    size_bytes: int = Field(ge=0)
    sha256: str
    """SHA-256 of the arrays, in the order of their names."""


def is_prepared(folder: Path) -> bool:
    """Return whether a folder is one that `prepare` has written."""
    try:
        return (folder / NAME).is_file()
    except OSError:
        return False


def describe(folder: Path, params: FileParams) -> PreparedFile:
    """Return the description of a folder with complete arrays."""
    size_bytes, sha256 = _content(folder)
    return PreparedFile(params=params, size_bytes=size_bytes, sha256=sha256)


def read_prepared_file(folder: Path, shown: str) -> PreparedFile:
    """Return what is in a folder, named `shown`; ConfigError unless it is as it was written."""
    try:
        _expect_own(folder / NAME)
        with (folder / NAME).open("rb") as source:
            found = PreparedFile.model_validate_json(source.read(_MOST_BYTES))
        content = _content(folder)
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
        _expect_key(_here(folder, found.params))
    except (ValueError, OSError) as error:
        raise ConfigError(
            f"--data: {shown}: is not as {NAME} describes it: {error}; prepare the file again"
        ) from error
    return found.model_copy(update={"params": _here(folder, found.params)})


def _expect_key(params: FileParams) -> None:
    if params.unique and not has_key(params):
        raise ValueError("tags and time are described as different in every row, and are not")


def _here(folder: Path, params: FileParams) -> FileParams:
    """Return the same rows, located in this folder whatever their description names."""
    return params.model_copy(update={"folder": str(folder), "files": (), "kept": True, "claim": ""})


def _content(folder: Path) -> tuple[int, str]:
    """Return the size of the arrays, and their digest."""
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
    """Raise OSError if something in the folder is elsewhere, or may be read for ever."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise OSError(ENOTSUP, f"{path.name} is a link, pipe or device, expected a file")
