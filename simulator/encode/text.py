"""Blocks as text: CSV, PostgreSQL's tab-separated COPY format, rows of SQL values, and more."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from simulator.data.block import Array, Block, Texts
from simulator.data.digits import integers
from simulator.data.octets import literal, octets
from simulator.data.schema import FLOATS, INTEGERS, Column, TimeUnit, Type
from simulator.encode.columns import ColumnEncoder, Columns
from simulator.encode.numbers import Iso, doubles, iso
from simulator.encode.rows import BARE, Frame, LaidOut, RowEncoder, Share, Spans, lay_out


@dataclass(frozen=True, slots=True)
class ValueStyle:
    """The notation of values in a format."""

    null: bytes
    false: bytes
    true: bytes
    instants: Iso | None
    """Notation of instants; None if they are written as integers, in the table's unit."""
    quote: bytes
    """Bytes that precede and follow every text."""
    special: bytes
    """Bytes that must be escaped; `escape` is also applied to empty texts."""
    escape: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class TextFormat:
    """The notation of values, rows and payloads in a text format."""

    style: ValueStyle
    row: Frame
    payload: Frame


def _escape_csv(text: bytes) -> bytes:
    # PostgreSQL before 18 reads an unquoted \. on its own line as the end of the data.
    if text in (b"", b"\\.") or any(mark in text for mark in b'",\r\n'):
        return b'"' + text.replace(b'"', b'""') + b'"'
    return text


def _escape_tsv(text: bytes) -> bytes:
    text = text.replace(b"\\", b"\\\\").replace(b"\t", b"\\t")
    return text.replace(b"\n", b"\\n").replace(b"\r", b"\\r")


CSV = TextFormat(
    ValueStyle(b"", b"f", b"t", Iso(), quote=b"", special=b'",\r\n\\', escape=_escape_csv),
    row=Frame(b"", b",", b"\n"),
    payload=BARE,
)
"""CSV by RFC 4180 with \\n line ends; a NULL is empty, and an empty text is \"\"."""

TSV = TextFormat(
    ValueStyle(b"\\N", b"f", b"t", Iso(), quote=b"", special=b"\\\t\n\r", escape=_escape_tsv),
    row=Frame(b"", b"\t", b"\n"),
    payload=BARE,
)
"""Text format of PostgreSQL's COPY."""

SQL = TextFormat(
    ValueStyle(
        b"NULL",
        b"FALSE",
        b"TRUE",
        Iso(b"'"),
        quote=b"'",
        special=b"'",
        escape=lambda text: text.replace(b"'", b"''"),
    ),
    row=Frame(b"(", b",", b")"),
    payload=Frame(b"", b",", b""),
)
"""Rows for INSERT ... VALUES; in standard SQL strings, a backslash is an ordinary character."""


_NEGATIVE_ZERO = b"'-0.0'"


@dataclass(frozen=True, slots=True)
class Slot:
    """A column's place in a row of text; formats that write the names of columns create slots."""

    column: Column
    style: ValueStyle
    before: bytes
    after: bytes
    null: bytes
    """Text that replaces the whole slot if the value is NULL."""


def slots(columns: Sequence[Column], text_format: TextFormat) -> list[Slot]:
    """Return the slots of a row in which columns are identified by their order."""
    row, null = text_format.row, text_format.style.null
    end = row.after + text_format.payload.between
    made = []
    for column in columns:
        before = row.before if column is columns[0] else b""
        after = end if column is columns[-1] else row.between
        made.append(Slot(column, text_format.style, before, after, before + null + after))
    return made


class TextEncoder(RowEncoder):
    """Encodes blocks as text, with one slot for each column.

    Measured on one core (tests/perf/encode.py, four IoT columns): 22 to 27 million rows/s or 1.5
    GB/s; 14 to 17 million if texts differ in length or a tenth of a column is NULL. Ten tags and
    ten fields: 3.5 to 7 million on a grid, 1.4 million with full doubles.
    """

    def __init__(self, row: Sequence[Slot], payload: Frame, time_unit: TimeUnit) -> None:
        self.frame = payload
        self._columns = Columns(
            [
                ColumnEncoder(slot.column.name, partial(_format, slot, time_unit), slot.null)
                for slot in row
            ]
        )

    @classmethod
    def of(
        cls, columns: Sequence[Column], time_unit: TimeUnit, text_format: TextFormat
    ) -> "TextEncoder":
        """Return the encoder of columns in a format."""
        return cls(slots(columns, text_format), text_format.payload, time_unit)

    def lay_out(self, block: Block) -> LaidOut:
        """Return a text for each row."""
        return lay_out(self._columns.shares(block), len(block))


def _format(slot: Slot, unit: TimeUnit, values: Array | Texts) -> list[Share | Spans]:
    before = [Share([literal(slot.before)], None)] if slot.before else []
    after = [Share([literal(slot.after)], None)] if slot.after else []
    return [*before, *_write_values(slot.column.type, values, unit, slot.style), *after]


def _write_values(
    kind: Type, values: Array | Texts, unit: TimeUnit, style: ValueStyle
) -> list[Share | Spans]:
    if isinstance(values, Texts):
        return _quote(_write_long_texts(values, style), style)
    if kind is Type.TEXT:
        return _quote(_write_texts(values, style), style)
    if kind in FLOATS:
        texts = doubles(values)
        return [_pad(_keep_signs(values, texts) if style.quote == b"'" else texts)]
    if kind is Type.BOOL:
        return [_pad(np.array([style.false, style.true]).take(values))]
    if kind in INTEGERS or style.instants is None:
        return [Share(*integers(values))]
    return [Share(iso(values, unit, style.instants), None)]


def _keep_signs(values: Array, texts: Array) -> Array:
    """Return numbers for SQL; -0.0 is quoted, as the plain literal is a decimal without sign."""
    negative = (values == 0) & np.signbit(values)
    if negative.any():
        texts = texts.astype(f"S{max(texts.dtype.itemsize, len(_NEGATIVE_ZERO))}")
        texts[negative] = _NEGATIVE_ZERO
    return texts


def _quote(texts: Share | Spans, style: ValueStyle) -> list[Share | Spans]:
    quote = [Share([literal(style.quote)], None)] if style.quote else []
    return [*quote, texts, *quote]


def _write_texts(values: Array, style: ValueStyle) -> Share:
    content = values.tobytes()
    plain = len(content.translate(None, style.special)) == len(content)
    if not plain or not octets(np.ascontiguousarray(values))[:, 0].all():
        values = np.array([style.escape(text) for text in values.tolist()])
    return _pad(values)


def _write_long_texts(values: Texts, style: ValueStyle) -> Spans:
    content = values.content.tobytes()
    if values.lengths.all() and len(content.translate(None, style.special)) == len(content):
        return Spans(values.content, values.starts, values.lengths)
    texts = [style.escape(text) for text in values.to_list()]
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return Spans(np.frombuffer(b"".join(texts), np.uint8), np.cumsum(lengths) - lengths, lengths)


def _pad(texts: Array) -> Share:
    if octets(np.ascontiguousarray(texts))[:, -1].all():
        return Share([texts], None)
    return Share([texts], np.strings.str_len(texts))
