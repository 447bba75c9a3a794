"""Folds as bytes: what a process that has folded some of the rows sends to the one that merges.

The bytes are a NumPy archive of plain arrays, with a digest of the queries, so that folds of other
queries are not merged.
"""

import hashlib
import io
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np

from simulator.data.block import Array
from simulator.verify.cube import Cube
from simulator.verify.rows import RowsFold

Fold: TypeAlias = Cube | RowsFold

_DIGEST = "digest"


def to_bytes(folds: Sequence[Fold]) -> bytes:
    """Return what was folded."""
    arrays = {_DIGEST: _digest(folds)}
    for place, fold in enumerate(folds):
        arrays |= {f"{place} {name}": array for name, array in fold.parts().items()}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


def add_bytes(folds: Sequence[Fold], content: bytes) -> None:
    """Merge what equal folds folded of other rows; ValueError if they are not equal."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays: dict[str, Array] = dict(archive)
    if not np.array_equal(arrays[_DIGEST], _digest(folds)):
        raise ValueError("these are folds of other queries")
    for place, fold in enumerate(folds):
        start = f"{place} "
        parts = {n.removeprefix(start): a for n, a in arrays.items() if n.startswith(start)}
        fold.append(parts)


def _digest(folds: Sequence[Fold]) -> Array:
    asked = [fold.shape if isinstance(fold, Cube) else fold.query for fold in folds]
    return np.frombuffer(hashlib.sha256(repr(asked).encode()).digest(), np.uint8)
