"""A session of ArangoDB: how rows are sent, and what an error says of them."""

import json
import string
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import quote, quote_from_bytes

import numpy as np

from simulator.data.block import Block, Coded, ColumnData
from simulator.data.query import Statement
from simulator.data.schema import FLOATS, ID, Column
from simulator.encode.ndjson import JSON
from simulator.encode.rows import Frame
from simulator.encode.text import Slot, Style, Text
from simulator.errors import UnstorableError
from simulator.modules.arangodb import query as queries
from simulator.modules.base import SINGLE, Failure, Payload, Session
from simulator.modules.shared.http import Http, HttpError, Refused, classify

_LONGEST_KEY_BYTES = 254
_KEEP_S = 600
"""How long the server holds a cursor between two portions."""
_PORTION = 10_000

_UNRESERVED = string.ascii_letters + string.digits + "_-:.@()+,=;$!*'"
"""What a _key may hold; % as well, which stands for the others."""


def _key(text: bytes) -> bytes:
    return quote_from_bytes(text, _UNRESERVED).encode()


KEY = Style(
    b"null", b"false", b"true", None, quote=b'"', escape=_key,
    special=bytes(byte for byte in range(1, 256) if chr(byte) not in _UNRESERVED),
)  # fmt: skip
"""A client's key: as it is, or with %XX for each byte that a _key cannot hold."""

_ERRORS = "X-Arango-Error-Codes"
_TRY_AGAIN = frozenset({18, 1200})
"""A lock that was not had in time, a conflict with another writer."""
_FATAL = frozenset({11, 600, 1004, 1203, 1210, 1216, 1221, 1222, 1227, 1228, 1620})
"""A row, or every one, that the server will not take."""
_NOT_BEGUN = frozenset({503, 21003, 21004})
"""Of an answer 503: the server starts, is overloaded, or its queue is full."""


class RowsRefused(HttpError):
    """Documents of an array were not stored; others of it may be."""

    def __init__(self, errors: Sequence[dict[str, Any]], codes: str, rows: int) -> None:
        refused = len(errors) or sum(int(each.partition(":")[2]) for each in codes.split(","))
        self.stored = rows - refused
        numbers = {int(error.get("errorNum", 0)) for error in errors}
        numbers |= {int(each.partition(":")[0]) for each in codes.split(",") if each}
        fatal = numbers & _FATAL
        self.number = min(fatal or numbers - _TRY_AGAIN or numbers)
        """What is worst: that cannot be helped by trying again."""
        told = (e.get("errorMessage") for e in errors if e.get("errorNum") == self.number)
        message = next(told, None) or f"error {self.number}"
        super().__init__(f"{refused} of {rows} rows were refused: {message} ({self.number})")


def number_of(error: Exception) -> int:
    """Return the server's number of an error (errorNum); 0 if it gave none."""
    if isinstance(error, RowsRefused):
        return error.number
    if isinstance(error, Refused):
        with suppress(ValueError, KeyError, TypeError):
            return int(json.loads(error.reply.body)["errorNum"])
    return 0


class ArangodbSession(Session):
    """A connection by HTTP."""

    def __init__(self, http: Http, database: str, query_timeout_s: float) -> None:
        self._http = http
        self._database = database
        self._query_timeout_s = query_timeout_s
        self._encoders: dict[tuple[str, str], Text] = {}

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
        """Return the block as arrays of documents; UnstorableError if a value cannot be in one."""
        for column in block.table.columns:
            _check(column, block.data[column.name])
        encoder = self._encoders.get((block.name, mode))
        if encoder is None:
            encoder = self._encoders[block.name, mode] = _encoder(block, mode)
        path = f"/_api/document/{quote(queries.collection(block.name))}?silent=true"
        return [
            Payload(min(rows_per_send, len(block) - start), mode, (path, body))
            for start, body in zip(
                range(0, len(block), rows_per_send),
                encoder.encode(block, rows_per_send),
                strict=True,
            )
        ]

    def send(self, payload: Payload) -> None:
        """Send the documents and return once every one is stored.

        The request succeeds whatever became of its documents: a header counts those that were
        refused, and the answer tells why (`silent`: of the others nothing).
        """
        path, body = payload.data
        reply = self._http.request("POST", self._database + path, body)
        codes = reply.headers.get(_ERRORS, "")
        if not codes and reply.body in (b"{}", b"[]"):
            return
        found = reply.json()
        errors = [item for item in found if item.get("error")] if isinstance(found, list) else []
        if errors or codes:
            raise RowsRefused(errors, codes, payload.rows)

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        An array is no transaction: rows that were refused for good end the run, whatever became of
        the others, and an array that was stored in part is not to be sent again.
        """
        number = number_of(error)
        match error:
            case RowsRefused() if number in _FATAL:
                return Failure.FATAL
            case RowsRefused() if number in _TRY_AGAIN and not error.stored:
                return Failure.NOT_APPLIED
            case RowsRefused():
                return Failure.UNKNOWN
            case Refused() if number in _TRY_AGAIN:
                return Failure.NOT_APPLIED
            case Refused(status=503) if number not in _NOT_BEGUN:
                return Failure.UNKNOWN  # a shard that went may have stored them
            case _:
                return classify(error)

    # --- rows out ---------------------------------------------------------------------------------

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """Make a request and return the answer's JSON; HttpError if it is an error."""
        content = None if body is None else json.dumps(body).encode()
        path = self._database + path
        return self._http.request(method, path, content, None, self._query_timeout_s).json()

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        return [row for portion in self.stream(statement, _PORTION) for row in portion]

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, from a cursor that the server holds."""
        columns = [output.name for output in statement.outputs]
        for text in statement.text.split(queries.BETWEEN):
            for found in self._cursor(text, rows):
                yield queries.rows_of(found, columns)

    def _cursor(self, text: str, rows: int) -> Iterator[Sequence[Any]]:
        options = {"stream": True, "failOnWarning": True}
        asked = {"query": text, "batchSize": rows, "ttl": _KEEP_S, "options": options}
        reply = self.call("POST", "/_api/cursor", asked)
        try:
            while True:
                if reply["result"]:
                    yield reply["result"]
                if not reply["hasMore"]:
                    return
                reply = self.call("POST", f"/_api/cursor/{reply['id']}")
        finally:
            if reply["hasMore"]:
                with suppress(HttpError):
                    self.call("DELETE", f"/_api/cursor/{reply['id']}")


def _encoder(block: Block, mode: str) -> Text:
    columns = block.table.columns
    row = []
    for place, column in enumerate(columns):
        style, name = (KEY, "_key") if column == ID else (JSON, column.name)
        before = b"{" if place == 0 else b""
        before += json.dumps(name, ensure_ascii=False).encode() + b":"
        after = b"}," if column is columns[-1] else b","
        row.append(Slot(column, style, before, after, before + style.null + after))
    around = Frame(b"", b",", b"") if mode == SINGLE else Frame(b"[", b",", b"]")
    return Text(row, around, block.table.time_unit)


def _check(column: Column, data: ColumnData) -> None:
    """Raise UnstorableError if a column has a value that no document can hold."""
    known = data.levels if isinstance(data, Coded) else data.array
    if column.type in FLOATS and not np.isfinite(known).all():
        values = data.present()
        if not np.isfinite(values).all():
            value = values[~np.isfinite(values)][0]
            raise UnstorableError(f"{column.name}: JSON has finite numbers only; found {value}")
    if column == ID and known.dtype.itemsize * 3 > _LONGEST_KEY_BYTES:
        longest = max((len(_key(text)) for text in data.present().tolist()), default=0)
        if longest > _LONGEST_KEY_BYTES:
            raise UnstorableError(
                f"{column.name}: a _key has at most {_LONGEST_KEY_BYTES} bytes, with %XX for what "
                f"it cannot hold; found one of {longest}"
            )
