"""The script of a run: what each of its workers sends, in which order, and how much of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property

from simulator.data.dataset import DatasetReader
from simulator.data.query import Output, Query
from simulator.data.ranges import RowRange
from simulator.modules.base import Database
from simulator.protocol.spec import Kind, RunSpec, WorkerPlan
from simulator.protocol.verdict import VerifyMode
from simulator.verify.needed import needed_queries
from simulator.verify.portions import PORTION_ROWS

_MIB = 1 << 20
_ANSWER_ROW_BYTES = 1024
MOST_ANSWER_BYTES = 256 * _MIB
_QUERY_RUN_BYTES = 128
"""A duration and perhaps the digest of an answer, in JSON."""


@dataclass(frozen=True)
class Script:
    """The barriers, rows and queries of a run."""

    plans: tuple[WorkerPlan, ...]
    barriers: tuple[str, ...]
    """In the order in which every worker passes them."""
    outputs: Mapping[str, tuple[Output, ...]]
    """Query -> columns of its answer; empty for an insert."""
    repeats: int = 1
    stored_rows: int = 0
    duration_s: float = 0.0
    """After which a worker may leave rows out; 0: it may not."""
    folds: tuple[Query, ...] = ()
    """Queries whose truth the workers help to fold; none if the collector needs no help."""

    @classmethod
    def of(cls, spec: RunSpec, database: Database) -> "Script":
        """Return the script that a specification gives the workers of a database."""
        if spec.kind is not Kind.QUERY:
            barriers = ("insert",) if spec.kind is Kind.INSERT else ()
            return cls(spec.workers, barriers, {}, duration_s=spec.duration_s, folds=_folds(spec))
        known = DatasetReader(spec.dataset).queries()
        asked = database.statements(known, spec.queries)
        return cls(
            spec.workers,
            tuple(asked),
            {name: statement.outputs for name, statement in asked.items()},
            spec.repeats,
            spec.dataset.rows,
            folds=_folds(spec),
        )

    @cached_property
    def phases(self) -> dict[str, int]:
        """Phase of a worker -> its place: start, prefill, then each barrier and what follows it."""
        names = ["start", "prefill"]
        for barrier in self.barriers:
            names += [f"barrier {barrier}", barrier]
        return {name: place for place, name in enumerate(names)}

    @cached_property
    def answer_bytes(self) -> int:
        """The most that one answer may take in JSON: it has no more rows than are stored."""
        return min(_MIB + self.stored_rows * _ANSWER_ROW_BYTES, MOST_ANSWER_BYTES)

    def report_bytes(self, elapsed_s: float) -> int:
        """Return the most that a report may take in JSON, so long after the run began."""
        seconds = 16 * int(elapsed_s)  # a number of rows for each
        return _MIB + seconds + len(self.outputs) * self.repeats * _QUERY_RUN_BYTES


def _folds(spec: RunSpec) -> tuple[Query, ...]:
    """Return the queries to fold, if the rows are more than one portion."""
    compares = spec.kind is Kind.QUERY or spec.verify is not VerifyMode.NONE
    if not spec.workers or not compares or spec.after.rows <= PORTION_ROWS:
        return ()
    return needed_queries(spec)


def rows_of(ranges: Iterable[RowRange]) -> int:
    """Return the number of rows in ranges."""
    return sum(map(len, ranges))
