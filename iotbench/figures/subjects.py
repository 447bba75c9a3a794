"""The subjects of a result's rows, and the figures that they have."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from iotbench.figures import changes, inserts, mixed, queries
from iotbench.figures.checks import rows_by_check
from iotbench.figures.figures import FIGURES, Figure, is_among
from iotbench.figures.rows import Place, Row
from iotbench.results.latency import Latency
from iotbench.results.metrics import InsertMetrics
from iotbench.results.result import RunRecord
from iotbench.results.timed import ChangeMetrics, InsertStage, QueryMetrics, QueryStage


def _none(_: Sequence[RunRecord]) -> Iterable[Row]:
    return ()


@dataclass(frozen=True, slots=True)
class Subject:
    """The subject of a summary's rows, and the figures that judge them."""

    name: str
    """The dimension in which they differ, or `load`: the inserts and the queries of a mixed run."""
    title: str
    rows: Callable[[Sequence[RunRecord]], Iterable[Row]]
    """Runs that ended well -> their rows."""
    totals: Callable[[Sequence[RunRecord]], Iterable[Row]] = _none
    """The same -> what several queries come to together."""
    sources: tuple[type, ...] = ()
    """Records that measure the figures of a row."""
    listed_by: str = ""
    """The figure of a result in a list: of the best row, or of the last level."""
    judged_by: str = ""
    """The figure that decides which side of a comparison is better."""
    is_named: bool = False
    """True if its rows have names, and not numbers."""
    over: str = ""
    """Words in titles of pictures of rows with numbers."""
    last_row: str = ""
    """Name of the last of these rows."""

    @property
    def figures(self) -> frozenset[str]:
        """The figures that its rows may have."""
        return frozenset[str]().union(*map(_find_measured_by, self.sources))

    @property
    def compared(self) -> tuple[Figure, ...]:
        """The figures that a comparison shows, the decisive one first."""
        names = dict.fromkeys((self.judged_by, *FIGURES))
        return tuple(FIGURES[n] for n in names if n in self.figures and FIGURES[n].compared)

    def has(self, name: str) -> bool:
        """Return whether its rows may have a figure; any percentile is one where they wait."""
        return is_among(self.figures, name)

    def figures_at(self, place: Place) -> frozenset[str]:
        """Return the figures that a row may have: figures of inserts, or of queries."""
        if place.change is not None:
            return _find_measured_by(ChangeMetrics) | _find_measured_by(Latency)
        if place.query is None and place.load is None:
            return self.figures
        asked = QueryStage if place.stage else QueryMetrics
        return _find_measured_by(InsertMetrics if place.load else asked) | _find_measured_by(
            Latency
        )

    def headline_of(self, rows: Sequence[Row]) -> Row | None:
        """Return the row that a result is known by: the best one, or the last level."""
        known = [row for row in rows if self.listed_by in row.figures]
        if self.name == "level":
            return known[-1] if known else None
        return max(known, key=lambda row: row.figures[self.listed_by].value, default=None)


def _find_measured_by(source: type) -> frozenset[str]:
    return frozenset(FIGURES).intersection((*source.__annotations__, *dir(source)))


_RATE, _WAIT = "rows_per_s", "p50_ms"
_INSERTS = (InsertMetrics, Latency)
WORKERS = Subject(
    "workers", "Workers", inserts.rows_by_workers,
    sources=_INSERTS, listed_by=_RATE, judged_by=_RATE,
    over="over workers", last_row="With the most workers",
)  # fmt: skip
LEVEL = Subject(
    "level", "Level", inserts.rows_by_level,
    sources=_INSERTS, listed_by=_RATE, judged_by=_RATE,
    over="over fill level", last_row="With the most rows in the tables",
)  # fmt: skip
STAGE = Subject(
    "stage", "Stage", inserts.rows_by_stage,
    sources=(InsertStage, Latency), listed_by=_RATE, judged_by=_RATE,
    over="by stage", last_row="In the last stage",
)  # fmt: skip
QUERY = Subject(
    "query", "Query", queries.rows_by_query, queries.totals,
    sources=(QueryMetrics, QueryStage, Latency), listed_by="queries_per_s", judged_by=_WAIT,
    is_named=True,
)  # fmt: skip
LOAD = Subject(
    "load", "Load", mixed.rows_by_load, mixed.load_totals,
    sources=(InsertMetrics, QueryMetrics, Latency), listed_by=_RATE, judged_by=_WAIT,
    is_named=True,
)  # fmt: skip
CHANGE = Subject(
    "change", "Change", changes.rows_by_change,
    sources=(InsertMetrics, ChangeMetrics, Latency), listed_by=_RATE, judged_by=_RATE,
    is_named=True,
)  # fmt: skip
CHECK = Subject("check", "Check", rows_by_check, is_named=True)
