"""Figures with their units, and the rows of a summary that they stand in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from simulator.data.walks import Precision
from simulator.protocol.spec import Kind


class Unit(StrEnum):
    """What a figure counts."""

    ROWS_PER_S = "rows/s"
    VALUES_PER_S = "values/s"
    BYTES_PER_S = "bytes/s"
    BYTES_PER_ROW = "bytes/row"
    MILLISECONDS = "ms"
    QUERIES_PER_S = "queries/s"
    ROWS = "rows"
    SECONDS = "s"
    SHARE = "share"
    """0..1."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, and what it stands on."""

    value: float
    unit: Unit
    n: int
    """How many measurements it is computed from: runs, sends or executions of a query."""
    spread: float | None = None
    """(highest - lowest) / mean of the runs; None for fewer than two runs."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a summary: a worker count, a step, a stage, a query or a check."""

    name: str | int
    runs: int
    figures: Mapping[str, Figure]
    """By name; empty where nothing could be measured."""
    verdict: str
    """The status in a word or two; the reason where nothing could be measured."""
    workers: int = 0
    """Of inserts and queries; of a ramp, how many asked at its end; of a stage, active ones."""
    expected: str = ""
    found: str = ""
    """Of a check: the values that were compared."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of a result; runs that failed have none."""

    kind: Kind
    subject: str
    """What a row is about: workers, level (rows in the tables before a step), stage (its number,
    from 1), query (also in each stage), load (the inserts or a query of a mixed run) or check."""
    rows: tuple[Row, ...]
    totals: tuple[Row, ...] = ()
    """Of each run that asked several queries: all of them together."""


@dataclass(frozen=True, slots=True)
class Headline:
    """The one figure that a result is listed by."""

    row: Row
    name: str
    figure: Figure


@dataclass(frozen=True, slots=True)
class OnDisk:
    """The size of the tables after the last run whose database reports one."""

    size_bytes: int
    bytes_per_row: float
    bits_per_value: float | None
    """None if it was not measured, as in results of version 0.1.0."""
    precision: Precision | None


def spread_of(rates: Sequence[float]) -> float | None:
    """Return (highest - lowest) / mean; None for fewer than two rates, or none above 0."""
    if len(rates) < 2 or not sum(rates):
        return None
    return (max(rates) - min(rates)) / (sum(rates) / len(rates))


def mean(values: Sequence[float]) -> float:
    """Return the mean of at least one value."""
    return sum(values) / len(values)
