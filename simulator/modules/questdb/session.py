"""A connection to QuestDB: it sends lines or files, and runs SQL."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlencode

import numpy as np

from simulator.data.block import Block
from simulator.data.dataset import Retag
from simulator.data.query import Statement
from simulator.data.schema import Table, TimeUnit, Type
from simulator.encode.lineprotocol import LineProtocol, none_is
from simulator.encode.numbers import Iso
from simulator.encode.text import CSV, TextEncoder, slots
from simulator.modules.contract import (
    BATCH,
    DRIVER,
    IMPORT,
    Encoder,
    Envelope,
    Failure,
    Payload,
    expect_rows,
)
from simulator.modules.questdb import driver
from simulator.modules.questdb.query import LINES, QuestSql, adapt
from simulator.modules.shared.client.contents import contents
from simulator.modules.shared.http.client import (
    Body,
    Http,
    NoAnswer,
    NotConnected,
    Refused,
    gzip_body,
)
from simulator.modules.shared.http.database import HttpSqlSession
from simulator.modules.shared.sql import changes as sql_changes
from simulator.protocol.records import RecordFormat

if TYPE_CHECKING:
    from questdb import Sender

_COMMITTED = 204
_SHOWN_BYTES = 500


class QuestSession(HttpSqlSession):
    """An HTTP connection, and the vendor's sender if it is used."""

    correcting: ClassVar[str] = BATCH

    def __init__(
        self,
        http: Http,
        *,
        gzip: bool,
        open_sender: "Callable[[], Sender]",
    ) -> None:
        super().__init__(http)
        self._open_sender = open_sender
        self._gzip = gzip
        self._imports = False
        """True if the last `send` was of a file."""
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if gzip:
            self._headers["Content-Encoding"] = "gzip"

    @cached_property
    def sender(self) -> "Sender":
        """The vendor's sender, which connects on first use."""
        return self._open_sender()

    def close(self) -> None:
        super().close()
        if "sender" in self.__dict__:
            with suppress(Exception):  # of the vendor's client
                self.sender.close(flush=False)

    # --- rows in

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        if mode == IMPORT:
            return _make_import_encoder(table, name)
        if mode == DRIVER:
            return driver.encoder(table, name)
        rows = LineProtocol(adapt(table), name, LINES)
        path = _path(table)

        def encode(block: Block, rows_per_batch: int) -> Sequence[tuple[str, Body]]:
            bodies = rows.encode(block, rows_per_batch)
            return [(path, gzip_body(body) if self._gzip else body) for body in bodies]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        path = _path(tables[0])
        return lambda body, _rows: (path, gzip_body(body) if self._gzip else body)

    def send(self, payload: Payload) -> None:
        """Send the rows and return once they are committed to the write-ahead log.

        The answer to lines has no count, but a request for one table is one transaction: if the
        server refuses a line, it stores none.
        """
        self._imports = payload.mode == IMPORT
        if self._imports:
            self._import(payload)
            return
        if payload.mode == DRIVER:
            try:
                driver.store(self.sender, payload.data)
            except (NoAnswer, NotConnected):
                self.http.alive = False  # both connections are opened again
                raise
            return
        path, body = payload.data
        reply = self.http.request("POST", path, body, self._headers)
        if reply.status != _COMMITTED:
            raise NoAnswer(f"expected 204, got {reply.status}: {reply.body[:200]!r}")

    def _import(self, payload: Payload) -> None:
        """Post a file and return once its rows are committed to the write-ahead log."""
        path, begin, source = payload.data
        with contents(source) as content, memoryview(content) as rows:
            body = (begin, rows, _END)
            headers = {**_FORM, "Content-Length": str(sum(map(len, body)))}
            reply = self.http.query("POST", path, body, headers)
        found = reply.json()
        answer = reply.body[:_SHOWN_BYTES].decode(errors="replace")
        expect_rows(int(found.get("rowsImported", 0)), payload.rows, answer=answer)
        wrong = sum(column["errors"] for column in found["columns"])
        expect_rows(payload.rows - wrong, payload.rows, "values", answer=answer)

    def classify(self, error: Exception) -> Failure:
        if isinstance(error, driver.Refused):
            return Failure.FATAL
        # Some rows of a refused file may be stored.
        refused = self._imports and isinstance(error, Refused)
        return Failure.UNKNOWN if refused else super().classify(error)

    # --- rows out

    def ask(self, statement: str) -> list[list[Any]]:
        path = f"/exec?{urlencode({'query': statement})}"
        with self.waiting():
            found = self.http.query("GET", path)
        reply = found.json()
        rows: list[list[Any]] = reply.get("dataset", [])
        columns = reply.get("columns", [])
        for place in (n for n, c in enumerate(columns) if c["type"].startswith("DECIMAL")):
            for row in rows:  # a DECIMAL arrives as text
                row[place] = None if row[place] is None else Decimal(row[place])
        return rows

    def retag(self, table: Table, retag: Retag, name: str) -> int:
        """Append the updates of a tag to the log; return the number of rows.

        The rows are counted here, because an UPDATE is applied after its answer.
        """
        kept, rows = adapt(table), 0
        dialect = QuestSql(kept)
        where = sql_changes.of_series(dialect, retag, name)
        updates = sql_changes.updates(dialect, kept, retag, name)
        for part, statement in zip(kept.names, updates, strict=True):
            ((found,),) = self.ask(f"SELECT count() FROM {dialect.name(part)} WHERE {where}")
            self.ask(statement)
            rows += found
        return rows

    def drop_before(self, table: Table, until: int) -> None:
        kept = adapt(table)
        older = sql_changes.before(QuestSql(kept), kept, until)
        for name in table.names:
            self.ask(f"ALTER TABLE {QuestSql(kept).name(name)} DROP PARTITION WHERE {older}")

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        # Access by row number is direct, and only inserts change the order.
        if not statement.parameters:
            yield from super().stream(statement, rows)
            return
        for part in statement.parameters:
            start = 0
            while portion := self.ask(f"{part} LIMIT {start}, {start + rows}"):
                yield portion
                start += rows


def _path(table: Table) -> str:
    return f"/write?precision={table.time_unit}"


# --- the import of a CSV file: a form with a schema, which defines the format of instants
# https://questdb.com/docs/query/rest-api/#imp---import-data

_BOUNDARY = "rows"
_FORM = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
_END = f"\r\n--{_BOUNDARY}--\r\n".encode()
_STYLE = replace(
    CSV.style, instants=Iso(zone=b"", decimals=9), quote=b'"', special=b'"',
    escape=lambda text: text.replace(b'"', b'""'),
)  # fmt: skip
_BOOLS = replace(_STYLE, false=b"false", true=b"true")
_INTEGERS = replace(_STYLE, false=b"0", true=b"1")
_FRACTIONS = {
    TimeUnit.SECOND: "",
    TimeUnit.MILLISECOND: ".SSS",
    TimeUnit.MICROSECOND: ".SSSUUU",
    TimeUnit.NANOSECOND: ".SSSUUUNNN",
}


def _make_form(table: Table, name: str) -> tuple[str, bytes]:
    """Return the path of a request, and the part of the form before the file's rows."""
    pattern = f"yyyy-MM-dd HH:mm:ss{_FRACTIONS[table.time_unit]}"
    nanoseconds = table.time_unit is TimeUnit.NANOSECOND
    schema = [
        {
            "name": column.name,
            "type": "TIMESTAMP_NS" if nanoseconds else "TIMESTAMP",
            "pattern": pattern,
        }
        for column in table.columns
        if column.type is Type.TIMESTAMP
    ]
    header = ",".join(f'"{column.name}"' for column in table.columns)
    begin = (
        f"--{_BOUNDARY}\r\n"
        'Content-Disposition: form-data; name="schema"\r\n\r\n'
        f"{json.dumps(schema)}\r\n--{_BOUNDARY}\r\n"
        'Content-Disposition: form-data; name="data"; filename="rows"\r\n\r\n'
        f"{header}\n"
    )
    words = {"name": name, "fmt": "json", "forceHeader": "true", "atomicity": "abort",
             "create": "false"}  # fmt: skip
    return f"/imp?{urlencode(words)}", begin.encode()


def _make_import_encoder(table: Table, name: str) -> Encoder:
    """Return the encoder of blocks as lines of a file, with the request that imports it."""
    own = adapt(table)
    checks = [(column.name, LINES.check(own, column)) for column in own.columns]
    for column in own.columns:
        if column.type is Type.TEXT:
            problem = f"column {column.name}: an import reads an empty text as NULL"
            checks.append((column.name, none_is(lambda texts: np.asarray(texts == b""), problem)))
    row = [  # a BOOL that may be NULL is an integer
        replace(slot, style=_INTEGERS if slot.column.nullable else _BOOLS)
        for slot in slots(own.columns, CSV)
    ]
    text, (path, begin) = TextEncoder(row, CSV.payload, own.time_unit), _make_form(own, name)

    def encode(block: Block, rows_per_batch: int) -> Sequence[tuple[str, bytes, bytes]]:
        for column, check in checks:
            check(block.data[column])
        return [(path, begin, content) for content in text.encode(block, rows_per_batch)]

    return encode
