"""The index of a folder of results: a cache of the entries of files.

An entry is used while the size, inode and change time of its file are the same on this file system,
so an index that was copied with its folder is never used. An index that is missing, damaged or of
another version is built again. Two commands may write the index at the same time: each replaces the
whole file, and reads the result files that the index lacks.
"""

import heapq
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from iotbench.machine import outfile
from iotbench.machine.inputs import read_bytes
from iotbench.results.names import ResultName, results_in
from iotbench.results.packed import is_only_read
from iotbench.store.listing import ResultEntry, entry_of
from simulator import __version__
from simulator.errors import ConfigError
from simulator.frozen import Frozen

FILE = ".index.json"
_OWN = re.compile(rb'\{\s*"version":\s*\d+,\s*"program_version":')
_MAX_BYTES = 256 << 20
_SAVED_EVERY_S = 5.0


class _Read(Frozen):
    """An entry, and the state of its file when it was read."""

    size: int
    inode: int
    changed_ns: int
    """Time of the last change of the file, its name or its times; programs cannot set this time."""
    entry: ResultEntry


class _Index(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[3] = 3
    program_version: str = __version__
    files: dict[str, _Read] = {}


def entries(
    folder: Path, wanted: Callable[[ResultName], bool] = lambda _: True, *, reread: bool = False
) -> Iterator[ResultEntry]:
    """Yield the entries of the results in a folder with wanted names, newest first.

    A file is read if its entry is not in the index. With `reread` every file is read, for example
    before files are removed. An archive or a URL has no index.
    """
    names = list(results_in(folder))
    index = _Index() if reread or is_only_read(folder) else _load(folder)
    known = {name.path.name for name in names}
    gone = index.files.keys() - known
    for name in gone:
        del index.files[name]
    fresh, saved = len(gone), time.monotonic()
    chosen = [name for name in names if wanted(name)]
    sweeps = _read(index, (name for name in chosen if name.is_sweep))
    gathered = _read(index, (name for name in chosen if not name.is_sweep))
    others = sorted(gathered, key=_read_created, reverse=True)
    try:
        for entry, is_new in heapq.merge(sweeps, others, key=_read_created, reverse=True):
            fresh += is_new
            if fresh and time.monotonic() - saved > _SAVED_EVERY_S:
                _save(folder, index)
                fresh, saved = 0, time.monotonic()
            yield entry
    finally:
        if fresh:
            _save(folder, index)


def _read_created(found: tuple[ResultEntry, bool]) -> float:
    return found[0].created.timestamp()


def _read(index: _Index, names: Iterable[ResultName]) -> Iterator[tuple[ResultEntry, bool]]:
    """Yield each entry, and whether the entry is new in the index."""
    for name in names:
        if is_only_read(name.path.parent):
            yield entry_of(name), False
            continue
        try:
            status = name.path.stat()
        except OSError:  # another command has removed it
            continue
        before = index.files.get(name.path.name)
        state = {"size": status.st_size, "inode": status.st_ino, "changed_ns": status.st_ctime_ns}
        is_same = before and before == _Read(**state, entry=before.entry)
        if before and is_same and before.entry.file == name.path.name:
            yield before.entry, False
            continue
        entry = entry_of(name)
        index.files[name.path.name] = _Read(**state, entry=entry)
        yield entry, True


def _load(folder: Path) -> _Index:
    with suppress(ConfigError, ValidationError):
        index = _Index.model_validate_json(read_bytes(folder / FILE, _MAX_BYTES))
        if index.program_version == __version__:
            return index
    return _Index()


def _save(folder: Path, index: _Index) -> None:
    with suppress(ConfigError):  # a folder that can only be read is listed without an index
        outfile.write(folder / FILE, index.model_dump_json(indent=1), _OWN, named=False)
