"""The width that tables and pictures may have."""

import os
import shutil
from typing import TextIO

PLAIN_WIDTH = 80
"""Width of outputs other than a terminal, unless COLUMNS is set."""
_ROOM_WIDTH = 60


def is_fitted(stream: TextIO) -> bool:
    """Return whether a stream has a width: it is a terminal, or COLUMNS is set."""
    return os.environ.get("COLUMNS", "").isdecimal() or stream.isatty()


def width_of(stream: TextIO) -> int:
    """Return the width of a stream in characters: COLUMNS, the terminal's, or PLAIN_WIDTH."""
    if is_fitted(stream):
        return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
    return PLAIN_WIDTH


def has_room(stream: TextIO) -> bool:
    """Return whether a stream is a terminal that is wide enough for pictures."""
    return stream.isatty() and width_of(stream) >= _ROOM_WIDTH
