"""Queries that take several statements, with answers that the client combines.

A database that cannot answer a query at once gets a statement for each physical table, range of
tokens or aggregate.
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


@dataclass(frozen=True, slots=True)
class Fetch:
    """One of the statements that together answer a query."""

    text: str
    read: Callable[[Any], Sequence[Row]] = lambda portion: portion
    """Converts a portion of the answer into rows for the combiner."""


@dataclass(frozen=True, slots=True)
class PlannedQuery(Statement):
    """The statements of a query, and the combiner of their answers."""

    fetches: tuple[Fetch, ...] = ()
    combiner: Callable[[], Combiner] = Collected

    @classmethod
    def of(
        cls, query: Query, fetches: Sequence[Fetch], combiner: Callable[[], Combiner], **more: Any
    ) -> Self:
        """Return the plan of a logical query; its text has one statement per line."""
        text = "\n".join(fetch.text for fetch in fetches)
        return cls(text, outputs(query), fetches=tuple(fetches), combiner=combiner, **more)


Answers: TypeAlias = Generator[tuple[Fetch, Any] | None]
"""Portions of answers, each with its fetch; None: all rows of a range have arrived."""


class PlannedSession(Session):
    """A session that answers planned queries; a subclass sends their statements."""

    @abstractmethod
    def plan(self, statement: Statement) -> PlannedQuery:
        """Return the plan of a statement; a user's own statement has a single fetch."""

    @abstractmethod
    def answers(self, plan: PlannedQuery, rows: int | None = None) -> Answers:
        """Send the statements of a plan, and yield their answers as they arrive.

        `rows` is the size of a portion, if the server takes one; None: the fastest size. Calls
        that wait for the database are made within `waiting`.
        """

    def run(self, statement: Statement) -> Sequence[Row]:
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
        plan = self.plan(statement)
        if plan.combiner is not Collected:
            yield from super().stream(statement, rows)
            return
        with closing(self.answers(plan, rows)) as answers:
            arriving = (fetch.read(portion) for fetch, portion in filter(None, answers))
            yield from portions(chain.from_iterable(arriving), rows)
