"""What the command line says of a prepared file before it is written anywhere."""

import sys
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from simulator.data.workloads.file import FileParams

SHOWN_ROWS = 3
_MAX_SHOWN = 26
_WIDTH = 120


def show(params: FileParams, file_types: Sequence[str], first: Sequence[Sequence[object]]) -> None:
    """Print columns, types, roles and the first rows on standard error."""
    console = Console(
        stderr=True,
        highlight=False,
        markup=False,
        width=None if sys.stderr.isatty() else _WIDTH,
    )
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    shown = max(map(len, first), default=0)
    rows = [f"Row {number}" for number in range(1, shown + 1)]
    for heading in ("Column", "In the file", "Stored as", "Role"):
        table.add_column(heading, no_wrap=True)
    for heading in rows:
        table.add_column(heading)
    for column, file_type, values in zip(params.columns, file_types, first, strict=True):
        stored = f"{column.type}{', has NULLs' if column.nullable else ''}"
        cells = (column.name, file_type, stored, column.role.value, *map(_cell, values))
        table.add_row(*map(_text, cells))
    console.print(_text(f"{params.source}: {params.rows:,} rows for table {params.table}"))
    console.print(table)
    if any(name.startswith("timestamp[") and "tz=" not in name for name in file_types):
        console.print("time: the file names no zone, so it is taken as UTC", soft_wrap=True)
    console.print(_text(_key_of(params)), soft_wrap=True)


def _cell(value: object) -> str:
    shown = "NULL" if value is None else str(value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 1]}…"


def _text(value: str) -> Text:
    """Return text that cannot do anything to a terminal."""
    plain = "".join(letter if letter.isprintable() else "?" for letter in value)
    return Text(plain)


def _key_of(params: FileParams) -> str:
    names = [c.name for role in ("tag", "time") for c in params.columns if c.role == role]
    key = ", ".join(names)
    if params.unique:
        return f"key: no two rows have the same ({key})"
    return f"key: none is known; ({key}) is not different in every row, or was not looked at"
