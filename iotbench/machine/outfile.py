"""Writes files for the user, either completely or not at all, and never replaces a foreign file."""

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iotbench.machine.owner import Owner
from simulator.errors import ConfigError

_LOOKED_AT = 4096
_TMP = ".tmp"


def problem_with(path: Path, own: re.Pattern[bytes] | None, *, named: bool = True) -> str:
    """Return why a command cannot write to a path; empty if it can.

    `named`: the user has named the path, so it may be a pipe or device. `own` is a pattern of the
    beginning of this program's files; a file that does not match is only replaced if it is empty.
    If `own` is None, the file must not exist.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        mode = None
    except OSError as error:
        return f"{path}: cannot be written: {error.strerror or error}"
    if mode is not None and stat.S_ISDIR(mode):
        return f"{path}: is a folder; name a file in it"
    if mode is not None and not stat.S_ISREG(mode):
        if not named:
            return f"{path}: is a pipe or device, and this program did not make it; remove it"
        return "" if os.access(path, os.W_OK) else f"{path}: cannot be written: Permission denied"
    if mode is not None and not _is_own(path, own):
        why = "this program did not write it" if own else "is not overwritten"
        return f"{path}: exists, and {why}; remove it, or use another name"
    folder = path.absolute().parent
    if not folder.is_dir():
        return f"{path}: cannot be written: No such file or directory: {folder}"
    return "" if os.access(folder, os.W_OK) else f"{path}: cannot be written: {folder} is read-only"


def expect_own(path: Path, own: re.Pattern[bytes] | None) -> None:
    """Raise ConfigError if a path in --output is a file that a command must not replace."""
    if os.path.lexists(path) and (problem := problem_with(path, own, named=False)):
        raise ConfigError(f"--output: {problem}")


def _is_own(path: Path, own: re.Pattern[bytes] | None) -> bool:
    if own is None:
        return False
    try:
        with path.open("rb") as file:
            beginning = file.read(_LOOKED_AT)
    except OSError:
        return False
    return not beginning or own.match(beginning) is not None


def write(path: Path, text: str, own: re.Pattern[bytes] | None, *, named: bool = True) -> None:
    """Write a text as `whole` does; ConfigError if writing fails, or if the file is foreign."""
    if problem := problem_with(path, own, named=named):
        raise ConfigError(problem)
    try:
        with whole(path, is_new=own is None) as handle:
            content = memoryview(text.encode())
            while content:
                content = content[os.write(handle, content) :]
    except OSError as error:
        raise ConfigError(f"{path}: cannot be written: {error.strerror or error}") from error


@contextmanager
def whole(path: Path, *, is_new: bool = False) -> Iterator[int]:
    """Yield a descriptor to write to; the file appears when the context ends without an error.

    Until then, the file has a temporary name that identifies this process. A pipe or device is
    written directly. With `is_new`, the file must not exist, even if another process is just
    creating it.
    """
    if path.exists() and not path.is_file():
        handle = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            yield handle
        finally:
            os.close(handle)
        return
    if is_new:
        handle, new = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), ""
    else:
        new = str(path.parent / f".{path.name}.{Owner.this()}-{os.urandom(8).hex()}{_TMP}")
        handle = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    try:
        try:
            yield handle
            os.fsync(handle)
        finally:
            os.close(handle)
        if new:
            Path(new).replace(path)
    except BaseException:  # also Ctrl-C: no half file remains
        Path(new or path).unlink(missing_ok=True)
        raise
