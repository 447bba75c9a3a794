"""Queries that take several statements; the client combines the answers.

A database that cannot answer a query at once is asked about each physical table, range of tokens or
aggregate apart.
"""

from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self, TypeAlias

from simulator.data.query import Query, Statement, outputs
from simulator.modules.contract import Session
from simulator.modules.shared.client.contents import portions
from simulator.modules.shared.client.partials import Collected, Combiner, Row


def _as_it_is(portion: Sequence[Row]) -> Sequence[Row]:
    return portion


@dataclass(frozen=True, slots=True)
class Fetch:
    """One of the statements that answer a query together."""

    text: str
    read: Callable[[Any], Sequence[Row]] = _as_it_is
    """Returns a portion of its answer, as it arrives, as rows for the combiner."""


@dataclass(frozen=True, slots=True)
class PlannedQuery(Statement):
    """The requests, how to read each answer, and how to combine the answers."""

    fetches: tuple[Fetch, ...] = ()
    combiner: Callable[[], Combiner] = Collected

    @classmethod
    def of(
        cls, query: Query, fetches: Sequence[Fetch], combiner: Callable[[], Combiner], **more: Any
    ) -> Self:
        """Return the plan of a logical query; its text has a statement on each line."""
        text = "\n".join(fetch.text for fetch in fetches)
        return cls(text, outputs(query), fetches=tuple(fetches), combiner=combiner, **more)


Answers: TypeAlias = Generator[tuple[Fetch, Any] | None]
"""Portions of answers, each with its fetch; None: all rows of a range have arrived."""


class PlannedSession(Session):
    """Answers planned queries; a subclass sends their statements."""

    @abstractmethod
    def plan(self, statement: Statement) -> PlannedQuery:
        """Return the plan of a statement; one of the user's own has a single fetch."""

    @abstractmethod
    def answers(self, plan: PlannedQuery, rows: int | None = None) -> Answers:
        """Send the statements of a plan, and yield their answers as they arrive.

        `rows`: of a portion, where the server takes a size; None: what is fastest. All that waits
        for the database is done within `waiting`.
        """

    def run(self, statement: Statement) -> Sequence[Row]:
        """Run all statements of a plan and combine their answers."""
        with self.in_client():
            plan = self.plan(statement)
            combiner = plan.combiner()
            for answer in self.answers(plan):
                if answer is None:
                    combiner.end_range()
                else:
                    fetch, portion = answer
                    if found := fetch.read(portion):
                        combiner.add(found)
            return combiner.rows()

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Row]]:
        """Run a plan and yield its rows in portions as they arrive, unless they are combined."""
        plan = self.plan(statement)
        if plan.combiner is not Collected:
            yield from super().stream(statement, rows)
            return
        with closing(self.answers(plan, rows)) as answers:
            arriving = (fetch.read(portion) for fetch, portion in filter(None, answers))
            yield from portions(chain.from_iterable(arriving), rows)
