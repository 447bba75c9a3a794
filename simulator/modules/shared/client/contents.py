"""Contents of payloads, which may be files (mode IMPORT), and portions of answers."""

import mmap
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

Item = TypeVar("Item")
Content: TypeAlias = bytes | mmap.mmap
"""Content with a length, which can be sliced."""


@contextmanager
def contents(source: bytes | Path) -> Iterator[Content]:
    """Yield the bytes, or a file's bytes, which are read when they are used."""
    if not isinstance(source, Path):
        yield source
        return
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield content


def portions(rows: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Yield rows as they arrive, in lists of at most `size`."""
    arriving = iter(rows)
    while portion := list(islice(arriving, size)):
        yield portion


def separate_blobs(rows: Sequence[Sequence[Any]]) -> Sequence[Sequence[Any]]:
    """Return rows with bytearrays for BLOBs, so that no BLOB equals a text."""
    if bytes not in {*map(type, chain.from_iterable(rows))}:
        return rows
    return [
        [bytearray(value) if isinstance(value, bytes) else value for value in row] for row in rows
    ]
