"""Databases with an HTTP interface, and their sessions."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any, TypeVar

from simulator.data.query import Statement
from simulator.errors import BenchError
from simulator.modules.contract import Database, Failure, QueryPlan, Session, recognize
from simulator.modules.shared import shapes
from simulator.modules.shared.http.client import (
    Http,
    HttpError,
    HttpOptions,
    NotConnected,
    Refused,
    classify,
)
from simulator.modules.shared.http.tls import CONNECT_S


class HttpSession(Session):
    """A session over one HTTP connection."""

    def __init__(self, http: Http) -> None:
        self.http = http

    @abstractmethod
    def greet(self) -> None:
        """Send the first request; HttpError if the server refuses the credentials."""

    def close(self) -> None:
        self.http.close()

    @property
    def alive(self) -> bool:
        return self.http.alive

    def classify(self, error: Exception) -> Failure:
        return classify(error)


class HttpSqlSession(HttpSession):
    """A session that sends statements as text and gets answers in JSON."""

    shape_of: Callable[[str], str] = staticmethod(shapes.of_text)
    """Returns the shape of a plan."""

    @abstractmethod
    def ask(self, statement: str) -> Sequence[Sequence[Any]]:
        """Run a statement and return its rows; HttpError if it fails."""

    def greet(self) -> None:
        self.ask("SELECT 1")

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        with self.in_client():
            return self.ask(statement.text)

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plan of a statement without running it."""
        text = "\n".join(str(line) for (line,) in self.ask(f"EXPLAIN {statement.text}"))
        yield QueryPlan(statement.text, text, self.shape_of(text))


HttpSession_co = TypeVar("HttpSession_co", bound=HttpSession, covariant=True)


class HttpDatabase(Database[HttpSession_co]):
    """A database reached by HTTP."""

    options: HttpOptions

    @abstractmethod
    def open(self) -> HttpSession_co:
        """Return a new session, which has sent nothing yet."""

    def connect(self) -> HttpSession_co:
        session = self.open()
        try:
            session.greet()
        except Exception as error:  # whatever it is, the connection is closed
            session.close()
            if isinstance(error, BenchError):
                raise
            raise self.setup_error(error) from error
        return session

    def identify(self) -> str:
        http, answer = Http(self.options), ""
        with closing(http):
            for path in ("/ping", "/"):
                try:
                    answer = str(http.request("GET", path, timeout_s=CONNECT_S))
                except Refused as refused:
                    answer = str(refused.reply)
                except HttpError as error:
                    if isinstance(error, NotConnected):
                        raise self.setup_error(error) from error
                if recognize(answer).pattern:
                    break
        return answer

    def words(self, error: Exception) -> str:
        return error.text if isinstance(error, HttpError) else super().words(error)

    def remedy(self, error: Exception) -> str | None:
        return error.remedy if isinstance(error, HttpError) else super().remedy(error)
