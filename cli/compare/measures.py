"""The figures of a summary by the names that thresholds and comparisons use."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from cli.summary.figures import Figure, Row, Unit

INSERTS = frozenset({"workers", "level"})
QUERIES = frozenset({"query"})
STAGE = "stage"
"""A part of a run of inserts."""
LOAD = "load"
"""Inserts or a query of a mixed run: some rows have the rate of the one, some of the other."""


class Better(StrEnum):
    """Which of two values of a figure is better."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure, and how it is called in the rows of each subject."""

    name: str
    unit: Unit
    better: Better
    figures: Mapping[str, str]
    """Subject of a summary -> name of the figure there."""
    is_spread: bool = False
    """Of the runs behind the figure, instead of the figure itself."""

    def of(self, subject: str, row: Row) -> float | None:
        """Return the value in a row; None if it was not measured."""
        figure: Figure | None = row.figures.get(self.figures.get(subject, ""))
        if figure is None:
            return None
        return figure.spread if self.is_spread else figure.value


def _inserts(at_counts: str, at_levels: str) -> dict[str, str]:
    return {"workers": at_counts, "level": at_levels}


def _of_sends(name: str) -> dict[str, str]:
    figure = f"latency_{name}_ms"
    return _inserts(figure, figure) | {STAGE: figure}


def _of_waits(name: str) -> dict[str, str]:
    return {"query": f"wait_ms_{name}"}


def _of_loads(name: str) -> dict[str, str]:
    return {LOAD: name}


def _of_both(name: str) -> dict[str, str]:
    return _of_sends(name) | _of_waits(name) | _of_loads(f"{name}_ms")


_HIGHER, _LOWER = Better.HIGHER, Better.LOWER
_RATE, _MS = Unit.ROWS_PER_S, Unit.MILLISECONDS
_ROWS = _inserts("rows_per_s_avg", "rows_per_s") | {STAGE: "rows_per_s"} | _of_loads("rows_per_s")
ROWS_PER_S = Measure("rows_per_s", _RATE, _HIGHER, _ROWS)
P50_MS = Measure("p50_ms", _MS, _LOWER, _of_both("p50"))
_STORED = _inserts("rows_per_s_stored_avg", "rows_per_s_stored")
_REFERENCE = _inserts("rows_per_s_reference_avg", "rows_per_s_reference")
_BYTES = _inserts("bytes_per_s_avg", "bytes_per_s") | _of_loads("bytes_per_s")
_VALUES = _inserts("values_per_s_avg", "values_per_s")
_SIZES = dict.fromkeys(INSERTS | {LOAD}, "bytes_per_row")
_SHARES = dict.fromkeys(INSERTS | QUERIES | {LOAD}, "client_share")
_QUERIES = dict.fromkeys(QUERIES | {LOAD}, "queries_per_s")

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        ROWS_PER_S,
        Measure("rows_per_s_min", _RATE, _HIGHER, {"workers": "rows_per_s_min"}),
        Measure("rows_per_s_max", _RATE, _HIGHER, {"workers": "rows_per_s_max"}),
        Measure("rows_per_s_stored", _RATE, _HIGHER, _STORED),
        Measure("rows_per_s_reference", _RATE, _HIGHER, _REFERENCE),
        Measure("spread", Unit.SHARE, _LOWER, {"workers": "rows_per_s_avg"}, is_spread=True),
        Measure("bytes_per_s", Unit.BYTES_PER_S, _HIGHER, _BYTES),
        Measure("values_per_s", Unit.VALUES_PER_S, _HIGHER, _VALUES),
        Measure("bytes_per_row", Unit.BYTES_PER_ROW, _LOWER, _SIZES),
        P50_MS,
        Measure("p95_ms", _MS, _LOWER, _of_both("p95")),
        Measure("p99_ms", _MS, _LOWER, _of_both("p99")),
        Measure("p999_ms", _MS, _LOWER, _of_sends("p999")),
        Measure("max_ms", _MS, _LOWER, _of_both("max")),
        Measure("min_ms", _MS, _LOWER, _of_waits("min")),
        Measure("avg_ms", _MS, _LOWER, _of_waits("avg") | _of_loads("avg_ms")),
        Measure("first_ms", _MS, _LOWER, {"query": "first_ms_avg", LOAD: "first_ms"}),
        Measure("queries_per_s", Unit.QUERIES_PER_S, _HIGHER, _QUERIES),
        Measure("client_share", Unit.SHARE, _LOWER, _SHARES),
    )
}  # fmt: skip

HEADLINE = {
    "workers": ROWS_PER_S,
    "level": ROWS_PER_S,
    STAGE: ROWS_PER_S,
    "query": P50_MS,
    LOAD: P50_MS,
}
"""Subject -> the figure that decides which side is faster."""
SHOWN = {
    subject: tuple(MEASURES[name] for name in names.split())
    for subject, names in {
        "workers": "rows_per_s rows_per_s_stored p50_ms p99_ms bytes_per_row client_share",
        "level": "rows_per_s rows_per_s_stored p50_ms p99_ms bytes_per_row client_share",
        STAGE: "rows_per_s p50_ms p95_ms p99_ms",
        "query": "p50_ms p95_ms p99_ms queries_per_s client_share",
        LOAD: "p50_ms p95_ms p99_ms rows_per_s queries_per_s client_share",
    }.items()
}
"""Subject -> the figures that a comparison shows, the headline first."""


def measured(subjects: Iterable[str]) -> dict[str, Measure]:
    """Return the measures that rows of these subjects have."""
    wanted = frozenset(subjects)
    return {name: each for name, each in MEASURES.items() if wanted & each.figures.keys()}
