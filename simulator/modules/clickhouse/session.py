"""A connection to ClickHouse: it sends encoded rows, reads answers, and classifies errors."""

import re
import time
from abc import abstractmethod
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

from simulator.data.block import Block
from simulator.data.query import Output, Statement
from simulator.data.schema import FLOATS, Table, Type
from simulator.encode.native import Native, RowBinary
from simulator.encode.numbers import Iso
from simulator.encode.rows import Frame
from simulator.encode.text import TextEncoder, TextFormat, ValueStyle
from simulator.errors import UnstorableError
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.contract import (
    BATCH,
    IMPORT,
    SINGLE,
    Encoder,
    Envelope,
    Failure,
    Payload,
    QueryPlan,
    Session,
)
from simulator.modules.shared import shapes
from simulator.modules.shared.client.contents import contents
from simulator.modules.shared.http import client as http
from simulator.modules.shared.http.database import HttpSession
from simulator.modules.shared.sql import changes as sql_changes
from simulator.protocol.records import RecordFormat

ROWBINARY = "rowbinary"
"""Insert mode: a batch row by row, in binary."""
CSV = "csv"
"""Insert mode: a batch as text."""
FORMATS = {SINGLE: "Native", BATCH: "Native", ROWBINARY: "RowBinary", CSV: "CSV", IMPORT: "CSV"}
"""Insert mode -> ClickHouse's name of the payloads' format."""

TEXTS = {
    RecordFormat.CSV: "CSV",
    RecordFormat.TSV: "TabSeparated",
    RecordFormat.PGCOPY: "TabSeparated",
}
"""Format of a file -> ClickHouse's name of the format."""
_READING = "date_time_input_format = 'best_effort', input_format_null_as_default = 0"
"""Settings for a user's files, in which instants have a zone."""

_CODE = re.compile(r"Code: (\d+)[.,]")
_BEFORE_CODE = re.compile(r"^.*?(?=Code: \d+)", re.DOTALL)
_WRITTEN_ROWS = re.compile(r'"written_rows": *"?(\d+)')
_VERSION = re.compile(r"(, e\.what\(\) = .*| \(version [^()]*(\([^()]*\))?[^()]*\))\s*$")

_BUSY = frozenset({202, 203, 252, 745})  # too many queries, connections, parts; overloaded
_FATAL = frozenset(
    # cannot parse, no such column, table, database, type, format; arguments, settings and syntax
    {6, 10, 16, 20, 26, 27, 33, 36, 38, 41, 43, 44, 46, 47, 50, 53, 60, 62, 69, 72, 73, 81, 115}
    # wrong data, quota, read-only, user, password, permissions, no space, NULL in a plain column
    | {117, 131, 164, 192, 193, 194, 201, 242, 243, 291, 349, 497, 516}
)

EXPLAINS = "EXPLAIN indexes = 1"
_ALWAYS_COUNTS = (24, 1)
"""First version in which the summary of every synchronous INSERT has the number of rows; some older
versions send 0."""
_READS_ALL_YEARS = (26, 9)  # at the latest; earlier versions have not been tried
_ALL_YEARS, _SOME_YEARS = (1, 9999), (1900, 2299)
"""First and last years of instants that the server reads correctly from text."""
_MUTATION_POLL_S = 0.005


class ServerError(http.HttpError):
    """The server, or the embedded engine, refused or aborted a statement."""

    def __init__(self, message: str) -> None:
        found = _CODE.search(message)
        self.code = int(found[1]) if found else None
        words = _BEFORE_CODE.sub("", message) if found else message
        super().__init__(" ".join(_VERSION.sub("", words).split()))


class ClickhouseSession(Session):
    """A connection to an engine, in a server or in this process."""

    def __init__(self, dialect: ClickhouseDialect) -> None:
        self.dialect = dialect
        self.version = ""
        self.release = (0, 0)
        self.counts_all = True
        """True if the engine reports the written rows of every INSERT: 0 then means none."""
        self._text_years = _SOME_YEARS
        self._imports = False
        """True if the last `send` was of a file."""

    @abstractmethod
    def execute(self, statement: str) -> bytes:
        """Run a statement and return its whole output."""

    @abstractmethod
    def pieces(self, statement: str) -> Generator[bytes, None, None]:
        """Run a statement and yield its output as it arrives."""

    @abstractmethod
    def insert(self, into: str, form: str, content: bytes) -> int | None:
        """Insert rows; return the number of written rows, None if the engine does not report it."""

    @abstractmethod
    def load(self, into: str, form: str, file: Path) -> int | None:
        """Insert the rows of a file, like `insert`."""

    def greet(self) -> None:
        """Read the version; HttpError if another product answers."""
        answer = self.execute("SELECT version()").decode(errors="replace").strip()
        numbers = re.match(r"(\d+)\.(\d+)", answer)
        if not numbers:
            raise http.HttpError(
                f"expected ClickHouse's version, got {answer[:100]!r}", "check the URL"
            )
        self.version = answer
        self.release = int(numbers[1]), int(numbers[2])
        if self.release >= _READS_ALL_YEARS:
            self._text_years = _ALL_YEARS

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        names = self.dialect.names([column.name for column in table.columns])
        into, form = f"INSERT INTO {self.dialect.name(name)} ({names})", FORMATS[mode]
        contents = self._format(table, form)

        def encode(block: Block, rows_per_batch: int) -> list[tuple[str, str, bytes]]:
            return [(into, form, content) for content in contents(block, rows_per_batch)]

        return encode

    def _format(self, table: Table, form: str) -> Callable[[Block, int], Sequence[bytes]]:
        if form == FORMATS[BATCH]:
            return Native(table.columns, self.dialect.types_of(table)).encode
        if form == FORMATS[ROWBINARY]:
            return RowBinary(table.columns).encode
        text = TextEncoder.of(table.columns, table.time_unit, _make_csv(self.dialect))
        if not self.dialect.has_instants:
            return text.encode

        def encode(block: Block, rows_per_batch: int) -> Sequence[bytes]:
            _expect_years(block, self._text_years)
            return text.encode(block, rows_per_batch)

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        (table,) = tables
        names = self.dialect.names([column.name for column in table.columns])
        into = f"INSERT INTO {self.dialect.name(table.name)} ({names}) SETTINGS {_READING}"
        return lambda rows, _count: (into, TEXTS[form], rows)

    def send(self, payload: Payload) -> None:
        self._imports = payload.mode == IMPORT
        written = (self.load if self._imports else self.insert)(*payload.data)
        # The count may be higher, because it includes rows that materialized views write.
        if written is not None and written < payload.rows and (written or self.counts_all):
            raise ServerError(f"the server acknowledged {written} of {payload.rows} rows")

    def classify(self, error: Exception) -> Failure:
        """Return the meaning of an error of `send` for its rows.

        The rows of an INSERT become one part of the table or none. The part may exist although the
        server reports an error; only errors that precede its writing are certain. A file becomes
        several parts.
        """
        if isinstance(error, ServerError) and self._imports:
            return Failure.UNKNOWN
        if isinstance(error, ServerError):
            if error.code in _BUSY:
                return Failure.NOT_APPLIED
            return Failure.FATAL if error.code in _FATAL else Failure.UNKNOWN
        return http.classify(error)

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        found = self.execute(_with_format(statement))
        with self.in_client():
            return parse_rows(found.decode(), statement.outputs)

    def ask(self, text: str) -> Sequence[Any]:
        """Run a statement and return its rows, with texts as values."""
        return self.run(Statement(text, ()))

    def delete_before(self, table: Table, until: int) -> None:
        older = sql_changes.before(self.dialect, table, until)
        for name in table.names:
            self.execute(f"ALTER TABLE {self.dialect.name(name)} DELETE WHERE {older}")
        while not all(map(self._has_mutated, table.names)):
            time.sleep(_MUTATION_POLL_S)  # the server does not report the end of a mutation

    def _has_mutated(self, name: str) -> bool:
        """Return whether all mutations of a table are done; ServerError if one failed."""
        ((left, reason),) = self.ask(self.dialect.mutations(name))
        if reason:
            raise ServerError(reason)
        return bool(left == "0")

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        text = "\n".join(line for (line,) in self.ask(f"{EXPLAINS} {statement.text}"))
        yield QueryPlan(statement.text, text, shapes.of_text(text))

    @abstractmethod
    def read_only(self) -> None:
        """Make the engine refuse writes; a statement may still change its own settings."""

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        pieces = self.pieces(_with_format(statement))
        waiting: list[Sequence[Any]] = []
        rest = b""
        try:
            for piece in pieces:
                whole, newline, rest = (rest + piece).rpartition(b"\n")
                # A text that is not valid UTF-8 equals no valid text.
                text = (whole + newline).decode(errors="surrogateescape")
                waiting += parse_rows(text, statement.outputs)
                while len(waiting) >= rows:
                    yield waiting[:rows]
                    waiting = waiting[rows:]
        finally:
            pieces.close()
        if rest:
            raise ServerError(rest.decode(errors="replace"))
        if waiting:
            yield waiting


class ServerSession(ClickhouseSession, HttpSession):
    """A connection to a server's HTTP interface."""

    def __init__(
        self,
        connection: http.Http,
        dialect: ClickhouseDialect,
        settings: Mapping[str, str],
    ) -> None:
        """Store the settings of every statement."""
        ClickhouseSession.__init__(self, dialect)
        HttpSession.__init__(self, connection)
        self._settings = settings
        self._path = f"/?{urlencode(settings)}"
        self._insert_paths: dict[tuple[str, str], str] = {}

    def greet(self) -> None:
        super().greet()
        collects = self._settings.get("async_insert") == "1"
        self.counts_all = self.release >= _ALWAYS_COUNTS and not collects

    def execute(self, statement: str) -> bytes:
        with _convert_refusals():
            return self.http.query("POST", self._path, statement.encode()).body

    def read_only(self) -> None:
        self._path += "&readonly=2"

    def pieces(self, statement: str) -> Generator[bytes, None, None]:
        with _convert_refusals():
            yield from self.http.stream("POST", self._path, statement.encode())

    def insert(self, into: str, form: str, content: bytes) -> int | None:
        return self._count_written(self.http.request, into, form, content)

    def load(self, into: str, form: str, file: Path) -> int | None:
        with contents(file) as content, memoryview(content) as body:
            return self._count_written(self.http.query, into, form, body)

    def _count_written(
        self, post: Callable[..., http.HttpReply], into: str, form: str, body: http.Body
    ) -> int | None:
        path = self._insert_paths.get((into, form))
        if path is None:
            query = {"query": f"{into} FORMAT {form}", **self._settings}
            path = self._insert_paths[into, form] = f"/?{urlencode(query)}"
        with _convert_refusals():
            reply = post("POST", path, body)
        written = _WRITTEN_ROWS.search(reply.headers.get("X-ClickHouse-Summary") or "")
        return int(written[1]) if written else None


@contextmanager
def _convert_refusals() -> Iterator[None]:
    """Raise a refusal with an error code as a ServerError."""
    try:
        yield
    except http.Refused as refused:
        message = refused.reply.body.decode(errors="replace")
        if not _CODE.search(message):
            raise
        raise ServerError(message) from refused


# --- CSV -----------------------------------------------------------------------------------------


def _make_csv(dialect: ClickhouseDialect) -> TextFormat:
    """Return ClickHouse's CSV, with all texts in quotes, so that none is read as NULL."""
    style = ValueStyle(
        null=b"\\N",
        false=b"0",
        true=b"1",
        instants=Iso(zone=b"", decimals=9) if dialect.has_instants else None,
        quote=b'"',
        special=b'"',
        escape=lambda text: text.replace(b'"', b'""'),
    )
    return TextFormat(style, row=Frame(b"", b",", b"\n"), payload=Frame(b"", b"", b""))


def _expect_years(block: Block, years: tuple[int, int]) -> None:
    """Raise UnstorableError for an instant that the server would misread from text."""
    first, last = years
    per_second = block.table.time_unit.per_second
    low, high = _find_second(first) * per_second, _find_second(last + 1) * per_second
    for column in block.table.columns:
        if column.type is not Type.TIMESTAMP:
            continue
        values = block.data[column.name].present()
        outside = values[(values < low) | (values >= high)]
        if len(outside):
            raise UnstorableError(
                f"column {column.name}: {outside[0]} {block.table.time_unit} since 1970 is outside "
                f"the years {first} to {last} that this server reads from CSV; use --extra-option "
                "format=native"
            )


def _find_second(year: int) -> int:
    return int(np.datetime64(f"{year:04}-01-01", "s").astype(np.int64))


# --- answers -------------------------------------------------------------------------------------

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_BOOLS = {"true": True, "1": True, "false": False, "0": False}
_NULL = "\\N"


def _with_format(statement: Statement) -> str:
    return f"{statement.text.rstrip().rstrip(';')} FORMAT TabSeparated"


def parse_rows(text: str, columns: Sequence[Output]) -> list[tuple[Any, ...]]:
    """Return the rows of a tab-separated answer; ServerError if it ends in an error.

    Values are texts if the answer has other columns. A server that fails after "200 OK" appends the
    error to the rows.
    """
    *lines, rest = text.split("\n")
    last = rest or (lines[-1] if lines else "")
    if rest or (last.startswith("Code: ") and "Exception" in last):
        raise ServerError(last)
    cells = [line.split("\t") for line in lines]
    if any(len(row) != len(columns) for row in cells):
        return [tuple(None if cell == _NULL else _unescape(cell) for cell in row) for row in cells]
    readers = (_choose_reader(column.type) for column in columns)
    typed = [
        [None if cell == _NULL else read(cell) for cell in column]
        for column, read in zip(zip(*cells, strict=True), readers, strict=False)
    ]
    return list(zip(*typed, strict=True))


def _choose_reader(kind: Type) -> Callable[[str], Any]:
    if kind is Type.TEXT:
        return _unescape
    if kind in FLOATS:
        return float
    return _BOOLS.__getitem__ if kind is Type.BOOL else int


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: _MEANT.get(found[1], found[1]), text)
