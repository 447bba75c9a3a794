"""Batches as InfluxDB line protocol, which several time-series databases take.

https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/: a row is a line,
`measurement,tag=value field=1i,other="text" timestamp`. What is NULL is left out.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from simulator.batch import Array, Batch, ColumnData, Values
from simulator.encode.levels import Rendered
from simulator.encode.rows import Frame
from simulator.encode.text import Slot, Style, Text
from simulator.errors import UnstorableError
from simulator.schema import FLOATS, INTEGERS, Column, Role, Table, Type

EXISTS = "exists"
"""A field that is true in every row, of tables in which any field may be NULL: a line needs one."""

_FIRST_NS, _LAST_NS = -(2**63) + 2, 2**63 - 2
"""1677-09-21 to 2262-04-11: what nanoseconds in 64 bits reach, less what InfluxDB reserves."""

_PLAIN = Style(
    null=b"", false=b"f", true=b"t", instants=None, quote=b"", special=b"", escape=lambda text: text
)


class LineProtocol:
    """Encodes blocks of one physical table as lines; instants stand in the table's own unit.

    Measured on one core (tests/perf/encode.py, four IoT columns): 8 to 12 million rows/s, 0.7
    to 1.1 GB/s.
    """

    def __init__(self, table: Table, name: str) -> None:
        self._text = Text(_slots(table, name), Frame(b"", b"", b""), table.time_unit)
        self._checks = [(column.name, _check(table, column)) for column in table.columns]

    def encode(self, block: Batch, rows_per_send: int) -> list[bytes]:
        """Return the block as payloads of `rows_per_send` rows each (the last may have fewer)."""
        for name, check in self._checks:
            check(block.data[name])
        return self._text.encode(block, rows_per_send)


def marker(table: Table) -> str:
    """Return the field that every row has."""
    fields = _fields(table)
    return fields[0].name if fields and not fields[0].nullable else _exists(table)


def _exists(table: Table) -> str:
    name, taken = EXISTS, {column.name for column in table.columns}
    while name in taken:
        name += "_"
    return name


def _fields(table: Table) -> list[Column]:
    """Return all columns but tags and time, one that is never NULL first."""
    fields = [c for c in table.columns if c.role not in (Role.TAG, Role.TIME)]
    return sorted(fields, key=lambda column: column.nullable)


def _slots(table: Table, name: str) -> list[Slot]:
    """Return a line's columns; what stands before them goes with the first that follows."""
    row: list[Slot] = []
    lead = _escaped(name.encode(), b", ")
    for tag in table.tags:
        style = replace(_PLAIN, special=b",= \\\n\r", escape=partial(_tag, tag.name))
        before = lead + b"," + _key(tag) + b"="
        row.append(Slot(tag, style, before, b"", null=lead))
        lead = b""
    fields, separator = _fields(table), b" "
    if not fields or fields[0].nullable:
        lead, separator = lead + b" " + _exists(table).encode() + b"=t", b","
    for field in fields:
        before = lead + separator + _key(field) + b"="
        is_integer = field.type in INTEGERS or field.type is Type.TIMESTAMP
        style, after = _PLAIN, b"i" if is_integer else b""
        if field.type is Type.TEXT:
            style = replace(_PLAIN, quote=b'"', special=b'"\\', escape=_quoted)
        row.append(Slot(field, style, before, after, null=lead))
        lead, separator = b"", b","
    row.append(Slot(table.time, _PLAIN, lead + b" ", b"\n", null=b""))
    return row


def _key(column: Column) -> bytes:
    return _escaped(column.name.encode(), b",= ")


def _escaped(name: bytes, special: bytes) -> bytes:
    return b"".join(b"\\%c" % byte if byte in special else b"%c" % byte for byte in name)


def _quoted(text: bytes) -> bytes:
    return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def _tag(column: str, text: bytes) -> bytes:
    """Return a tag's value; there is no way to write all of them."""
    if b"\n" in text or b"\r" in text:
        limit = "a line end"
    elif text.endswith(b"\\") or any(b"\\%c" % byte in text for byte in b",= "):
        limit = "a backslash before a comma, a space or an equals sign, or at the end"
    else:
        return _escaped(text, b",= ")
    shown = text.decode(errors="replace")
    raise UnstorableError(f"column {column}: {shown!r} cannot be a tag: it cannot hold {limit}")


def _check(table: Table, column: Column) -> Callable[[ColumnData], None]:
    """Return what raises UnstorableError for a block that has a value which no line can hold."""
    if column.role is Role.TIME:
        return partial(_check_instants, column.name, 10**9 // table.time_unit.per_second)
    if column.type is Type.TEXT and column.role is Role.TAG:
        return _none_is(_is_empty, f"column {column.name}: a tag cannot be an empty text")
    if column.type in FLOATS:
        return _none_is(_is_no_number, f"column {column.name}: cannot be infinite or NaN")
    return _anything


def _anything(data: ColumnData) -> None:
    pass


def _is_empty(texts: Array) -> Array:
    return np.asarray(np.strings.str_len(texts) == 0)


def _is_no_number(numbers: Array) -> Array:
    return np.asarray(~np.isfinite(numbers))


def _check_instants(name: str, unit_ns: int, data: ColumnData) -> None:
    values = data.values()
    if not len(values):
        return
    for instant in (int(values.min()), int(values.max())):
        if not _FIRST_NS <= instant * unit_ns <= _LAST_NS:
            raise UnstorableError(
                f"column {name}: {instant} is outside of 1677-09-21 to 2262-04-11, which is what "
                "nanoseconds in 64 bits can hold"
            )


def _none_is(wrong: Callable[[Array], Array], message: str) -> Callable[[ColumnData], None]:
    """Return what raises UnstorableError if a value is wrong, unless it stands for NULL."""
    wrong_levels = Rendered(wrong)

    def check(data: ColumnData) -> None:
        if isinstance(data, Values):
            found = wrong(data.array)
        else:
            levels = wrong_levels(data.levels)
            if not levels.any():
                return
            found = levels.take(data.codes)
        if (found if data.valid is None else found & data.valid).any():
            raise UnstorableError(message)

    return check
