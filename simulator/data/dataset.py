"""A dataset: a workload with its parameters, a seed, and ranges of rows.

The record is sent to workers and kept in manifests; `DatasetReader` draws its rows.
"""

from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from simulator.data.block import Rows
from simulator.data.late import Late
from simulator.data.ranges import (
    LANE_BITS,
    LANE_ROWS,
    MOST_ROWS,
    RowRange,
    find_held,
    merge,
    sum_rows,
)
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import WORKLOADS
from simulator.frozen import Frozen

TABLE_PREFIX = r"^([a-z][a-z0-9_]{0,29})?$"
"""Pattern of the tables' prefix: lower case, since some databases fold names."""


class PartsBy(StrEnum):
    """The distribution of a table's rows across its parts (`--tables-by`)."""

    ROW = "row"
    """Row r is in part r mod parts."""
    WORKER = "worker"
    """The rows of a lane, which one worker writes, are in part lane mod parts."""


class Correction(Frozen):
    """Rows with replaced fields."""

    number: int = Field(ge=1)
    """Number of the correction in the dataset; the new values of the fields depend on it."""
    ranges: tuple[RowRange, ...]


class Retag(Frozen):
    """An update of a tag in the rows of some series, later rows included."""

    table: int = Field(ge=0)
    """The table's place in the workload."""
    tag: str
    by: str
    """The tag that names the series."""
    values: dict[str, str]
    """Name of a series -> the new value of the tag."""

    @cached_property
    def names(self) -> dict[bytes, bytes]:
        """The names and values as bytes, as in drawn rows."""
        return {name.encode(): value.encode() for name, value in self.values.items()}


class Dataset(Frozen):
    """The rows that a target's tables hold or will hold."""

    workload: str
    workload_version: int
    params: dict[str, Any]
    seed: int = Field(ge=-MOST_ROWS * 2, lt=MOST_ROWS * 2)
    start_ms: int = Field(ge=-MOST_ROWS, le=MOST_ROWS)
    primary_key: PrimaryKey
    parts: int = Field(ge=1, le=1000)
    parts_by: PartsBy = PartsBy.ROW
    table_prefix: str = Field("", pattern=TABLE_PREFIX)
    ranges: tuple[RowRange, ...] = ()
    corrections: tuple[Correction, ...] = ()
    """Corrections in order; some of the corrected rows may have been deleted since."""
    retags: tuple[Retag, ...] = ()
    """Updates of tags in order."""
    late: Late | None = None
    """Share of rows sent out of order; with one, ranges number rows in the order of sending."""

    @property
    def rows(self) -> int:
        """Number of rows in the ranges."""
        return sum_rows(self.ranges)

    @property
    def origin(self) -> dict[str, Any]:
        """The parameters that determine the rows, but not when and where a file was read."""
        named = ("workload", "workload_version", "seed", "start_ms")
        known = {**{name: getattr(self, name) for name in named}, **self.params}
        if self.late:
            known["late"] = self.late.model_dump()
        cls = WORKLOADS.get(self.workload)  # None: of a later version of this program
        return {n: v for n, v in known.items() if not cls or n not in cls.incidental}

    @property
    def volume_claim(self) -> str:
        """Name of the volume claim with the rows, which only pods mount; empty: none."""
        return str(self.params.get("claim", ""))

    def with_ranges(self, ranges: Iterable[RowRange]) -> "Dataset":
        """Return the dataset with these ranges, merged."""
        return self.model_copy(update={"ranges": merge(ranges)})

    def holds(self, table: int, rows: Rows) -> NDArray[np.bool_]:
        """Return a mask of rows of a table, given by its place: True for rows in the ranges."""
        return find_held(self.ranges, table, rows)

    def ends(self) -> dict[tuple[int, int], int]:
        """Return (table, lane) -> the sequence number after the lane's last row."""
        ends: dict[tuple[int, int], int] = {}
        for rows in self.ranges:
            lane = rows.start >> LANE_BITS
            key = rows.table, lane
            ends[key] = max(ends.get(key, 0), rows.stop - lane * LANE_ROWS)
        return ends
