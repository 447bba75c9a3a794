"""Query plans: a database's account of how it answers a statement, such as EXPLAIN prints."""

from collections.abc import Iterator
from typing import NamedTuple

from simulator.data.query import Statement


class QueryPlan(NamedTuple):
    """The plan of one statement."""

    statement: str
    text: str
    """The plan as the database returns it."""
    shape: str
    """The plan without what differs between two runs of it: figures, literals, generated names."""


class Explaining:
    """A session that can show query plans."""

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plan of each statement that answers a query (`Capabilities.plans`), in order.

        Each is asked for when it is its turn: a caller may want the first ones only. Raises
        Unsupported for a statement that the database does not explain.
        """
        raise NotImplementedError
