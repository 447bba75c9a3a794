"""One client of MongoDB: how rows are sent, and what an error says about them.

The driver is imported here; mongodb.py imports this file when it connects.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

import pymongo
from bson import json_util
from bson.codec_options import DatetimeConversion
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient
from pymongo.command_cursor import CommandCursor
from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
)

from simulator.data.block import Block
from simulator.data.query import Output, Statement
from simulator.data.schema import FLOAT64_EXACT, Type
from simulator.encode.bson import DOCUMENT_BYTES, Bson
from simulator.modules.base import Failure, Payload, Session
from simulator.modules.mongodb.documents import Documents, Format
from simulator.modules.mongodb.query import names_of

COMMAND_BYTES = DOCUMENT_BYTES
"""What the driver lets into one command."""
COMMAND_ROWS = 100_000
"""A server's maxWriteBatchSize: it refuses more documents in one command."""

_JSON = json_util.JSONOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)

# https://www.mongodb.com/docs/manual/reference/error-codes/
_NOT_PRIMARY = frozenset({10058, 10107, 13435, 13436})  # refused before anything was done
_TRY_AGAIN = frozenset({24, 46, 112, 462})  # lock timeout, lock busy, write conflict, overloaded
_REFUSED = frozenset(
    {2, 9, 13, 14, 17, 18, 20, 22, 26, 59, 72, 73, 115, 121, 10334, 11000, 11001, 14031, 17280}
)
"""Bad values, missing rights, failed validation, duplicate keys, too long, no room."""
_FERRETDB_WITHOUT_STORAGE = "failed to connect to `user="
"""FerretDB had no connection to PostgreSQL by which it could have stored anything."""


class _Sequence(RawBSONDocument):
    """Many encoded documents in the place of one.

    The driver writes what `raw` gives, as it stands, into the sequence of documents of an OP_MSG;
    there nothing stands between two of them. So a batch costs the driver what one document does.
    """

    __slots__ = ("_documents",)

    def __init__(self, documents: bytes) -> None:
        super().__init__(b"\x05\0\0\0\0")  # an empty one, to please its check of the length
        self._documents = documents

    @property
    def raw(self) -> bytes:
        """The documents."""
        return self._documents


class MongodbSession(Session):
    """A client that keeps one connection for what is asked of it, beside those that watch."""

    def __init__(
        self,
        client: "MongoClient[dict[str, Any]]",
        database: str,
        write: Mapping[str, Any],
        layout: Format,
        query_timeout_s: float,
    ) -> None:
        """Take the parameters of every insert command, such as its write concern."""
        self.client = client
        self.database = client[database]
        self._write = write
        self._layout = layout
        self._query_timeout_s = query_timeout_s
        self._encoders: dict[str, Bson] = {}
        self._lost = False
        self._stored = 0
        """Rows of the current send that earlier commands have stored."""

    def close(self) -> None:
        """Close the client."""
        with suppress(Exception):
            self.client.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return not self._lost

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block as documents behind each other, cut into payloads."""
        encoder = self._encoders.get(block.name)
        if encoder is None:
            elements = Documents(block.table, self._layout).elements
            encoder = self._encoders[block.name] = Bson(elements, block.table.time_unit)
        starts = range(0, len(block), rows_per_send)
        contents = encoder.encode(block, rows_per_send)
        payloads = []
        for start, content in zip(starts, contents, strict=True):
            rows = min(rows_per_send, len(block) - start)
            payloads.append(Payload(rows, mode, (block.name, pieces(content, rows))))
        return payloads

    def send(self, payload: Payload) -> None:
        """Insert the rows and return once they are acknowledged by the write concern.

        The command is not one that the driver would repeat on its own (`retryWrites` is for its
        insert_many): whether to try again is for the benchmark to decide, and to count.
        """
        self._stored = 0
        collection, commands = payload.data
        for rows, documents in commands:
            try:
                reply = self.database.command(
                    {"insert": collection, "documents": [_Sequence(documents)], **self._write}
                )
            except ConnectionFailure as error:
                self._lost = not isinstance(error, NotPrimaryError | WaitQueueTimeoutError)
                raise
            self._stored += int(reply["n"])
            concern = reply.get("writeConcernError")
            if reply["n"] != rows or concern or "writeErrors" in reply:
                raise BulkWriteError(
                    {
                        "writeErrors": reply.get("writeErrors", []),
                        "writeConcernErrors": [concern] if concern else [],
                        "nInserted": self._stored,
                    }
                )

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        A server that is gone may have stored some of them: a batch is no transaction. An error that
        the server reports for every row, or before it began, leaves nothing behind. Rows that are
        stored but that too few members have confirmed in time may yet be rolled back.
        """
        failure = _failure(error)
        if failure is Failure.NOT_APPLIED and self._stored:
            return Failure.UNKNOWN
        return failure

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a command and fetch every row."""
        with pymongo.timeout(self._query_timeout_s):
            command, cursor = self._cursor(statement, {})
            with cursor:
                rows = list(map(_reader(statement.outputs), cursor))
        if not rows and _is_of_everything(command):
            # Grouping no rows gives no group; a count of nothing is 0 all the same.
            rows = [tuple(0 if c.name.startswith("count") else None for c in statement.outputs)]
        return rows

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a command and yield its rows in portions, as a cursor on the server gives them."""
        with pymongo.timeout(self._query_timeout_s):
            _, cursor = self._cursor(statement, {"batchSize": rows})
            cursor.batch_size(rows)
        read = _reader(statement.outputs)
        with cursor:
            while portion := list(map(read, islice(cursor, rows))):
                yield portion

    def _cursor(
        self, statement: Statement, first: dict[str, Any]
    ) -> tuple[dict[str, Any], "CommandCursor[dict[str, Any]]"]:
        try:
            command = dict(json_util.loads(statement.text, json_options=_JSON))
        except (TypeError, ValueError) as error:
            raise ValueError(
                'a query is a command in extended JSON, such as {"aggregate": "events", '
                f'"pipeline": [...]}}; this one cannot be read: {error}'
            ) from error
        if "aggregate" in command:
            command["cursor"] = first
        return command, self.database.cursor_command(command)


def pieces(content: bytes, rows: int) -> list[tuple[int, bytes]]:
    """Return documents as (rows, documents) of as many commands as they need, mostly one."""
    if len(content) <= COMMAND_BYTES and rows <= COMMAND_ROWS:
        return [(rows, content)]
    cut: list[tuple[int, bytes]] = []
    first = at = count = 0
    while at < len(content):
        end = at + int.from_bytes(content[at : at + 4], "little")
        if end - first > COMMAND_BYTES or count == COMMAND_ROWS:
            cut.append((count, content[first:at]))
            first, count = at, 0
        at, count = end, count + 1
    return [*cut, (count, content[first:])]


def _failure(error: Exception) -> Failure:
    if isinstance(error, BulkWriteError):
        return _bulk_failure(error.details)
    if isinstance(error, ServerSelectionTimeoutError | WaitQueueTimeoutError):
        return Failure.NOT_APPLIED  # no server, or no connection, to send it to
    if isinstance(error, NotPrimaryError | OperationFailure):
        no_storage = _FERRETDB_WITHOUT_STORAGE in str(error)
        return Failure.NOT_APPLIED if no_storage else _code_failure(_code_of(error))
    if isinstance(error, ConnectionFailure):
        return Failure.UNKNOWN
    # The driver's remaining errors are raised before anything is sent: too long, not encodable.
    before_sending = isinstance(error, PyMongoError | BSONError)
    return Failure.FATAL if before_sending else Failure.UNKNOWN


def _bulk_failure(details: Mapping[str, Any] | None) -> Failure:
    found = details or {}
    meanings = {_code_failure(item.get("code")) for item in found.get("writeErrors", [])}
    if Failure.FATAL in meanings:
        return Failure.FATAL
    if found.get("nInserted") or found.get("writeConcernErrors"):
        return Failure.UNKNOWN
    return Failure.NOT_APPLIED if meanings == {Failure.NOT_APPLIED} else Failure.UNKNOWN


def _code_of(error: Exception) -> int | None:
    details = getattr(error, "details", None) or {}
    return getattr(error, "code", None) or details.get("code")


def _code_failure(code: int | None) -> Failure:
    if code in _NOT_PRIMARY or code in _TRY_AGAIN:
        return Failure.NOT_APPLIED
    return Failure.FATAL if code in _REFUSED else Failure.UNKNOWN


def _is_of_everything(command: Mapping[str, Any]) -> bool:
    """Whether a pipeline answers with one row about all of them."""
    stages = command.get("pipeline", [])
    return any("$count" in s or s.get("$group", {"_id": ""}).get("_id", "") is None for s in stages)


def _reader(columns: Sequence[Output]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return what takes an answer's values, in order, out of a document; a missing one is NULL."""
    names = names_of(columns)
    whole = [place for place, column in enumerate(columns) if column.type is Type.INT64]

    def read(document: Mapping[str, Any]) -> tuple[Any, ...]:
        values = tuple(map(document.get, names))
        for place in whole:
            value = values[place]
            if isinstance(value, float) and abs(value) >= FLOAT64_EXACT:
                raise OverflowError(
                    f"{columns[place].name}: the sum overflows 64 bits; the server went over to a "
                    f"double, {value}"
                )
        return values

    return read
