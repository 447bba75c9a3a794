"""A session of Splunk: it sends rows, runs searches and classifies errors."""

import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode

from simulator.data.block import Block
from simulator.data.query import AggregateQuery, DistinctQuery, NewestQuery, RowsQuery, Statement
from simulator.data.schema import Table
from simulator.modules.contract import Encoder, Envelope, Failure, Payload
from simulator.modules.shared.client.contents import portions
from simulator.modules.shared.client.partials import Row
from simulator.modules.shared.http.client import Http, HttpError, NoAnswer, Refused, lines
from simulator.modules.shared.http.database import HttpSession
from simulator.modules.splunk import query as searches
from simulator.modules.splunk import wire
from simulator.protocol.records import RecordFormat

_EVENTS = "/services/collector/event"
_BUSY = (429, 503)
_PAUSES_S = (0.01, 0.5)
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class SearchFailed(HttpError):
    """A search ended with an error, or with a warning that results may be missing."""


def code_of(error: Exception) -> int | None:
    """Return the collector's code of an error, if it gave one."""
    return _parse_refusal(error).get("code")


def _parse_refusal(error: Exception) -> dict[str, Any]:
    if isinstance(error, Refused):
        with suppress(ValueError):
            said = json.loads(error.reply.body)
            return said if isinstance(said, dict) else {}
    return {}


class SplunkSession(HttpSession):
    """A connection to the collector, with its own channel, and one to the management API."""

    def __init__(self, http: Http, management: Http, acknowledged_in_s: float | None) -> None:
        super().__init__(http)
        self._management = management
        self._acknowledged_in_s = acknowledged_in_s
        """Timeout for indexing rows; None: do not wait for the index."""
        self._channel = str(uuid.uuid4())
        self._headers = {"X-Splunk-Request-Channel": self._channel}
        self._rows = 0
        """Number of rows of the last payload."""

    def greet(self) -> None:
        self.http.request("GET", "/services/collector/health")
        self.call("GET", "/services/server/info")

    def close(self) -> None:
        super().close()
        self._management.close()

    @property
    def alive(self) -> bool:
        return super().alive and self._management.alive

    # --- rows in ----------------------------------------------------------------------------------

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        wire.check_names(table)
        text = wire.encoder(table, name, mode)
        path = _EVENTS
        if mode == wire.RAW:
            query = {"index": wire.index(name), "sourcetype": wire.sourcetype(table)}
            path = f"/services/collector/raw?{urlencode(query)}"

        def encode(block: Block, rows_per_batch: int) -> Sequence[tuple[str, bytes]]:
            wire.check_values(block)
            bodies = text.encode(
                block if mode == wire.RAW else wire.split_instants(block), rows_per_batch
            )
            wire.check_lengths(block, bodies)
            return [(path, body) for body in bodies]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return the envelope of events, each of which names its index."""
        return lambda events, _rows: (_EVENTS, events)

    def send(self, payload: Payload) -> None:
        """Send the rows and return once the collector has taken them, or they are indexed.

        The collector counts no rows: it takes all events of a request (code 0), or names the first
        event that it does not take.
        """
        path, body = payload.data
        self._rows = payload.rows
        reply = self.http.request("POST", path, body, self._headers)
        said = reply.json()
        if not isinstance(said, dict) or said.get("code") != 0:
            raise HttpError(f"expected code 0 from the collector, got {reply.body[:200]!r}")
        if self._acknowledged_in_s is not None:
            if "ackId" not in said:
                raise HttpError(
                    "the collector gave no ackId",
                    "enable indexer acknowledgement for the token, or leave acknowledge out",
                )
            self._wait_until_indexed(said["ackId"], self._acknowledged_in_s)

    def _wait_until_indexed(self, number: int, timeout_s: float) -> None:
        """Poll until the events of a request are indexed."""
        asked = json.dumps({"acks": [number]}).encode()
        path = f"/services/collector/ack?channel={self._channel}"
        until, pause_s = time.monotonic() + timeout_s, _PAUSES_S[0]
        while not self.http.request("POST", path, asked, self._headers).json()["acks"][str(number)]:
            if time.monotonic() > until:
                raise NoAnswer(
                    f"rows were taken but not indexed within {timeout_s:g} s",
                    "raise the target's timeout_s, or look at the server's log",
                )
            time.sleep(pause_s)  # the server sends no acknowledgement unasked
            pause_s = min(2 * pause_s, _PAUSES_S[1])

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        A busy collector takes a request event by event, and names the event at which it stopped.
        """
        if isinstance(error, Refused) and error.status in _BUSY:
            untouched = self._rows == 1 or _parse_refusal(error).get("invalid-event-number") == 0
            return Failure.NOT_APPLIED if untouched else Failure.UNKNOWN
        return super().classify(error)

    # --- rows out ---------------------------------------------------------------------------------

    def call(self, method: str, path: str, form: Mapping[str, Any] | None = None) -> Any:
        """Make a request to the management API; HttpError if it is refused."""
        body = None if form is None else urlencode(form).encode()
        path = f"{quote(path)}?output_mode=json&count=0"
        return self._management.query(method, path, body, _FORM).json()

    def search(self, text: str) -> Iterator[searches.Found]:
        """Run a search over all time and yield its results as they arrive."""
        form = {
            "search": text,
            "output_mode": "json",
            "preview": "false",
            "earliest_time": "0",
            "latest_time": "",
        }
        body = urlencode(form).encode()
        path = "/services/search/v2/jobs/export"
        pieces = self._management.stream("POST", path, body, _FORM)
        for line in lines(self.await_parts(pieces)):
            if not line.strip():
                continue
            said = json.loads(line)
            for message in said.get("messages", ()):
                if message.get("type") in ("FATAL", "ERROR", "WARN"):
                    raise SearchFailed(f"the search failed: {message.get('text')}")
            if "result" in said:
                yield said["result"]

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        with self.in_client():
            return self._read_answer(statement)

    def _read_answer(self, statement: Statement) -> Sequence[Sequence[Any]]:
        found = (self.search(text) for text in statement.text.splitlines())
        match statement.parameters:
            case (AggregateQuery() as query,):
                return searches.merge(query, [*found])
            case (NewestQuery() | RowsQuery() as query,):
                return _make_reader(query)(next(found), statement.outputs)
            case (DistinctQuery(),):
                return [(int(row["count"]),) for row in next(found)]
            case _:
                return searches.read_results(self.search(statement.text), statement.outputs)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        (query,) = statement.parameters
        for events in portions(self.search(statement.text), rows):
            yield _make_reader(query)(events, statement.outputs)


def _make_reader(query: NewestQuery | RowsQuery) -> Callable[..., list[Row]]:
    """Return the function that turns the results of a search into rows."""
    return (
        partial(searches.read_results, prefix="r.")
        if isinstance(query, RowsQuery) and query.columns
        else searches.rows_from_events
    )
