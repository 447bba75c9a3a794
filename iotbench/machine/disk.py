"""Drops the file caches of this machine, and fills a disk temporarily."""

import errno
import os
import tempfile
from pathlib import Path

DROPPED = "dropped"
_DROP = Path("/proc/sys/vm/drop_caches")
_EVERYTHING = "3"
"""Value that drops the page cache, and the caches of directory entries and inodes."""


def drop_caches(elsewhere: str = "") -> str:
    """Flush data to the disk and drop the file caches; return DROPPED, or why this failed.

    `elsewhere` is the reason if the server's files are not on this machine.
    """
    if elsewhere:
        return elsewhere
    try:
        with _DROP.open("r+") as switch:
            os.sync()
            switch.write(_EVERYTHING)
    except OSError as error:
        return f"{_DROP}: {error.strerror or error}"
    return DROPPED


_LARGEST_BYTES, _SMALLEST_BYTES = 1 << 30, 1 << 12


def unfillable(folder: Path) -> str:
    """Return why the disk of a folder must not be filled; empty if it may be filled."""
    if not folder.is_dir():
        return f"expected a folder on the disk of the database, got {folder}"
    if not os.access(folder, os.W_OK):
        return f"{folder}: no permission to write a file there; run as a user that may"
    device = folder.stat().st_dev
    for own in (Path.cwd(), Path(tempfile.gettempdir())):
        if own.stat().st_dev == device:
            return (
                f"{folder} is on the disk of {own}, which this program needs itself; give the"
                " database a file system of its own"
            )
    return ""


def fill(file: Path) -> None:
    """Fill the remaining space of a disk with a new file; OSError for any other failure."""
    descriptor = os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        size, piece = 0, _LARGEST_BYTES
        while piece >= _SMALLEST_BYTES:
            try:
                os.posix_fallocate(descriptor, size, piece)
                size += piece
            except OSError as error:
                if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                    raise
                piece //= 2
    finally:
        os.close(descriptor)
