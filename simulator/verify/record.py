"""Cubes as bytes: what a process that has folded some of the rows sends to the one that merges.

The bytes are a NumPy archive of plain arrays. It starts with a digest of the cubes' shapes, so that
folds of other queries are not merged.
"""

import hashlib
import io
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from simulator.data.block import Array
from simulator.verify.cube import Cube, Run, Shape

_SHAPES = "shapes"


def to_bytes(cubes: Sequence[Cube]) -> bytes:
    """Return the groups of some cubes."""
    arrays: dict[str, Array] = {_SHAPES: _digest(cube.shape for cube in cubes)}
    for place, cube in enumerate(cubes):
        run = cube.run()
        if run is not None:
            arrays |= {f"{place} {name}": array for name, array in _arrays(cube, run).items()}
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **arrays)
    return file.getvalue()


def from_bytes(shapes: Iterable[Shape], content: bytes) -> list[Cube]:
    """Return the cubes that were made bytes; ValueError if they have other shapes."""
    cubes = [Cube(shape) for shape in shapes]
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        if not np.array_equal(arrays[_SHAPES], _digest(cube.shape for cube in cubes)):
            raise ValueError("these are folds of other queries")
        for place, cube in enumerate(cubes):
            if f"{place} rows" in arrays:
                _append(cube, {name: arrays[f"{place} {name}"] for name in _names(arrays, place)})
    return cubes


def _names(arrays: Iterable[str], first: object) -> list[str]:
    start = f"{first} "
    return [name.removeprefix(start) for name in arrays if name.startswith(start)]


def _arrays(cube: Cube, run: Run) -> dict[str, Array]:
    arrays = {"rows": run.rows, **{f"key {n}": key for n, key in enumerate(run.keys)}}
    for tag, labels in cube.labels.items():
        arrays[f"tag {tag}"] = np.array(labels.values[1:])  # the first is NULL
    for place, measured in enumerate(run.arrays):
        arrays |= {f"measure {place} {name}": array for name, array in measured.items()}
    return arrays


def _append(cube: Cube, arrays: Mapping[str, Array]) -> None:
    keys = tuple(arrays[f"key {n}"] for n in range(len(_names(arrays, "key"))))
    measures = tuple(
        {name: arrays[f"measure {place} {name}"] for name in _names(arrays, f"measure {place}")}
        for place in range(len(cube.shape.measures))
    )
    labels = [[None, *arrays[f"tag {tag}"].tolist()] for tag in cube.shape.by]
    cube.append(Run(keys, arrays["rows"], measures), labels)


def _digest(shapes: Iterable[Shape]) -> Array:
    return np.frombuffer(hashlib.sha256(repr([*shapes]).encode()).digest(), np.uint8)
