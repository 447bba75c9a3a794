"""Blocks as tuples of Python objects, for drivers that accept nothing else."""

from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Array, Block, Coded, ColumnData, Texts
from simulator.data.schema import Column, TimeUnit, Type
from simulator.encode.columns import LevelCache, fill
from simulator.encode.numbers import microseconds

_ROWS_AT_ONCE = 1000
"""Number of rows to convert at once; their references fit into the cache of a core."""


class InstantType(StrEnum):
    """The Python type of an instant."""

    INTEGER = "integer"
    """int in the table's unit."""
    NAIVE = "naive"
    """datetime in UTC without a time zone; nanoseconds are truncated towards the past."""
    AWARE = "aware"
    """datetime with the time zone UTC."""


class Objects:
    """Encodes blocks as rows of int, float, bool, str, None and, on request, datetime.

    Measured on one core (tests/perf/encode.py, four IoT columns): 8.5 million rows/s.
    Ten tags and ten fields: 2.5 million on a grid.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        time_unit: TimeUnit,
        instant: InstantType = InstantType.INTEGER,
    ) -> None:
        self._time_unit = time_unit
        self._instant = instant
        self._columns = [
            (column, LevelCache(partial(self._make_objects, column.type))) for column in columns
        ]

    def encode(self, block: Block, batch_rows: int) -> list[list[tuple[Any, ...]]]:
        """Return the block as batches of `batch_rows` rows each (the last may have fewer)."""
        columns = [
            self._make_column(column.type, levels, block.data[column.name])
            for column, levels in self._columns
        ]
        at_once = max(_ROWS_AT_ONCE // batch_rows, 1) * batch_rows
        batches = []
        for first in range(0, len(block), at_once):
            parts = (column[first : first + at_once].tolist() for column in columns)
            rows = list(zip(*parts, strict=True))
            starts = range(0, len(rows), batch_rows)
            batches += [rows[start : start + batch_rows] for start in starts]
        return batches

    def _make_column(self, kind: Type, levels: LevelCache[Array], data: ColumnData) -> Array:
        """Return an array that becomes a list of the column's objects."""
        null = None if data.valid is None or data.valid.all() else ~data.valid
        if isinstance(data, Coded):
            objects = levels(data.levels).take(data.codes)
        elif isinstance(data, Texts):
            objects = _box([text.decode() for text in data.to_list()])
        elif null is None:
            return data.array if self._is_plain(kind) else self._make_objects(kind, data.array)
        else:
            objects = self._make_objects(kind, fill(data))
        if null is not None:
            objects[null] = None
        return objects

    def _is_plain(self, kind: Type) -> bool:
        is_instant = kind is Type.TIMESTAMP and self._instant is not InstantType.INTEGER
        return kind is not Type.TEXT and not is_instant

    def _make_objects(self, kind: Type, values: Array) -> NDArray[np.object_]:
        if self._is_plain(kind):
            return _box(values.tolist())
        if kind is Type.TEXT:
            return _box([text.decode() for text in values.tolist()])
        moments = microseconds(values, self._time_unit).astype("datetime64[us]")
        naive: list[datetime] = moments.tolist()
        if self._instant is InstantType.NAIVE:
            return _box(naive)
        return _box([moment.replace(tzinfo=UTC) for moment in naive])


def _box(listed: list[Any]) -> NDArray[np.object_]:
    objects = np.empty(len(listed), np.object_)
    objects[:] = listed
    return objects
