"""Blocks as BSON documents, one after the other as in an OP_MSG message.

https://bsonspec.org/spec.html: a document consists of its length in bytes, its elements and a NUL.
An element consists of a type, a name that ends with NUL, and a value. All numbers are
little-endian. A layout lists the elements of a document. Without NULLs, and with texts of equal
length, the documents have a fixed width.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded
from simulator.data.octets import literal, octets, side_by_side
from simulator.data.schema import FLOATS, Column, TimeUnit, Type
from simulator.encode.columns import LevelCache, fill
from simulator.encode.rows import LaidOut, RowEncoder, Share, lay_out
from simulator.errors import UnstorableError

DOCUMENT_BYTES = 16 * 2**20
"""Maximum size of a document that MongoDB accepts."""

_DOUBLE, _STRING, _EMBEDDED, _ARRAY, _BOOL, _DATE, _NULL, _INT32, _INT64 = (
    bytes([code]) for code in (0x01, 0x02, 0x03, 0x04, 0x08, 0x09, 0x0A, 0x10, 0x12)
)
_END = literal(b"\0")
_LENGTH = np.dtype("<i4")
_MILLISECONDS = TimeUnit.MILLISECOND.per_second


@dataclass(frozen=True, slots=True)
class BsonField:
    """An element with the value of a column."""

    name: str
    column: Column
    date: bool = False
    """True if an instant becomes a Date, truncated to milliseconds; otherwise it becomes an
    int64."""
    null: bool = False
    """True if a NULL is written as an element of type null; otherwise the element is left out."""


@dataclass(frozen=True, slots=True)
class Constant:
    """An element with a text that is the same in every document."""

    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Embedded:
    """An element with an embedded document, or with an array whose names are "0", "1", ..."""

    name: str
    elements: "tuple[Element, ...]"
    array: bool = False


Element: TypeAlias = BsonField | Constant | Embedded


class Bson(RowEncoder):
    """Encodes blocks as the documents of a layout.

    Measured on one core (tests/perf/encode.py, four IoT columns): 39 million rows/s or 3.8 GB/s; 4
    million if each block needs new memory from the system; 20 million with NULLs or texts of
    different lengths. The driver's function bson.encode reaches 0.5 million.
    """

    def __init__(self, layout: Sequence[Element], time_unit: TimeUnit) -> None:
        self._layout = tuple(layout)
        self._time_unit = time_unit
        self._levels: dict[BsonField, LevelCache[Share]] = {}

    def lay_out(self, block: Block) -> LaidOut:
        """Return a document for each row."""
        return lay_out(self._write_document(self._layout, block), len(block))

    def _write_document(self, elements: Sequence[Element], block: Block) -> list[Share]:
        shares = [share for element in elements for share in self._write_element(element, block)]
        fixed = sum(share.width for share in shares if share.used is None)
        sizes = np.array(_LENGTH.itemsize + fixed + 1)
        for share in shares:
            if share.used is not None:
                sizes = sizes + share.used
        if sizes.max() > DOCUMENT_BYTES:
            raise UnstorableError(
                f"{block.name}: a row is a document of {sizes.max()} bytes, but MongoDB's limit is "
                f"{DOCUMENT_BYTES}; its texts are too long"
            )
        length = np.atleast_1d(sizes).astype(_LENGTH)
        return [Share([length], None), *shares, Share([_END], None)]

    def _write_element(self, element: Element, block: Block) -> list[Share]:
        match element:
            case BsonField():
                return [self._write_field(element, block)]
            case Constant(name, text):
                content = text.encode()
                length = (len(content) + 1).to_bytes(4, "little")
                return [
                    Share([literal(_write_head(_STRING, name) + length + content + b"\0")], None)
                ]
            case Embedded(name, elements, array):
                head = Share([literal(_write_head(_ARRAY if array else _EMBEDDED, name))], None)
                return [head, *self._write_document(elements, block)]
        assert_never(element)

    def _write_field(self, field: BsonField, block: Block) -> Share:
        data = block.data[field.column.name]
        null = None if data.valid is None or data.valid.all() else ~data.valid
        if isinstance(data, Coded):
            if field not in self._levels:
                self._levels[field] = LevelCache(partial(_pack, field, self._time_unit))
            (items,), used = self._levels[field](data.levels)
            share = Share([items.take(data.codes)], None if used is None else used.take(data.codes))
        else:
            share = _write_values(field, self._time_unit, fill(data))
        return share if null is None else _put_nulls(field, share, null)


def _write_head(kind: bytes, name: str) -> bytes:
    return kind + name.encode() + b"\0"


def _pack(field: BsonField, unit: TimeUnit, levels: Array) -> Share:
    share = _write_values(field, unit, levels)
    return share._replace(arrays=[side_by_side(share.arrays, len(levels))])


def _write_values(field: BsonField, unit: TimeUnit, values: Array) -> Share:
    kind = field.column.type
    if kind is Type.TEXT:
        return _write_texts(field.name, values)
    if field.date:
        return _write_numbers(_DATE, field.name, _convert_dates(field.column, unit, values))
    if kind in FLOATS:
        return _write_numbers(_DOUBLE, field.name, values.astype("<f8"))
    if kind is Type.BOOL:
        return _write_numbers(_BOOL, field.name, values.astype("u1"))
    if kind in (Type.INT16, Type.INT32):
        return _write_numbers(_INT32, field.name, values.astype("<i4"))
    return _write_numbers(_INT64, field.name, values.astype("<i8"))


def _write_numbers(kind: bytes, name: str, values: Array) -> Share:
    return Share([literal(_write_head(kind, name)), values], None)


def _write_texts(name: str, values: Array) -> Share:
    """Return texts as elements; the padding of a shorter text supplies the NUL."""
    head = literal(_write_head(_STRING, name))
    lengths = np.strings.str_len(values)
    ended = values.astype(f"S{values.dtype.itemsize + 1}")
    share = Share([head, (lengths + 1).astype(_LENGTH), ended], None)
    if lengths.min() == values.dtype.itemsize:
        return share
    return share._replace(used=lengths + (share.width - values.dtype.itemsize))


def _convert_dates(column: Column, unit: TimeUnit, values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return instants in milliseconds, rounded towards the past."""
    if unit.per_second > _MILLISECONDS:
        return values // (unit.per_second // _MILLISECONDS)
    factor = _MILLISECONDS // unit.per_second
    limit = (2**63 - 1) // factor
    if values.max() > limit or values.min() < -limit:
        worst = max((int(values.max()), int(values.min())), key=abs)
        raise UnstorableError(
            f"{column.name}: {worst} {unit} since 1970 is beyond MongoDB's Date, which stores "
            f"{-limit} to {limit} {unit}"
        )
    return values * factor


def _put_nulls(field: BsonField, share: Share, null: NDArray[np.bool_]) -> Share:
    """Return a share in which each NULL is an element of type null, or is left out."""
    used = np.full(len(null), share.width) if share.used is None else share.used.copy()
    items = side_by_side(share.arrays, len(null))
    if field.null:
        octets(items)[null, 0] = _NULL[0]  # the name remains in its place
    used[null] = len(_write_head(_NULL, field.name)) if field.null else 0
    return Share([items], used)
