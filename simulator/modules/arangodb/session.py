"""A session of ArangoDB: it sends rows, reads answers and classifies errors."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

from simulator.data.block import Block, Coded, ColumnData
from simulator.data.query import Statement
from simulator.data.schema import ID, Column, Table
from simulator.encode.ndjson import JSON, check_finite
from simulator.encode.objects import Objects
from simulator.encode.rows import Frame
from simulator.encode.text import Slot, TextEncoder, ValueStyle
from simulator.errors import UnstorableError
from simulator.modules.arangodb import query as queries
from simulator.modules.contract import (
    DRIVER,
    SINGLE,
    Encoder,
    Failure,
    Payload,
    RowCountMismatch,
    expect_rows,
)
from simulator.modules.shared.client.driver import DriverBatch, batches, map_rows
from simulator.modules.shared.http.client import Http, Refused, words
from simulator.modules.shared.http.database import HttpSession

if TYPE_CHECKING:
    from arango.client import ArangoClient
    from arango.cursor import Cursor
    from arango.database import StandardDatabase

DOCUMENTS = "documents"
"""Insert mode: a batch is an array of documents, each of which is stored or refused."""
_KEY = "_key"
_LONGEST_KEY_BYTES = 254
_KEEP_S: Any = 600
"""Seconds for which the server keeps a cursor between two portions."""
_PORTION = 10_000

KEY = ValueStyle(
    b"null", b"false", b"true", None, quote=b'"', escape=lambda text: queries.key(text).encode(),
    special=bytes(byte for byte in range(1, 256) if chr(byte) not in queries.UNRESERVED),
)  # fmt: skip
"""A client's key, with %XX for each byte that a _key cannot hold."""

_TRY_AGAIN = frozenset({18, 1200})
"""Lock timeout, conflict with another writer."""
_NOT_STARTED = frozenset({503, 21003, 21004})
"""Causes of a 503 before any work: the server starts or is overloaded, or its queue is full."""
_REFUSED = frozenset({1210, 1221, 1222, 1227, 1620})
"""Causes that a retry cannot help: key exists or is illegal, type, schema."""


def number_of(error: Exception) -> int:
    """Return the server's number of an error (errorNum); 0 if it has none."""
    if isinstance(error, Refused):
        with suppress(ValueError, KeyError, TypeError):
            return int(json.loads(error.reply.body)["errorNum"])
    return int(getattr(error, "error_code", None) or 0)  # of the client's ArangoServerError


class ArangodbSession(HttpSession):
    """A connection for rows, and the vendor's client for everything else."""

    def __init__(
        self, http: Http, path: str, client: "ArangoClient", db: "StandardDatabase", *, sync: bool
    ) -> None:
        super().__init__(http)
        self._path = path
        self._client = client
        self.db = db
        self._sync = "&waitForSync=1" if sync else ""
        self._mode = SINGLE
        self._causes: frozenset[int] = frozenset()

    def greet(self) -> None:
        self.http.request("GET", f"{self._path}/_api/database/current")
        self.db.properties()

    def close(self) -> None:
        super().close()
        with suppress(Exception):
            self._client.close()

    # --- rows in ----------------------------------------------------------------------------------

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return the encoder of blocks as a path and documents.

        Paths and parameters equal the vendor's `insert(silent=True)`, `insert_many(silent=True)`
        and `import_bulk`.
        """
        text, objects = _make_encoder(table, mode), _encode_objects(table, name)
        collection = quote(queries.collection(name))
        if mode in (SINGLE, DOCUMENTS):
            path = f"document/{collection}?returnNew=0&silent=1&overwrite=0&returnOld=0"
        else:
            path = f"import?type=array&collection={collection}&complete=1&details=1"
        path = f"{self._path}/_api/{path}{self._sync}"

        def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
            for column in table.columns:
                _check(column, block.data[column.name])
            if mode == DRIVER:
                return objects(block, rows_per_batch)
            return [(path, body) for body in text.encode(block, rows_per_batch)]

        return encode

    def send(self, payload: Payload) -> None:
        """Send the documents and return once every one is stored.

        An import is `complete`: it fails as a whole if a document cannot be stored. Its answer
        counts the documents. The answer to a single document is its status. A header of the answer
        to an array of DOCUMENTS counts refused documents: "1210:2,1221:1".
        """
        self._mode, self._causes = payload.mode, frozenset()
        if payload.mode == DRIVER:
            expect_rows(self._import_bulk(payload.data), payload.rows)
            return
        path, body = payload.data
        reply = self.http.request("POST", path, body)
        if payload.mode in (SINGLE, DOCUMENTS):
            errors = re.findall(r"(\d+):(\d+)", reply.headers.get("X-Arango-Error-Codes", ""))
            self._causes = frozenset(int(number) for number, _ in errors)
            refused = sum(int(rows) for _, rows in errors)
            stored = payload.rows - refused if reply.status in _STORED else 0
            expect_rows(stored, payload.rows, answer=words(reply.body))
        else:
            found = reply.json()
            stored = found["created"] if isinstance(found, dict) and "created" in found else 0
            expect_rows(stored, payload.rows, answer=words(reply.body))

    def _import_bulk(self, batch: DriverBatch) -> int:
        """Import the documents with the client; return how many the server has created."""
        into = self.db.collection(batch.into)
        found = into.import_bulk(batch.rows, halt_on_error=True, sync=bool(self._sync))
        assert isinstance(found, dict)
        return int(found["created"])

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        On a cluster, a shard may keep its rows of an import that failed on another shard.
        """
        number, status = number_of(error), getattr(error, "http_code", None)
        if status is not None:  # of the vendor's client
            if number in _NOT_STARTED:
                return Failure.NOT_APPLIED
            refused = 400 <= status < 500 and number not in _TRY_AGAIN
            return Failure.FATAL if refused else Failure.UNKNOWN
        if isinstance(error, Refused) and number in _TRY_AGAIN:
            return Failure.NOT_APPLIED if self._mode == SINGLE else Failure.UNKNOWN
        if isinstance(error, Refused) and error.status == 503 and number not in _NOT_STARTED:
            return Failure.UNKNOWN  # a shard that went away may have stored them
        if isinstance(error, RowCountMismatch) and not error.stored and self._causes:
            return Failure.FATAL if self._causes <= _REFUSED else Failure.UNKNOWN
        return super().classify(error)

    # --- rows out ---------------------------------------------------------------------------------

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        with self.in_client():
            return [row for portion in self.stream(statement, _PORTION) for row in portion]

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, from a cursor that the server keeps."""
        columns = [output.name for output in statement.outputs]
        for text in statement.text.split(queries.BETWEEN):
            for found in self.await_parts(self._fetch_portions(text, rows)):
                yield queries.finish_rows(found, columns)

    def _fetch_portions(self, text: str, rows: int) -> Iterator[Sequence[Any]]:
        found = self.db.aql.execute(
            text, batch_size=rows, ttl=_KEEP_S, stream=True, fail_on_warning=True
        )
        cursor = cast("Cursor", found)
        try:
            while True:
                batch = cursor.batch()
                if batch:
                    yield [*batch]
                    batch.clear()
                if not cursor.has_more():
                    return
                cursor.fetch()
        finally:
            if cursor.has_more():
                with suppress(Exception):
                    cursor.close()


_STORED = (201, 202)
"""Statuses of a stored document: synced to disk, or not yet synced."""


def _make_encoder(table: Table, mode: str) -> TextEncoder:
    row = []
    for place, column in enumerate(table.columns):
        style, name = (KEY, _KEY) if column == ID else (JSON, column.name)
        before = b"{" if place == 0 else b""
        before += json.dumps(name, ensure_ascii=False).encode() + b":"
        after = b"}," if column is table.columns[-1] else b","
        row.append(Slot(column, style, before, after, before + style.null + after))
    around = Frame(b"", b",", b"") if mode == SINGLE else Frame(b"[", b",", b"]")
    return TextEncoder(row, around, table.time_unit)


def _encode_objects(table: Table, name: str) -> Encoder:
    """Return the encoder of dicts for the client; the client's key becomes the _key."""
    names = [_KEY if column == ID else column.name for column in table.columns]
    objects = Objects(table.columns, table.time_unit)

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        found = [map_rows(names, rows) for rows in objects.encode(block, rows_per_batch)]
        for document in chain.from_iterable(found) if _KEY in names else ():
            document[_KEY] = queries.key(document[_KEY].encode())
        return found

    return batches(queries.collection(name), encode)


def _check(column: Column, data: ColumnData) -> None:
    """Raise UnstorableError if a column has a value that no document can hold."""
    check_finite(column, data)
    known = data.levels if isinstance(data, Coded) else data.array
    if column == ID and known.dtype.itemsize * 3 > _LONGEST_KEY_BYTES:
        longest = max((len(queries.key(text)) for text in data.present().tolist()), default=0)
        if longest > _LONGEST_KEY_BYTES:
            raise UnstorableError(
                f"{column.name}: a _key has at most {_LONGEST_KEY_BYTES} bytes, with %XX for "
                f"characters that it cannot hold; found one of {longest}"
            )
