"""The width that tables may have."""

import os
import shutil
from typing import TextIO

PLAIN_WIDTH = 80
"""Of what is not a terminal, unless COLUMNS is set."""


def width_of(stream: TextIO) -> int:
    """Return the width of a stream in characters: COLUMNS, the terminal's, or PLAIN_WIDTH."""
    if os.environ.get("COLUMNS", "").isdecimal() or stream.isatty():
        return shutil.get_terminal_size((PLAIN_WIDTH, 24)).columns
    return PLAIN_WIDTH
