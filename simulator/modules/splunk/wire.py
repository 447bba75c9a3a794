"""Rows as events of the HTTP Event Collector: the event {"r": {column: "value", ...}}.

Splunk stores text: every value is a string, a NULL is left out, and the fields are r.column.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from simulator.data.block import Array, Block, Coded, ColumnData, Values
from simulator.data.schema import Column, Role, Table, Type
from simulator.encode.ndjson import JSON, check_finite
from simulator.encode.rows import Frame
from simulator.encode.text import Slot, TextEncoder, ValueStyle
from simulator.errors import UnstorableError
from simulator.modules.shared.names import storable

RAW = "raw"
"""Insert mode: lines for the endpoint raw."""
NULL = "(null)"
"""Placeholder of NULL among the values of a field; no text may equal it."""
BEFORE_TIME = r'^\{"r":\{"\w+":"'
"""Text before the instant, which is the first field of a line."""
LONGEST_ROW_BYTES = 5000
"""Splunk extracts no fields beyond this length (limits.conf, extraction_cutoff)."""
_EARLIEST_S = 946_684_800
"""2000-01-01: Splunk ignores instants in lines that are older than 30 years (MAX_DAYS_AGO)."""

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_DIGITS = ValueStyle(b"", b"", b"", None, quote=b"", special=b"", escape=lambda text: text)
_TEXTS = ValueStyle(b"", b'"0"', b'"1"', None, quote=b'"', special=JSON.special, escape=JSON.escape)
_SECONDS, _FRACTION = ".s", ".f"


def row_field(column: str) -> str:
    """Return the field that holds a column."""
    return f"r.{column}"


def fields_of(event: str) -> list[str]:
    """Return the fields of an event; for an event that is not a row, the event itself."""
    try:
        content = json.loads(event)
        row = content.pop("r")
        return [*content, *map(row_field, row)]
    except (ValueError, AttributeError, KeyError, TypeError):
        return [event]


def index(table: str) -> str:
    """Return the index of a physical table."""
    return storable(table, "a-z0-9_-", "-_", lower=True)


def sourcetype(table: Table) -> str:
    """Return the sourcetype, which defines how Splunk reads rows with this unit of time."""
    return f"benchmark_{table.time_unit}"


def check_names(table: Table) -> None:
    """Raise UnstorableError if a column has a name that no field can have."""
    for column in table.columns:
        if not _PLAIN.fullmatch(column.name):
            raise UnstorableError(
                f"{table.name}: column {column.name!r}: a field's name has letters, digits and _ "
                "only; rename the column"
            )


def encoder(table: Table, name: str, mode: str) -> TextEncoder:
    """Return the encoder of rows as lines; for events, each with its instant in seconds."""
    columns = sorted(table.columns, key=lambda column: column.role is not Role.TIME)
    lead, end, row = b"", b"", []
    if mode != RAW:
        where = f'"index":"{index(name)}","sourcetype":"{sourcetype(table)}"'
        row += [_make_slot(_SECONDS, Type.INT64, f'{{{where},"time":'.encode())]
        row += [
            _make_slot(f"{_FRACTION}{place}", Type.TEXT, b"" if place else b".")
            for place in range(_count_groups(table))
        ]
        lead, end = b',"event":', b"}"
    for place, column in enumerate(columns):
        mark = b"" if column.type in (Type.TEXT, Type.BOOL) else b'"'
        before = (b"," if place else lead + b'{"r":{') + f'"{column.name}":'.encode() + mark
        after = mark + (b"}}" + end + b"\n" if column is columns[-1] else b"")
        null = b"}}" + end + b"\n" if column is columns[-1] else b""
        row.append(Slot(column, _TEXTS, before, after, null))
    return TextEncoder(row, Frame(b"", b"\n", b""), table.time_unit)


def _make_slot(name: str, kind: Type, before: bytes) -> Slot:
    return Slot(Column(name, kind, Role.FIELD), _DIGITS, before, b"", b"")


def _count_groups(table: Table) -> int:
    """Return how many groups of three digits the fraction of a second has."""
    return (len(str(table.time_unit.per_second)) - 1) // 3


@cache
def _thousandths() -> Array:
    return np.array([b"%03d" % number for number in range(1000)])


def split_instants(block: Block) -> Block:
    """Return a block with instants in seconds, and their fractions in groups of three digits."""
    instants = block.data[block.table.time.name].values().astype(np.int64)
    groups = _count_groups(block.table)
    data: dict[str, ColumnData] = dict(block.data)
    data[_SECONDS] = Values(instants // 1000**groups)
    for place in range(groups):
        codes = instants // 1000 ** (groups - 1 - place) % 1000
        data[f"{_FRACTION}{place}"] = Coded(codes, _thousandths())
    return replace(block, data=data)


def check_values(block: Block) -> None:
    """Raise UnstorableError if a column has a value that no event can hold."""
    for column in block.table.columns:
        data = block.data[column.name]
        check_finite(column, data)
        if column.role is Role.TIME and len(data):
            first, unit = int(data.values().min()), block.table.time_unit
            if first < _EARLIEST_S * unit.per_second:
                raise UnstorableError(
                    f"{column.name}: the earliest instant that Splunk reads is 2000-01-01; found "
                    f"{first} {unit} since 1970; set --start-time to a later one"
                )
        if column.type is Type.TEXT:
            known = _list_values(data)
            for refused in (b"", NULL.encode()):
                if (known == refused).any() and (data.present() == refused).any():
                    raise UnstorableError(
                        f"{column.name}: a text cannot be {refused.decode()!r}, which reads as NULL"
                    )


def check_lengths(block: Block, bodies: Sequence[bytes]) -> None:
    """Raise UnstorableError if a row of the block, encoded as these bodies, is too long."""
    widths = 0  # with every character of the widest texts escaped
    for column in block.table.columns:
        known = _list_values(block.data[column.name])
        widths += len(column.name) + (6 * known.dtype.itemsize if column.type is Type.TEXT else 30)
    if widths <= LONGEST_ROW_BYTES // 2:
        return
    for body in bodies:
        longest = max(map(len, body.split(b"\n")))
        if longest > LONGEST_ROW_BYTES:
            raise UnstorableError(
                f"a row has at most {LONGEST_ROW_BYTES} bytes of JSON; found one of {longest}"
            )


def _list_values(data: ColumnData) -> Array:
    return data.levels if isinstance(data, Coded) else data.array
