"""Every figure, declared once for tables, thresholds, pages, plans and exports."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from functools import partial
from statistics import fmean
from typing import Any

from hdrh.histogram import HdrHistogram

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
    """0..1."""


class Better(StrEnum):
    """The better of two values of a figure."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True, slots=True)
class Figure:
    """A kind of number. Its value is the attribute with its name in the record that measures it."""

    name: str
    unit: Unit
    title: str
    """Title of a column, with the unit."""
    meaning: str
    better: Better
    middle: Callable[[Sequence[float]], float] = fmean
    """Combination of several runs: the mean, or for extremes the extreme."""
    columns: Mapping[str, int] = field(default_factory=dict)
    """Subject of a table -> rank in which the column is dropped if there is no room, equal ranks
    together; 0: never. Tables of other subjects do not have this figure."""
    compared: bool = False
    """True if comparisons show it."""
    picture: str = ""
    """Title of its picture of inserts over workers, levels or stages; empty: none."""


def _of_waits(name: str, title: str, what: str, **more: Any) -> Figure:
    meaning = f"{what} of the times from when a batch or query was due until its answer."
    meaning += f" Unknown for fewer than {FEWEST[name]:,}." if name in FEWEST else ""
    return Figure(name, Unit.MILLISECONDS, title, meaning, _LOWER, **more)


def _of_freshness(name: str, title: str, what: str, **more: Any) -> Figure:
    meaning = (
        f"{what} of the time from the acknowledgement of a row until a query has seen it"
        " (`mixed --fresh`)."
    )
    return Figure(name, Unit.MILLISECONDS, title, meaning, _LOWER, compared=True, **more)


def _of_connecting(name: str, title: str, what: str) -> Figure:
    meaning = f"{what} of the time to open one of several connections (`--connections`)."
    return Figure(name, Unit.MILLISECONDS, title, meaning, _LOWER, compared=True)


def _of_outages(name: str, unit: Unit, title: str, meaning: str) -> Figure:
    return Figure(name, unit, title, meaning, _LOWER, middle=max, compared=True)


def _columns(*, inserts: int, **others: int) -> Mapping[str, int]:
    return {"workers": inserts, "level": inserts, **others}


_HIGHER, _LOWER = Better.HIGHER, Better.LOWER
_ALL = (
    Figure(
        "timed_s", Unit.SECONDS, "Seconds", "Length of the timed part.", _LOWER,
        columns={"stage": 1, "query": 1, "change": 0},
    ),
    Figure(
        "stored_s", Unit.SECONDS, "Stored s", "The same, until every row was visible to queries.",
        _LOWER,
    ),
    Figure(
        "rows", Unit.ROWS, "Rows", "Rows acknowledged in the timed part.", _HIGHER,
        columns={"stage": 4, "change": 0},
    ),
    Figure(
        "rows_per_s", Unit.ROWS_PER_S, "Rows/s",
        "Rows acknowledged, over the time from the common start to the last acknowledgement or,"
        " with `--rate`, at least until the next batch is due.",
        _HIGHER, columns=_columns(inserts=0, stage=0, load=0, change=0), compared=True,
        picture="Rate",
    ),
    Figure(
        "rows_per_s_stored", Unit.ROWS_PER_S, "Stored rows/s",
        "The same rows, over the time until every row was visible to queries.",
        _HIGHER, columns=_columns(inserts=7), compared=True,
    ),
    Figure(
        "rows_per_s_reference", Unit.ROWS_PER_S, "Reference rows/s",
        "Rows acknowledged, over the mean duration of the workers: the published formula.",
        _HIGHER,
    ),
    Figure(
        "bytes_per_s", Unit.BYTES_PER_S, "MB/s", "Payloads sent.", _HIGHER,
        columns=_columns(inserts=0),
    ),
    Figure(
        "values_per_s", Unit.VALUES_PER_S, "Values/s",
        "Fields of rows that are not NULL, acknowledged.", _HIGHER,
    ),
    Figure(
        "queries_per_s", Unit.QUERIES_PER_S, "Queries/s",
        "Timed answers of all workers, over the time in which they asked.",
        _HIGHER, columns={"query": 8, "load": 0}, compared=True,
    ),
    Figure(
        "first_ms", Unit.MILLISECONDS, "First ms", "Mean of the workers' first answers.", _LOWER,
        columns={"query": 1},
    ),
    _of_waits("min_ms", "Min ms", "Shortest", middle=min, columns={"query": 4}),
    _of_waits("avg_ms", "Avg ms", "Mean", columns={"query": 0, "load": 3}),
    _of_waits(
        "p50_ms", "p50 ms", "Median",
        columns=_columns(inserts=3, stage=3, query=6, load=0, change=1),
        compared=True, picture="Median latency",
    ),
    _of_waits(
        "p95_ms", "p95 ms", "95th percentile", columns={"query": 7, "load": 4}, compared=True
    ),
    _of_waits(
        "p99_ms", "p99 ms", "99th percentile",
        columns=_columns(inserts=5, stage=5, query=5, load=7, change=2), compared=True,
        picture="99th percentile of latency",
    ),
    _of_waits("p999_ms", "p99.9 ms", "99.9th percentile"),
    _of_waits(
        "max_ms", "Max ms", "Longest", middle=max,
        columns=_columns(inserts=2, stage=2, query=3, load=2, change=1),
    ),
    _of_connecting("connect_p50_ms", "Connect p50 ms", "Median"),
    _of_connecting("connect_p99_ms", "Connect p99 ms", "99th percentile"),
    _of_freshness("freshness_p50_ms", "Fresh p50 ms", "Median", columns={"load": 1}),
    _of_freshness("freshness_p99_ms", "Fresh p99 ms", "99th percentile", columns={"load": 6}),
    Figure(
        "client_share", Unit.SHARE, "Client",
        "Part of the time in which the client itself, its driver included, was busy.", _LOWER,
        columns=_columns(inserts=6, query=2, load=5, change=3), compared=True,
        picture="Client share of the time",
    ),
    Figure(
        "driver_share", Unit.SHARE, "Driver",
        "The driver's part of `client_share`: CPU time used while the client waited for the"
        " database; not measured if the database is embedded.", _LOWER,
    ),
    Figure(
        "client_ns_per_row", Unit.NS_PER_ROW, "Client ns/row",
        "CPU time of the workers, over the rows acknowledged; not measured if the database is"
        " embedded. If it differs between equal sweeps, the machine ran at another speed.",
        _LOWER, compared=True,
    ),
    _of_outages(
        "silent_s", Unit.SECONDS, "Silent s",
        "Longest time without an acknowledgement because of a fault (`--fault`).",
    ),
    _of_outages(
        "first_after_s", Unit.SECONDS, "First after s",
        "Longest time from the end of a fault to the first acknowledgement after it.",
    ),
    _of_outages(
        "recovery_s", Unit.SECONDS, "Recovery s",
        "Longest time from a fault until 95 % of the rate before it was reached again.",
    ),
    _of_outages(
        "settled_s", Unit.SECONDS, "Settled s",
        "The same, until the median latency was at most twice that before as well.",
    ),
    _of_outages(
        "outage_p99_ms", Unit.MILLISECONDS, "Outage p99 ms",
        "99th percentile of the latency of batches that were due in that time.",
    ),
    _of_outages(
        "lost_rows", Unit.ROWS, "Lost rows",
        "Rows that were acknowledged in a run with a fault, and are not stored.",
    ),
    Figure(
        "overlap", Unit.SHARE, "Overlap",
        "Part of the timed part in which all workers were sending.", _HIGHER,
    ),
    Figure(
        "evenness", Unit.SHARE, "Evenness",
        "Rows/s of the slowest worker, over those of the fastest.", _HIGHER,
    ),
    Figure(
        "bytes_per_row", Unit.BYTES_PER_ROW, "Bytes/row",
        "Size of the tables on disk after compaction, over their rows.", _LOWER, compared=True,
    ),
)  # fmt: skip
FIGURES: Mapping[str, Figure] = {figure.name: figure for figure in _ALL}


@dataclass(frozen=True, slots=True)
class FigureValue:
    """The value of a figure, and its basis."""

    value: float
    n: int
    """Number of measurements behind it: runs, repeats, batches or answers."""
    low: float | None = None
    high: float | None = None
    """The lowest and the highest run behind a mean; None for fewer than two."""

    @property
    def spread(self) -> float | None:
        """(highest - lowest) / mean; None for fewer than two runs, or a mean of 0."""
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
"""Suffix of a figure's name, as in rows_per_s_min -> its value from the runs."""


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


def figure_named(name: str) -> Figure | None:
    """Return the figure with a name: a declared one, or any percentile; None for another name."""
    if name in FIGURES or not percent_of(name):
        return FIGURES.get(name)
    percent = name[1:].removesuffix("_ms")
    return _of_waits(name, f"p{percent} ms", f"{percent}th percentile")


def find_figure(name: str) -> Figure:
    """Return the figure with a name; KeyError if there is none."""
    return figure_named(name) or FIGURES[name]


def is_among(names: Collection[str], name: str) -> bool:
    """Return whether a figure is one of these; with the median, any percentile is."""
    return name in names or ("p50_ms" in names and percent_of(name) is not None)


def resolve(name: str) -> tuple[Figure, str] | None:
    """Return the figure and the facet in a name; None if there is no such figure."""
    found = ((name.removesuffix(facet), facet) for facet in FACETS if name.endswith(facet))
    known = ((figure_named(base), facet) for base, facet in found)
    return next(((figure, facet) for figure, facet in known if figure), None)


def unit_of(name: str) -> Unit | None:
    """Return the unit of a figure or one of its facets; None if there is no such figure."""
    found = resolve(name)
    return found and (Unit.SHARE if found[1] == "_spread" else found[0].unit)


def join_values(figure: Figure, values: Sequence[float]) -> FigureValue:
    """Return the combined value of one or more runs or repeats."""
    value = figure.middle(values)
    if len(values) < 2 or figure.middle is not fmean:
        return FigureValue(value, len(values))
    return FigureValue(value, len(values), min(values), max(values))


def spread_of(values: Sequence[float]) -> float | None:
    """Return (highest - lowest) / mean; None for fewer than two values, or a mean of 0."""
    if len(values) < 2 or not sum(values):
        return None
    return (max(values) - min(values)) / fmean(values)


class Figures(Mapping[str, FigureValue]):
    """The figures of a row by name: the listed ones, and any percentile."""

    def __init__(
        self,
        listed: Mapping[str, FigureValue],
        percentile: Callable[[str], FigureValue | None],
        waits: HdrHistogram | None = None,
    ) -> None:
        """Store the function that computes a percentile by name, and the histogram, if any."""
        self._listed, self._percentile, self.waits = listed, percentile, waits

    def __getitem__(self, name: str) -> FigureValue:
        """Return a figure; KeyError if it was not measured or has too few samples."""
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
        """Return how many figures are listed."""
        return len(self._listed)


def _percentile(waits: HdrHistogram, name: str) -> FigureValue | None:
    """Return a percentile by its name; None: there are too few samples."""
    percent, count = percent_of(name), int(waits.get_total_count())
    if percent is None or count < fewest_samples(percent):
        return None
    (value,) = percentiles_ms(waits, [float(percent)])
    return FigureValue(value, count)


def join_figures(figures: Sequence[Mapping[str, FigureValue]]) -> Figures:
    """Return the figures of several rows, each joined over those that have it."""

    def join(name: str) -> FigureValue | None:
        figure = figure_named(name)
        values = [each[name].value for each in figures if name in each]
        return join_values(figure, values) if figure and values else None

    names = dict.fromkeys(name for each in figures for name in each)
    return Figures({name: found for name in names if (found := join(name))}, join)


def figures_of(parts: Sequence[Timed]) -> Figures:
    """Return the figures of equal parts of runs, such as whole runs, a stage or a query.

    Metrics of the parts are combined; percentiles come from the samples of all parts together.
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
    return Figures(found, partial(_percentile, waits), waits)
