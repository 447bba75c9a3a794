"""A session of Splunk: how rows are sent, and what an error says of them; and searches."""

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from simulator.data.block import Array, Block, Coded, ColumnData, Values
from simulator.data.query import AggregateQuery, DistinctQuery, NewestQuery, RowsQuery, Statement
from simulator.data.schema import FLOATS, Column, Role, Table, Type
from simulator.encode.ndjson import JSON
from simulator.encode.rows import Frame
from simulator.encode.text import Slot, Style, Text
from simulator.errors import UnstorableError
from simulator.modules.base import Failure, Payload, Session
from simulator.modules.shared.http import Http, HttpError, NoAnswer, Refused, classify, lines
from simulator.modules.splunk import query as searches

RAW = "raw"
"""Insert mode: lines for the endpoint raw."""

LONGEST_ROW_BYTES = 5000
"""Of JSON beyond it no fields are found (limits.conf, extraction_cutoff)."""
_EARLIEST_S = 946_684_800
"""2000: of what is older than 30 years, an instant in a line is not believed (MAX_DAYS_AGO)."""

_BUSY = (429, 503)
_ASK_AGAIN_S = (0.01, 0.5)
_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_DIGITS = Style(b"", b"", b"", None, quote=b"", special=b"", escape=lambda text: text)
_TEXTS = Style(
    b"", b'"0"', b'"1"', None, quote=b'"', special=JSON.special, escape=JSON.escape
)  # fmt: skip
_SECONDS, _FRACTION = ".s", ".f"


class SearchFailed(HttpError):
    """A search that ended with an error, or with a warning that its results may not be all."""


def code_of(error: Exception) -> int | None:
    """Return the collector's code of an error, if it gave one."""
    return _said(error).get("code")


def _said(error: Exception) -> dict[str, Any]:
    if isinstance(error, Refused):
        with suppress(ValueError):
            said = json.loads(error.reply.body)
            return said if isinstance(said, dict) else {}
    return {}


class Collector:
    """A connection to the HTTP Event Collector, with a channel of its own."""

    def __init__(self, http: Http, timeout_s: float, *, acknowledge: bool) -> None:
        self.http = http
        self._timeout_s = timeout_s
        self._acknowledge = acknowledge
        self._channel = str(uuid.uuid4())
        self._headers = {"X-Splunk-Request-Channel": self._channel}

    def send(self, path: str, body: bytes) -> None:
        """Send events; return once the collector has taken them, or they are indexed."""
        reply = self.http.request("POST", path, body, self._headers)
        if self._acknowledge:
            number = reply.json().get("ackId")
            if number is None:
                raise HttpError(
                    "the collector gave no ackId: enable indexer acknowledgement for the token, or "
                    "leave acknowledge out"
                )
            self._await(number)

    def _await(self, number: int) -> None:
        """Ask until the events of a request are indexed."""
        asked = json.dumps({"acks": [number]}).encode()
        path = f"/services/collector/ack?channel={self._channel}"
        until, pause_s = time.monotonic() + self._timeout_s, _ASK_AGAIN_S[0]
        while not self.http.request("POST", path, asked, self._headers).json()["acks"][str(number)]:
            if time.monotonic() > until:
                raise NoAnswer(
                    f"rows were taken and not indexed within {self._timeout_s:g} s; raise the "
                    "target's timeout_s, or look at the server's log"
                )
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _ASK_AGAIN_S[1])


class SplunkSession(Session):
    """A connection to the collector, and one to the search API."""

    def __init__(self, collector: Collector, search: Http, query_timeout_s: float) -> None:
        self._collector = collector
        self._search = search
        self._query_timeout_s = query_timeout_s
        self._encoders: dict[tuple[str, str], Text] = {}
        self._rows = 0
        """How many rows were last sent."""

    def close(self) -> None:
        """Close the connections."""
        self._collector.http.close()
        self._search.close()

    @property
    def alive(self) -> bool:
        """Whether the last requests were answered."""
        return self._collector.http.alive and self._search.alive

    # --- rows in ----------------------------------------------------------------------------------

    def healthy(self) -> None:
        """See that the collector takes rows; HttpError if it does not."""
        self._collector.http.request("GET", "/services/collector/health")

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as events or lines; UnstorableError if a value cannot be one."""
        for column in block.table.columns:
            _check(column, block.data[column.name], block.table)
        encoder = self._encoders.get((block.name, mode))
        if encoder is None:
            searches.check(block.table)
            encoder = self._encoders[block.name, mode] = _encoder(block, mode)
        bodies = encoder.encode(block if mode == RAW else _timed(block), rows_per_send)
        if _may_be_long(block):
            _check_lengths(bodies)
        path = "/services/collector/event"
        if mode == RAW:
            kind = searches.sourcetype(block.table)
            path = f"/services/collector/raw?index={quote(searches.index(block.name))}"
            path += f"&sourcetype={quote(kind)}"
        return [
            Payload(min(rows_per_send, len(block) - start), mode, (path, body))
            for start, body in zip(range(0, len(block), rows_per_send), bodies, strict=True)
        ]

    def send(self, payload: Payload) -> None:
        """Send the rows and return once the collector has taken them, or they are indexed."""
        self._rows = payload.rows
        self._collector.send(*payload.data)

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        The collector takes a request event by event, and says at which it stopped.
        """
        if isinstance(error, Refused) and error.status in _BUSY:
            untouched = self._rows == 1 or _said(error).get("invalid-event-number") == 0
            return Failure.NOT_APPLIED if untouched else Failure.UNKNOWN
        return classify(error)

    # --- rows out ---------------------------------------------------------------------------------

    def call(self, method: str, path: str, form: Mapping[str, Any] | None = None) -> Any:
        """Make a request to the management API; HttpError if it is refused."""
        body = None if form is None else urlencode(form).encode()
        path = f"{path}?output_mode=json&count=0"
        return self._search.request(method, path, body, _FORM, self._query_timeout_s).json()

    def search(self, text: str) -> Iterator[searches.Found]:
        """Run a search over all time and yield its results as they come."""
        form = {
            "search": text,
            "output_mode": "json",
            "preview": "false",
            "earliest_time": "0",
            "latest_time": "",
        }
        body = urlencode(form).encode()
        path = "/services/search/v2/jobs/export"
        pieces = self._search.stream("POST", path, body, _FORM, self._query_timeout_s)
        for line in lines(pieces):
            if not line.strip():
                continue
            said = json.loads(line)
            for message in said.get("messages", ()):
                if message.get("type") in ("FATAL", "ERROR", "WARN"):
                    raise SearchFailed(f"the search failed: {message.get('text')}")
            if "result" in said:
                yield said["result"]

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement's searches and make its rows of what they find."""
        found = (self.search(text) for text in statement.text.splitlines())
        match statement.parameters:
            case (AggregateQuery() as query,):
                return searches.merged(query, [*found])
            case (NewestQuery() | RowsQuery(),):
                return searches.rows_of(next(found), statement.outputs)
            case (DistinctQuery(),):
                return [(int(row["count"]),) for row in next(found)]
            case _:
                return searches.own(self.search(statement.text), statement.outputs)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, as the events come."""
        events: list[searches.Found] = []
        for event in self.search(statement.text):
            events.append(event)
            if len(events) == rows:
                yield searches.rows_of(events, statement.outputs)
                events = []
        if events:
            yield searches.rows_of(events, statement.outputs)


# --- events ---------------------------------------------------------------------------------------


def _encoder(block: Block, mode: str) -> Text:
    """Return the encoder of rows as lines; for events, each with its instant in seconds."""
    table = block.table
    columns = sorted(table.columns, key=lambda column: column.role is not Role.TIME)
    lead, end, row = b"", b"", []
    if mode != RAW:
        where = (
            f'"index":"{searches.index(block.name)}","sourcetype":"{searches.sourcetype(table)}"'
        )
        row += [_slot(_SECONDS, Type.INT64, f'{{{where},"time":'.encode())]
        row += [
            _slot(f"{_FRACTION}{place}", Type.TEXT, b"" if place else b".")
            for place in range(_groups(table))
        ]
        lead, end = b',"event":', b"}"
    for place, column in enumerate(columns):
        # Numbers are texts too: Splunk knows nothing else, and keeps them as they are.
        mark = b"" if column.type in (Type.TEXT, Type.BOOL) else b'"'
        before = (b"," if place else lead + b'{"r":{') + f'"{column.name}":'.encode() + mark
        after = mark + (b"}}" + end + b"\n" if column is columns[-1] else b"")
        null = b"}}" + end + b"\n" if column is columns[-1] else b""
        row.append(Slot(column, _TEXTS, before, after, null))
    return Text(row, Frame(b"", b"\n", b""), table.time_unit)


def _slot(name: str, kind: Type, before: bytes) -> Slot:
    return Slot(Column(name, kind, Role.FIELD), _DIGITS, before, b"", b"")


def _groups(table: Table) -> int:
    """Return how many times three digits the fraction of a second has."""
    return (len(str(table.time_unit.per_second)) - 1) // 3


@cache
def _thousandths() -> Array:
    return np.array([b"%03d" % number for number in range(1000)])


def _timed(block: Block) -> Block:
    """Return a block with its instants in seconds and, three digits each, their fractions."""
    instants = block.data[block.table.time.name].values().astype(np.int64)
    groups = _groups(block.table)
    data: dict[str, ColumnData] = dict(block.data)
    data[_SECONDS] = Values(instants // 1000**groups)
    for place in range(groups):
        codes = instants // 1000 ** (groups - 1 - place) % 1000
        data[f"{_FRACTION}{place}"] = Coded(codes, _thousandths())
    return replace(block, data=data)


def _may_be_long(block: Block) -> bool:
    """Whether a row could be too long, if all that it has had to be escaped."""
    widths = 0
    for column in block.table.columns:
        data = block.data[column.name]
        known = data.levels if isinstance(data, Coded) else data.array
        widths += len(column.name) + (6 * known.dtype.itemsize if column.type is Type.TEXT else 30)
    return widths > LONGEST_ROW_BYTES // 2


def _check_lengths(bodies: Sequence[bytes]) -> None:
    for body in bodies:
        longest = max(map(len, body.split(b"\n")))
        if longest > LONGEST_ROW_BYTES:
            raise UnstorableError(
                f"a row has at most {LONGEST_ROW_BYTES} bytes of JSON; found one of {longest}"
            )


def _check(column: Column, data: ColumnData, table: Table) -> None:
    """Raise UnstorableError if a column has a value that no event can hold."""
    known = data.levels if isinstance(data, Coded) else data.array
    if column.role is Role.TIME and len(data):
        first = int(data.values().min())
        if first < _EARLIEST_S * table.time_unit.per_second:
            raise UnstorableError(
                f"{column.name}: rows are taken from 2000-01-01 on; found {first} "
                f"{table.time_unit} of 1970; --start-time says where a workload begins"
            )
    if column.type in FLOATS and not np.isfinite(known).all():
        values = data.present()
        if not np.isfinite(values).all():
            value = values[~np.isfinite(values)][0]
            raise UnstorableError(f"{column.name}: only finite numbers are read; found {value}")
    if column.type is Type.TEXT:
        for refused in (b"", searches.NULL.encode()):
            if (known == refused).any() and (data.present() == refused).any():
                raise UnstorableError(
                    f"{column.name}: a text cannot be {refused.decode()!r}, which is read as NULL"
                )
