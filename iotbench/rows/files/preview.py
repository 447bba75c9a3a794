"""The preview of a prepared file before the insert."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from iotbench.machine.streams import width_of
from iotbench.machine.tables import measure, new_table
from simulator.data.workloads.file import FileParams
from simulator.errors import counted

if TYPE_CHECKING:  # it loads pyarrow
    from iotbench.rows.files.convert import Converted

_MAX_SHOWN = 26
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = "%Y-%m-%d %H:%M:%S"
_LOCAL, _ZONED = ("timestamp[", "time %"), ("tz=", "%z", "%Z")


def show(params: FileParams, found: "Converted") -> None:
    """Print columns, types, roles and the first rows on standard error."""
    console = Console(stderr=True, highlight=False, markup=False, width=width_of(sys.stderr))
    file_types, rows = found.file_types, counted(params.rows, "row")
    console.print(_text(f"{params.source}: {rows} for table {params.table}"), soft_wrap=True)
    console.print(_fit_table(console, params, file_types, found.first_rows))
    if any(name.startswith(_LOCAL) and not any(z in name for z in _ZONED) for name in file_types):
        zone = params.time_zone or "UTC"
        console.print(
            f"time: the file names no zone; its clocks are those of {zone}", soft_wrap=True
        )
    first, last = (_EPOCH + timedelta(microseconds=each) for each in found.times_us)
    console.print(
        f"time: {first:{_TIME}} in the first row, {last:{_TIME}} in the last", soft_wrap=True
    )
    console.print(_text(_describe_key(params)), soft_wrap=True)
    for bad in params.bad_cells:
        console.print(_text(f"warning: --data: {bad.describe()}"), soft_wrap=True)


def _fit_table(
    console: Console, params: FileParams, types: Sequence[str], first: Sequence[Sequence[object]]
) -> Table:
    """Return the table with as many of the first rows as fit the width."""
    for rows in range(max(map(len, first), default=0), 0, -1):
        table = _draw_table(params, types, first, rows)
        if measure(table).maximum <= console.width:
            return table
    return _draw_table(params, types, first, 0)


def _draw_table(
    params: FileParams, types: Sequence[str], first: Sequence[Sequence[object]], rows: int
) -> Table:
    table = new_table(show_edge=True, padding=(0, 1))
    headings = ("Column", "In the file", "Stored as", "Role")
    for heading in (*headings, *(f"Row {number}" for number in range(1, rows + 1))):
        table.add_column(heading, overflow="fold")
    for column, file_type, values in zip(params.columns, types, first, strict=True):
        stored = f"{column.type}{', has NULLs' if column.nullable else ''}"
        cells = (
            column.name,
            file_type,
            stored,
            column.role.value,
            *map(_shorten, values[:rows]),
        )
        table.add_row(*map(_text, cells))
    return table


def _shorten(value: object) -> str:
    shown = "NULL" if value is None else str(value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 1]}…"


def _text(value: str) -> Text:
    """Return text in which ? replaces control characters, which a terminal would obey."""
    return Text("".join(letter if letter.isprintable() else "?" for letter in value))


def _describe_key(params: FileParams) -> str:
    names = [c.name for role in ("tag", "time") for c in params.columns if c.role == role]
    key = ", ".join(names)
    if params.unique:
        return f"key: no two rows have the same ({key})"
    return f"key: none found; ({key}) repeats, has NULLs, or was not searched"
