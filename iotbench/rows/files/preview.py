"""The preview of a prepared file before the insert."""

import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from iotbench.machine.streams import say, width_of
from iotbench.machine.tables import CellKind, TextTable, draw
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
    file_types, rows = found.file_types, counted(params.rows, "row")
    lines = [f"{params.source}: {rows} for table {params.table}", ""]
    after = [""]
    if any(name.startswith(_LOCAL) and not any(z in name for z in _ZONED) for name in file_types):
        zone = params.time_zone or "UTC"
        after.append(f"time: the file names no zone; its clocks are those of {zone}")
    first, last = (_EPOCH + timedelta(microseconds=each) for each in found.times_us)
    after.append(f"time: {first:{_TIME}} in the first row, {last:{_TIME}} in the last")
    after.append(_describe_key(params))
    after += [f"warning: --data: {bad.describe()}" for bad in params.bad_cells]
    table = _make_table(params, file_types, found.first_rows)
    parts: list[TextTable | str] = [*map(_clean, lines), table, *map(_clean, after)]
    say(draw(parts, width_of(sys.stderr)).rstrip("\n"), err=True)


def _make_table(
    params: FileParams, types: Sequence[str], first: Sequence[Sequence[object]]
) -> TextTable:
    """Return a table with as many of the first rows as fit the width."""
    most = max(map(len, first), default=0)
    table = TextTable("Column", "In the file", "Stored as", "Role", quiet=True)
    for number in range(most):
        table.add_column(f"Row {number + 1}", CellKind.ID, drop=most - number)
    for column, file_type, values in zip(params.columns, types, first, strict=True):
        stored = f"{column.type}{', has NULLs' if column.nullable else ''}"
        cells = (column.name, file_type, stored, column.role.value, *map(_shorten, values))
        table.add_row(*map(_clean, cells))
    return table


def _shorten(value: object) -> str:
    shown = "NULL" if value is None else str(value)
    return shown if len(shown) <= _MAX_SHOWN else f"{shown[: _MAX_SHOWN - 1]}…"


def _clean(value: str) -> str:
    """Return text in which ? replaces control characters, which a terminal would obey."""
    return "".join(letter if letter.isprintable() else "?" for letter in value)


def _describe_key(params: FileParams) -> str:
    names = [c.name for role in ("tag", "time") for c in params.columns if c.role == role]
    key = ", ".join(names)
    if params.unique:
        return f"key: no two rows have the same ({key})"
    return f"key: none found; ({key}) repeats, has NULLs, or was not searched"
