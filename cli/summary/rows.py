"""The rows of a summary: which part of a sweep each is about, and what it measured."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from cli.results.metrics import InsertMetrics, InsertStage, Latency, QueryMetrics, QueryStage
from cli.summary.figures import FACETS, FIGURES, Figure, Measurement, resolved
from simulator.data.walks import Precision
from simulator.errors import counted
from simulator.protocol.spec import Kind

ALL_QUERIES = "all queries"
"""The query of a row that is about all of a run together."""
INSERTS = "inserts"
"""The load of the row of a mixed run that is not a query."""


@dataclass(frozen=True, slots=True)
class Place:
    """The part of a sweep that a row is about: its value of each dimension, or None."""

    check: str | None = None
    load: str | None = None
    """INSERTS, of a mixed run."""
    query: str | None = None
    level: int | None = None
    """Rows in the tables before a step."""
    stage: int | None = None
    """From 1."""
    workers: int | None = None
    """Of a ramp, how many asked at its end; of a stage, active ones."""

    @property
    def dimensions(self) -> dict[str, str | int]:
        """The values that it has, by dimension."""
        values = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {name: value for name, value in values if value is not None}

    @property
    def name(self) -> str:
        """What distinguishes it in a column: a query, a level, a number of workers."""
        if self.query is not None and self.stage is not None:
            return f"{self.query}, stage {self.stage}"
        first = next(iter(self.dimensions.values()), "")
        return f"{first:,}" if isinstance(first, int) else first

    @property
    def number(self) -> int:
        """What distinguishes it on an axis; 0 if that is a name."""
        first = next(iter(self.dimensions.values()), 0)
        return first if isinstance(first, int) else 0

    @property
    def any_workers(self) -> "Place":
        """It, whatever the number of workers."""
        return replace(self, workers=None)

    def __str__(self) -> str:
        words = [each for each in (self.check, self.load, self.query) if each is not None]
        words += [f"level {self.level:,}"] if self.level is not None else []
        words += [f"stage {self.stage}"] if self.stage is not None else []
        words += [counted(self.workers, "worker")] if self.workers is not None else []
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a summary: a worker count, a step, a stage, a query or a check."""

    place: Place
    runs: int
    figures: Mapping[str, Measurement]
    """By name; empty where nothing could be measured."""
    verdict: str
    """The status in a word or two; the reason where nothing could be measured."""
    expected: str = ""
    found: str = ""
    """Of a check: the values that were compared."""

    def value(self, name: str) -> float | None:
        """Return a figure or one of its facets, such as rows_per_s_min; None: not measured."""
        found = resolved(name)
        figure = self.figures.get(found[0].name) if found else None
        return FACETS[found[1]](figure) if found and figure else None


@dataclass(frozen=True, slots=True)
class Subject:
    """What the rows of a summary are about, and what they can be judged by."""

    name: str
    """The dimension in which they differ, or `load`: the inserts and the queries of a mixed run."""
    title: str
    sources: tuple[type, ...] = ()
    """What the figures of a row are measured by."""
    listed_by: str = ""
    """The figure of a result in a list: of the best row, or of the last level."""
    judged_by: str = ""
    """The figure that decides which side of a comparison is better."""

    @property
    def figures(self) -> frozenset[str]:
        """The figures that its rows may have."""
        return frozenset[str]().union(*map(_measured_by, self.sources))

    @property
    def compared(self) -> tuple[Figure, ...]:
        """The figures that a comparison shows, the decisive one first."""
        names = dict.fromkeys((self.judged_by, *FIGURES))
        return tuple(FIGURES[n] for n in names if n in self.figures and FIGURES[n].compared)

    @property
    def is_named(self) -> bool:
        """Whether its rows have names, and not numbers."""
        return self.name in ("query", "load", "check")

    def figures_at(self, place: Place) -> frozenset[str]:
        """The figures that a row may have: those of inserts, or those of queries."""
        if self.name not in ("query", "load"):
            return self.figures
        asked = QueryStage if place.stage else QueryMetrics
        return _measured_by(InsertMetrics if place.load else asked) | _measured_by(Latency)

    def headline_of(self, rows: Sequence[Row]) -> Row | None:
        """Return the row that a result is known by: the best one, or the last level."""
        known = [row for row in rows if self.listed_by in row.figures]
        if self.name == "level":
            return known[-1] if known else None
        return max(known, key=lambda row: row.figures[self.listed_by].value, default=None)


def _measured_by(source: type) -> frozenset[str]:
    return frozenset(FIGURES).intersection((*source.__annotations__, *dir(source)))


_RATE, _WAIT = "rows_per_s", "p50_ms"
_INSERTS = (InsertMetrics, Latency)
_ASKED = (QueryMetrics, QueryStage, Latency)
SUBJECTS: Mapping[str, Subject] = {
    subject.name: subject
    for subject in (
        Subject("workers", "Workers", _INSERTS, _RATE, _RATE),
        Subject("level", "Level", _INSERTS, _RATE, _RATE),
        Subject("stage", "Stage", (InsertStage, Latency), _RATE, _RATE),
        Subject("query", "Query", _ASKED, "queries_per_s", _WAIT),
        Subject("load", "Load", (InsertMetrics, QueryMetrics, Latency), _RATE, _WAIT),
        Subject("check", "Check"),
    )
}


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of a result; runs that failed have none."""

    kind: Kind
    subject: Subject
    rows: tuple[Row, ...]
    totals: tuple[Row, ...] = ()
    """Of each run that asked several queries: all of them together."""

    @property
    def every(self) -> tuple[Row, ...]:
        """Its rows, and what several queries come to together."""
        return (*self.rows, *self.totals)

    @property
    def headline(self) -> Row | None:
        """The row that the result is known by, by the figure that its subject is listed by."""
        return self.subject.headline_of(self.totals) or self.subject.headline_of(self.rows)


@dataclass(frozen=True, slots=True)
class OnDisk:
    """The size of the tables after the last run whose database reports one."""

    size_bytes: int
    bytes_per_row: float
    bits_per_value: float | None
    """None if it was not measured, as in results of version 0.1.0."""
    precision: Precision | None
