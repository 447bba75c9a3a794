"""The content of a result, as typed figures: made once, and shown as a table, JSON or CSV."""

from collections.abc import Sequence
from dataclasses import dataclass

from iotbench.figures.rows import Row
from iotbench.figures.subjects import Subject
from iotbench.results.result import Result, RunRecord
from simulator.data.walks import Precision


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of a result; runs that failed have none."""

    subject: Subject
    rows: tuple[Row, ...]
    totals: tuple[Row, ...] = ()
    """Totals of each run that asked several queries."""

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
    """The size of the tables after the last run with a database that reports one."""

    size_bytes: int
    bytes_per_row: float
    bits_per_value: float | None
    """None if it was not measured, as in results of version 0.1.0."""
    precision: Precision | None


def summarise(subject: Subject, runs: Sequence[RunRecord]) -> Summary:
    """Return what runs measured, as rows about a subject; those that failed are left out."""
    done = [run for run in runs if run.outcome.status == "done"]
    return Summary(subject, tuple(subject.rows(done)), tuple(subject.totals(done)))


def on_disk_of(result: Result) -> OnDisk | None:
    """Return what the rows of a result take on disk, if that is known."""
    for run in reversed(result.runs):
        size_bytes, found = run.outcome.size_bytes, run.metrics
        if size_bytes and found and found.bytes_per_row:
            return OnDisk(size_bytes, found.bytes_per_row, found.bits_per_value, found.precision)
    return None
