"""A file lock that allows one run at a time on a database; the file names the holder.

The kernel releases the lock whenever the process ends, so no lock outlives its run.
"""

import fcntl
import json
import os
import platform
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from iotbench.machine.owner import user_name
from iotbench.machine.program import state_folder, temporary_folders
from simulator.errors import ConfigError

_OPEN = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


def holder_of(command: str) -> dict[str, str]:
    """Return information about this process as the holder of a lock, for other users."""
    return {
        "command": command,
        "user": user_name(),
        "host": platform.node(),
        "pid": str(os.getpid()),
        "since": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
    }


def in_use(holder: Mapping[str, str], remedy: str) -> ConfigError:
    """Return the error for a database that another run uses."""
    details = ""
    with suppress(KeyError):  # a lock file that is damaged, or being written
        details = "`{command}`, started by {user} on {host} at {since}, process {pid}".format_map(
            holder
        )
    return ConfigError(
        f"another run is in progress on this database: {details or 'it has just started'};"
        f" wait until it ends, or {remedy}"
    )


@contextmanager
def hold_lock(key: str, command: str) -> Iterator[None]:
    """Hold the lock of a database in the context; ConfigError if another process holds it."""
    path = _make_folder() / f"{key}.lock"
    handle = _open(path)
    try:
        os.truncate(handle, 0)
        with suppress(OSError):  # on a full disk the lock does not name its holder
            os.write(handle, json.dumps(holder_of(command)).encode())
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(handle)


def remove_free_locks() -> list[Path]:
    """Remove the lock files that killed processes left; return their paths."""
    removed = []
    for path in sorted(_make_folder().glob("*.lock")):
        with suppress(ConfigError, OSError):  # a run is in progress, or it is not our file
            handle = _open(path)
            path.unlink(missing_ok=True)
            os.close(handle)
            removed.append(path)
    return removed


def _open(path: Path) -> int:
    """Open and lock a file, and return its descriptor; ConfigError if another process holds it."""
    while True:
        handle = os.open(path, _OPEN, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _read_holder(handle)
            os.close(handle)
            raise in_use(holder, "stop that process") from None
        # The holder before us may have removed the file after we had opened it.
        with suppress(FileNotFoundError):
            if path.stat().st_ino == os.fstat(handle).st_ino:
                return handle
        os.close(handle)


def _read_holder(handle: int) -> dict[str, str]:
    try:
        found = json.loads(os.pread(handle, 4096, 0))
    except (ValueError, RecursionError):  # it is damaged, or being written
        return {}
    return found if isinstance(found, dict) else {}


def _make_folder() -> Path:
    """Return the folder of the user's locks; ConfigError if no folder can be written."""
    shared = [folder / f"iotbench-locks-{os.getuid()}" for folder in temporary_folders()]
    for folder in (state_folder() / "locks", *shared):
        with suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            found = folder.lstat()
            is_own = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid()
            if is_own and os.access(folder, os.W_OK):
                return folder
    raise ConfigError(
        f"cannot create a lock in {state_folder() / 'locks'} or the temporary folder; set"
        " XDG_STATE_HOME to a folder that can be written"
    )
