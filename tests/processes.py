"""Living processes, found from outside by a variable of their environment, and what they are."""

import contextlib
import re
from pathlib import Path

import psutil


def living_with(variable: str, value: str) -> list[psutil.Process]:
    """Return the living processes that have this variable, except those of other users."""
    wanted = f"{variable}={value}".encode()
    found = []
    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):  # of another user, or gone meanwhile
            if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                process = psutil.Process(pid)
                if alive(process):
                    found.append(process)
    return found


def living_in(folder: Path) -> list[psutil.Process]:
    """Return the living processes with this working directory, except those of other users."""
    found = []
    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            if Path(f"/proc/{pid}/cwd").readlink() == folder:
                found.append(psutil.Process(pid))
    return [*filter(alive, found)]


def alive(process: psutil.Process) -> bool:
    """Return whether a process has not ended."""
    with contextlib.suppress(psutil.Error):
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    return False


def part_of(process: psutil.Process) -> str:
    """Return which part of a local run it is: `collector`, `worker-0`, ... or nothing of it."""
    with contextlib.suppress(psutil.Error):
        name = process.name()
        return name if re.fullmatch(r"collector|worker-\d+", name) else ""
    return ""
