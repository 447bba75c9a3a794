"""BLOBs in the rows of drivers that return texts as `str`: verification takes bytes for texts."""

from collections.abc import Sequence
from itertools import chain
from typing import Any


def separate_blobs(rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Return rows in which a BLOB equals no text."""
    kinds = {*map(type, chain.from_iterable(rows))}
    return [[*map(_separate, row)] for row in rows] if bytes in kinds else rows


def _separate(value: Any) -> Any:
    return bytearray(value) if isinstance(value, bytes) else value
