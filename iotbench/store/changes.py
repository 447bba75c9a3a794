"""Changes a folder of results: sets tags, and finds the results that may be removed."""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from iotbench.measurements import writing_kinds
from iotbench.results import result_files
from iotbench.results.names import parse_name
from iotbench.store.index import entries
from iotbench.store.listing import ResultEntry
from simulator.errors import ConfigError

_RUNNING = "running"
_UNREAD = "cannot be read here, so it may still be needed"


def tag(paths: Sequence[Path], words: Sequence[str], *, remove: bool) -> None:
    """Add words to the tags of results, or remove words.

    A ConfigError is raised before anything is written to the folder.
    """
    for folder in sorted({path.parent for path in paths}):
        own = [path for path in paths if path.parent == folder]
        with _changing(folder):
            _tag(own, words, remove=remove)


def _tag(paths: Sequence[Path], words: Sequence[str], *, remove: bool) -> None:
    problems, changed = [], []
    for path in paths:
        name = parse_name(path)
        if name and not name.is_sweep:
            problems.append(f"{path}: gathers sweeps; tag their results")
            continue
        result = result_files.read(path)
        if result.status == _RUNNING:
            problems.append(f"{path}: is still running, or was killed; its tags cannot change")
        kept = [each for each in result.tags if each not in words]
        new = kept if remove else [*result.tags, *(w for w in words if w not in result.tags)]
        if new != result.tags:
            changed.append((path, result.model_copy(update={"tags": new})))
    if problems:
        raise ConfigError(problems)
    for path, result in changed:
        result_files.write(path, result)


def find_older(folder: Path, moment: datetime) -> list[Path]:
    """Return the results in a folder that were made before a moment."""
    found = entries(folder, reread=True)
    return [folder / entry.file for entry in found if entry.created < moment]


def find_needed(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the results among `paths` that must be kept, each with the reason."""
    reasons: dict[Path, str] = {}
    for folder in sorted({path.parent for path in paths}):
        own = {path.name: path for path in paths if path.parent == folder}
        for entry, reason in _list_needed(folder):
            if entry.file in own:
                reasons[own[entry.file]] = reason
    return reasons


def is_unread(reason: str) -> bool:
    """Return whether a result is kept because it cannot be read."""
    return reason.startswith(_UNREAD)


def _list_needed(folder: Path) -> Iterator[tuple[ResultEntry, str]]:
    """Yield the newest result that wrote each table, and other results that may be needed.

    A result that cannot be read may be from a later version, and may be the result that `query`
    needs.
    """
    written: set[tuple[str, str]] = set()
    for entry in entries(folder, reread=True):
        if entry.problem:
            yield entry, f"{_UNREAD} ({entry.problem})"
        elif entry.verdict == _RUNNING:
            yield entry, "is still running, or was killed"
        elif entry.kind in writing_kinds():
            if entry.tables is None:
                yield entry, "wrote tables that are not known here, as its workload is not known"
                continue
            tables = [table for table in entry.tables if (entry.target, table) not in written]
            written |= {(entry.target, table) for table in entry.tables}
            if tables:
                names = ", ".join(tables[:3]) + " ..." * (len(tables) > 3)
                where = f"the tables {names} of target {entry.target}"
                yield entry, f"records the rows in {where}, which `query` and `verify` need"


@contextmanager
def _changing(folder: Path) -> Iterator[None]:
    """Lock a folder without a lock file, so that only one command at a time changes its files."""
    handle = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
