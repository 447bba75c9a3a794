"""The common part of the modules for databases with an HTTP interface."""

from abc import abstractmethod
from contextlib import closing
from typing import TypeVar

from simulator.errors import BenchError
from simulator.modules.contract import Database, Failure, Session, recognize
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
        """Make the first request: HttpError if the server refuses the credentials."""

    def close(self) -> None:
        self.http.close()

    @property
    def alive(self) -> bool:
        return self.http.alive

    def classify(self, error: Exception) -> Failure:
        return classify(error)


HttpSession_co = TypeVar("HttpSession_co", bound=HttpSession, covariant=True)


class HttpDatabase(Database[HttpSession_co]):
    """A database reached by HTTP."""

    options: HttpOptions

    @abstractmethod
    def open(self) -> HttpSession_co:
        """Return a session that has sent nothing yet."""

    def connect(self) -> HttpSession_co:
        """Open a connection; SetupError if the server is unreachable or refuses the credentials."""
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
        """Return the answer to a request without credentials that names a product."""
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
