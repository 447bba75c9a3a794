"""A disk of this machine that is filled for a while."""

import errno
import os
import tempfile
from pathlib import Path

_LARGEST_BYTES, _SMALLEST_BYTES = 1 << 30, 1 << 12


def unfillable(folder: Path) -> str:
    """Return why the disk of a folder must not be filled; empty: it may be."""
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
    """Fill the rest of the disk with a new file; OSError if that is impossible."""
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
