"""Standard output and standard error, which may be full or closed, and their width."""

import codecs
import io
import json
import os
import re
import shutil
import sys
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

import click

from iotbench.machine.cleaning import plain
from simulator.errors import BenchError, ConfigError
from simulator.redaction import RedactedStream, Redactor, list_url_secrets


def say(text: str, *, err: bool = False) -> None:
    """Print a line, which may contain untrusted text, such as text from a file or a server."""
    click.echo(plain(text), err=err)


def can_ask() -> bool:
    """Return whether a person at a terminal can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def confirm(action: str, *, yes: bool) -> None:
    """Ask whether to do something, unless --yes is given; ConfigError without a terminal."""
    if yes:
        return
    if not can_ask():
        raise ConfigError(f"--yes is needed to {action} without confirmation")
    click.confirm(f"{action[0].upper()}{action[1:]}?", abort=True, err=True)


class OutputError(BenchError):
    """Standard output cannot be written."""


class _Lenient:
    """A text stream that ignores its failures, for standard error."""

    def __init__(self, stream: RedactedStream) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write a text; discard it if writing fails."""
        try:
            return self._stream.write(text)
        except OSError as error:
            self._fail(error)
            return len(text)

    def flush(self) -> None:
        """Flush the stream; ignore a failure."""
        try:
            self._stream.flush()
        except OSError as error:
            self._fail(error)

    def _fail(self, error: OSError) -> None:
        """Discard the rest of the stream's buffer, which Python would otherwise report at exit."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, self._stream.fileno())
        os.close(nowhere)


class _Strict(_Lenient):
    """Standard output; after a text that cannot be printed, every further text raises an error."""

    _failed: OSError | None = None

    def write(self, text: str) -> int:
        """Write a text; OutputError if writing fails or has failed before."""
        if self._failed:
            self._fail(self._failed)
        return super().write(text)

    def expect_taken(self) -> None:
        """Flush the stream; OutputError if some output was not written."""
        if self._failed:
            self._fail(self._failed)
        self.flush()

    def _fail(self, error: OSError) -> None:
        super()._fail(error)
        self._failed = error
        raise OutputError(f"standard output: {error.strerror or error}") from error


def guard_streams() -> None:
    """Let failures of standard output raise OutputError, and ignore failures of standard error.

    Neither prints the login, query or fragment of a URL that is an argument of any option.
    """
    # Files and pipes must not get the numbers of closed streams; writing to the latter fails.
    while (handle := os.open(os.devnull, os.O_RDONLY)) <= 2:
        os.set_inheritable(handle, True)  # noqa: FBT003 - takes no name
    os.close(handle)
    redact = Redactor(each for word in sys.argv[1:] for each in list_url_secrets(word))
    sys.stdout = _Strict(RedactedStream(_open(sys.stdout, 1), redact))
    sys.stderr = _Lenient(RedactedStream(_open(sys.stderr, 2), redact))


def _open(stream: TextIO | None, number: int) -> TextIO:
    """Return a stream that escapes characters that its encoding lacks."""
    found = stream or os.fdopen(number, "w", closefd=False)
    if isinstance(found, io.TextIOWrapper):
        codecs.register_error(_ESCAPED, _escape)
        found.reconfigure(errors=_ESCAPED)
    return found


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Escape the characters of an encoding error as JSON does, so that JSON remains valid."""
    assert isinstance(error, UnicodeEncodeError)
    text = error.object[error.start : error.end].replace("─", "-")
    return json.dumps(text)[1:-1], error.end


def expect_printed() -> None:
    """Flush standard output; OutputError if some output could not be printed."""
    if isinstance(sys.stdout, _Strict):
        sys.stdout.expect_taken()


def print_out(text: str) -> None:
    """Print a text to standard output; OutputError if printing fails."""
    shown = plain(text)
    click.echo(_paint(shown) if is_coloured(sys.stdout) else shown, nl=False)
    sys.stdout.flush()


def is_coloured(stream: TextIO) -> bool:
    """Return whether a stream is a terminal with colours, unless NO_COLOR switches them off.

    https://no-color.org
    """
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


_GOOD, _DOUBTFUL, _BAD = (
    "verified|faster",
    "warning|incomplete|unknown|not verified",
    ("mismatch|failed|interrupted|slower|error"),
)
_COLOURS = {**dict.fromkeys(_GOOD.split("|"), "green"),
            **dict.fromkeys(_DOUBTFUL.split("|"), "yellow"),
            **dict.fromkeys(_BAD.split("|"), "red")}  # fmt: skip
_PAINTED = re.compile(
    rf"(?m)^(?:(?:verdict: )?)(?P<label>{_GOOD}|{_DOUBTFUL}|{_BAD})(?=:|$)"
    rf"|(?<= )(?P<verdict>{_GOOD}|{_DOUBTFUL}|{_BAD})(?=(?:, [a-z ]+)?$)"
)
"""Pattern of verdicts at the beginning of a line, and at the end of a table row."""


def _paint(text: str) -> str:
    """Return a text in which good verdicts are green, doubtful ones yellow and bad ones red."""

    def colour(match: re.Match[str]) -> str:
        word = match["label"] or match["verdict"]
        return match[0].replace(word, click.style(word, fg=_COLOURS[word]))

    return _PAINTED.sub(colour, text)


def wrap(lines: Iterable[str], stream: TextIO) -> Iterator[str]:
    """Yield lines, wrapped between words if the stream is a terminal."""
    for line in lines:
        yield from (
            textwrap.wrap(
                line, width_of(stream), subsequent_indent="  ",
                break_long_words=False, break_on_hyphens=False,
            )
            if stream.isatty()
            else [line]
        )  # fmt: skip


_ESCAPED = "iotbench-escaped"
PLAIN_WIDTH = 80
"""Width of an output that is not a terminal, unless COLUMNS is set."""
_ROOM_WIDTH = 60


def is_fitted(stream: TextIO) -> bool:
    """Return whether a stream has a width, because it is a terminal or COLUMNS is set."""
    return os.environ.get("COLUMNS", "").isdecimal() or stream.isatty()


def width_of(stream: TextIO) -> int:
    """Return the width of a stream in characters: COLUMNS, the terminal width, or PLAIN_WIDTH."""
    if is_fitted(stream):
        return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
    return PLAIN_WIDTH


def has_room(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that is wide enough for pictures."""
    return stream.isatty() and width_of(stream) >= _ROOM_WIDTH
