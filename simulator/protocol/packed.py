"""Columns of 64-bit integers as text in a message: compressed, and bounded before it is read."""

import base64
import zlib
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

MOST_NUMBERS = 1 << 18
"""Numbers in one text."""
_MOST_BYTES = 8 * MOST_NUMBERS
_CHARACTERS = (_MOST_BYTES + (1 << 16)) // 3 * 4
Packed: TypeAlias = Annotated[str, Field(max_length=_CHARACTERS, pattern="^[A-Za-z0-9+/=]*$")]
Columns: TypeAlias = NDArray[np.int64]
"""A row for each column."""


def pack(columns: Columns) -> str:
    """Return columns as text; they have at most MOST_NUMBERS numbers."""
    content = np.ascontiguousarray(columns, np.int64).tobytes()
    return base64.b64encode(zlib.compress(content, 1)).decode()


def unpack(text: str, columns: int) -> Columns:
    """Return `columns` columns of a text; ValueError if it is damaged, or has too many numbers."""
    reader = zlib.decompressobj()
    try:
        content = reader.decompress(base64.b64decode(text, validate=True), _MOST_BYTES + 1)
    except (zlib.error, ValueError) as error:
        raise ValueError(f"packed columns are damaged: {error}") from error
    if not reader.eof and len(content) <= _MOST_BYTES:
        raise ValueError("packed columns are damaged: they end before their end")
    if len(content) > _MOST_BYTES or len(content) % (8 * columns):
        raise ValueError(f"expected {columns} columns of whole numbers, got {len(content)} bytes")
    return np.frombuffer(content, np.int64).reshape(columns, -1)
