"""Modules whose every batch takes a ninth longer than it would: the rate is 10 % lower.

The time that is added follows from the clock alone: from the end of the batch before to the
acknowledgement of this one, encoding included. A processor is kept busy meanwhile, as a slower
client or driver would do.
"""

import time
from typing import Any

from simulator.modules.contract import Database, Payload, Session
from simulator.modules.duckdb.database import DuckDb
from simulator.modules.null import Null
from simulator.modules.postgres.database import Postgres
from simulator.modules.sqlite import Sqlite

_SHARE = 1 / 9


def slowed(session: Session) -> Session:
    """Return the session with slower batches."""
    send, ended_s = session.send, 0.0

    def slow_send(payload: Payload) -> Any:
        nonlocal ended_s
        answer = send(payload)
        now_s = time.perf_counter()
        until_s = now_s + (now_s - ended_s) * _SHARE if ended_s else now_s
        while time.perf_counter() < until_s:
            pass
        ended_s = time.perf_counter()
        return answer

    session.send = slow_send  # type: ignore[method-assign]
    return session


class _Slowed(Database):
    """Connects to sessions with slower batches."""

    def connect(self) -> Session:
        """Return a session whose batches take longer."""
        return slowed(super().connect())  # type: ignore[safe-super]


class SlowedNull(_Slowed, Null):
    """`null`, 10 % slower."""


class SlowedSqlite(_Slowed, Sqlite):
    """`sqlite`, 10 % slower."""


class SlowedPostgres(_Slowed, Postgres):
    """`postgres`, 10 % slower."""


class SlowedDuckdb(_Slowed, DuckDb):
    """`duckdb`, 10 % slower."""
