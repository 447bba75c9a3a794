"""A client of a Cassandra cluster: it sends encoded rows, reads answers, and classifies errors.

This file imports the driver, so database.py imports this file only to connect.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any, ClassVar, NamedTuple

from cassandra import (
    AuthenticationFailed,
    ConsistencyLevel,
    FunctionFailure,
    ReadFailure,
    ReadTimeout,
    RequestValidationException,
    Unavailable,
)
from cassandra.cluster import Cluster, ExecutionProfile, NoHostAvailable, ResponseFuture
from cassandra.cluster import Session as DriverSession
from cassandra.concurrent import execute_concurrent, execute_concurrent_with_args
from cassandra.connection import ConnectionBusy, ConnectionException
from cassandra.policies import (
    DCAwareRoundRobinPolicy,
    FallthroughRetryPolicy,
    TokenAwarePolicy,
)
from cassandra.pool import NoConnectionsAvailable
from cassandra.protocol import IsBootstrappingErrorMessage, OverloadedErrorMessage
from cassandra.query import PreparedStatement, tuple_factory

from simulator.data.query import Statement
from simulator.data.schema import PrimaryKey, Table
from simulator.encode.cql import CqlInsert, CqlRows, MessageRows
from simulator.modules.cassandra import driver
from simulator.modules.cassandra import query as cql
from simulator.modules.cassandra.query import Scan, TableKey, split_tokens
from simulator.modules.cassandra.server import ClusterNodes
from simulator.modules.cassandra.texts import PreparedText
from simulator.modules.cassandra.wire import EncodedBatch, EncodedInsert, EncodedProtocol
from simulator.modules.contract import BATCH, DRIVER, SINGLE, Encoder, Failure, Payload, QueryPlan
from simulator.modules.shared import shapes
from simulator.modules.shared.client.driver import DriverBatch
from simulator.modules.shared.client.planned import Answers, PlannedQuery, PlannedSession

QUERIES = "queries"
"""The driver's execution profile for queries; writes use the default one."""
_RANGES_AT_ONCE = 8
_ROOM_POLL_S = 0.001
_PAGE_ROWS = 5000
_MIXED_BYTES = 16 << 10
"""Size of a batch of many partitions; a server refuses 50 KiB by default."""

_NO_ROOM = (ConnectionBusy, NoConnectionsAvailable)
_NEVER_SENT = (*_NO_ROOM, ConnectionException)
_NOT_ACCEPTED = (Unavailable, OverloadedErrorMessage, IsBootstrappingErrorMessage)
_FATAL = (AuthenticationFailed, FunctionFailure, RequestValidationException)
_WORST_FIRST = (Failure.FATAL, Failure.UNKNOWN, Failure.NOT_APPLIED)


class NotApplied(Exception):
    """The server answered an INSERT, but did not apply it."""


def profile(local_datacenter: str, consistency: str, timeout_s: float) -> ExecutionProfile:
    """Return an execution profile without retries by the driver: the worker decides about them."""
    return ExecutionProfile(
        consistency_level=ConsistencyLevel.name_to_value[consistency],
        request_timeout=timeout_s,
        load_balancing_policy=TokenAwarePolicy(DCAwareRoundRobinPolicy(local_datacenter)),
        retry_policy=FallthroughRetryPolicy(),
        row_factory=tuple_factory,
    )


class RowLayout(NamedTuple):
    """The layout of rows in tables and batches."""

    keyspace: str
    key_of: Callable[[Table], TableKey]
    mixed_batches: bool
    """True if a batch may have rows of several partitions."""


class _Target:
    """One physical table: its prepared INSERT and its encoder."""

    def __init__(
        self, prepared: PreparedStatement, table: Table, key: TableKey, *, mixed: bool
    ) -> None:
        self.statement = prepared
        server_keys = table.primary_key is PrimaryKey.UUID
        described = CqlInsert(
            id=prepared.query_id,
            columns=table.columns,
            time_unit=table.time_unit,
            key=() if server_keys else key.columns,
            partition=() if server_keys else key.partition,
            # Where each row is a partition, a batch of one partition would be a single row.
            grouped=not mixed and bool(key.clustering),
            most_bytes=None if mixed or key.clustering else _MIXED_BYTES,
        )
        self.prefix_bytes = len(described.prefix)
        self.rows = CqlRows(described)
        self.repeatable = not server_keys
        """True if a row that is sent again replaces itself."""


class CassandraSession(PlannedSession):
    """The driver's session, with a connection to every node of the local datacenter."""

    correcting: ClassVar[str] = BATCH

    def __init__(
        self,
        cluster: Cluster,
        session: DriverSession,
        layout: RowLayout,
        in_flight: int,
        request_timeout_s: float,
    ) -> None:
        self.cluster = cluster
        self.session = session
        self.nodes = ClusterNodes(cluster, session)
        session.client_protocol_handler = EncodedProtocol
        self._layout = layout
        self.in_flight = in_flight
        self._request_timeout_s = request_timeout_s
        self._prepared: dict[str, PreparedStatement] = {}
        self._repeatable = True

    def close(self) -> None:
        """Close the connections; requests in flight end with an error."""
        with suppress(Exception):
            self.cluster.shutdown()

    @property
    def alive(self) -> bool:
        """True if any node can be reached; the driver itself reconnects to nodes."""
        if self.session.is_shutdown:
            return False
        return any(state["open_count"] for state in self.session.get_pool_state().values())

    # --- writing

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return the encoder of blocks as requests, one for each partition in a payload.

        It prepares the table's INSERT, because every encoded row contains the statement's id.
        """
        layout = self._layout
        prepared = self.prepare(cql.insert(layout.keyspace, table, name))
        if mode == DRIVER:
            return driver.encoder(table, prepared)
        target = _Target(prepared, table, layout.key_of(table), mixed=layout.mixed_batches)
        return lambda block, rows_per_batch: [
            (target, requests) for requests in target.rows.encode(block, rows_per_batch)
        ]

    def prepare(self, text: str) -> PreparedStatement:
        """Return a prepared statement; prepare it on first use."""
        if text not in self._prepared:
            with self.waiting():
                self._prepared[text] = self.session.prepare(text)
        return self._prepared[text]

    def size_of(self, data: tuple[_Target, Sequence[MessageRows]]) -> int | None:
        """Return the size of the rows in all requests; None if the driver encodes them."""
        if isinstance(data, DriverBatch):
            return None
        _, requests = data
        return sum(len(request.content) for request in requests)

    def send(self, payload: Payload) -> None:
        """Send the rows; return once as many replicas have them as `consistency` demands."""
        ended = threading.Event()
        errors: list[Exception | None] = []

        def done(error: Exception | None) -> None:
            errors.append(error)
            ended.set()

        self.begin(payload, done)
        ended.wait()  # the driver ends every request, at the latest by its timeout
        if errors[0] is not None:
            raise errors[0]

    def begin(self, payload: Payload, done: Callable[[Exception | None], None]) -> None:
        if payload.mode == DRIVER:
            self._repeatable = payload.data.into.repeatable or payload.rows == 1
            errors = driver.insert(self.session, payload.data)
            done(self._find_worst(errors) if errors else None)
            return
        target, requests = payload.data
        self._repeatable = target.repeatable or payload.rows == 1
        outcome = _Outcome(len(requests), self._find_worst, done)
        for request in requests:
            self._request(target, request, payload.mode).add_callbacks(
                outcome.note_answer, outcome.note_error
            )

    def _request(self, target: _Target, request: MessageRows, mode: str) -> ResponseFuture:
        """Send a request as soon as the connection has room for it.

        A full socket is not a failure: a busy server slows a client down by it.
        """
        statement = (
            EncodedInsert(target.statement, request, target.prefix_bytes)
            if mode == SINGLE
            else EncodedBatch(request, self._layout.keyspace)
        )
        deadline = time.monotonic() + self._request_timeout_s
        while True:
            future = self.session.execute_async(statement)
            failed: list[Exception] = []
            future.add_errback(failed.append)  # called at once if the request was not sent
            if not (failed and _has_no_room(failed[0])) or time.monotonic() > deadline:
                return future
            time.sleep(_ROOM_POLL_S)  # the driver calls nobody when there is room

    def _find_worst(self, errors: Sequence[Exception]) -> Exception:
        return min(errors, key=lambda error: _WORST_FIRST.index(self.classify(error)))

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        A row that is sent again replaces itself, unless the server generates its key: a payload
        of such rows must not be sent again if the server may have stored some of them.
        """
        causes = _list_causes(error)
        if any(isinstance(cause, _FATAL) for cause in causes):
            return Failure.FATAL
        never_sent = isinstance(error, NoHostAvailable) and all(
            isinstance(cause, _NEVER_SENT) for cause in causes
        )
        if never_sent or isinstance(error, _NOT_ACCEPTED):
            return Failure.NOT_APPLIED if self._repeatable else Failure.UNKNOWN
        return Failure.UNKNOWN

    def delete_before(self, table: Table, until: int) -> None:
        """Delete the rows before a time: by partition, if their rows are sorted by time."""
        key, keyspace = self._layout.key_of(table), self._layout.keyspace
        by_time = key.by_time(table)
        bound = cql.convert_instant(until, table.time, table.time_unit)
        for name in table.names:
            keys = cql.keys(keyspace, table, name, key, bound)
            found = self.session.execute(keys, execution_profile=QUERIES)
            delete = self.prepare(cql.delete(keyspace, table, name, key))
            rows = ((*row, bound) if by_time else tuple(row) for row in found)
            outcomes = execute_concurrent_with_args(self.session, delete, rows)
            for done, error in outcomes:
                if not done:
                    raise error

    # --- reading

    def gave_up(self, error: Exception) -> bool:
        """A node stops an aggregate over a range of tokens at the time limit of reading a page."""
        return isinstance(error, ReadTimeout | ReadFailure)

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        if isinstance(statement, Scan):
            return super().run(statement)
        return list(self.session.execute(self._bind(statement), execution_profile=QUERIES))

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the trace of each statement that answers a query, of its first range of tokens."""
        if not isinstance(statement, Scan):
            yield self._trace(statement.text, self._bind(statement))
            return
        ends = split_tokens()[0] if statement.by_ranges else ()
        for fetch in statement.fetches:
            select = self.prepare(fetch.text).bind((*statement.parameters, *ends))
            yield self._trace(fetch.text, select)

    def _trace(self, text: str, asked: Any) -> QueryPlan:
        future = self.session.execute_async(asked, trace=True, execution_profile=QUERIES)
        future.result()
        events = future.get_query_trace(max_wait=WAIT_S).events
        return QueryPlan(text, format_trace(events), shape_of_plan(events))

    def _bind(self, statement: Statement) -> Any:
        """Return a user's statement as the driver takes it."""
        if isinstance(statement, PreparedText):
            return self.prepare(statement.prepared).bind(statement.parameters)
        return statement.text

    def plan(self, statement: Statement) -> Scan:
        assert isinstance(statement, Scan)
        return statement

    def answers(self, plan: PlannedQuery, rows: int | None = None) -> Answers:
        """Run the statements of a scan range by range; several at once if answers are short."""
        scan = self.plan(plan)
        selects = [(fetch, self.prepare(fetch.text)) for fetch in scan.fetches]
        ranges: Sequence[tuple[int, ...]] = split_tokens() if scan.by_ranges else [()]
        if not scan.many_rows:
            bound = [
                (select, (*scan.parameters, *ends)) for ends in ranges for _, select in selects
            ]
            every = (fetch for _ in ranges for fetch, _ in selects)
            yield from zip(every, self.await_parts(self._ask_at_once(bound)), strict=True)
            return
        for ends in ranges:
            for fetch, select in selects:
                parameters = (*scan.parameters, *ends)
                pages = self._read_pages(select, parameters, rows or _PAGE_ROWS)
                for page in self.await_parts(pages):
                    yield fetch, page
            yield None

    def _ask_at_once(
        self, requests: Sequence[tuple[PreparedStatement, tuple[Any, ...]]]
    ) -> Iterator[Sequence[Sequence[Any]]]:
        """Run statements with their parameters, several at once, and yield their answers."""
        for _, found in execute_concurrent(
            self.session,
            requests,
            concurrency=_RANGES_AT_ONCE,
            results_generator=True,
            execution_profile=QUERIES,
        ):
            yield list(found)

    def _read_pages(
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


def _list_causes(error: Exception) -> list[Any]:
    """Return the error of each node that the driver tried: none if it knows all to be down."""
    if isinstance(error, NoHostAvailable) and isinstance(error.errors, dict):
        return list(error.errors.values())
    return [error]


def _has_no_room(error: Exception) -> bool:
    causes = _list_causes(error)
    return bool(causes) and all(isinstance(cause, _NO_ROOM) for cause in causes)


class _Outcome:
    """Joins the outcomes of several requests, which the driver's thread reports."""

    def __init__(
        self,
        requests: int,
        worst: Callable[[Sequence[Exception]], Exception],
        done: Callable[[Exception | None], None],
    ) -> None:
        self._open = requests
        self._find_worst = worst
        self._done = done
        self._errors: list[Exception] = []
        self._lock = threading.Lock()

    def note_answer(self, answer: Sequence[Sequence[Any]] | None) -> None:
        """Note an answer, which is empty without a condition such as IF NOT EXISTS."""
        refused = answer and answer[0][0] is False  # the column "[applied]"
        self._end([NotApplied(f"the server did not apply an INSERT: {answer}")] if refused else [])

    def note_error(self, error: Exception) -> None:
        """Note that a request has failed."""
        self._end([error])

    def _end(self, errors: Sequence[Exception]) -> None:
        with self._lock:
            self._errors += errors
            self._open -= 1
            ended = self._open == 0
        if ended:
            self._done(self._find_worst(self._errors) if self._errors else None)


# --- query plans

WAIT_S = 10.0
"""Longest wait for a trace, which nodes write after the answer."""
_NOTHING, _MICROSECOND = timedelta(), timedelta(microseconds=1)
_STEPS = re.compile(
    r"(?:Executing|Computing|Submitting|Scanning|Index|Using|Speculating)\b"
    r"(?!.* on (?:roles?|\w*_permissions|role_\w+|cidr_\w+)$)"
)
"""Steps that follow from statement and schema; other steps follow from caches and memory."""


def format_trace(events: Iterable[Any]) -> str:
    """Return a text with a line for each event of a trace."""
    return "\n".join(
        f"{(each.source_elapsed or _NOTHING) // _MICROSECOND:,} us  {each.source}  "
        f"{each.description}"
        for each in events
    )


def shape_of_plan(events: Iterable[Any]) -> str:
    """Return the steps of a trace, which nodes and threads do in any order."""
    said = {shapes.without_values(each.description) for each in events}
    return "\n".join(sorted(step for step in said if _STEPS.match(step)))
