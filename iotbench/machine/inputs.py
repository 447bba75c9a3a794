"""Reads files that the user names, up to a maximum size.

A ConfigError names a file that cannot be used.
"""

import os
import stat
from pathlib import Path

from simulator.errors import ConfigError

_OF_KERNEL = ("/proc", "/sys")
"""Folders with files that may block a reader or may never end."""


def problem_of(path: Path) -> str:
    """Return why a path is not a regular file, which can be read twice; empty if it is one."""
    try:
        mode = path.stat().st_mode
        is_of_kernel = any(map(path.resolve().is_relative_to, _OF_KERNEL))
    except FileNotFoundError:
        return "no such file"
    except (OSError, ValueError, RuntimeError) as error:  # a NUL or a loop in the path
        return f"cannot be read: {getattr(error, 'strerror', None) or error}"
    if stat.S_ISDIR(mode):
        return "is a folder, expected a file"
    if not stat.S_ISREG(mode) or is_of_kernel:
        return "is a pipe, or a file of a device or of the kernel; save its content to a file"
    return ""


def read_bytes(path: Path, most_bytes: int, *, remedy: str = "") -> bytes:
    """Return the content of a file; ConfigError if it is not a regular file, or too large."""
    try:
        # Without O_NONBLOCK, opening a FIFO would wait for a writer.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            mode = os.fstat(handle).st_mode
            if not stat.S_ISREG(mode):
                kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or device"
                raise _error(path, f"is {kind}, expected a regular file", remedy)
            with os.fdopen(handle, "rb", closefd=False) as file:
                content = file.read(most_bytes + 1)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise _error(path, f"cannot be read: {reason}", remedy) from error
    if len(content) > most_bytes:
        raise _error(path, f"is larger than {most_bytes / 2**20:,.0f} MiB", remedy)
    return content


def read_text(path: Path, most_bytes: int, *, remedy: str = "") -> str:
    """Return the content of a text file in UTF-8, without a byte order mark."""
    content = read_bytes(path, most_bytes, remedy=remedy)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _error(path, f"line {line}: is not valid UTF-8", "convert it to UTF-8") from error


def _error(path: Path, problem: str, remedy: str) -> ConfigError:
    return ConfigError(f"{path}: {problem}" + (f"; {remedy}" if remedy else ""))
