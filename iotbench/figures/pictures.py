"""The pictures of a section of a page, as a kind of measurement declares them."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto


@dataclass(frozen=True, slots=True)
class Over:
    """A figure over a dimension, drawn as lines, or as bars if each result has only one row."""

    figure: str
    title: str
    dimension: str = "workers"


@dataclass(frozen=True, slots=True)
class Ranges:
    """A marker at the first figure of each named row, and a line to the second figure."""

    low: str
    high: str
    title: str
    note: str
    beside: Sequence[str] = ()
    """Further figures to show in the table."""


class Form(Enum):
    """Pictures that show more than one figure of the rows."""

    FIGURES = auto()
    """Each figure that has a picture, over the subject of the rows."""
    DISTRIBUTION = auto()
    """The latency at each percentile."""
    GROWTH = auto()
    """Rate, memory and newest rows over the number of series, if it differs between results."""
    SIZES = auto()
    """Bytes per row on disk."""
    WAITS = auto()
    """Median and 99th percentile of each query, for each number of workers."""
    CLIENT_TIMES = auto()
    """The wait of each query, and the time that the client takes after the wait."""
    RAMPS = auto()
    """The wait of each query while workers are admitted."""


@dataclass(frozen=True, slots=True)
class Showing:
    """The pictures of equal results, side by side."""

    title: str
    pictures: Sequence[Over | Ranges | Form]
