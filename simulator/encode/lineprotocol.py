"""Blocks as InfluxDB line protocol, which several time-series databases accept.

https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/: a row is a line,
`measurement,tag=value field=1i,other="text" timestamp`. A NULL is left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from simulator.data.block import Array, Block, Coded, ColumnData, Rows
from simulator.data.schema import FLOATS, INTEGERS, Column, Role, Table, TimeUnit, Type
from simulator.encode.columns import LevelCache
from simulator.encode.rows import BARE
from simulator.encode.text import Slot, TextEncoder, ValueStyle
from simulator.errors import UnstorableError

EXISTS = "exists"
"""Name of a field that is true in every row.

A line needs at least one field, and all other fields may be NULL."""

_FIRST_NS, _LAST_NS = -(2**63) + 2, 2**63 - 2
"""Bounds of 1677-09-21 and 2262-04-11: 64-bit nanoseconds without InfluxDB's reserved values."""

PLAIN = ValueStyle(
    null=b"", false=b"f", true=b"t", instants=None, quote=b"", special=b"", escape=lambda text: text
)
"""Style of values without quotes and escapes."""

NO_LABELS: Mapping[str, str] = MappingProxyType({})

Check: TypeAlias = Callable[[ColumnData], None]
"""Function that raises UnstorableError if a column has a value that cannot be stored."""


class LineDialect:
    """InfluxDB's line protocol; databases with a different dialect override methods."""

    def tags(self, table: Table) -> Sequence[Column]:
        """Return the columns that are tags; other columns, except the time, are fields."""
        return table.tags

    def marker(self, table: Table) -> str | None:
        """Return the name of a field that is true in every row; None if no line needs the field."""
        fields = _list_fields(table, self.tags(table))
        if fields and not fields[0].nullable:
            return None
        return table.find_unused(EXISTS)

    def tag(self, column: Column) -> ValueStyle:
        """Return the style of a tag's values."""
        return replace(PLAIN, special=b",= \\\n\r", escape=partial(tag_text, column.name))

    def field(self, column: Column, unit: TimeUnit) -> tuple[ValueStyle, bytes]:
        """Return the style of a field's values, and the suffix of each value."""
        if column.type is Type.TEXT:
            return replace(PLAIN, quote=b'"', special=b'"\\', escape=_quote), b""
        is_integer = column.type in INTEGERS or column.type is Type.TIMESTAMP
        return PLAIN, b"i" if is_integer else b""

    def check(self, table: Table, column: Column) -> Check:
        """Return a check that raises UnstorableError for values that a line cannot express."""
        if column.role is Role.TIME:
            return partial(_check_instants, column.name, 10**9 // table.time_unit.per_second)
        if column.type is Type.TEXT and column.role is Role.TAG:
            return none_is(
                lambda texts: np.strings.str_len(texts) == 0,
                f"column {column.name}: a tag cannot be an empty text",
            )
        if column.type in FLOATS:
            return none_is(
                lambda numbers: np.asarray(~np.isfinite(numbers)),
                f"column {column.name}: cannot be infinite or NaN",
            )
        return lambda _data: None


INFLUXDB = LineDialect()


class LineProtocol:
    """Encodes blocks of one physical table as lines; instants are in the table's own unit.

    Measured on one core (tests/perf/encode.py, four IoT columns): 26 to 37 million rows/s
    or 2.4 to 3.4 GB/s in batches of 1,000, 3 million in batches of one. Ten tags and ten fields: 3
    to 6 million on a grid, 1.3 million with full doubles.
    """

    def __init__(
        self,
        table: Table,
        name: str,
        dialect: LineDialect = INFLUXDB,
        labels: Mapping[str, str] = NO_LABELS,
    ) -> None:
        """Store the columns, and in `labels` the tags that every line has."""
        slots = _make_slots(table, _write_head(name, labels), dialect)
        self._text = TextEncoder(slots, BARE, table.time_unit)
        self._checks = [(column.name, dialect.check(table, column)) for column in table.columns]

    def encode(self, block: Block, batch_rows: int) -> list[memoryview]:
        """Return the block as payloads of `batch_rows` rows each (the last may have fewer).

        The payloads are parts of one buffer, so that a client next to a busy server copies nothing.
        """
        edges = np.append(np.arange(0, len(block), batch_rows), len(block))
        return self.between(block, edges) if len(block) else []

    def between(self, block: Block, edges: Rows) -> list[memoryview]:
        """Return the lines of the rows between each two edges, for payloads with several tables."""
        for name, check in self._checks:
            check(block.data[name])
        return self._text.between(block, edges)


def marker(table: Table) -> str:
    """Return the name of the field that is true in every row in InfluxDB, if one is needed."""
    return INFLUXDB.marker(table) or _list_fields(table, table.tags)[0].name


def _list_fields(table: Table, tags: Sequence[Column]) -> list[Column]:
    """Return all columns except for tags and time; columns that are never NULL come first."""
    fields = [c for c in table.columns if c not in tags and c.role is not Role.TIME]
    return sorted(fields, key=lambda column: column.nullable)


def _write_head(name: str, labels: Mapping[str, str]) -> bytes:
    """Return the start of each line: the measurement and the labels."""
    tags = (
        b",%b=%b" % (_escape_key(key), tag_text(key, value.encode()))
        for key, value in labels.items()
    )
    return b"".join((escape(name.encode(), b", "), *tags))


def _make_slots(table: Table, head: bytes, dialect: LineDialect) -> list[Slot]:
    """Return the slots of a line; the text between two columns belongs to the second column."""
    row: list[Slot] = []
    lead = head
    tags = dialect.tags(table)
    for tag in tags:
        before = lead + b"," + _escape_key(tag.name) + b"="
        row.append(Slot(tag, dialect.tag(tag), before, b"", null=lead))
        lead = b""
    separator = b" "
    if marker := dialect.marker(table):
        lead, separator = lead + b" " + _escape_key(marker) + b"=t", b","
    for field in _list_fields(table, tags):
        before = lead + separator + _escape_key(field.name) + b"="
        style, after = dialect.field(field, table.time_unit)
        row.append(Slot(field, style, before, after, null=lead))
        lead, separator = b"", b","
    row.append(Slot(table.time, PLAIN, lead + b" ", b"\n", null=b""))
    return row


def _escape_key(name: str) -> bytes:
    return escape(name.encode(), b",= ")


def escape(name: bytes, special: bytes) -> bytes:
    """Return a text with a backslash before each special byte."""
    return b"".join(b"\\%c" % byte if byte in special else b"%c" % byte for byte in name)


def _quote(text: bytes) -> bytes:
    return text.replace(b"\\", b"\\\\").replace(b'"', b'\\"')


def tag_text(column: str, text: bytes) -> bytes:
    """Return the text of a tag's value; UnstorableError if line protocol cannot express it."""
    if b"\n" in text or b"\r" in text:
        limit = "a line end"
    elif text.endswith(b"\\") or any(b"\\%c" % byte in text for byte in b",= "):
        limit = "a backslash before a comma, a space or an equals sign, or at the end"
    else:
        return escape(text, b",= ")
    shown = text.decode(errors="replace")
    raise UnstorableError(f"column {column}: {shown!r} cannot be a tag: tags cannot have {limit}")


def _check_instants(name: str, unit_ns: int, data: ColumnData) -> None:
    values = data.values()
    if not len(values):
        return
    for instant in (int(values.min()), int(values.max())):
        if not _FIRST_NS <= instant * unit_ns <= _LAST_NS:
            raise UnstorableError(
                f"column {name}: {instant} is outside 1677-09-21 to 2262-04-11, the range of "
                "nanoseconds in 64 bits"
            )


def none_is(wrong: Callable[[Array], Array], message: str) -> Check:
    """Return a check that raises UnstorableError for a wrong value; NULLs are not checked."""
    wrong_levels = LevelCache(wrong)

    def check(data: ColumnData) -> None:
        if isinstance(data, Coded):
            levels = wrong_levels(data.levels)
            if not levels.any():
                return
            found = levels.take(data.codes)
        else:
            found = wrong(data.array)
        if (found if data.valid is None else found & data.valid).any():
            raise UnstorableError(message)

    return check
