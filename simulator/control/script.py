"""The script of a run: what each of its workers sends, in which order, and how much of it."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from simulator.data.own_query import TextQuery
from simulator.data.query import Output, Query, outputs
from simulator.data.ranges import RowRange
from simulator.modules.contract import Database
from simulator.protocol.spec import Ask, Clocking, RunSpec, Task, Work
from simulator.protocol.verdict import VerifyMode
from simulator.verify.truth.fold_tasks import FOLD_TASK_ROWS

MOST_ANSWER_BYTES = 256 << 20
"""Largest size of all different answers of a run, in JSON."""


@dataclass(frozen=True)
class Script:
    """The tasks of the workers, and the barriers and answers that follow from them."""

    tasks: tuple[Task, ...]
    queries: Mapping[str, bool] = field(default_factory=dict)
    """The query types that are asked, in order -> whether their instances differ."""
    outputs: Mapping[str, tuple[Output, ...]] = field(default_factory=dict)
    """Query type -> columns of its answers."""
    clocking: Clocking = field(default_factory=Clocking)
    """A clocking with a duration allows a worker to leave out rows."""
    helps: bool = False
    """True if workers that have reported help the collector to compute the truth."""
    ramps: bool = False
    """True if a worker may leave out a query: its ramp ended before the worker was let in."""
    barrier: str = Work.INSERT.value
    """Barrier at which workers that write wait for all."""
    fresh: bool = False
    """True if queries are about fresh rows: workers report all batches, and every answer."""
    in_turn: bool = False
    """True if queries are asked in turn behind that barrier, in place of one after the other."""
    weights: Mapping[str, int] = field(default_factory=dict)
    """Query type -> how often it is asked for each time of another; none: 1."""

    @classmethod
    def of(cls, spec: RunSpec, database: Database) -> "Script":
        """Return the script that a specification gives the workers of a database."""
        if not spec.asks:
            return cls(
                spec.workers,
                clocking=spec.clocking,
                helps=_needs_help(spec),
                barrier=spec.barrier,
            )
        types = spec.query_types()
        asked = database.select_answered(types, spec.load.queries)
        return cls(
            spec.workers,
            {name: types[name].varies for name in asked},
            {name: _outputs(types[name].instance(0)) for name in asked},
            spec.clocking,
            _needs_help(spec),
            spec.load.ramp is not None,
            spec.barrier,
            bool(spec.load.fresh_ms),
            spec.work is Work.MIXED,
            spec.load.weights,
        )

    def barriers(self, task: Task) -> tuple[str, ...]:
        """Return the barriers that a worker passes, in order."""
        alike = self.in_turn or not isinstance(task, Ask)
        return (self.barrier,) if alike else tuple(self.queries)

    @cached_property
    def arrivals(self) -> Counter[str]:
        """Barrier -> how many workers come to it."""
        return Counter(barrier for task in self.tasks for barrier in self.barriers(task))

    def instances(self, query: str, task: Ask, runs: int, warmup_runs: int) -> set[int]:
        """Return the instances of a query type that a worker asks in this number of runs."""
        asked = {task.first, *task.warmup(warmup_runs), *task.instances(runs)}
        return asked if self.queries[query] else {0}


def _outputs(query: Query | TextQuery) -> tuple[Output, ...]:
    return query.outputs if isinstance(query, TextQuery) else outputs(query)


def _needs_help(spec: RunSpec) -> bool:
    """Return whether rows are compared, and are more than one fold task has."""
    compares = bool(spec.asks) or spec.verify is not VerifyMode.NONE
    return bool(spec.workers) and compares and spec.after.rows > FOLD_TASK_ROWS


def row_count(ranges: Iterable[RowRange]) -> int:
    """Return the number of rows in ranges."""
    return sum(map(len, ranges))
