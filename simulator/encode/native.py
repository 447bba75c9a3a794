"""Blocks in ClickHouse's binary formats: Native, column by column, and RowBinary, row by row.

https://clickhouse.com/docs/interfaces/formats/Native: a block consists of the numbers of columns
and of rows, then the name, type and values of each column. Numbers are little-endian as in NumPy. A
text consists of its length (LEB128) and its bytes. A nullable column has a byte for each row before
its values.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData, Texts
from simulator.data.schema import Column, Type
from simulator.encode.columns import LevelCache
from simulator.encode.rows import AnyShare, LaidOut, RowEncoder, Share, Spans, blank, cut, lay_out

_LOW = "LowCardinality("
_DICTIONARY_VERSION = (1).to_bytes(8, "little")
_OWN_KEYS = 1 << 9 | 1 << 10
"""Flags: the block contains its own dictionary, and the dictionary is new."""
_INDEX_TYPES = tuple(np.dtype(name) for name in ("<u1", "<u2", "<u4"))

_Pieces: TypeAlias = Callable[[int, int], Sequence[bytes | memoryview]]
"""Function that returns a column's part of the payload with the rows start..stop."""


class Native:
    """Encodes blocks for INSERT ... FORMAT Native.

    A LowCardinality column with few different texts is sent as a dictionary and codes. Measured on
    one core (tests/perf/encode.py, four IoT columns): as fast as PgCopy, and 20 times as fast as
    the vendor's client on the same NumPy arrays.
    """

    def __init__(self, columns: Sequence[Column], types: Sequence[str]) -> None:
        """Store the columns with the names of their ClickHouse types."""
        self._count = leb128(len(columns))
        self._columns = [_NativeColumn(c, t) for c, t in zip(columns, types, strict=True)]

    def encode(self, block: Block, batch_rows: int) -> list[bytes]:
        """Return the block as payloads of `batch_rows` rows each (the last may have fewer)."""
        if not len(block):
            return []
        columns = [column.pieces(block.data[column.name], batch_rows) for column in self._columns]
        payloads = []
        for start in range(0, len(block), batch_rows):
            stop = min(start + batch_rows, len(block))
            parts: list[bytes | memoryview] = [self._count, leb128(stop - start)]
            for pieces in columns:
                parts += pieces(start, stop)
            payloads.append(b"".join(parts))
        return payloads


class _NativeColumn:
    """One column of the blocks."""

    def __init__(self, column: Column, type_name: str) -> None:
        self.name = column.name
        self._column = column
        self._is_text = column.type is Type.TEXT
        self._nullable = column.nullable
        self._low = type_name.startswith(_LOW)
        own = type_name.removeprefix(_LOW).removesuffix(")") if self._low else type_name
        self._head = _write_text(column.name) + _write_text(own)
        self._low_head = _write_text(column.name) + _write_text(type_name) + _DICTIONARY_VERSION
        self._texts = LevelCache(_write_texts)
        self._keys = LevelCache(partial(_write_dictionary, nullable=column.nullable))

    def pieces(self, data: ColumnData, batch_rows: int) -> _Pieces:
        # A dictionary with more keys than rows would be larger than the texts; the server then
        # builds the dictionary itself.
        if self._low and isinstance(data, Coded) and len(data.levels) <= batch_rows:
            return self._write_codes(data)
        values = self._write_plain(data, batch_rows)
        if not self._nullable:
            return lambda start, stop: (self._head, *values(start, stop))
        valid = data.valid
        nulls = np.zeros(len(data), np.uint8) if valid is None else (~valid).view(np.uint8)
        marks = np.ascontiguousarray(nulls).data
        return lambda start, stop: (self._head, marks[start:stop], *values(start, stop))

    def _write_plain(self, data: ColumnData, batch_rows: int) -> _Pieces:
        if self._is_text:
            shares = _write_column(self._column, self._texts, data)
            texts = cut(lay_out(shares, len(data)), batch_rows)
            return lambda start, _: (texts[start // batch_rows],)
        values = np.ascontiguousarray(data.values())
        content, width = values.view(np.uint8).data, values.dtype.itemsize
        return lambda start, stop: (content[start * width : stop * width],)

    def _write_codes(self, data: Coded) -> _Pieces:
        keys = self._keys(data.levels)
        codes = data.codes
        if self._nullable:
            codes = codes + 1 if data.valid is None else np.where(data.valid, codes + 1, 0)
        indices = codes.astype(keys.dtype)
        content, width = indices.view(np.uint8).data, keys.dtype.itemsize
        head = self._low_head + keys.content
        return lambda start, stop: (
            head,
            (stop - start).to_bytes(8, "little"),
            content[start * width : stop * width],
        )


class _Keys(NamedTuple):
    """An encoded dictionary, and the type of the indices into it."""

    content: bytes
    dtype: np.dtype[np.unsignedinteger]


def _write_dictionary(levels: Array, *, nullable: bool) -> _Keys:
    texts = levels.tolist()
    if nullable:
        texts.insert(0, b"")  # the first key means NULL
    kind = next(i for i, dtype in enumerate(_INDEX_TYPES) if len(texts) <= np.iinfo(dtype).max + 1)
    head = (kind | _OWN_KEYS).to_bytes(8, "little") + len(texts).to_bytes(8, "little")
    return _Keys(head + b"".join(map(_write_text, texts)), _INDEX_TYPES[kind])


class RowBinary(RowEncoder):
    """Encodes blocks for INSERT ... FORMAT RowBinary.

    Measured on one core (tests/perf/encode.py, four IoT columns): two fifths of the speed of
    Native.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        self._columns = [(column, LevelCache(_choose_writer(column))) for column in columns]

    def lay_out(self, block: Block) -> LaidOut:
        """Return the values of each row, one after the other."""
        shares: list[AnyShare] = []
        for column, levels in self._columns:
            data = block.data[column.name]
            own = _write_column(column, levels, data)
            if not column.nullable:
                shares += own
            elif data.valid is None or data.valid.all():
                shares += [Share([np.zeros(1, np.uint8)], None), *own]
            else:
                marks = Share([(~data.valid).view(np.uint8)], None)
                shares += [marks, *(blank(share, data.valid) for share in own)]
        return lay_out(shares, len(block))


def _choose_writer(column: Column) -> Callable[[Array], list[Share]]:
    if column.type is Type.TEXT:
        return _write_texts
    return lambda values: [Share([values], None)]


def _write_column(
    column: Column, levels: LevelCache[list[Share]], data: ColumnData
) -> list[AnyShare]:
    if isinstance(data, Coded):
        return [share.take(data.codes) for share in levels(data.levels)]
    if isinstance(data, Texts):
        lengths = data.lengths if data.valid is None else np.where(data.valid, data.lengths, 0)
        return [*_write_lengths(lengths), Spans(data.content, data.starts, lengths)]
    return [*_choose_writer(column)(data.array)]


def _write_texts(values: Array) -> list[Share]:
    """Return texts, each after its length."""
    lengths = np.strings.str_len(values)
    fixed = lengths.min() == values.dtype.itemsize
    return [*_write_lengths(lengths), Share([values], None if fixed else lengths)]


def _write_lengths(lengths: NDArray[np.int64]) -> list[Share]:
    """Return lengths in LEB128, one share for each byte of the number."""
    shares = []
    rest, written = lengths, np.ones(len(lengths), np.bool_)
    while written.any():
        digit = (rest & 0x7F | (rest > 0x7F) << 7).astype(np.uint8)
        shares.append(Share([digit], None if written.all() else written.astype(np.int64)))
        rest = rest >> 7
        written = rest > 0
    return shares


def leb128(number: int) -> bytes:
    """Return a non-negative number as LEB128: seven bits per byte, the lowest first."""
    digits = []
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def _write_text(text: str | bytes) -> bytes:
    content = text.encode() if isinstance(text, str) else text
    return leb128(len(content)) + content
