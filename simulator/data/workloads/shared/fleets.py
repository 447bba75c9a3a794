"""Code that workloads of a fleet share: its parameters, and numbers and tags of each member."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
from pydantic import Field, model_validator

from simulator.data.block import Array, Coded, ColumnData, Rows, Values
from simulator.data.mixer import below, draw, fractions, key_of
from simulator.data.ranges import LANE_ROWS
from simulator.data.walks import Distribution, Precision
from simulator.data.workloads.base import DurationMs, EndMs, Params, Workload
from simulator.data.workloads.shared.windows import HOUR_MS, Windows

MOST_MEMBERS = 100_000_000
SHARE_LEVELS = 1 << 13


class FleetParams(Params):
    """The fleet, its time, and how its values are drawn."""

    scale: int = Field(1, ge=1, le=MOST_MEMBERS, description="number of hosts")
    interval_ms: DurationMs = Field(10_000, ge=1, description="time between two points of a series")
    duration_ms: EndMs = Field(6 * HOUR_MS, ge=1, description="end of the data, exclusive")
    distribution: Distribution = Field(
        Distribution.UNPINNED,
        description="documented: gauges reach their upper clamp and stay there, as in the document",
    )
    precision: Precision = Field(
        Precision.GRID, description="grid: about 13 bits a value; full: every bit of a double"
    )

    @property
    def ticks(self) -> int:
        """Number of points of a member in each table; a truncated interval has no point."""
        return self.duration_ms // self.interval_ms

    @model_validator(mode="after")
    def _holds_points(self) -> "FleetParams":
        if not self.ticks:
            raise ValueError(
                f"from start to end are {self.duration_ms} ms, less than an interval of"
                f" {self.interval_ms} ms, so there are no points; choose a later end"
            )
        if self.ticks * self.scale > LANE_ROWS:
            raise ValueError(
                f"scale {self.scale} x {self.ticks} points each is more than {LANE_ROWS} rows"
                " per table; reduce the scale, or choose an earlier end"
            )
        return self


class FleetWorkload(Workload):
    """Tables of a fleet, up to an end."""

    has_end = True
    params: FleetParams

    @property
    def precision(self) -> Precision | None:
        return self.params.precision

    def last_ms(self, rows: int) -> int:
        return self.start_ms + self.params.duration_ms

    @property
    def _ticks(self) -> int:
        """Number of points of a member that are sent."""
        return self.params.ticks

    def _make_windows(self, *, aligned: bool, until_ms: int | None) -> Windows:
        """Return the windows of the fleet's data before `until_ms`."""
        until = self.start_ms + self._ticks * self.params.interval_ms
        until = until if until_ms is None else min(until, until_ms)
        return Windows(self.seed, self.start_ms, until, aligned)


def compute_wanted_series(given: Any) -> int:
    """Return the cardinality in unchecked parameters; 0: none.

    The cardinality replaces the scale before the check, so that stored parameters give the same
    scale.
    """
    wanted = given.get("cardinality") if isinstance(given, dict) else None
    return wanted if isinstance(wanted, int) and wanted > 0 else 0


class NumberedParams(FleetParams):
    """A fleet that may be a part of a larger fleet, sized by members or series."""

    series_per_member: ClassVar[float] = 1
    """Mean number of series of a member in all tables."""
    most_members: ClassVar[int] = MOST_MEMBERS

    scale_offset: int = Field(
        0, ge=0, description="number of the first host or home, to write a part of a larger fleet"
    )
    cardinality: int = Field(
        0,
        ge=0,
        description="series in all tables, rounded down to whole hosts or homes; replaces --scale;"
        " 0: use --scale",
    )

    @model_validator(mode="before")
    @classmethod
    def _as_many_as_series(cls, given: Any) -> Any:
        wanted = compute_wanted_series(given)
        if 0 < wanted < cls.series_per_member:
            raise ValueError(
                f"cardinality {wanted} is less than the {cls.series_per_member:g} series of one"
                " member of the fleet; choose a larger one"
            )
        return {**given, "scale": int(wanted / cls.series_per_member)} if wanted else given

    @model_validator(mode="after")
    def _are_numbered(self) -> "NumberedParams":
        if self.scale_offset + self.scale > self.most_members:
            raise ValueError(
                f"scale_offset {self.scale_offset} + scale {self.scale} is more than the"
                f" {self.most_members} members that a fleet can have; reduce one of them"
            )
        return self


@dataclass(frozen=True, slots=True)
class DrawnTag:
    """A text tag that contains random numbers drawn for each member."""

    form: str
    """printf-style format with a conversion for each number."""
    bounds: tuple[int, ...]
    """Exclusive upper bound of each number."""
    offset: int = 0


Tag = DrawnTag | tuple[str, ...]
"""Source of a tag: a format with drawn numbers, or a tuple of possible values."""


def find_longest(tag: Tag) -> int:
    """Return the number of characters of a tag's longest value."""
    if isinstance(tag, DrawnTag):
        return len(tag.form % tuple(bound - 1 + tag.offset for bound in tag.bounds))
    return max(map(len, tag))


@dataclass(frozen=True, slots=True)
class Members:
    """The members of a fleet, and the values that are drawn once for each of them."""

    seed: int
    count: int
    first: int = 0
    """Number of the first member."""

    @property
    def all(self) -> Rows:
        """Numbers of the members."""
        return np.arange(self.first, self.first + self.count)

    def format_numbers(self, form: str) -> Array:
        """Return a text with the number of each member."""
        return texts([form % member for member in self.all.tolist()])

    def numbers(self, name: str, bound: int) -> Rows:
        """Return a number below `bound` for each member."""
        return below(key_of(self.seed, name), self.all, bound)

    def tag(self, name: str, tag: Tag) -> Array:
        """Return the text of each member."""
        if not isinstance(tag, DrawnTag):
            return texts(tag).take(self.numbers(name, len(tag)))
        numbers = [
            (self.numbers(f"{name}.{place}", bound) + tag.offset).tolist()
            for place, bound in enumerate(tag.bounds)
        ]
        return texts([tag.form % each for each in zip(*numbers, strict=True)])


def draw_shares(key: int, rows: Rows, precision: Precision) -> ColumnData:
    """Return a random number from 0 to 1 for each row: a multiple of 1/8192, or a full double."""
    if precision is Precision.FULL:
        return Values(fractions(draw(key, rows)))
    return Coded(below(key, rows, SHARE_LEVELS), _list_shares())


@cache
def _list_shares() -> Array:
    return np.arange(SHARE_LEVELS) / SHARE_LEVELS


def texts(values: Sequence[str]) -> Array:
    """Return texts as an 'S' array."""
    return np.array([value.encode() for value in values])
