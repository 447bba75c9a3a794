"""A client of MongoDB: it sends encoded documents, reads answers, and classifies errors.

This file imports the driver, so database.py imports this file only to connect.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pymongo
from bson import Decimal128, decode_all, json_util
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient, ReplaceOne, WriteConcern
from pymongo.collection import Collection
from pymongo.command_cursor import CommandCursor
from pymongo.errors import (
    BulkWriteError,
    ConnectionFailure,
    NotPrimaryError,
    OperationFailure,
    ProtocolError,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
)

from simulator.data.block import Block
from simulator.data.dataset import Retag
from simulator.data.query import OneOf, Output, Selection, Statement
from simulator.data.schema import FLOAT64_EXACT, Table, Type
from simulator.encode.bson import DOCUMENT_BYTES, Bson
from simulator.errors import UnstorableError
from simulator.modules.contract import (
    CORRECT,
    DRIVER,
    Encoder,
    Envelope,
    Failure,
    Payload,
    QueryPlan,
    Session,
    expect_rows,
)
from simulator.modules.mongodb import driver
from simulator.modules.mongodb.query import DocumentFormat, TableDocuments, fields_of
from simulator.modules.shared import shapes
from simulator.modules.shared.client.contents import portions
from simulator.modules.shared.client.driver import DriverBatch
from simulator.modules.shared.waits import retry
from simulator.protocol.records import RecordFormat

COMMAND_BYTES = DOCUMENT_BYTES
"""The most bytes of documents that the driver accepts in one command."""
COMMAND_ROWS = 25_000
"""The most documents that FerretDB accepts in one command; MongoDB accepts 100,000."""
_BUSY = "another operation is in progress"
"""FerretDB's refusal to compact a collection while its own vacuum works on it."""
_BUSY_POLL_S = 0.5
_BUSY_MOST_S = 1800.0

_PORTION_ROWS = 1000
"""Documents that `run` reads before it makes rows of them."""

_AS_BYTES: CodecOptions[RawBSONDocument] = CodecOptions(document_class=RawBSONDocument)
_JSON = json_util.JSONOptions(datetime_conversion=DatetimeConversion.DATETIME_AUTO)

# https://www.mongodb.com/docs/manual/reference/error-codes/
_NOT_PRIMARY = frozenset({10058, 10107, 13435, 13436})  # refused before anything was done
_TRY_AGAIN = frozenset({24, 46, 112, 462})  # lock timeout, lock busy, write conflict, overloaded
_FATAL = frozenset(
    {2, 9, 13, 14, 16, 17, 18, 20, 22, 26, 59, 72, 73, 115, 121, 10334, 11000, 11001, 14031, 17280}
)
"""Invalid values and lengths, no permission, failed validation, duplicate keys, no disk space."""
_FERRETDB_WITHOUT_STORAGE = "failed to connect to `user="
"""FerretDB has no connection to PostgreSQL, so it cannot have stored anything."""


class _Documents(RawBSONDocument):
    """Many encoded documents that the driver takes for one.

    The driver copies `raw` unchanged into the document sequence of an OP_MSG, which has no
    separators: a batch takes the driver no more time than one document.
    """

    __slots__ = ("_documents",)

    def __init__(self, documents: bytes) -> None:
        super().__init__(b"\x05\0\0\0\0")  # an empty document, to pass the driver's length check
        self._documents = documents

    @property
    def raw(self) -> bytes:
        """The documents, one after the other."""
        return self._documents


class MongodbSession(Session):
    """A client with one connection for commands; the driver's monitoring has others."""

    alive = True

    def __init__(
        self,
        client: "MongoClient[dict[str, Any]]",
        database: str,
        write: Mapping[str, Any],
        layout: DocumentFormat,
        query_timeout_s: float,
    ) -> None:
        """Store the parameters of every insert command, such as its write concern, as `write`."""
        self.client = client
        self.database = client[database]
        self._write = write
        self._layout = layout
        self._query_timeout_s = query_timeout_s
        self._stored = 0
        """Rows of the current send that earlier commands have stored."""

    def close(self) -> None:
        with suppress(Exception):
            self.client.close()

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        elements = TableDocuments(table, self._layout).elements
        if mode == DRIVER:
            return driver.encoder(table, elements, name)
        bson = Bson(elements, table.time_unit)

        def encode(block: Block, rows_per_batch: int) -> list[tuple[str, list[tuple[int, bytes]]]]:
            contents = bson.encode(block, rows_per_batch)
            starts = range(0, len(block), rows_per_batch)
            rows = (min(rows_per_batch, len(block) - start) for start in starts)
            return [(name, commands(*batch)) for batch in zip(contents, rows, strict=True)]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        (table,) = tables
        if self._layout is not DocumentFormat.FLAT:
            raise UnstorableError(
                f"{table.name}: rows of a --data file are stored as flat documents; set"
                " document_format=flat"
            )
        return lambda documents, rows: (table.name, commands(documents, rows))

    def send(self, payload: Payload) -> None:
        """Insert the rows; return once they are acknowledged as the write concern demands.

        The driver retries only its own insert_many (`retryWrites`), not a plain command: the
        benchmark decides about retries and counts them.
        """
        self._stored = 0
        try:
            if payload.mode == DRIVER:
                self._insert_many(payload.data)
                return
            collection, inserts = payload.data
            if payload.mode == CORRECT:
                self._replace(collection, inserts, payload.rows)
            else:
                self._insert(collection, inserts)
        except ConnectionFailure as error:
            self.alive = isinstance(error, NotPrimaryError | WaitQueueTimeoutError)
            raise

    def _insert(self, collection: str, inserts: Sequence[tuple[int, bytes]]) -> None:
        for rows, documents in inserts:
            reply = self.database.command(
                {"insert": collection, "documents": [_Documents(documents)], **self._write}
            )
            self._stored += int(reply["n"])
            if reply["n"] != rows or "writeErrors" in reply or "writeConcernError" in reply:
                raise self._make_error(reply, rows)

    def _open_collection(self, name: str) -> "Collection[dict[str, Any]]":
        """Return a collection with the write concern of inserts."""
        concern = WriteConcern(**self._write["writeConcern"])
        return self.database.get_collection(name, write_concern=concern)

    def _replace(self, collection: str, inserts: Sequence[tuple[int, bytes]], rows: int) -> None:
        """Replace the documents that have the same _id, with the driver."""
        documents = decode_all(b"".join(content for _, content in inserts), _AS_BYTES)
        found = self._open_collection(collection).bulk_write(
            [ReplaceOne({"_id": each["_id"]}, each) for each in documents],
            ordered=self._write["ordered"],
        )
        expect_rows(found.matched_count, rows)

    def retag(self, table: Table, retag: Retag, name: str) -> int:
        """Update a tag of one series; return how many documents it has."""
        documents, rows = TableDocuments(table, self._layout), 0
        (chosen,) = documents.conditions(Selection(one_of=(OneOf(retag.by, (name,)),)))
        (new,) = documents.conditions(Selection(one_of=(OneOf(retag.tag, (retag.values[name],)),)))
        for part in table.names:
            rows += self._open_collection(part).update_many(chosen, {"$set": new}).matched_count
        return rows

    def delete_before(self, table: Table, until: int) -> None:
        found = TableDocuments(table, self._layout).conditions(Selection(until=until))
        before = json_util.loads(json_util.dumps({"$and": found}), json_options=_JSON)
        for name in table.names:
            self._open_collection(name).delete_many(before)

    def vacuum(self, name: str) -> None:
        """Compact a collection of FerretDB after FerretDB's own vacuum of it has ended."""
        retry(
            lambda: self.database.command("compact", name, force=True),
            lambda error: _BUSY in str(error),
            _BUSY_MOST_S,
            _BUSY_POLL_S,
        )

    def _insert_many(self, batch: DriverBatch) -> None:
        """Insert documents with the driver, in as many commands as it needs."""
        into = self._open_collection(batch.into)
        found = into.insert_many(batch.rows, ordered=self._write["ordered"])
        expect_rows(len(found.inserted_ids), len(batch.rows))

    def _make_error(self, reply: Mapping[str, Any], rows: int) -> BulkWriteError:
        """Return the error of a reply that does not acknowledge every row of its command."""
        concern = reply.get("writeConcernError")
        errors = reply.get("writeErrors", [])
        if not errors and reply["n"] != rows:
            errors = [{"errmsg": f"the server acknowledged {reply['n']} of {rows} documents"}]
        return BulkWriteError(
            {
                "writeErrors": errors,
                "writeConcernErrors": [concern] if concern else [],
                "nInserted": self._stored,
            }
        )

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        A batch is not a transaction: if the connection is lost, some rows may be stored. No row is
        stored if the server reports an error for each row, or before the insert begins. Rows that
        too few members confirmed in time are stored but may be rolled back.
        """
        failure = _classify(error)
        if failure is Failure.NOT_APPLIED and self._stored:
            return Failure.UNKNOWN
        return failure

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        read, rows = _make_reader(statement.outputs), list[Sequence[Any]]()
        with self.in_client(), pymongo.timeout(self._query_timeout_s):
            command, cursor = self._cursor(statement, {})
            with cursor:
                for portion in self.await_parts(portions(cursor, _PORTION_ROWS)):
                    rows += map(read, portion)
        if not rows and not statement.own and _has_one_group(command):
            # Without rows, $group returns no document, but the answer has one row.
            rows = [tuple(0 if c.name.startswith("count") else None for c in statement.outputs)]
        return rows

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a command and yield its rows in portions, from a cursor on the server."""
        with pymongo.timeout(self._query_timeout_s):
            _, cursor = self._cursor(statement, {"batchSize": rows})
            cursor.batch_size(rows)
        read = _make_reader(statement.outputs)
        with cursor:
            for portion in portions(cursor, rows):
                yield list(map(read, portion))

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Run a command and yield its plan."""
        asked = {**_parse(statement.text), "cursor": {}}
        if "aggregate" not in asked:
            del asked["cursor"]
        with pymongo.timeout(self._query_timeout_s):
            reply = self.database.command("explain", asked, verbosity="executionStats")
        text = shapes.format_json(select_parts(reply))
        yield QueryPlan(statement.text, text, shape_of_plan(reply))

    def _cursor(
        self, statement: Statement, first: dict[str, Any]
    ) -> tuple[dict[str, Any], "CommandCursor[dict[str, Any]]"]:
        command = _parse(statement.text)
        if "aggregate" in command:
            command["cursor"] = first
        with self.waiting():
            return command, self.database.cursor_command(command)


def _parse(text: str) -> dict[str, Any]:
    try:
        return dict(json_util.loads(text, json_options=_JSON))
    except (TypeError, ValueError) as error:
        raise ValueError(
            'expected a command in extended JSON, such as {"aggregate": "events", '
            f'"pipeline": [...]}}, got {text[:100]!r}: {error}'
        ) from error


def commands(content: bytes, rows: int) -> list[tuple[int, bytes]]:
    """Cut documents into insert commands, mostly one; return rows and documents of each."""
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


def _classify(error: Exception) -> Failure:
    if isinstance(error, BulkWriteError):
        return _classify_bulk(error.details)
    if isinstance(error, ServerSelectionTimeoutError | WaitQueueTimeoutError):
        return Failure.NOT_APPLIED  # no server or no connection was available
    if isinstance(error, NotPrimaryError | OperationFailure):
        if _FERRETDB_WITHOUT_STORAGE in str(error):
            return Failure.NOT_APPLIED
        details = getattr(error, "details", None) or {}
        return _classify_code(getattr(error, "code", None) or details.get("code"))
    # After a ProtocolError, the driver replaces the connection.
    if isinstance(error, ConnectionFailure | ProtocolError):
        return Failure.UNKNOWN
    # The driver raises its other errors before it sends: document too large, not encodable.
    before_sending = isinstance(error, PyMongoError | BSONError)
    return Failure.FATAL if before_sending else Failure.UNKNOWN


def _classify_bulk(details: Mapping[str, Any] | None) -> Failure:
    found = details or {}
    meanings = {_classify_code(item.get("code")) for item in found.get("writeErrors", [])}
    if Failure.FATAL in meanings:
        return Failure.FATAL
    if found.get("nInserted") or found.get("writeConcernErrors"):
        return Failure.UNKNOWN
    return Failure.NOT_APPLIED if meanings == {Failure.NOT_APPLIED} else Failure.UNKNOWN


def _classify_code(code: int | None) -> Failure:
    if code in _NOT_PRIMARY or code in _TRY_AGAIN:
        return Failure.NOT_APPLIED
    return Failure.FATAL if code in _FATAL else Failure.UNKNOWN


def _has_one_group(command: Mapping[str, Any]) -> bool:
    """Return whether a pipeline combines all rows into one."""
    stages = command.get("pipeline", [])
    return any("$count" in s or s.get("$group", {"_id": ""}).get("_id", "") is None for s in stages)


def _make_reader(columns: Sequence[Output]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    """Return the function that turns a document into a row; a missing field is NULL."""
    fields = fields_of(columns)
    integers = [place for place, column in enumerate(columns) if column.type is Type.INT64]

    def read(document: Mapping[str, Any]) -> tuple[Any, ...]:
        values = [*map(document.get, fields)]
        for place in integers:
            value = values[place]
            if isinstance(value, Decimal128):
                values[place] = value.to_decimal()
            if isinstance(value, float) and abs(value) >= FLOAT64_EXACT:
                raise OverflowError(
                    f"{columns[place].name}: the sum overflows 64 bits; the server returned the "
                    f"inexact double {value}"
                )
        return tuple(values)

    return read


# --- query plans

_PARTS = ("queryPlanner", "executionStats", "stages", "shards")
"""Parts of the answer to keep; the others describe server and command."""
_FIGURES = re.compile(
    r".*(?i:time|millis|cost|rows|loops|width|bytes|memory|estimate).*|n[A-Z]\w*|works|advanced"
    r"|need\w+|saveState|restoreState|isEOF|invalidates|docsExamined|keysExamined|total\w+"
    r"|executionStats|executionStages|allPlansExecution|rejectedPlans|namespace|\w*Hash|\w*Key"
    r"|serverInfo|serverParameters|command|ok|spill\w*|usedDisk|seeks|dupsTested|dupsDropped"
)
"""Keys that do not belong to the plan itself."""
_LITERALS = ("parsedQuery", "indexBounds", "filter", "pipeline")
"""Keys below which texts are literals."""


def select_parts(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts of an answer that describe the query."""
    return {name: reply[name] for name in _PARTS if name in reply} or reply


def shape_of_plan(reply: Mapping[str, Any]) -> str:
    """Return the shape of an answer."""
    return shapes.of_json(select_parts(reply), _FIGURES, _LITERALS)
