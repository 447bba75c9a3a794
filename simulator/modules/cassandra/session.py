"""One client of a Cassandra cluster: how rows are sent, and what an error says about them.

This file imports the driver: it is imported only by what connects.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from cassandra import AuthenticationFailed, FunctionFailure, RequestValidationException, Unavailable
from cassandra.cluster import Cluster, NoHostAvailable, ResponseFuture
from cassandra.cluster import Session as DriverSession
from cassandra.concurrent import execute_concurrent
from cassandra.connection import ConnectionBusy, ConnectionException
from cassandra.policies import HostDistance
from cassandra.pool import Host, NoConnectionsAvailable
from cassandra.protocol import IsBootstrappingErrorMessage, OverloadedErrorMessage
from cassandra.query import PreparedStatement

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import PrimaryKey, Table
from simulator.encode.cql import CqlRows, Prepared, Request
from simulator.modules.base import SINGLE, Failure, Payload, Session
from simulator.modules.cassandra import tables as cql
from simulator.modules.cassandra.query import Scan, token_ranges
from simulator.modules.cassandra.tables import Key
from simulator.modules.cassandra.wire import EncodedBatch, EncodedInsert, EncodedProtocol

if TYPE_CHECKING:
    from simulator.modules.cassandra.database import CassandraOptions

QUERIES = "queries"
"""The driver's execution profile of what is asked, beside the default one of what is written."""
SYSTEM = "system"
"""That of what nodes are asked of themselves."""
_RANGES_AT_ONCE = 8
_ROOM_POLL_S = 0.001
_PAGE_ROWS = 5000
_MIXED_BYTES = 16 << 10
"""Of a batch of many partitions: well below the 50 KiB that a server refuses as it comes."""

_NO_ROOM = (ConnectionBusy, NoConnectionsAvailable)
_NEVER_SENT = (*_NO_ROOM, ConnectionException)
_NOT_TAKEN = (Unavailable, OverloadedErrorMessage, IsBootstrappingErrorMessage)
_REFUSED = (AuthenticationFailed, FunctionFailure, RequestValidationException)
_WORST_FIRST = (Failure.FATAL, Failure.UNKNOWN, Failure.NOT_APPLIED)


class _Table:
    """What is sent to one physical table."""

    def __init__(self, prepared: PreparedStatement, table: Table, key: Key, *, mixed: bool) -> None:
        self.statement = prepared
        server_keys = table.primary_key is PrimaryKey.UUID
        described = Prepared(
            id=prepared.query_id,
            columns=table.columns,
            time_unit=table.time_unit,
            key=() if server_keys else key.columns,
            partition=() if server_keys else key.partition,
            # Where each row is a partition, batches of one partition would be single rows.
            grouped=not mixed and bool(key.clustering),
            most_bytes=None if mixed or key.clustering else _MIXED_BYTES,
        )
        self.prefix_bytes = len(described.prefix)
        self.rows = CqlRows(described)
        self.repeatable = not server_keys


class CassandraSession(Session):
    """The driver's session, with a connection to every node of the local datacenter."""

    def __init__(
        self,
        cluster: Cluster,
        session: DriverSession,
        options: "CassandraOptions",
        key_of: Callable[[Table], Key],
    ) -> None:
        self.cluster = cluster
        self.session = session
        session.client_protocol_handler = EncodedProtocol
        self._keyspace = options.keyspace
        self._key_of = key_of
        self._mixed_batches = options.batches == "mixed"
        self._in_flight = options.max_sync_calls
        self._patience_s = options.request_timeout_s
        self._tables: dict[str, _Table] = {}
        self._prepared: dict[str, PreparedStatement] = {}
        self._repeatable = True

    def close(self) -> None:
        """Close the connections; what is on its way ends with an error."""
        with suppress(Exception):
            self.cluster.shutdown()

    @property
    def alive(self) -> bool:
        """Whether any node can be reached; the driver itself comes back to nodes that were down."""
        if self.session.is_shutdown:
            return False
        return any(state["open_count"] for state in self.session.get_pool_state().values())

    @property
    def local_nodes(self) -> list[Host]:
        """The nodes of the datacenter that is written to."""
        policy = self.cluster.profile_manager.default.load_balancing_policy
        hosts = self.cluster.metadata.all_hosts()
        return [h for h in hosts if policy.distance(h) == HostDistance.LOCAL]

    def rows(self, text: str, *parameters: Any, node: Host | None = None) -> list[tuple[Any, ...]]:
        """Ask any node, or this one, something of itself, and fetch every row."""
        return list(
            self.session.execute(text, parameters or None, execution_profile=SYSTEM, host=node)
        )

    @property
    def in_flight(self) -> int:
        """As many as `max_sync_calls` says."""
        return self._in_flight

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as bytes, for each send a batch for each partition.

        A table's statement is prepared when its first block comes: its id is part of every row.
        """
        table = self._tables.get(block.name) or self._prepare_table(block)
        return [
            Payload(sum(request.rows for request in requests), mode, (table, requests))
            for requests in table.rows.encode(block, rows_per_send)
        ]

    def _prepare_table(self, block: Block) -> _Table:
        table = block.table
        statement = self.prepare(cql.insert(self._keyspace, table, block.name))
        found = _Table(statement, table, self._key_of(table), mixed=self._mixed_batches)
        self._tables[block.name] = found
        return found

    def prepare(self, text: str) -> PreparedStatement:
        """Return a prepared statement, now or before."""
        if text not in self._prepared:
            self._prepared[text] = self.session.prepare(text)
        return self._prepared[text]

    def send(self, payload: Payload) -> None:
        """Send the rows and return once as many replicas have them as `consistency` says."""
        ended = threading.Event()
        errors: list[Exception | None] = []

        def done(error: Exception | None) -> None:
            errors.append(error)
            ended.set()

        self.begin(payload, done)
        ended.wait()  # the driver ends every request, by its answer or by its time limit
        if errors[0] is not None:
            raise errors[0]

    def begin(self, payload: Payload, done: Callable[[Exception | None], None]) -> None:
        """Send the payload's requests, all at once."""
        table, requests = payload.data
        self._repeatable = table.repeatable or payload.rows == 1
        gathered = _Gathered(len(requests), self._worst, done)
        for request in requests:
            self._request(table, request, payload.mode).add_callbacks(
                gathered.acknowledged, gathered.failed
            )

    def _request(self, table: _Table, request: Request, mode: str) -> ResponseFuture:
        """Send a request, once the connection has room for it.

        A socket that takes no more bytes is no failure, but how a busy server slows a client down.
        """
        statement = (
            EncodedInsert(table.statement, request, table.prefix_bytes)
            if mode == SINGLE
            else EncodedBatch(request, self._keyspace)
        )
        deadline = time.monotonic() + self._patience_s
        while True:
            future = self.session.execute_async(statement)
            failed: list[Exception] = []
            future.add_errback(failed.append)  # at once, if it was not even sent
            if not (failed and _has_no_room(failed[0])) or time.monotonic() > deadline:
                return future
            time.sleep(_ROOM_POLL_S)

    def _worst(self, errors: Sequence[Exception]) -> Exception:
        return min(errors, key=lambda error: _WORST_FIRST.index(self.classify(error)))

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        A row that is sent again replaces itself, unless the server draws its key: then rows of a
        send must not be sent again when others of it may have been taken.
        """
        causes = _causes(error)
        if any(isinstance(cause, _REFUSED) for cause in causes):
            return Failure.FATAL
        never_sent = isinstance(error, NoHostAvailable) and all(
            isinstance(cause, _NEVER_SENT) for cause in causes
        )
        if never_sent or isinstance(error, _NOT_TAKEN):
            return Failure.NOT_APPLIED if self._repeatable else Failure.UNKNOWN
        return Failure.UNKNOWN

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement, range by range if it says so, and fetch every row."""
        if not isinstance(statement, Scan):
            return list(self.session.execute(statement.text, execution_profile=QUERIES))
        fold = statement.fold()
        ranges: Sequence[tuple[int, ...]] = token_ranges() if statement.by_ranges else [()]
        selects = [self.prepare(select) for select in statement.selects]
        if statement.many_rows:
            for ends in ranges:
                for select in selects:
                    for page in self._pages(select, (*statement.parameters, *ends), _PAGE_ROWS):
                        fold.add(page)
                fold.end_range()
            return fold.rows()
        asked = [(select, (*statement.parameters, *ends)) for ends in ranges for select in selects]
        for _, found in execute_concurrent(
            self.session,
            asked,
            concurrency=_RANGES_AT_ONCE,
            results_generator=True,
            execution_profile=QUERIES,
        ):
            fold.add(list(found))
        return fold.rows()

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows page by page."""
        if not isinstance(statement, Scan):
            yield from super().stream(statement, rows)
            return
        for select in statement.selects:
            yield from self._pages(self.prepare(select), statement.parameters, rows)

    def _pages(
        self, select: PreparedStatement, parameters: Sequence[Any], rows: int
    ) -> Iterator[Sequence[Sequence[Any]]]:
        bound = select.bind(parameters)
        bound.fetch_size = rows
        found = self.session.execute(bound, execution_profile=QUERIES)
        while True:
            page: list[Sequence[Any]] = found.current_rows
            if page:
                yield page
            if not found.has_more_pages:
                return
            found.fetch_next_page()


def _causes(error: Exception) -> list[Any]:
    """Return what came of each node that was tried; none, if the driver knows all to be down."""
    if isinstance(error, NoHostAvailable) and isinstance(error.errors, dict):
        return list(error.errors.values())
    return [error]


def _has_no_room(error: Exception) -> bool:
    causes = _causes(error)
    return bool(causes) and all(isinstance(cause, _NO_ROOM) for cause in causes)


class _Gathered:
    """The ends of several requests as one; they come on the driver's thread."""

    def __init__(
        self,
        requests: int,
        worst: Callable[[Sequence[Exception]], Exception],
        done: Callable[[Exception | None], None],
    ) -> None:
        self._open = requests
        self._worst = worst
        self._done = done
        self._errors: list[Exception] = []
        self._lock = threading.Lock()

    def acknowledged(self, _: Any) -> None:
        """Note that a request's rows are stored."""
        self._end([])

    def failed(self, error: Exception) -> None:
        """Note that a request has failed."""
        self._end([error])

    def _end(self, errors: Sequence[Exception]) -> None:
        with self._lock:
            self._errors += errors
            self._open -= 1
            ended = self._open == 0
        if ended:
            self._done(self._worst(self._errors) if self._errors else None)
