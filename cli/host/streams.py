"""Standard output and standard error that may be full, closed or gone."""

import os
import re
import sys
from typing import Any, TextIO

import click

from simulator.errors import BenchError

_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def plain(text: str) -> str:
    r"""Return a text as it may be printed: control characters, which a terminal obeys, as \x1b."""
    return _CONTROL.sub(lambda match: repr(match[0])[1:-1], text)


def say(text: str, *, err: bool = False) -> None:
    """Print a line whose words may come from elsewhere: a file, a server, an argument."""
    click.echo(plain(text), err=err)


class OutputError(BenchError):
    """Standard output cannot be written."""


class _Lenient:
    """A text stream whose failures are ignored: a message that nobody reads stops nothing."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write the text if the stream takes it."""
        try:
            return self._stream.write(text)
        except OSError:
            _discard(self._stream)
            return len(text)

    def flush(self) -> None:
        """Flush the stream if it can be flushed."""
        try:
            self._stream.flush()
        except OSError:
            _discard(self._stream)


def open_missing_streams() -> None:
    """Open closed standard streams to nowhere: files and pipes must not get their numbers."""
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)  # noqa: FBT003 - takes no name
    os.close(handle)


def make_stderr_lenient() -> None:
    """Let no failure to write to standard error stop the command."""
    stream = sys.stderr or open(os.devnull, "w")  # noqa: SIM115, PTH123 - open to the end
    sys.stderr = _Lenient(stream)


def print_out(text: str) -> None:
    """Print a text on standard output; OutputError if that fails."""
    try:
        click.echo(plain(text), nl=False)
        if sys.stdout:
            sys.stdout.flush()
    except OSError as error:
        _discard(sys.stdout)
        raise OutputError(f"standard output: {error.strerror or error}") from error


def close_stdout() -> None:
    """Flush standard output at the end of the program; OutputError if that fails."""
    print_out("")


def _discard(stream: TextIO) -> None:
    """Send what the stream still holds to nowhere: Python would report it again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
