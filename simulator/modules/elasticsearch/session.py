"""A session of Elasticsearch or OpenSearch: how rows are sent, and what an error says of them."""

import gzip
import json
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import Any

import numpy as np

from simulator.data.block import Block, Coded
from simulator.data.query import AggregateQuery, DistinctQuery, RowsQuery, Statement
from simulator.data.schema import FLOATS, Column, Type
from simulator.encode.ndjson import documents
from simulator.encode.text import Text
from simulator.errors import RunError, UnstorableError
from simulator.modules.base import Failure, Payload, Session
from simulator.modules.elasticsearch import query as queries
from simulator.modules.shared.http import Http, HttpError, Refused, classify, gzipped

_LONGEST_TEXT_BYTES = 32_766
"""Lucene's longest term."""
_LONGEST_KEY_BYTES = 512

_NDJSON = {"Content-Type": "application/x-ndjson"}
_JSON = {"Content-Type": "application/json"}
_ZIPPED = {**_NDJSON, "Content-Encoding": "gzip"}

_ALL_STORED = b'{"errors":false'
_REPLY = "filter_path=error,errors,items.*.status,items.*.error"
"""Of each row only what became of it: an eighth of the reply, and a third less work for both."""

_STATEMENT = re.compile(r"(GET|POST) (/\S+)\s*(.*)", re.DOTALL)

_BUSY = 429
_FAILURES = {
    _BUSY: Failure.NOT_APPLIED,
    500: Failure.UNKNOWN,
    503: Failure.UNKNOWN,
}
"""The status of a row -> what became of it, else it was refused for good. Unlike a whole request's
503, a row's is that of a shard that was lost, perhaps after it had stored the row."""
_ATTEMPTS = 6
_BACKOFF_S = 0.05


class BulkError(HttpError):
    """Rows of a bulk request were not stored; others of it may be."""

    def __init__(self, item: dict[str, Any], refused: int) -> None:
        self.status = int(item["status"])
        duplicate = "a duplicate: " if self.status == HTTPStatus.CONFLICT else ""
        told = _reason(item.get("error"))
        super().__init__(f"{duplicate}{told} (one of {refused} rows refused in a request)")


def words(error: HttpError) -> str:
    """Return an error in the server's words, if it said any."""
    if isinstance(error, Refused):
        with suppress(ValueError, KeyError, TypeError):
            return _reason(json.loads(error.reply.body)["error"])
    return str(error)


def _reason(error: Any) -> str:
    """Return an error's kind and reason, and the deepest of its causes."""
    if not isinstance(error, dict):
        return str(error)
    kind, reason = error.get("type"), error.get("reason")
    below = error
    while isinstance(cause := below.get("caused_by"), dict):
        below = cause
    deepest = below.get("reason")
    return f"{kind}: {reason}" + (f": {deepest}" if deepest and deepest != reason else "")


class ElasticsearchSession(Session):
    """A connection by HTTP."""

    def __init__(
        self, http: Http, refresh: str, query_timeout_s: float, *, zipped: bool = False
    ) -> None:
        self._http = http
        self._query_timeout_s = query_timeout_s
        self._bulk = f"/_bulk?{_REPLY}" + (f"&refresh={refresh}" if refresh != "false" else "")
        self._zipped = zipped
        self._encoders: dict[str, tuple[str, Text]] = {}
        self._partly_stored = False
        """Whether some rows of the payload that was last sent are stored for certain."""

    def close(self) -> None:
        """Close the connection."""
        with suppress(Exception):
            self._http.close()

    @property
    def alive(self) -> bool:
        """Whether the last request was answered."""
        return self._http.alive

    # --- rows in ----------------------------------------------------------------------------------

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as bodies of bulk requests; UnstorableError if a value cannot be one."""
        if block.name not in self._encoders:
            self._encoders[block.name] = self._encoder(block)
        path, encoder = self._encoders[block.name]
        for column in block.table.columns:
            _check(column, block)
        bodies = encoder.encode(block, rows_per_send)
        if self._zipped:
            bodies = [gzipped(body) for body in bodies]
        return [
            Payload(min(rows_per_send, len(block) - start), mode, (path, body))
            for start, body in zip(range(0, len(block), rows_per_send), bodies, strict=True)
        ]

    def _encoder(self, block: Block) -> tuple[str, Text]:
        table = block.table
        key = next((column for column in table.columns if queries.is_key(column)), None)
        columns = [column for column in table.columns if column is not key]
        path = f"/{queries.indices([block.name])}{self._bulk}"
        return path, documents(columns, table.time_unit, key)

    def send(self, payload: Payload) -> None:
        """Send the rows and return once every one is stored.

        A bulk request is no transaction: rows that a busy shard refused, and only they, are sent
        again. What is left then is an error.
        """
        path, body = payload.data
        self._partly_stored = False
        for attempt in range(_ATTEMPTS):
            reply = self._http.request("POST", path, body, _ZIPPED if self._zipped else _NDJSON)
            if reply.body.startswith(_ALL_STORED):
                return
            items = [next(iter(item.values())) for item in reply.json()["items"]]
            refused = [place for place, item in enumerate(items) if item["status"] >= 300]
            if not refused:
                return
            self._partly_stored |= len(refused) < len(items)
            # What is not only busy comes first: trying again cannot help it.
            worst = max((items[at] for at in refused), key=lambda item: item["status"] != _BUSY)
            if worst["status"] != _BUSY or attempt + 1 == _ATTEMPTS:
                raise BulkError(worst, len(refused))
            body = self._only(body, refused)
            time.sleep(_BACKOFF_S * 2**attempt)

    def _only(self, body: bytes, places: Sequence[int]) -> bytes:
        """Return a body with only some of its rows, two lines each."""
        lines = (gzip.decompress(body) if self._zipped else body).splitlines(keepends=True)
        kept = b"".join(line for at in places for line in lines[2 * at : 2 * at + 2])
        return gzipped(kept) if self._zipped else kept

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        Rows that were refused for good end the run, whatever became of the others. A request that
        was stored in part is not to be sent again: its rows are uncertain. So are those of a shard
        that is not there (503): it may have been, and have lost the acknowledgement.
        """
        if isinstance(error, BulkError):
            found = _FAILURES.get(error.status, Failure.FATAL)
        else:
            found = classify(error)
        uncertain = found is Failure.NOT_APPLIED and self._partly_stored
        return Failure.UNKNOWN if uncertain else found

    # --- rows out ---------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a request and return the answer's JSON; HttpError if it is an error."""
        content = None if body is None else json.dumps(body).encode()
        return self._http.request(method, path, content, _JSON, self._query_timeout_s).json()

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        query = statement.parameters[0] if statement.parameters else None
        if isinstance(query, RowsQuery):
            return [row for portion in self.stream(statement, queries.PAGE) for row in portion]
        if isinstance(query, DistinctQuery):
            # Counted here; what a server counts is an estimate (`cardinality`).
            replies = self._replies(statement.text)
            return [(sum(len(r["aggregations"]["groups"]["buckets"]) for r in replies if r),)]
        groups = self._groups(statement.text)
        if isinstance(query, AggregateQuery):
            queries.correct(query, groups, self._groups)
        return queries.rows_of(groups, statement.outputs)

    def _groups(self, text: str) -> list[queries.Known]:
        return [group for reply in self._replies(text) for group in queries.groups_of(reply)]

    def _replies(self, text: str) -> Iterator[Any]:
        """Yield the reply to a statement, page by page."""
        method, path, body = _parsed(text)
        following: queries.Body | None = body
        while following is not None:
            reply = self.call(method, path, following)
            yield reply
            following = queries.next_page(following, reply)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, from a view that the server holds."""
        query: RowsQuery = statement.parameters[0]
        method, path, body = _parsed(statement.text)
        reply = self.call(method, path, {**body, "size": min(rows, queries.PAGE)})
        try:
            while hits := reply.get("hits", {}).get("hits"):
                yield queries.fields_of(hits, query.table.columns)
                following = {"scroll": queries.KEEP, "scroll_id": reply["_scroll_id"]}
                reply = self.call("POST", f"/_search/scroll?{queries.ROWS}", following)
        finally:
            with suppress(Exception):
                self.call("DELETE", "/_search/scroll", {"scroll_id": reply["_scroll_id"]})


def _parsed(text: str) -> tuple[str, str, queries.Body]:
    """Return a statement's method, path and body."""
    told = "a query is written as POST /INDEX/_search and, on the lines below it, its body"
    found = _STATEMENT.fullmatch(text.strip())
    if not found:
        raise RunError(f"{told}; found {text!r:.200}")
    method, path, body = found.groups()
    try:
        return method, path, json.loads(body or "{}")
    except ValueError as error:
        raise RunError(f"{told}; found {text!r:.200}: {error}") from error


def _check(column: Column, block: Block) -> None:
    """Raise UnstorableError if a column has a value that no document can hold."""
    data = block.data[column.name]
    known = data.levels if isinstance(data, Coded) else data.array
    if column.type in FLOATS and not np.isfinite(known).all():
        values = data.present()
        if not np.isfinite(values).all():
            value = values[~np.isfinite(values)][0]
            raise UnstorableError(f"{column.name}: JSON has finite numbers only; found {value}")
    if column.type is Type.TEXT:
        longest = _LONGEST_KEY_BYTES if queries.is_key(column) else _LONGEST_TEXT_BYTES
        if known.dtype.itemsize > longest:
            length = int(np.strings.str_len(data.present()).max(initial=0))
            if length > longest:
                kind = "an _id" if queries.is_key(column) else "a keyword"
                raise UnstorableError(
                    f"{column.name}: {kind} has at most {longest} bytes; found one of {length}"
                )
