"""The machine on which a process runs: clock, memory, CPU limit, parent and name."""

import ctypes
import os
import resource
import signal
import sys
import uuid
from contextlib import suppress
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_NAME = 1, 15
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
_KEPT_BYTES = 64 << 20
_CPU_STATS = (Path("/sys/fs/cgroup/cpu.stat"), Path("/sys/fs/cgroup/cpu/cpu.stat"))
"""Files of cgroup v2 and v1."""


def boot_id() -> str:
    """Return an identifier of the clock since boot; all processes of the machine have the same."""
    path = Path("/proc/sys/kernel/random/boot_id")
    return path.read_text().strip() if path.exists() else str(uuid.getnode())


def pid_namespace() -> str:
    """Return an identifier of this process's PID namespace; empty if there are no namespaces."""
    path = Path("/proc/self/ns/pid")
    return path.readlink().name if path.is_symlink() else ""


def allow_open_files(wanted: int = sys.maxsize) -> int:
    """Raise the limit of open files, including connections; return the new limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if wanted <= soft or soft == resource.RLIM_INFINITY:
        return wanted
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        return allowed
    return soft


def keep_freed_memory() -> None:
    """Keep up to 64 MiB of freed memory in this process, for the next block of rows.

    By default glibc returns freed memory to the system, and the page faults make encoding up to
    four times slower. Only on Linux with glibc:
    https://man7.org/linux/man-pages/man3/mallopt.3.html
    """
    if hasattr(library := ctypes.CDLL(None), "mallopt"):
        library.mallopt(_M_MMAP_THRESHOLD, _KEPT_BYTES)
        library.mallopt(_M_TRIM_THRESHOLD, _KEPT_BYTES)


def continue_without_parent() -> None:
    """Ask the kernel to continue this process, if it is stopped, when the parent exits.

    The process then detects that the parent is gone, and exits. Only on Linux:
    https://man7.org/linux/man-pages/man2/pr_set_pdeathsig.2const.html
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGCONT)


def end_with_parent(parent: int) -> None:
    """Ask the kernel to kill this process when process `parent` exits (only on Linux).

    If `parent` has exited already, kill this process now.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)


def name_process(name: str) -> None:
    """Give this process a name of up to 15 bytes, which `top` shows (only on Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


FORK_SERVER = "fork-server"
"""Argument of the process that forks collector and workers; the sweep's ID follows it."""


def describe_process(pid: int) -> str:
    """Return the number of a process, with the sweep that it belongs to."""
    sweep_id = ""
    with suppress(OSError, ValueError):  # it has ended, is another program, or this is not Linux
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
        sweep_id = words[words.index(FORK_SERVER) + 1]
    return f"sweep {sweep_id} (process {pid})" if sweep_id else f"process {pid}"


def memory_peak_bytes() -> int:
    """Return this process's peak memory; getrusage would include the parent's before exec."""
    peak_kib = _read_number(Path("/proc/self/status"), "VmHWM:")
    if peak_kib is None:
        peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak_kib * 1024


def usable_cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def read_cpu_periods() -> tuple[int, int]:
    """Return in how many periods this container ran, and in how many its CPU limit stopped it.

    Both are 0 if there is no limit. The throttled time of these files is a sum over CPUs, and each
    kernel counts it differently: https://docs.kernel.org/scheduler/sched-bwc.html#statistics
    """
    for path in _CPU_STATS:
        with suppress(OSError):  # it is a file of the other version
            found = dict(line.split() for line in path.read_text().splitlines())
            return int(found.get("nr_periods", 0)), int(found.get("nr_throttled", 0))
    return 0, 0


def _read_number(path: Path, name: str) -> int | None:
    """Return the number that follows a name in a kernel file; None if there is none."""
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith(name)), None)
