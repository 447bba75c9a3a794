"""The script of a run: the messages that each of its workers sends, in order."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from simulator.data.own_query import TextQuery
from simulator.data.query import Output, Query, outputs
from simulator.modules.contract import Database
from simulator.protocol.spec import Ask, RunSpec, Task, Work
from simulator.protocol.verdict import VerifyMode
from simulator.verify.truth.folding import FOLD_TASK_ROWS

MOST_ANSWER_BYTES = 256 << 20
"""Maximum size of all different answers of a run, in JSON."""


class Rejected(Exception):
    """Raised for a message that does not fit the state of the run; the text gives the reason."""


@dataclass(frozen=True)
class Script:
    """The specification of a run, and the barriers and answers that it implies."""

    spec: RunSpec
    queries: Mapping[str, bool]
    """The query types that are asked, in order -> whether their instances differ."""
    outputs: Mapping[str, tuple[Output, ...]]
    """Query type -> columns of its answers."""

    @classmethod
    def of(cls, spec: RunSpec, database: Database) -> "Script":
        """Return the script of a run on a database."""
        if not spec.asks:
            return cls(spec, {}, {})
        types = spec.query_types()
        asked = database.select_answered(types, spec.load.queries)
        return cls(
            spec,
            {name: types[name].varies for name in asked},
            {name: _outputs(types[name].instance(0)) for name in asked},
        )

    @property
    def in_turn(self) -> bool:
        """True if queries are asked in turn behind one barrier, not one after the other."""
        return self.spec.work is Work.MIXED

    @property
    def helps(self) -> bool:
        """True if workers that have reported help the collector to compute the truth.

        Workers help if the compared rows are more than one fold task.
        """
        spec = self.spec
        compares = bool(spec.asks) or spec.verify is not VerifyMode.NONE
        return bool(spec.workers) and compares and spec.after.rows > FOLD_TASK_ROWS

    def barriers(self, task: Task) -> tuple[str, ...]:
        """Return the barriers that a worker passes, in order."""
        alike = self.in_turn or not isinstance(task, Ask)
        return (self.spec.barrier,) if alike else tuple(self.queries)

    @cached_property
    def arrivals(self) -> Counter[str]:
        """Barrier -> number of workers that come to it."""
        return Counter(barrier for task in self.spec.workers for barrier in self.barriers(task))

    def instances(self, query: str, task: Ask, runs: int, warmup_runs: int) -> set[int]:
        """Return the instances of a query type that a worker asks in these numbers of runs."""
        asked = {task.first, *task.warmup(warmup_runs), *task.instances(runs)}
        return asked if self.queries[query] else {0}


def _outputs(query: Query | TextQuery) -> tuple[Output, ...]:
    return query.outputs if isinstance(query, TextQuery) else outputs(query)
