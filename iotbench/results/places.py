"""Places of result files that are URLs, read like folders: an object store, or a database.

A place has the same files and folders as a folder of results. Its name is checked where the user
gives it; the connection is opened when a file is needed.
"""

import os
import re
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from hashlib import sha256
from itertools import islice
from pathlib import Path, PosixPath
from typing import TYPE_CHECKING, Any

from iotbench.machine import objects
from iotbench.machine.outfile import whole
from simulator.errors import ConfigError

if TYPE_CHECKING:
    from pyarrow.fs import S3FileSystem

_SLASHES = re.compile(r"^((?:s3|postgres(?:ql)?):)/(?=[^/])")
_MOST_AHEAD, _MOST_KEPT = 64, 256
_THREADS = 16


class PlacePath(PosixPath):
    """A place that is a URL, or a folder or file in it; `str` restores the second slash."""

    def __str__(self) -> str:
        return _SLASHES.sub(r"\1//", super().__str__())


@dataclass(frozen=True, slots=True)
class NewFile:
    """A file to write to a place."""

    name: str
    content: bytes
    figures: Sequence[Mapping[str, Any]]
    """The figures in the file, which only a database stores apart."""


class ResultPlace(ABC):
    """Files of results, named FILE or FOLDER/FILE."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._ahead = 1

    @abstractmethod
    def list_names(self) -> list[str]:
        """Return the names of all files; ConfigError if there is no such place."""

    @abstractmethod
    def fetch(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return name -> content, for each of these files that exists."""

    @abstractmethod
    def prepare(self, columns: Mapping[str, type]) -> None:
        """Check that results can be written; create what they need.

        `columns`: column -> type, of the figures that `write` takes.
        """

    @abstractmethod
    def write(self, files: Sequence[NewFile]) -> None:
        """Write or replace whole files; a database stores all of them or none."""

    def digest(self, names: Iterable[str]) -> dict[str, str]:
        """Return name -> SHA-256 of the stored content, for each of these files that exists.

        The digest is empty if something that belongs to the file is missing.
        """
        found: dict[str, str] = {}
        left = iter(names)
        while some := [*islice(left, _MOST_AHEAD)]:
            found |= {name: digest_of(text) for name, text in self.fetch(some).items()}
        return found

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of all files, when they were first needed: the newest of a folder first."""
        return sorted(self.list_names(), reverse=True)

    def read(self, name: str) -> bytes:
        """Return the content of a file; ConfigError if there is no such file.

        Each time, more of the files after it are fetched as well, since they are often read next.
        """
        if name not in self._kept:
            at = self._positions.get(name, len(self.names))
            self._kept |= self.fetch(self.names[at : at + self._ahead])
            self._ahead = min(2 * self._ahead, _MOST_AHEAD)
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)
        if name not in self._kept:
            raise ConfigError(f"{self.path / name}: cannot be read: {self.path} has no such file")
        return self._kept[name]

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {name: number for number, name in enumerate(self.names)}


def digest_of(content: bytes) -> str:
    """Return the SHA-256 of a file's content."""
    return sha256(content).hexdigest()


class FolderPlace(ResultPlace):
    """A folder of this machine, and the folders in it."""

    def list_names(self) -> list[str]:
        found = [*self.path.glob("*.json"), *self.path.glob("*/*.json")]
        return [path.relative_to(self.path).as_posix() for path in found]

    def fetch(self, names: Sequence[str]) -> dict[str, bytes]:
        paths = {name: self.path / name for name in names}
        return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}

    def prepare(self, columns: Mapping[str, type]) -> None:
        self.path.mkdir(parents=True, exist_ok=True)

    def write(self, files: Sequence[NewFile]) -> None:
        for each in files:
            path = self.path / each.name
            path.parent.mkdir(exist_ok=True)
            with whole(path) as handle, os.fdopen(handle, "wb", closefd=False) as file:
                file.write(each.content)


class ObjectPlace(ResultPlace):
    """The objects of a bucket, or those below a prefix."""

    @property
    def _key(self) -> str:
        return str(self.path).removeprefix("s3://").rstrip("/")

    @cached_property
    def _store(self) -> "S3FileSystem":
        return objects.open_store()

    def list_names(self) -> list[str]:
        from pyarrow import fs  # noqa: PLC0415 - loaded only for an object store

        with objects.expect_objects(f"{self.path}: cannot be listed"):
            bucket = self._key.partition("/")[0]
            if self._store.get_file_info(bucket).type is fs.FileType.NotFound:
                raise ConfigError(f"{self.path}: there is no bucket {bucket}; create it first")
            chosen = fs.FileSelector(self._key, allow_not_found=True, recursive=True)
            found = self._store.get_file_info(chosen)
        files = [each.path for each in found if each.type is fs.FileType.File]
        return [path.removeprefix(f"{self._key}/") for path in files]

    def fetch(self, names: Sequence[str]) -> dict[str, bytes]:
        with ThreadPoolExecutor(_THREADS) as pool:
            contents = pool.map(self._fetch, names)
            return {name: text for name, text in zip(names, contents, strict=True) if text}

    def _fetch(self, name: str) -> bytes:
        """Return the content of an object; empty if it does not exist."""
        with objects.expect_objects(f"{self.path / name}: cannot be read"):
            try:
                with self._store.open_input_stream(f"{self._key}/{name}", compression=None) as file:
                    return bytes(file.read())
            except FileNotFoundError:
                return b""

    def prepare(self, columns: Mapping[str, type]) -> None:
        assert self.names is not None  # the bucket exists, and may be listed

    def write(self, files: Sequence[NewFile]) -> None:
        with ThreadPoolExecutor(_THREADS) as pool:
            list(pool.map(self._write, files))

    def _write(self, each: NewFile) -> None:
        name = f"{self._key}/{each.name}"
        with (
            objects.expect_objects(f"{self.path / each.name}: cannot be written"),
            self._store.open_output_stream(name, compression=None) as file,
        ):
            file.write(each.content)


_OPENED: dict[str, Callable[[Path], ResultPlace]] = {}
"""URL of a place that the user has named -> what opens it."""
_PLACES: dict[str, ResultPlace] = {}


def name_place(url: str, opened: Callable[[Path], ResultPlace]) -> PlacePath:
    """Return the path of a place; `opened` returns the place once a file is needed."""
    path = PlacePath(url)
    _OPENED[str(path)] = opened
    _PLACES.pop(str(path), None)
    return path


def find_place(path: Path) -> tuple[ResultPlace, str] | None:
    """Return the place that a path is in, and the path in it; None for a path on this machine."""
    if not isinstance(path, PlacePath):
        return None
    for each in (path, *path.parents):
        if opened := _OPENED.get(str(each)):
            if str(each) not in _PLACES:
                _PLACES[str(each)] = opened(each)
            own = path.relative_to(each).as_posix()
            return _PLACES[str(each)], "" if own == "." else own
    raise ConfigError(f"{path}: no such place")


def list_folders(folder: Path) -> list[Path]:
    """Return a folder and the folders in it, which is where results are."""
    if found := find_place(folder):
        inside = [name.partition("/") for name in _list_inside(*found)]
        names = {name for name, slash, file in inside if slash and "/" not in file}
        return [folder, *(folder / name for name in sorted(names))]
    if not folder.is_dir():
        return [folder]
    return [folder, *sorted(each for each in folder.iterdir() if each.is_dir())]


def find_files(folder: Path, pattern: str) -> list[Path]:
    """Return the files in a folder with names that match a pattern."""
    if not (found := find_place(folder)):
        return [*folder.glob(pattern)]
    names = [name for name in _list_inside(*found) if "/" not in name]
    return [folder / name for name in names if fnmatchcase(name, pattern)]


def _list_inside(place: ResultPlace, folder: str) -> list[str]:
    """Return the names of the files in a folder of a place, and in folders in it."""
    start = f"{folder}/" if folder else ""
    return [name.removeprefix(start) for name in place.names if name.startswith(start)]
