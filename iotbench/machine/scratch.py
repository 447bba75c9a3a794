"""Temporary folders that name their owner, so that `cleanup` finds folders of killed commands.

All users share the parent folder. Files of other users are never followed, waited for or removed.
"""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from iotbench.machine.owner import Owner

_PREFIX = "iot-bench-"
_OWNER = ".owner"
_OWNER_BYTES = 128
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class LeftFolders:
    """The user's temporary folders that no command line uses."""

    abandoned: tuple[Path, ...]
    """Folders with an owner that has ended."""
    unknown: tuple[Path, ...]
    """Folders that do not name their owner."""


@contextmanager
def scratch_folder(use: str) -> Iterator[Path]:
    """Create a private folder, and remove it at the end of the context."""
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{use}-") as name:
        folder = Path(name)
        new = folder / f"{_OWNER}.new"
        new.write_text(str(Owner.this()))
        new.replace(folder / _OWNER)  # a reader sees all of it, or nothing
        yield folder


def find_left_folders() -> LeftFolders:
    """Return the folders that command lines left behind."""
    abandoned, unknown = [], []
    named = (each for each in os.scandir(tempfile.gettempdir()) if each.name.startswith(_PREFIX))
    for entry in sorted(named, key=lambda entry: entry.name):
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:  # gone meanwhile
            continue
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            continue
        owner = _read_owner(entry.path)
        if owner is None:
            unknown.append(Path(entry.path))
        elif not owner.alive:
            abandoned.append(Path(entry.path))
    return LeftFolders(tuple(abandoned), tuple(unknown))


def _read_owner(folder: str) -> Owner | None:
    """Return the owner that a regular file in a folder names; None if no such file exists."""
    with suppress(OSError, ValueError):
        handle = os.open(folder, _OPEN | os.O_DIRECTORY)
        try:
            file = os.open(_OWNER, _OPEN, dir_fd=handle)
        finally:
            os.close(handle)
        try:
            found = os.fstat(file)
            if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                return Owner.parse(os.read(file, _OWNER_BYTES).decode("ascii"))
        finally:
            os.close(file)
    return None
