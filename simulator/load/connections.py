"""Several connections as one session.

An application has more connections than processes. Each connection has a thread, which opens the
connection, carries out work on it, and replaces it when it is lost. Together they form one session
with as many batches in flight as there are callers; with a pool, callers wait for a connection.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, TypeAlias

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.errors import SetupError
from simulator.host import allow_open_files
from simulator.modules.contract import (
    Encoder,
    Envelope,
    Failure,
    MixedEncoder,
    Payload,
    Session,
)
from simulator.protocol.records import RecordFormat

_OPENING = 16
"""Number of connections opened at the same time: servers queue few new connections."""
_STACK_BYTES = 256 << 10
_OTHER_FILES, _FILES_EACH = 200, 2
"""Number of files of a process, and of each connection.

A driver may open a second connection for requests other than batches.
"""

Done: TypeAlias = Callable[[Exception | None], None]
Open: TypeAlias = Callable[[], Session]
_Given: TypeAlias = tuple[Callable[[Session], None], Done]
"""Work for a connection, and the function to call when the work has ended."""
_Inbox: TypeAlias = "SimpleQueue[_Given | None]"


class NotSent(Exception):
    """Raised if the connections are closed while a caller waits for one of them."""


@dataclass(slots=True)
class Meaning:
    """The meaning of an error, from the session that raised it."""

    error: Exception
    failure: Failure


def _expect_files(connections: int) -> None:
    wanted = _OTHER_FILES + _FILES_EACH * connections
    if (allowed := allow_open_files(wanted)) < wanted:
        raise SetupError(
            f"--connections: {connections:,} connections may take {wanted:,} open files, and this"
            f" process may have {allowed:,}; raise the hard limit (ulimit -Hn), or use more workers"
            " with fewer connections each"
        )


class Connections(Session):
    """Several connections as one session."""

    def __init__(
        self, open_one: Open, connections: int, callers: int, meanings: dict[int, Meaning]
    ) -> None:
        """Open all connections. If one cannot be opened, close the others and raise its error.

        `meanings` holds the meanings of errors until they are looked up, also by a session that
        replaces this one. Raises SetupError if the process's limit of open files is too low.
        """
        _expect_files(connections)
        self.opened_ns: list[int] = []
        """Times to open each connection."""
        self._open_one, self.in_flight = open_one, callers
        self._lock = threading.Lock()
        self._free: deque[_Inbox] = deque()
        """Free connections, the longest free first."""
        self._waiting: deque[_Given] = deque()
        """Callers that wait for a connection."""
        self._meanings = meanings
        self._lost: Exception | None = None
        self.replaced = 0
        """Number of lost connections that new ones have replaced."""
        self._opening = threading.Semaphore(_OPENING)
        opened: SimpleQueue[Session | Exception] = SimpleQueue()
        self._inboxes: list[_Inbox] = [SimpleQueue() for _ in range(connections)]
        before = threading.stack_size(_STACK_BYTES)
        try:
            self._threads = [
                threading.Thread(target=self._serve, args=(inbox, opened), daemon=True)
                for inbox in self._inboxes
            ]
            for thread in self._threads:
                thread.start()
        finally:
            threading.stack_size(before)
        found = [opened.get() for _ in self._threads]
        failed = next((each for each in found if isinstance(each, Exception)), None)
        if failed:
            self.close()
            raise failed
        self._first = next(each for each in found if isinstance(each, Session))
        self.makes_objects = self._first.makes_objects

    # --- a connection -----------------------------------------------------------------------------

    def _serve(self, inbox: _Inbox, opened: "SimpleQueue[Session | Exception]") -> None:
        """Open a connection, and carry out work from the inbox until the end."""
        try:
            with self._opening:
                session = self._open()
        except Exception as error:  # noqa: BLE001 - raised where the connections are opened
            self._lost = error
            opened.put(error)
            return
        self._free.append(inbox)
        opened.put(session)
        try:
            while (given := inbox.get()) is not None:
                session = self._carry_out(session, *given)
                with self._lock:
                    if self._waiting:
                        inbox.put(self._waiting.popleft())
                    else:
                        self._free.append(inbox)
        finally:
            session.close()

    def _open(self) -> Session:
        if self._lost:  # another one could not be opened
            raise self._lost
        before_ns = time.perf_counter_ns()
        session = self._open_one()
        self.opened_ns.append(time.perf_counter_ns() - before_ns)
        return session

    def _carry_out(self, session: Session, work: Callable[[Session], None], done: Done) -> Session:
        """Carry out work; return the session, or a new one if it was lost."""
        try:
            work(session)
        except Exception as error:  # noqa: BLE001 - the session classifies it
            self._meanings[id(error)] = Meaning(error, session.classify(error))
            session = self._replace_lost(session)
            done(error)
        else:
            done(None)
        return session

    def _replace_lost(self, session: Session) -> Session:
        if session.is_usable or self._lost:
            return session
        session.close()
        try:
            session = self._open_one()
        except Exception as error:  # noqa: BLE001 - the worker reports lost connections
            self._lost = error
        else:
            self.replaced += 1
        return session

    # --- all of them ------------------------------------------------------------------------------

    def close(self) -> None:
        """Close every connection once its work ends; waiting work is not carried out."""
        with self._lock:
            waiting, self._waiting = self._waiting, deque()
        for inbox in self._inboxes:
            inbox.put(None)
        for thread in self._threads:
            thread.join()
        for _, done in waiting:
            error = NotSent("the connections were closed")
            self._meanings[id(error)] = Meaning(error, Failure.NOT_APPLIED)
            done(error)

    @property
    def alive(self) -> bool:
        """True if every connection works or has been replaced."""
        return self._lost is None

    def begin(self, payload: Payload, done: Done) -> None:
        """Send a payload over the connection free for longest, or over the next one to be free."""
        self.have(lambda session: session.send(payload), done)

    def have(self, work: Callable[[Session], None], done: Done) -> None:
        """Run work on the connection that has been free for longest, or on the next free one."""
        given = work, done
        with self._lock:
            if not self._free:
                self._waiting.append(given)
                return
            inbox = self._free.popleft()
        inbox.put(given)

    def send(self, payload: Payload) -> None:
        """Send a payload over any connection, and wait."""
        self._run(lambda session: session.send(payload))

    def _run(self, work: Callable[[Session], None]) -> None:
        ended: SimpleQueue[Exception | None] = SimpleQueue()
        self.have(work, ended.put)
        error = ended.get()
        if error is not None:
            raise error

    def classify(self, error: Exception) -> Failure:
        """Return the classification by the session that sent the payload."""
        known = self._meanings.pop(id(error), None)
        return known.failure if known and known.error is error else Failure.UNKNOWN

    # --- encoding, which needs no connection ------------------------------------------------------

    def encode(self, block: Block, mode: str, batch_rows: int) -> Sequence[Payload]:
        """Return the payloads of a block."""
        return self._first.encode(block, mode, batch_rows)

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return the encoder of one physical table."""
        return self._first.encoder(table, name, mode)

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        """Return the encoder of several tables."""
        return self._first.make_mixed_encoder(tables)

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return the function that makes a payload's data from records of a file."""
        return self._first.envelope(tables, form)

    def size_of(self, data: Any) -> int | None:
        """Return how many bytes of a payload's data are sent."""
        return self._first.size_of(data)

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement on any connection, and wait; for a timed run use `have`."""
        rows: list[Sequence[Sequence[Any]]] = []
        self._run(lambda session: rows.append(session.run(statement)))
        return rows[0]
