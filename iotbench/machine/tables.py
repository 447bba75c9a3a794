"""Draws tables and lines as text that fits a width."""

import io
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

_UNBOUNDED = 1000
"""Width that is larger than any table."""


def new_table(**changes: Any) -> Table:
    """Return an empty table without a border, with a rule below the header."""
    style: dict[str, Any] = {"show_edge": False, "pad_edge": False, "padding": (0, 1, 0, 0)}
    return Table(box=box.SIMPLE_HEAD, **style | changes)


def measure(table: Table) -> Measurement:
    """Return the minimum width of a table, and the width at which no cell is wrapped."""
    console = _new_console(io.StringIO(), _UNBOUNDED)
    return Measurement.get(console, console.options, table)


def draw(parts: Iterable[Table | str], width: int) -> str:
    """Return tables and lines as text.

    Lines are not wrapped. A table exceeds the width if its numbers would not fit otherwise.
    """
    out = io.StringIO()
    for part in parts:
        least = measure(part).minimum if isinstance(part, Table) else 0
        _new_console(out, max(width, least)).print(part, soft_wrap=isinstance(part, str))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _new_console(file: io.StringIO, width: int) -> Console:
    """Return a console for untrusted text, which ignores markup and FORCE_COLOR."""
    return Console(
        file=file,
        width=width,
        highlight=False,
        markup=False,
        color_system=None,
        force_terminal=False,
    )
