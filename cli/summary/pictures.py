"""Pictures of figures, as declarations: which figure, over what, in which form."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Over:
    """A figure over a dimension: lines, or bars where each result has one row."""

    figure: str
    title: str
    dimension: str = "workers"


@dataclass(frozen=True, slots=True)
class Ranges:
    """A marker at the first figure of each named row, and a line to the second."""

    low: str
    high: str
    title: str
    note: str
    beside: Sequence[str] = ()
    """Figures of the table, after these."""
