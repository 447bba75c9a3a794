"""The declarations of all figures, for tables, thresholds, pages, plans and exports."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import partial
from statistics import fmean
from typing import Annotated, Any

from hdrh.histogram import HdrHistogram
from pydantic import Field

from iotbench.config.input.options import Opt
from iotbench.config.input.values import Notation
from iotbench.results.latency import FEWEST, fewest_samples, latency_of, percentiles_ms
from iotbench.results.timed import Timed, merge_waits


class Unit(StrEnum):
    """The unit of a figure."""

    ROWS_PER_S = "rows/s"
    VALUES_PER_S = "values/s"
    BYTES_PER_S = "bytes/s"
    BYTES_PER_ROW = "bytes/row"
    NS_PER_ROW = "ns/row"
    MILLISECONDS = "ms"
    QUERIES_PER_S = "queries/s"
    ROWS = "rows"
    SECONDS = "s"
    SHARE = "share"
    """Share from 0 to 1."""


class Better(StrEnum):
    """The direction in which a figure improves."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Figure:
    """A kind of number.

    A record of metrics has the value in the attribute with the figure's name.
    """

    name: str
    unit: Unit
    title: str
    """Title of the column, including the unit."""
    meaning: str
    better: Better
    middle: Callable[[Sequence[float]], float] = fmean
    """Function that combines the values of several runs: the mean, or an extreme."""
    columns: Mapping[str, int] = field(default_factory=dict)
    """Subject of a table -> rank at which a narrow table drops the column; 0: the table never does.

    Columns of equal rank are dropped together. Tables of other subjects lack this figure."""
    compared: bool = False
    """True if comparisons show the figure."""
    picture: str = ""
    """Title of the figure's picture over workers, levels or stages; empty if there is no
    picture."""


def _declare_wait(name: str, title: str, what: str, **more: Any) -> Figure:
    meaning = f"{what} of the latency, from the due time of a batch or query to its answer."
    meaning += f" Unknown for fewer than {FEWEST[name]:,} of them." if name in FEWEST else ""
    return Figure(name, Unit.MILLISECONDS, title, meaning, _LOWER, **more)


def _declare_freshness(name: str, title: str, what: str, **more: Any) -> Figure:
    meaning = (
        f"{what} of the time from the acknowledgement of a row until a query returns it"
        " (`mixed --fresh`)."
    )
    return Figure(name, Unit.MILLISECONDS, title, meaning, _LOWER, compared=True, **more)


def _declare_connecting(name: str, title: str, what: str) -> Figure:
    meaning = f"{what} of the time to open one of several connections (`--connections`)."
    return Figure(name, Unit.MILLISECONDS, title, meaning, _LOWER, compared=True)


def _declare_outage(name: str, unit: Unit, title: str, meaning: str) -> Figure:
    return Figure(name, unit, title, meaning, _LOWER, middle=max, compared=True)


def _rank_columns(*, inserts: int, **others: int) -> Mapping[str, int]:
    return {"workers": inserts, "level": inserts, **others}


_HIGHER, _LOWER = Better.HIGHER, Better.LOWER
_ALL = (
    Figure(
        "timed_s", Unit.SECONDS, "Seconds", "Length of the timed part.", _LOWER,
        columns={"stage": 1, "query": 1, "change": 0},
    ),
    Figure(
        "stored_s", Unit.SECONDS, "Stored s",
        "Length of the timed part, and of the time until every row was visible to queries.", _LOWER,
    ),
    Figure(
        "rows", Unit.ROWS, "Rows", "Rows acknowledged in the timed part.", _HIGHER,
        columns={"stage": 4, "change": 0},
    ),
    Figure(
        "rows_per_s", Unit.ROWS_PER_S, "Rows/s",
        "Rows acknowledged, divided by the time from the common start to the last acknowledgement."
        " With `--rate`, that time lasts at least until the next batch is due.",
        _HIGHER, columns=_rank_columns(inserts=0, stage=0, load=0, change=0), compared=True,
        picture="Rate",
    ),
    Figure(
        "rows_per_s_stored", Unit.ROWS_PER_S, "Stored rows/s",
        "Rows acknowledged, divided by the time until every row was visible to queries.",
        _HIGHER, columns=_rank_columns(inserts=7), compared=True,
    ),
    Figure(
        "rows_per_s_reference", Unit.ROWS_PER_S, "Reference rows/s",
        "Rows acknowledged, divided by the mean duration of the workers: the published formula.",
        _HIGHER,
    ),
    Figure(
        "bytes_per_s", Unit.BYTES_PER_S, "MB/s", "Size of the payloads sent.", _HIGHER,
        columns=_rank_columns(inserts=0),
    ),
    Figure(
        "values_per_s", Unit.VALUES_PER_S, "Values/s",
        "Fields acknowledged that are not NULL.", _HIGHER,
    ),
    Figure(
        "queries_per_s", Unit.QUERIES_PER_S, "Queries/s",
        "Timed answers to all workers, divided by the time in which they sent queries.",
        _HIGHER, columns={"query": 8, "load": 0}, compared=True,
    ),
    Figure(
        "first_ms", Unit.MILLISECONDS, "First ms", "Mean of the workers' first answers.", _LOWER,
        columns={"query": 1},
    ),
    _declare_wait("min_ms", "Min ms", "Minimum", middle=min, columns={"query": 4}),
    _declare_wait("avg_ms", "Avg ms", "Mean", columns={"query": 0, "load": 3}),
    _declare_wait(
        "p50_ms", "p50 ms", "Median",
        columns=_rank_columns(inserts=3, stage=3, query=6, load=0, change=1),
        compared=True, picture="Median latency",
    ),
    _declare_wait(
        "p95_ms", "p95 ms", "95th percentile", columns={"query": 7, "load": 4}, compared=True
    ),
    _declare_wait(
        "p99_ms", "p99 ms", "99th percentile",
        columns=_rank_columns(inserts=5, stage=5, query=5, load=7, change=2), compared=True,
        picture="99th percentile of latency",
    ),
    _declare_wait("p999_ms", "p99.9 ms", "99.9th percentile"),
    _declare_wait(
        "max_ms", "Max ms", "Maximum", middle=max,
        columns=_rank_columns(inserts=2, stage=2, query=3, load=2, change=1),
    ),
    _declare_connecting("connect_p50_ms", "Connect p50 ms", "Median"),
    _declare_connecting("connect_p99_ms", "Connect p99 ms", "99th percentile"),
    _declare_freshness("freshness_p50_ms", "Fresh p50 ms", "Median", columns={"load": 1}),
    _declare_freshness("freshness_p99_ms", "Fresh p99 ms", "99th percentile", columns={"load": 6}),
    Figure(
        "client_share", Unit.SHARE, "Client",
        "Share of the time in which the client, including its driver, was busy.", _LOWER,
        columns=_rank_columns(inserts=6, query=2, load=5, change=3), compared=True,
        picture="Client share of the time",
    ),
    Figure(
        "driver_share", Unit.SHARE, "Driver",
        "The driver's part of `client_share`: CPU time used while the client waited for the"
        " database; not measured if the database is embedded.", _LOWER,
    ),
    Figure(
        "client_ns_per_row", Unit.NS_PER_ROW, "Client ns/row",
        "CPU time of the workers, divided by the rows acknowledged; not measured if the database is"
        " embedded. If it differs between equal sweeps, the machine ran at another speed.",
        _LOWER, compared=True,
    ),
    _declare_outage(
        "silent_s", Unit.SECONDS, "Silent s",
        "Longest time without an acknowledgement because of a fault (`--fault`).",
    ),
    _declare_outage(
        "first_after_s", Unit.SECONDS, "First after s",
        "Longest time from the end of a fault to the first acknowledgement after it.",
    ),
    _declare_outage(
        "recovery_s", Unit.SECONDS, "Recovery s",
        "Longest time from a fault until 95 % of the rate before it was reached again.",
    ),
    _declare_outage(
        "settled_s", Unit.SECONDS, "Settled s",
        "Longest time from a fault until the rate and the median latency were back: the latency at"
        " most twice the one before.",
    ),
    _declare_outage(
        "outage_p99_ms", Unit.MILLISECONDS, "Outage p99 ms",
        "99th percentile of the latency of batches that were due between a fault and `settled_s`.",
    ),
    _declare_outage(
        "lost_rows", Unit.ROWS, "Lost rows",
        "Rows that were acknowledged in a run with a fault, but are not stored.",
    ),
    Figure(
        "overlap", Unit.SHARE, "Overlap",
        "Share of the timed part in which all workers were sending.", _HIGHER,
    ),
    Figure(
        "evenness", Unit.SHARE, "Evenness",
        "Rows/s of the slowest worker, divided by rows/s of the fastest one.", _HIGHER,
    ),
    Figure(
        "bytes_per_row", Unit.BYTES_PER_ROW, "Bytes/row",
        "Size of the tables on disk after compaction, divided by their rows.", _LOWER,
        compared=True,
    ),
)  # fmt: skip
FIGURES: Mapping[str, Figure] = {figure.name: figure for figure in _ALL}


@dataclass(frozen=True, slots=True)
class FigureValue:
    """The value of a figure, with the number and the range of the underlying values."""

    value: float
    n: int
    """Number of underlying measurements: runs, repeats, batches or answers."""
    low: float | None = None
    high: float | None = None
    """Lowest and highest run, if the value is a mean; None if there are fewer than two runs."""

    @property
    def spread(self) -> float | None:
        """(highest - lowest) / mean; None for fewer than two runs, or if the mean is 0."""
        if self.low is None or self.high is None or not self.value:
            return None
        return (self.high - self.low) / self.value


Facet = Callable[[FigureValue], float | None]
FACETS: Mapping[str, Facet] = {
    "": lambda found: found.value,
    "_min": lambda found: found.value if found.low is None else found.low,
    "_max": lambda found: found.value if found.high is None else found.high,
    "_spread": lambda found: found.spread,
}
"""Suffix of a figure's name, as in rows_per_s_min -> function that selects the value."""


_PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,6})?)_ms")


def percent_of(name: str) -> Fraction | None:
    """Return the percentile in a name such as p99.99_ms; None for any other name."""
    match = _PERCENTILE.fullmatch(name)
    return Fraction(match[1]) if match and Fraction(match[1]) else None


def parse_percentile(text: str) -> str:
    """Return the name of a percentile."""
    if not percent_of(text):
        raise ValueError(f"expected a name such as p99.99_ms, got {text!r}")
    return text


Percentiles = Annotated[
    tuple[Annotated[str, Notation("name", parse_percentile)], ...],
    Field(alias="percentile"),
    Opt(metavar="NAME"),
]
"""The option --percentile of a command."""


def figure_named(name: str) -> Figure | None:
    """Return a declared figure or a percentile by its name; None if there is no such figure."""
    if name in FIGURES or not percent_of(name):
        return FIGURES.get(name)
    percent = name[1:].removesuffix("_ms")
    return _declare_wait(name, f"p{percent} ms", f"{percent}th percentile")


def find_figure(name: str) -> Figure:
    """Return the figure with a name; KeyError if there is no such figure."""
    return figure_named(name) or FIGURES[name]


def is_among(names: Collection[str], name: str) -> bool:
    """Return whether a figure is in a list of names; the median represents all percentiles."""
    return name in names or ("p50_ms" in names and percent_of(name) is not None)


def resolve(name: str) -> tuple[Figure, str] | None:
    """Return the figure and the facet in a name; None if there is no such figure."""
    found = ((name.removesuffix(facet), facet) for facet in FACETS if name.endswith(facet))
    known = ((figure_named(base), facet) for base, facet in found)
    return next(((figure, facet) for figure, facet in known if figure), None)


def unit_of(name: str) -> Unit | None:
    """Return the unit of a figure or of one of its facets; None if there is no such figure."""
    found = resolve(name)
    return found and (Unit.SHARE if found[1] == "_spread" else found[0].unit)


def join_values(figure: Figure, values: Sequence[float]) -> FigureValue:
    """Return the combined value of one or more runs or repeats."""
    value = figure.middle(values)
    if len(values) < 2 or figure.middle is not fmean:
        return FigureValue(value, len(values))
    return FigureValue(value, len(values), min(values), max(values))


def spread_of(values: Sequence[float]) -> float | None:
    """Return (highest - lowest) / mean; None for fewer than two values, or if the mean is 0."""
    if len(values) < 2 or not sum(values):
        return None
    return (max(values) - min(values)) / fmean(values)


class Figures(Mapping[str, FigureValue]):
    """The figures of a row by name: the listed figures, and any percentile."""

    def __init__(
        self,
        listed: Mapping[str, FigureValue],
        percentile: Callable[[str], FigureValue | None],
        waits: HdrHistogram | None = None,
    ) -> None:
        """Store the figures, a function that computes a percentile by name, and the histogram."""
        self._listed, self._percentile, self.waits = listed, percentile, waits

    def __getitem__(self, name: str) -> FigureValue:
        """Return a figure; KeyError if the figure was not measured or has too few samples."""
        found = self._listed.get(name)
        if found is None and percent_of(name) is not None:
            found = self._percentile(name)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        """Yield the names of the listed figures."""
        return iter(self._listed)

    def __len__(self) -> int:
        """Return the number of listed figures."""
        return len(self._listed)


def _find_percentile(waits: HdrHistogram, name: str) -> FigureValue | None:
    percent, count = percent_of(name), int(waits.get_total_count())
    if percent is None or count < fewest_samples(percent):
        return None
    (value,) = percentiles_ms(waits, [float(percent)])
    return FigureValue(value, count)


def join_figures(figures: Sequence[Mapping[str, FigureValue]]) -> Figures:
    """Return the figures of several rows; each figure is joined over the rows that have it."""

    def join(name: str) -> FigureValue | None:
        figure = figure_named(name)
        values = [each[name].value for each in figures if name in each]
        return join_values(figure, values) if figure and values else None

    names = dict.fromkeys(name for each in figures for name in each)
    return Figures({name: found for name in names if (found := join(name))}, join)


def figures_of(parts: Sequence[Timed]) -> Figures:
    """Return the figures of equal parts of runs, such as whole runs, stages or queries.

    Metrics of the parts are combined. Percentiles are computed from the samples of all parts.
    """
    waits = merge_waits(parts)
    latency = latency_of(waits)
    found = {}
    for name, figure in FIGURES.items():
        values = [getattr(part.metrics, name, None) for part in parts]
        known = [value for value in values if value is not None]
        if known and len(known) == len(values):
            found[name] = join_values(figure, known)
        elif (value := getattr(latency, name, None)) is not None:
            found[name] = FigureValue(value, latency.sends)
    return Figures(found, partial(_find_percentile, waits), waits)
