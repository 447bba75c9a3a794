"""Writes folds as bytes, for the process that merges them, and reads them.

A line of JSON names the arrays; their bytes follow. The arrays are checked before they are merged,
since they may come from a process of another version, or from a foreign process.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Annotated, TypeAlias

import numpy as np
from pydantic import Field

from simulator.data.block import Array
from simulator.frozen import Frozen
from simulator.verify.truth.cube import Cube
from simulator.verify.truth.fingerprint import EveryRow
from simulator.verify.truth.measures import Arrays
from simulator.verify.truth.rows import RowsFold

Fold: TypeAlias = Cube | RowsFold | EveryRow

_TYPE = "^[<|](i1|i2|i4|i8|f4|f8|b1|S[1-9][0-9]{0,8})$"
_MOST_ITEMS = 1 << 32


class _Named(Frozen):
    """An array: the place of its fold, its name, type and number of items."""

    fold: int
    name: str
    type: Annotated[str, Field(pattern=_TYPE)]
    items: Annotated[int, Field(ge=0, lt=_MOST_ITEMS)]


class _Head(Frozen):
    """The queries, and the arrays in the order of their bytes."""

    queries: str
    arrays: tuple[_Named, ...]


def to_bytes(folds: Sequence[Fold]) -> bytes:
    """Return the folds as bytes."""
    named, contents = list[_Named](), list[bytes]()
    for place, fold in enumerate(folds):
        for name, array in fold.parts().items():
            named.append(_Named(fold=place, name=name, type=array.dtype.str, items=len(array)))
            contents.append(array.tobytes())
    head = _Head(queries=_digest(folds), arrays=tuple(named))
    return b"\n".join((head.model_dump_json().encode(), b"".join(contents)))


def from_bytes(folds: Sequence[Fold], content: bytes) -> list[Arrays]:
    """Return the parts of equal folds of other rows; ValueError if they are damaged."""
    line, _, _ = content.partition(b"\n")
    head = _Head.model_validate_json(line, strict=True)
    if head.queries != _digest(folds):
        raise ValueError("these are folds of other queries")
    found: list[Arrays] = [{} for _ in folds]
    place = len(line) + 1
    for named in head.arrays:
        dtype = np.dtype(named.type)
        if not 0 <= named.fold < len(folds) or place + named.items * dtype.itemsize > len(content):
            raise ValueError(f"the array {named.name!r} of fold {named.fold} is not there")
        array: Array = np.frombuffer(content, dtype, named.items, place)
        found[named.fold][named.name] = array
        place += array.nbytes
    if place < len(content):
        raise ValueError(f"{len(content) - place} bytes belong to no array")
    for fold, arrays in zip(folds, found, strict=True):
        _check(fold.form(), arrays)
        fold.check(arrays)
    return found


def _check(form: Mapping[str, str], arrays: Arrays) -> None:
    """Check the names and kinds of arrays; if no row was selected, there are none."""
    if arrays and {*arrays} != {*form}:
        raise ValueError(f"expected the arrays {sorted(form)}, got {sorted(arrays)}")
    for name, array in arrays.items():
        if array.dtype.kind != form[name]:
            raise ValueError(f"expected {name!r} of kind {form[name]!r}, got {array.dtype}")


def _digest(folds: Sequence[Fold]) -> str:
    asked = [fold.shape if isinstance(fold, Cube) else fold.query for fold in folds]
    return hashlib.sha256(repr(asked).encode()).hexdigest()
