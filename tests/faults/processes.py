"""The processes of one cell, by a variable of their environment."""

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from tests.processes import living_with, part_of

VARIABLE = "FAULTS_CELL"
_LISTENS = "0A"
"""The state TCP_LISTEN in /proc/PID/net/tcp."""


def marked(mark: str) -> list[psutil.Process]:
    """Return the living processes that were started for a cell, this one's helpers included."""
    return living_with(VARIABLE, mark)


def parts(mark: str) -> dict[str, psutil.Process]:
    """Return the living collector and workers of a cell, by name."""
    return {part_of(process): process for process in marked(mark) if part_of(process)}


def await_part(mark: str, name: str, within_s: float) -> psutil.Process | None:
    """Return a collector or worker as soon as it runs."""
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        if found := parts(mark).get(name):
            return found
        time.sleep(0.01)
    return None


def listening_port(process: psutil.Process) -> int:
    """Return the port at which a process listens, in whichever network it is.

    psutil looks at the network of its caller only.
    """
    folder = Path(f"/proc/{process.pid}")
    own = {str(file.readlink()) for file in (folder / "fd").iterdir()}
    lines = (folder / "net/tcp").read_text().splitlines()[1:]
    sockets = (line.split() for line in lines)
    (address,) = (
        each[1] for each in sockets if each[3] == _LISTENS and f"socket:[{each[9]}]" in own
    )
    return int(address.rpartition(":")[2], 16)


def owner_of(port: int, to: int) -> int | None:
    """Return the process with a connection from a port to another; None of a closed connection."""
    for each in psutil.net_connections("tcp"):
        ends = each.laddr, each.raddr
        if all(ends) and [end.port for end in ends if end] == [port, to] and each.pid:
            return each.pid
    return None


def send(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    """Send a signal to processes, as far as they still exist."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(number)


def family(pid: int) -> list[psutil.Process]:
    """Return a process and all that it started."""
    with contextlib.suppress(psutil.NoSuchProcess):
        parent = psutil.Process(pid)
        return [parent, *parent.children(recursive=True)]
    return []


def shown_commands() -> bytes:
    """Return what every user sees: the command lines of all processes."""
    lines = []
    for pid in psutil.pids():
        with contextlib.suppress(OSError):
            lines.append(Path(f"/proc/{pid}/cmdline").read_bytes())
    return b"\n".join(lines)


def end(processes: Iterable[psutil.Process]) -> None:
    """Kill processes that a command left."""
    gone = list(processes)
    send(gone, signal.SIGKILL)
    psutil.wait_procs(gone, timeout=5)


def is_root() -> bool:
    """Return whether this process may do what an administrator may."""
    return os.geteuid() == 0
