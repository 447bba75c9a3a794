"""The content of a payload: bytes, or a file that the database imports (mode IMPORT)."""

import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

Content: TypeAlias = bytes | mmap.mmap
"""Anything with slices and a length."""


@contextmanager
def contents(source: bytes | Path) -> Iterator[Content]:
    """Yield the bytes, or the bytes of a file, which are read when they are used."""
    if not isinstance(source, Path):
        yield source
        return
    with source.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        yield content
