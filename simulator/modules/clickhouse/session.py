"""One connection to ClickHouse: how rows are sent and read, and what an error says about them.

What differs between a server and the embedded engine is the Channel.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np

from simulator.data.block import Block
from simulator.data.query import Output, Statement
from simulator.data.schema import FLOATS, Table, Type
from simulator.encode.instants import Iso
from simulator.encode.native import Native, RowBinary
from simulator.encode.rows import Frame
from simulator.encode.text import Format, Style, Text
from simulator.errors import UnstorableError
from simulator.modules.base import BATCH, SINGLE, Failure, Payload, Session
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.shared import http

_CODE = re.compile(r"Code: (\d+)[.,]")
_TRAIL = re.compile(r"(, e\.what\(\) = .*| \(version [^()]*(\([^()]*\))?[^()]*\))\s*$")
_ENGINE_WORDS = re.compile(r"^.*?(?=Code: \d+)", re.DOTALL)

_BUSY = frozenset({202, 203, 252, 745})  # too many queries, connections, parts; overloaded
_FATAL = frozenset(
    # cannot parse, no such column, table, database, type, format; arguments, settings and syntax
    {6, 10, 16, 20, 26, 27, 33, 36, 38, 41, 43, 44, 46, 47, 50, 53, 60, 62, 69, 72, 73, 81, 115}
    # wrong data, quota, read-only, user, password, rights, no room, NULL where none may be
    | {117, 131, 164, 192, 193, 194, 201, 242, 243, 291, 349, 497, 516}
)


ROWBINARY = "rowbinary"
"""Insert mode: a batch row by row, in binary."""
CSV = "csv"
"""Insert mode: a batch as text."""

FORMS = {SINGLE: "Native", BATCH: "Native", ROWBINARY: "RowBinary", CSV: "CSV"}
"""Insert mode -> the format of its payloads."""


class ServerError(Exception):
    """The server, or the engine, has refused or broken off a statement."""

    def __init__(self, told: str) -> None:
        found = _CODE.search(told)
        self.code = int(found[1]) if found else None
        words = _ENGINE_WORDS.sub("", told) if found else told
        super().__init__(" ".join(_TRAIL.sub("", words).split()))


class Channel(ABC):
    """A way to the engine."""

    alive = True

    @abstractmethod
    def execute(self, statement: str) -> bytes:
        """Run a statement and return its whole output."""

    @abstractmethod
    def pieces(self, statement: str) -> Iterator[bytes]:
        """Run a statement and yield its output as it comes."""

    @abstractmethod
    def insert(self, into: str, form: str, content: bytes) -> None:
        """Insert rows; return once they are acknowledged."""

    @abstractmethod
    def close(self) -> None:
        """Close it; never raises."""


class HttpChannel(Channel):
    """A server's HTTP interface."""

    def __init__(
        self, connection: http.Http, settings: Mapping[str, str], query_timeout_s: float
    ) -> None:
        self._http = connection
        self._settings = settings
        self._query_timeout_s = query_timeout_s
        self._path = f"/?{urlencode(settings)}"
        self._insert_paths: dict[tuple[str, str], str] = {}

    @property
    def alive(self) -> bool:  # type: ignore[override]
        """Whether the connection can still be used."""
        return self._http.alive

    def execute(self, statement: str) -> bytes:
        """Post a statement."""
        return self._post(self._path, statement.encode(), self._query_timeout_s)

    def _post(self, path: str, body: bytes, timeout_s: float | None = None) -> bytes:
        try:
            return self._http.request("POST", path, body, timeout_s=timeout_s).body
        except http.Refused as refused:
            raise _in_its_words(refused) from refused

    def pieces(self, statement: str) -> Iterator[bytes]:
        """Post a statement and yield the answer as it comes."""
        body = statement.encode()
        try:
            yield from self._http.stream("POST", self._path, body, None, self._query_timeout_s)
        except http.Refused as refused:
            raise _in_its_words(refused) from refused

    def insert(self, into: str, form: str, content: bytes) -> None:
        """Post rows; the server answers when it has stored them (see `async_insert`)."""
        path = self._insert_paths.get((into, form))
        if path is None:
            query = {"query": f"{into} FORMAT {form}", **self._settings}
            path = self._insert_paths[into, form] = f"/?{urlencode(query)}"
        self._post(path, content)

    def close(self) -> None:
        """Close the connection."""
        self._http.close()


def _in_its_words(refused: http.Refused) -> Exception:
    """Return a refusal with the number of its error, if the server has given one."""
    told = refused.reply.body.decode(errors="replace")
    return ServerError(told) if _CODE.search(told) else refused


class ClickhouseSession(Session):
    """A connection; ClickHouse knows no transactions, a statement is all there is."""

    def __init__(
        self, channel: Channel, dialect: ClickhouseDialect, text_years: tuple[int, int]
    ) -> None:
        self.channel = channel
        self._dialect = dialect
        self._text_years = text_years
        self._encoders: dict[tuple[str, str], _Encoder] = {}

    def close(self) -> None:
        """Close the connection."""
        self.channel.close()

    @property
    def alive(self) -> bool:
        """Whether the connection can still be used."""
        return self.channel.alive

    def encode(self, block: Block, mode: str, rows_per_send: int) -> Sequence[Payload]:
        """Return the block in the format of the mode, cut into payloads."""
        encoder = self._encoders.get((block.name, mode))
        if encoder is None:
            form, years = FORMS[mode], self._text_years
            encoder = _Encoder(self._dialect, block.table, block.name, form, years)
            self._encoders[block.name, mode] = encoder
        contents = encoder.encode(block, rows_per_send)
        into, form = encoder.into, encoder.form
        starts = range(0, len(block), rows_per_send)
        return [
            Payload(min(rows_per_send, len(block) - start), mode, (into, form, content))
            for start, content in zip(starts, contents, strict=True)
        ]

    def send(self, payload: Payload) -> None:
        """Insert the rows and return once they are acknowledged."""
        self.channel.insert(*payload.data)

    def classify(self, error: Exception) -> Failure:
        """Say what an error of `send` means for its rows.

        The rows of an INSERT become one part of the table, which is there or not; but that a part
        is there may remain untold, so only errors that come before it is written are certain.
        """
        if isinstance(error, ServerError):
            if error.code in _BUSY:
                return Failure.NOT_APPLIED
            return Failure.FATAL if error.code in _FATAL else Failure.UNKNOWN
        return http.classify(error)

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        text = self.channel.execute(_with_format(statement)).decode()
        return _rows(text, statement.outputs)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions, as they come."""
        pieces = self.channel.pieces(_with_format(statement))
        waiting: list[Sequence[Any]] = []
        rest = b""
        try:
            for piece in pieces:
                whole, newline, rest = (rest + piece).rpartition(b"\n")
                waiting += _rows((whole + newline).decode(), statement.outputs)
                while len(waiting) >= rows:
                    yield waiting[:rows]
                    waiting = waiting[rows:]
        finally:
            pieces.close()  # type: ignore[attr-defined]  # it is a generator
        if rest:
            raise ServerError(rest.decode(errors="replace"))
        if waiting:
            yield waiting


class _Encoder:
    """Makes blocks of one physical table into payloads of one format."""

    def __init__(
        self,
        dialect: ClickhouseDialect,
        table: Table,
        name: str,
        form: str,
        text_years: tuple[int, int],
    ) -> None:
        names = dialect.names([column.name for column in table.columns])
        self.into = f"INSERT INTO {dialect.name(name)} ({names})"
        self.form = form
        self.encode: Callable[[Block, int], list[bytes]]
        if form == FORMS[BATCH]:
            self.encode = Native(table.columns, dialect.types_of(table)).encode
        elif form == FORMS[ROWBINARY]:
            self.encode = RowBinary(table.columns).encode
        else:
            text = Text.of(table.columns, table.time_unit, _csv(dialect))

            def encode(block: Block, rows: int) -> list[bytes]:
                if dialect.has_instants:
                    _expect_years(block, text_years)
                return text.encode(block, rows)

            self.encode = encode


def _csv(dialect: ClickhouseDialect) -> Format:
    """Return ClickHouse's CSV; every text is quoted, so that none is taken for NULL."""
    style = Style(
        null=b"\\N",
        false=b"0",
        true=b"1",
        instants=Iso(zone=b"", decimals=9) if dialect.has_instants else None,
        quote=b'"',
        special=b'"',
        escape=lambda text: text.replace(b'"', b'""'),
    )
    return Format(style, row=Frame(b"", b",", b"\n"), payload=Frame(b"", b"", b""))


def _expect_years(block: Block, years: tuple[int, int]) -> None:
    """Refuse instants that the server would read from text as others."""
    first, last = years
    per_second = block.table.time_unit.per_second
    low, high = _second_of_year(first) * per_second, _second_of_year(last + 1) * per_second
    for column in block.table.columns:
        if column.type is not Type.TIMESTAMP:
            continue
        data = block.data[column.name]
        values = data.values() if data.valid is None else data.values()[data.valid]
        outside = values[(values < low) | (values >= high)]
        if len(outside):
            raise UnstorableError(
                f"column {column.name}: {outside[0]} {block.table.time_unit} after 1970 lies "
                f"outside of the years {first} to {last}, which this server reads from CSV; use "
                "--extra-option format=native"
            )


def _second_of_year(year: int) -> int:
    return int(np.datetime64(f"{year:04}-01-01", "s").astype(np.int64))


# --- answers -------------------------------------------------------------------------------------

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_MEANT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "0": "\0"}
_BOOLS = {"true": True, "1": True, "false": False, "0": False}
_NULL = "\\N"


def _with_format(statement: Statement) -> str:
    return f"{statement.text.rstrip().rstrip(';')} FORMAT TabSeparated"


def _rows(text: str, columns: Sequence[Output]) -> list[tuple[Any, ...]]:
    """Return the rows of a tab-separated answer; ServerError if it ends in an error instead.

    The server may find out that it cannot go on when it has answered "200 OK" already.
    """
    *lines, rest = text.split("\n")
    last = rest or (lines[-1] if lines else "")
    if rest or (last.startswith("Code: ") and "Exception" in last):
        raise ServerError(last)
    cells = [line.split("\t") for line in lines]
    if any(len(row) != len(columns) for row in cells):
        return [tuple(row) for row in cells]  # whoever asked will say what is wrong with it
    typed = [
        [None if cell == _NULL else value_of(cell) for cell in column]
        for column, value_of in zip(
            zip(*cells, strict=True), (_value_of(c.type) for c in columns), strict=False
        )
    ]
    return list(zip(*typed, strict=True))


def _value_of(kind: Type) -> Callable[[str], Any]:
    if kind is Type.TEXT:
        return _unescaped
    if kind in FLOATS:
        return float
    return _BOOLS.__getitem__ if kind is Type.BOOL else int


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPED.sub(lambda found: _MEANT.get(found[1], found[1]), text)
