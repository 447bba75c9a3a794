"""The summary of a result as typed figures, from which tables, JSON and CSV are written."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from iotbench.figures.figures import FIGURES, Figure, is_among
from iotbench.figures.rows import Place, Row
from iotbench.results.latency import Latency
from iotbench.results.metrics import InsertMetrics
from iotbench.results.result import Result, RunRecord
from iotbench.results.timed import ChangeMetrics, QueryMetrics, QueryStage
from simulator.data.walks import Precision


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a summary's rows, and the figures by which the rows are judged."""

    name: str
    """Dimension in which the rows differ; `load` for the inserts and the queries of a mixed run."""
    title: str
    rows: Callable[[Sequence[RunRecord]], Iterable[Row]]
    """Function that returns the rows of successful runs."""
    totals: Callable[[Sequence[RunRecord]], Iterable[Row]] = lambda _: ()
    """Function that returns, for successful runs, the rows of all their queries together."""
    sources: tuple[type, ...] = ()
    """Classes of the metrics that contain the figures of a row."""
    listed_by: str = ""
    """Name of the figure in lists of results; its value is from the best row, or the last level."""
    judged_by: str = ""
    """Name of the figure that decides which side of a comparison is better."""
    is_named: bool = False
    """True if the rows have names instead of numbers."""
    over: str = ""
    """Words for the titles of pictures, if the rows have numbers."""
    last_row: str = ""
    """Words for the last row, if the rows have numbers."""

    @property
    def figures(self) -> frozenset[str]:
        """The names of the figures that the subject's rows may have."""
        return frozenset[str]().union(*map(_find_measured_by, self.sources))

    @property
    def compared(self) -> tuple[Figure, ...]:
        """The figures that a comparison shows; the decisive figure comes first."""
        names = dict.fromkeys((self.judged_by, *FIGURES))
        return tuple(FIGURES[n] for n in names if n in self.figures and FIGURES[n].compared)

    def has(self, name: str) -> bool:
        """Return whether the subject's rows may have a figure, such as any percentile of waits."""
        return is_among(self.figures, name)

    def figures_at(self, place: Place) -> frozenset[str]:
        """Return the names of the figures that the row at a place may have."""
        if place.change is not None:
            metrics: type = ChangeMetrics
        elif place.load is not None:
            metrics = InsertMetrics
        elif place.query is not None:
            metrics = QueryStage if place.stage else QueryMetrics
        else:
            return self.figures
        return _find_measured_by(metrics) | _find_measured_by(Latency)

    def headline_of(self, rows: Sequence[Row]) -> Row | None:
        """Return the row that represents a result: the best row, or the last level."""
        known = [row for row in rows if self.listed_by in row.figures]
        if self.name == "level":
            return known[-1] if known else None
        return max(known, key=lambda row: row.figures[self.listed_by].value, default=None)


def _find_measured_by(source: type) -> frozenset[str]:
    return frozenset(FIGURES).intersection((*source.__annotations__, *dir(source)))


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of a result; failed runs have no rows."""

    subject: Subject
    rows: tuple[Row, ...]
    totals: tuple[Row, ...] = ()
    """Totals of each run with several queries."""

    @property
    def every(self) -> tuple[Row, ...]:
        """All rows and totals of the summary."""
        return (*self.rows, *self.totals)

    @property
    def headline(self) -> Row | None:
        """The row that represents the result in lists."""
        return self.subject.headline_of(self.totals) or self.subject.headline_of(self.rows)


@dataclass(frozen=True, slots=True)
class OnDisk:
    """The size of the tables after the last run for which a size is known."""

    size_bytes: int
    bytes_per_row: float
    bits_per_value: float | None
    """Bits per value; None if they were not measured, as in results of version 0.1.0."""
    precision: Precision | None


def summarise(subject: Subject, runs: Sequence[RunRecord]) -> Summary:
    """Return the summary of runs for a subject; failed runs are left out."""
    done = [run for run in runs if run.outcome.status == "done"]
    return Summary(subject, tuple(subject.rows(done)), tuple(subject.totals(done)))


def on_disk_of(result: Result) -> OnDisk | None:
    """Return the size of a result's rows on disk; None if it is unknown."""
    for run in reversed(result.runs):
        size_bytes, found = run.outcome.size_bytes, run.metrics
        if size_bytes and found and found.bytes_per_row:
            return OnDisk(size_bytes, found.bytes_per_row, found.bits_per_value, found.precision)
    return None
