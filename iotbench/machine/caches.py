"""The file caches of this machine, which are dropped between runs where that is allowed."""

import os
from pathlib import Path

DROPPED = "dropped"
_DROP = Path("/proc/sys/vm/drop_caches")
_EVERYTHING = "3"
"""Pages of files, and what the system knows of names and inodes."""


def drop_caches(elsewhere: str = "") -> str:
    """Write what waits for the disk and drop the caches; return DROPPED, or why it was not done.

    `elsewhere` is why the server's files are not on this machine.
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
