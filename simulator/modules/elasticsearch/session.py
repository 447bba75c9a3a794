"""A session of Elasticsearch or OpenSearch: it sends rows, reads answers and classifies errors."""

import gzip
import json
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import numpy as np

from simulator.data.block import Block, Coded, Rows
from simulator.data.query import AggregateQuery, DistinctQuery, RowsQuery, Statement
from simulator.data.schema import Table, Type
from simulator.encode.ndjson import check_finite, documents
from simulator.encode.objects import Objects
from simulator.encode.text import TextEncoder
from simulator.errors import RunError, UnstorableError
from simulator.modules.contract import (
    CORRECT,
    DRIVER,
    Encoder,
    Envelope,
    Failure,
    MixedEncoder,
    Payload,
    QueryPlan,
    expect_rows,
)
from simulator.modules.elasticsearch import query as queries
from simulator.modules.elasticsearch import texts
from simulator.modules.shared import shapes
from simulator.modules.shared.client.driver import DriverBatch, batches, map_rows
from simulator.modules.shared.http.client import Http, HttpError, gzip_body
from simulator.modules.shared.http.database import HttpSession
from simulator.protocol.records import RecordFormat

if TYPE_CHECKING:
    from simulator.modules.elasticsearch.wire import Client

_ID = "_id"
_LONGEST_TEXT_BYTES = 32_766
"""Lucene's longest term."""
_LONGEST_KEY_BYTES = 512
_PATH_BYTES = 3500

_NDJSON = {"Content-Type": "application/x-ndjson"}
_ZIPPED = {**_NDJSON, "Content-Encoding": "gzip"}

_ONLY_ROWS = re.compile(r"(?<=[?&])(?:scroll|filter_path)=[^&]*&?")
"""Parameters of a search that remove its profile from the answer, or forbid one."""
_REPLY = "filter_path=error,errors,items.*.status,items.*.error"
"""Outcome of each row only: an eighth of the answer, a third less work on both sides."""
_RESULTS = ",items.*.result"
"""Part of the reply to corrections: dropped and replaced rows have the same status."""
_STORED, _REPLACED = b'"status":201', b'"result":"updated"'

_STATEMENT = re.compile(r"(GET|POST) (/\S+)\s*(.*)", re.DOTALL)

_BUSY = 429
_FAILURES = {
    _BUSY: Failure.NOT_APPLIED,
    500: Failure.UNKNOWN,
    503: Failure.UNKNOWN,
}
"""Status of a row -> its meaning; any other status is final. A row's 503, unlike a request's, means
a lost shard, which may have stored the row before.
"""
_ATTEMPTS = 6
_BACKOFF_S = 0.05


class BulkError(HttpError):
    """Rows of a bulk request were not stored; other rows of it may be."""

    def __init__(self, item: Mapping[str, Any], refused: int) -> None:
        self.status = int(item["status"])
        duplicate = "a duplicate: " if self.status == HTTPStatus.CONFLICT else ""
        words = reason(item["error"]) if "error" in item else _DROPPED
        super().__init__(f"{duplicate}{words} (one of {refused} rows refused in a request)")


_DROPPED = "answered as done but not stored: an ingest pipeline of the index drops rows"


def reason(error: Any) -> str:
    """Return an error's type and reason, and the deepest of its causes."""
    if not isinstance(error, dict):
        return str(error)
    below = error
    while isinstance(cause := below.get("caused_by"), dict):
        below = cause
    deepest = below.get("reason")
    known = [str(error[key]) for key in ("type", "reason") if error.get(key)]
    text = ": ".join(known) or "the server names no cause"
    return f"{text}: {deepest}" if deepest and deepest != error.get("reason") else text


class ElasticsearchSession(HttpSession):
    """A connection for rows, and the vendor's client for everything else."""

    def __init__(self, http: Http, client: "Client", refresh: str, *, zipped: bool) -> None:
        super().__init__(http)
        self.client = client
        waits = f"refresh={refresh}&" if refresh != "false" else ""
        self._bulk = f"/_bulk?{waits}{_REPLY}"
        self._refresh = refresh
        self._zipped = zipped
        self._partly_stored = False
        """True if some rows of the last payload are certainly stored."""

    def greet(self) -> None:
        self.http.request("GET", "/").json()
        self.client.info()

    def close(self) -> None:
        super().close()
        with suppress(Exception):
            self.client.close()

    # --- rows in ----------------------------------------------------------------------------------

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        corrects = mode == CORRECT
        text, objects = _make_encoder(table, corrects=corrects), _encode_objects(table, name)
        path = f"/{queries.indices([name])}{self._bulk}{_RESULTS if corrects else ''}"

        def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
            _check(block)
            if mode == DRIVER:
                return objects(block, rows_per_batch)
            bodies = text.encode(block, rows_per_batch)
            return [(path, gzip_body(body) if self._zipped else body) for body in bodies]

        return encode

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        texts = [_make_encoder(table, queries.index_name(table.name)) for table in tables]

        def encode(blocks: Sequence[Block], edges: Sequence[Rows]) -> Sequence[tuple[str, bytes]]:
            for block in blocks:
                _check(block)
            rows = map(TextEncoder.between, texts, blocks, edges)
            bodies = map(b"".join, zip(*rows, strict=True))
            return [(self._bulk, gzip_body(body) if self._zipped else body) for body in bodies]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        """Return the envelope of bulk requests; the actions in a file name the indices."""
        return lambda body, _rows: (self._bulk, gzip_body(body) if self._zipped else body)

    def send(self, payload: Payload) -> None:
        """Send the rows and return once every one is stored.

        A bulk request is not a transaction: only rows that a busy shard refused are sent again.
        Rows that it still refuses are an error.
        """
        self._partly_stored = False
        if payload.mode == DRIVER:
            self._store_by_driver(payload)
            return
        path, body = payload.data
        rows, stored = payload.rows, _REPLACED if payload.mode == CORRECT else _STORED
        for attempt in range(_ATTEMPTS):
            reply = self.http.request("POST", path, body, _ZIPPED if self._zipped else _NDJSON)
            if reply.body.count(stored) == rows:
                return
            items = [next(iter(item.values())) for item in reply.json().get("items", ())]
            expect_rows(len(items), rows)
            refused = [
                at
                for at, item in enumerate(items)
                if item["status"] != HTTPStatus.CREATED and item.get("result") != "updated"
            ]
            if not refused:
                return
            self._partly_stored |= len(refused) < len(items)
            # An error other than "busy" decides, because a retry cannot help.
            worst = _find_worst([items[at] for at in refused])
            if worst["status"] != _BUSY or attempt + 1 == _ATTEMPTS:
                raise BulkError(worst, len(refused))
            body, rows = self._select_rows(body, refused), len(refused)
            time.sleep(_BACKOFF_S * 2**attempt)  # the server is busy: less load helps it

    def _store_by_driver(self, payload: Payload) -> None:
        from elasticsearch import helpers

        refresh: dict[str, Any] = {} if self._refresh == "false" else {"refresh": self._refresh}
        actions, rows = _list_actions(payload.data), payload.rows
        created, errors = helpers.bulk(
            self.client, actions, chunk_size=rows, raise_on_error=False, **refresh
        )
        assert isinstance(errors, list)
        self._partly_stored = created > 0
        if errors:
            refused = [next(iter(item.values())) for item in errors]
            raise BulkError(_find_worst(refused), len(refused))
        expect_rows(created, rows)

    def _select_rows(self, body: bytes, places: Sequence[int]) -> bytes:
        """Return a body with the rows at these places only; each row has two lines."""
        lines = (gzip.decompress(body) if self._zipped else body).splitlines(keepends=True)
        kept = b"".join(line for at in places for line in lines[2 * at : 2 * at + 2])
        return gzip_body(kept) if self._zipped else kept

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        A row that is refused for good ends the run. The rows of a request that was stored in part
        are uncertain, because the request must not be sent again.
        """
        if isinstance(error, BulkError):
            found = _FAILURES.get(error.status, Failure.FATAL)
        elif 0 < (status := getattr(error, "status_code", 0)) < 500:  # of the vendor's client
            found = Failure.NOT_APPLIED if status == _BUSY else Failure.FATAL
        else:
            found = super().classify(error)
        uncertain = found is Failure.NOT_APPLIED and self._partly_stored
        return Failure.UNKNOWN if uncertain else found

    # --- rows out ---------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a request through the client and return the answer's JSON."""
        with self.waiting():
            return self.client.perform_request(method, path, body=body).body

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        with self.in_client():
            return self._read_answer(statement)

    def delete_before(self, table: Table, until: int) -> None:
        """Delete the documents before a time, including documents that arrived just now."""
        asked = {"query": {"range": {table.time.name: {"lt": until}}}}
        for name in table.names:
            path = f"/{queries.indices([name])}/_delete_by_query?conflicts=abort&refresh=true"
            self.call("POST", f"/{queries.indices([name])}/_refresh")
            reply = self.call("POST", path, asked)
            if reply["failures"]:
                raise HttpError(str(reply["failures"][0]))

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the profile of a statement's search, of the first page if there are several."""
        method, path, body = _parse(statement.text)
        reply = self.call(method, _ONLY_ROWS.sub("", path), {**body, "profile": True})
        shards = format_profile(reply["profile"]["shards"])
        yield QueryPlan(statement.text, shapes.format_json(shards), shape_of_plan(shards))

    def _read_answer(self, statement: Statement) -> Sequence[Sequence[Any]]:
        if statement.own:
            _, _, body = _parse(statement.text)
            return texts.rows_from_replies(
                body, self._fetch_replies(statement.text), statement.outputs
            )
        query = statement.parameters[0] if statement.parameters else None
        if isinstance(query, RowsQuery):
            return [row for portion in self.stream(statement, queries.PAGE) for row in portion]
        if isinstance(query, DistinctQuery):
            # Counted here, because the server's own count (`cardinality`) is an estimate.
            replies = self._fetch_replies(statement.text)
            return [(sum(len(r["aggregations"]["groups"]["buckets"]) for r in replies if r),)]
        newest = query.newest if isinstance(query, AggregateQuery) else None
        groups = self._read_groups(statement.text, newest)
        if isinstance(query, AggregateQuery):
            queries.correct(query, groups, self._read_groups)
        return queries.rows_from_groups(groups, statement.outputs)

    def _read_groups(self, text: str, number: int | None = None) -> list[queries.Known]:
        """Return the groups of the answer to a statement: all, or the first `number`."""
        groups: list[queries.Known] = []
        for reply in self._fetch_replies(text):
            groups += queries.read_groups(reply)
            if number is not None and len(groups) >= number:
                return groups[:number]
        return groups

    def _fetch_replies(self, text: str) -> Iterator[Any]:
        """Yield the pages of the answer to a statement."""
        method, path, body = _parse(text)
        following: queries.Body | None = body
        while following is not None:
            reply = self.call(method, path, following)
            yield reply
            following = queries.next_page(following, reply)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, from a snapshot on the server."""
        query: RowsQuery = statement.parameters[0]
        left = query.newest
        for hits in self._fetch_hits(statement.text, rows):
            wanted = hits[:left]
            for start in range(0, len(wanted), rows):
                yield queries.read_fields(wanted[start : start + rows], query.read)
            if left is not None:
                left -= len(wanted)
                if not left:
                    return

    def _fetch_hits(self, text: str, rows: int) -> Iterator[Sequence[Mapping[str, Any]]]:
        """Yield the hits of a search, at most `rows` at a time if it scrolls."""
        method, path, body = _parse(text)
        if "scroll=" not in path:
            yield self.call(method, path, body).get("hits", {}).get("hits", ())
            return
        reply = self.call(method, path, {**body, "size": min(rows, queries.PAGE)})
        try:
            while hits := reply.get("hits", {}).get("hits"):
                yield hits
                following = {"scroll": queries.KEEP, "scroll_id": reply["_scroll_id"]}
                reply = self.call("POST", f"/_search/scroll?{queries.ROWS}", following)
        finally:
            with self.waiting(), suppress(Exception):
                self.client.clear_scroll(scroll_id=reply["_scroll_id"])


def _find_worst(refused: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return the refused row that decides; a retry helps only if all shards were busy."""
    return max(refused, key=lambda item: item["status"] != _BUSY)


def _make_encoder(table: Table, index: str = "", *, corrects: bool = False) -> TextEncoder:
    """Return the encoder of a table's rows, which are new or (`corrects`) replace others."""
    key = next((column for column in table.columns if queries.is_key(column)), None)
    fields = [column for column in table.columns if column is not key]
    action: Literal["create", "index"] = "index" if corrects else "create"
    return documents(fields, table.time_unit, key, index, action)


def _encode_objects(table: Table, name: str) -> Encoder:
    """Return the encoder of dicts for the client; the client's key becomes the _id."""
    names = [_ID if queries.is_key(column) else column.name for column in table.columns]
    objects = Objects(table.columns, table.time_unit)

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        return [map_rows(names, rows) for rows in objects.encode(block, rows_per_batch)]

    return batches(queries.index_name(name), encode)


def _list_actions(batch: DriverBatch) -> Iterator[dict[str, Any]]:
    for document in batch.rows:
        source = {name: value for name, value in document.items() if name != _ID}
        key = {_ID: document[_ID]} if _ID in document else {}
        yield {"_op_type": "create", "_index": batch.into, "_source": source, **key}


def _parse(text: str) -> tuple[str, str, queries.Body]:
    expected = "expected POST /INDEX/_search and, below it, the body as JSON"
    found = _STATEMENT.fullmatch(text.strip())
    if not found:
        raise RunError(f"{expected}; found {text!r:.200}")
    method, path, body = found.groups()
    try:
        return method, path, json.loads(body or "{}")
    except ValueError as error:
        raise RunError(f"{expected}; found {text!r:.200}: {error}") from error


def _check(block: Block) -> None:
    """Raise UnstorableError if a column has a value that no document can hold."""
    for column in block.table.columns:
        data = block.data[column.name]
        check_finite(column, data)
        if column.type is not Type.TEXT:
            continue
        known = data.levels if isinstance(data, Coded) else data.array
        longest = _LONGEST_KEY_BYTES if queries.is_key(column) else _LONGEST_TEXT_BYTES
        if known.dtype.itemsize > longest:
            length = int(np.strings.str_len(data.present()).max(initial=0))
            if length > longest:
                kind = "an _id" if queries.is_key(column) else "a keyword"
                raise UnstorableError(
                    f"{column.name}: {kind} has at most {longest} bytes; found one of {length}"
                )


# --- query plans

_FIGURES = re.compile(r"breakdown|debug|rewrite_time|.*time_in_nanos|.*_count|id|node_id|cluster")
"""Parts of a profile that the shape omits: figures of a run, and where it ran."""
_IDENTITY = re.compile(r"(?:\$\d+)?@[0-9a-f]+\b")
"""The identity of an object in the server, which follows the name of its class."""


def format_profile(shards: Any) -> Any:
    """Return the profile of each shard, without times of parts and identities of objects."""
    if isinstance(shards, Mapping):
        return {n: format_profile(each) for n, each in shards.items() if n != "breakdown"}
    if isinstance(shards, list):
        return [format_profile(each) for each in shards]
    return _IDENTITY.sub("", shards) if isinstance(shards, str) else shards


def shape_of_plan(shards: Any) -> str:
    """Return the shape of a profile that `format_profile` returned."""
    return shapes.of_json([{"shard": each} for each in shards], _FIGURES)


def in_requests(names: Iterable[str]) -> Iterator[list[str]]:
    """Yield the names of indices in lists that fit into a path of at most 4,096 bytes."""
    some: list[str] = []
    for name in names:
        if some and len(quote(",".join([*some, name]))) > _PATH_BYTES:
            yield some
            some = []
        some.append(name)
    if some:
        yield some
