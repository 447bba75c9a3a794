"""The rows of a summary; each row has a place in the sweep, and figures."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from iotbench.figures.figures import FACETS, FigureValue, resolve
from iotbench.results.latency import FEWEST
from simulator.errors import counted
from simulator.protocol.verdict import Status, VerifyMode

ALL_QUERIES = "all queries"
"""Name of the row that describes all queries of a run together."""
INSERTS = "inserts"
"""Name of the row for the inserts in a run that also queries or changes rows."""


def describe_verdict(verdict: str, level: VerifyMode | None) -> str:
    """Return a verdict for display; `verified` includes the extent of the comparison."""
    is_deep = verdict == Status.VERIFIED and level is not None
    return f"{verdict}, {level.depth.short}" if is_deep and level else verdict


@dataclass(frozen=True, slots=True)
class Place:
    """The part of a sweep that a row describes: for each dimension a value, or None."""

    check: str | None = None
    load: str | None = None
    """INSERTS, if the row is for the inserts of a run that also queries or changes rows."""
    change: str | None = None
    """Name of the change: corrections or deletion."""
    query: str | None = None
    level: int | None = None
    """Number of rows in the tables before a step."""
    stage: int | None = None
    """Number of the stage, from 1."""
    workers: int | None = None
    """Number of workers at the end of a ramp, or of active workers in a stage."""

    @property
    def dimensions(self) -> dict[str, str | int]:
        """Dimension -> value, for each dimension that is not None."""
        values = ((each.name, getattr(self, each.name)) for each in fields(self))
        return {name: value for name, value in values if value is not None}

    @property
    def name(self) -> str:
        """Name of the row in a column: a query, a level or a number of workers."""
        if self.query is not None and self.stage is not None:
            return f"{self.query}, stage {self.stage}"
        first = next(iter(self.dimensions.values()), "")
        return f"{first:,}" if isinstance(first, int) else first

    @property
    def any_workers(self) -> "Place":
        """The same place, without its number of workers."""
        return replace(self, workers=None)

    def __str__(self) -> str:
        words = [
            each for each in (self.check, self.load, self.change, self.query) if each is not None
        ]
        words += [f"level {self.level:,}"] if self.level is not None else []
        words += [f"stage {self.stage}"] if self.stage is not None else []
        words += [counted(self.workers, "worker")] if self.workers is not None else []
        return ", ".join(words)


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a summary: a worker count, a step, a stage, a query or a check."""

    place: Place
    runs: int
    figures: Mapping[str, FigureValue]
    """Figures by name; empty if no figure could be measured."""
    verdict: str
    """The status in a word or two, or the reason why no figure could be measured."""
    expected: str = ""
    found: str = ""
    """Expected and found value of a check."""
    level: VerifyMode | None = None
    """Extent of the comparison of stored rows; None if the row describes something else."""

    @property
    def judged(self) -> str:
        """The verdict of the row, for display."""
        return describe_verdict(self.verdict, self.level)

    @property
    def withheld(self) -> tuple[str, ...]:
        """The percentiles that are unknown because the row has too few samples."""
        is_timed = "p50_ms" in self.figures
        return tuple(name for name in FEWEST if is_timed and name not in self.figures)

    def value(self, name: str) -> float | None:
        """Return a figure or one of its facets, such as rows_per_s_min; None if not measured."""
        found = resolve(name)
        figure = self.figures.get(found[0].name) if found else None
        return FACETS[found[1]](figure) if found and figure else None
