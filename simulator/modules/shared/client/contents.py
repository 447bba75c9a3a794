"""Contents of payloads, which may be files (mode IMPORT), and of answers, cut into portions."""

import mmap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

Item = TypeVar("Item")
Content: TypeAlias = bytes | mmap.mmap
"""Content that has a length and can be sliced."""


@contextmanager
def contents(source: bytes | Path) -> Iterator[Content]:
    """Yield the bytes, or the bytes of a file, which are read when they are used."""
    if not isinstance(source, Path):
        yield source
        return
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield content


def portions(rows: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield rows as they arrive, a number of them at a time."""
    arriving = iter(rows)
    while portion := list(islice(arriving, size)):
        yield portion


def separate_blobs(rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Return rows in which a BLOB equals no text."""
    kinds = {*map(type, chain.from_iterable(rows))}
    return [[*map(_separate, row)] for row in rows] if bytes in kinds else rows


def _separate(value: Any) -> Any:
    return bytearray(value) if isinstance(value, bytes) else value
