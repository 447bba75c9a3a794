"""Sessions with databases that take SQL over HTTP and answer in JSON."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from simulator.data.query import Statement
from simulator.modules.contract import QueryPlan
from simulator.modules.shared import shapes
from simulator.modules.shared.http.database import HttpSession


class HttpSqlSession(HttpSession):
    """A session that runs statements as texts."""

    shape_of: Callable[[str], str] = staticmethod(shapes.of_text)
    """Returns the shape of a plan."""

    @abstractmethod
    def ask(self, statement: str) -> Sequence[Sequence[Any]]:
        """Run a statement and return its rows; HttpError if it fails."""

    def greet(self) -> None:
        """Run a statement, which shows whether the server accepts the user."""
        self.ask("SELECT 1")

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        with self.in_client():
            return self.ask(statement.text)

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plan of a statement, which the server does not carry out for that."""
        text = "\n".join(str(line) for (line,) in self.ask(f"EXPLAIN {statement.text}"))
        yield QueryPlan(statement.text, text, self.shape_of(text))
