"""InfluxDB 3 Core and Enterprise, by HTTP: line protocol and SQL.

https://docs.influxdata.com/influxdb3/core/api/. Each table has its own database, with a
table for each part; the time column is called `time` and counts nanoseconds. The vendor's client
for InfluxDB 2 has no method for this API, so this file makes every request.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, NoReturn
from urllib.parse import urlencode

from pydantic import Field, SecretStr

from simulator.data.answer import in_units
from simulator.data.derived import innermost, with_innermost
from simulator.data.own_query import TextQuery
from simulator.data.query import (
    AggregateQuery,
    DistinctQuery,
    NewestQuery,
    Output,
    Query,
    RowsQuery,
    Statement,
    outputs,
)
from simulator.data.schema import FLOATS, INTEGERS, Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.encode import lineprotocol
from simulator.encode.lineprotocol import marker
from simulator.encode.text import ValueStyle
from simulator.errors import SetupError, UnstorableError
from simulator.modules.contract import (
    Changes,
    Columns,
    Contents,
    Existing,
    Options,
    QueryPlan,
    Server,
    TextLanguage,
)
from simulator.modules.influxdb.database import OWN_MODES, Influxdb
from simulator.modules.influxdb.query import moment, nanoseconds
from simulator.modules.influxdb.session import InfluxSession, Write
from simulator.modules.shared import shapes
from simulator.modules.shared.client.contents import portions
from simulator.modules.shared.http.client import Http, HttpOptions, lines
from simulator.modules.shared.influx.chunks import SECOND_NS
from simulator.modules.shared.influx.influxql import QueryFailed
from simulator.modules.shared.sql import language as sql
from simulator.modules.shared.sql import queries
from simulator.modules.shared.sql.texts import SqlTexts

_TIME = "time"
_DATABASE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_NUMBER = re.compile(r"[-+]?[0-9.]+(e[-+]?[0-9]+)?")
_TYPES = {
    **dict.fromkeys((*INTEGERS, Type.TIMESTAMP), "int64"),
    **dict.fromkeys(FLOATS, "float64"),
    Type.BOOL: "bool",
    Type.TEXT: "utf8",
}


class Influx3Options(HttpOptions):
    """Options of the module `influxdb3`."""

    url: str = Field(description="where the server listens, such as http://influxdb3:8181")
    token: SecretStr | None = Field(
        None, description="an admin token; leave out where the server runs without authentication"
    )
    prefix: str = Field(
        "benchmark_",
        description="prefix of the databases' names: each table has a database of its own, such as "
        "benchmark_events; Core has 5 databases at most",
    )
    no_sync: bool = Field(
        default=False, description="acknowledge rows before they are in the write-ahead log"
    )
    gzip: bool = Field(default=False, description="compress writes, which takes client time")


class _Dialect(sql.Dialect):
    """DataFusion's SQL."""

    types: ClassVar[dict[Type, str]] = {}

    def name(self, identifier: str) -> str:
        """Return an identifier in quotes, because others lose their upper-case letters."""
        return sql.quote(identifier)

    def instant(self, value: int, unit: TimeUnit) -> str:
        return f"TIMESTAMP '{moment(value * (SECOND_NS // unit.per_second))}'"

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        name, function = self.name(column.name), "last_value" if last else "first_value"
        # InfluxDB's SQL has no FILTER, so sort NULL last for the first value, and conversely.
        some = f"{name} IS {'NOT ' if last else ''}NULL, " if column.nullable else ""
        return f"{function}({name} ORDER BY {some}{time})"

    def operand(self, column: Column, value: float) -> str:
        return _as_number(column, self.name(column.name))

    def total(self, column: Column, unit: TimeUnit) -> str:
        """Return the sum of a column, as a decimal where 64 bits would overflow silently."""
        number = self.number(column, unit)
        wide = column.type in (Type.INT64, Type.TIMESTAMP)
        return f"sum(CAST({number} AS DECIMAL(38, 0)))" if wide else f"sum({number})"

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column as a number; instants in the table's unit."""
        if column.role is Role.TAG:
            return _as_number(column, self.name(column.name))
        if column.type is Type.TIMESTAMP:
            unit_ns = SECOND_NS // unit.per_second
            return f"CAST({self.name(column.name)} AS BIGINT) / {unit_ns}"
        if column.type is Type.BOOL:
            return f"CAST({self.name(column.name)} AS BIGINT)"
        return self.name(column.name)  # floats are doubles, integers have 64 bits


class _Lines(lineprotocol.LineDialect):
    """Line protocol with escaped backslashes and without tabs in tags."""

    def tag(self, column: Column) -> ValueStyle:
        escape = partial(_escape_tag, column.name)
        return replace(super().tag(column), special=b",= \\\n\r\t", escape=escape)


def _escape_tag(column: str, text: bytes) -> bytes:
    """Return a tag's value; UnstorableError for one that InfluxDB 3 cannot read."""
    shown, limit = text.decode(errors="replace"), ""
    if any(byte in text for byte in (b"\n", b"\r", b"\t")):
        limit = "a tab or a line end"
    elif text.endswith(b"\\"):
        limit = "a backslash at the end"
    if limit:
        raise UnstorableError(
            f"column {column}: {shown!r} cannot be a tag: tags cannot have {limit}"
        )
    return lineprotocol.escape(text, b",= \\")


def _as_number(column: Column, name: str) -> str:
    """Return a column; a tag that holds a number as text is cast to it."""
    if column.role is not Role.TAG or column.type is Type.TEXT:
        return name
    return f"CAST({name} AS {'DOUBLE' if column.type in FLOATS else 'BIGINT'})"


_DIALECT = _Dialect()
_EXPLAIN = "EXPLAIN"


class Influxdb3(Influxdb):
    """An InfluxDB 3 server."""

    name = "influxdb3"
    urls = ("influxdb3://HOST:8181",)
    capabilities = replace(
        Influxdb.capabilities,
        changes=Changes(no_deletion="InfluxDB 3 Core deletes whole tables and databases only"),
        modes=OWN_MODES,
        acknowledged="in the write-ahead log in the object store, unless no_sync=true",
        oldest={"InfluxDB": (3, 0)},
        plans=f"{_EXPLAIN} (not yet tried on a server)",
        in_client="decodes JSON",
        unsupported={},
        no_time_sums="",
        no_wide_sums="",
        limits=(
            *Influxdb.capabilities.limits[:-2],
            "only letters, digits, _ and - in table names",
            "tags are stored as texts, and none is a boolean",
            "Core refuses queries over more than 432 files, about 72 hours of data",
        ),
    )
    options_model: ClassVar[type[Options]] = Influx3Options
    options: Influx3Options  # type: ignore[assignment]

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        """Return the known problems; InfluxDB 2 has further ones."""
        return super(Influxdb, self).problems(key, parts, mode, batch_rows)

    # --- connections

    def open(self) -> "Influx3Session":
        options = self.options
        # Without accept_partial=false, valid lines of a refused request would be stored.
        flags = urlencode({"accept_partial": "false", "no_sync": str(options.no_sync).lower()})
        write = Write(
            f"/api/v3/write_lp?db={{database}}&precision={{precision}}&{flags}",
            {unit: unit.name.lower() for unit in TimeUnit},
            gzip=options.gzip,
            dialect=_Lines(),
            prefix=options.prefix,
        )
        token = options.secrets().get("token", "")
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return Influx3Session(Http(options, headers), write, _no_client)

    # --- databases

    container = "database"
    field_types = _TYPES

    def find_containers(self, session: InfluxSession, names: Collection[str]) -> set[str]:
        found = session.http.request("GET", "/api/v3/configure/database?format=json").json()
        return {*names} & {row["iox::database"] for row in found}

    def create_container(self, session: InfluxSession, name: str, *, signed: bool) -> None:
        body = json.dumps({"db": name}).encode()
        session.http.request("POST", "/api/v3/configure/database", body, _JSON)

    def drop_container(self, session: InfluxSession, name: str) -> None:
        """Drop a database; the server deletes its files later."""
        path = "/api/v3/configure/database?" + urlencode({"db": name})
        session.http.request("DELETE", path)

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return nothing: a database has no place for a signature."""
        return {}

    def columns_in(self, name: str) -> Columns:
        with self.administration() as session:
            rows = session.run(Statement(_COLUMNS, _COLUMN, (name,)))
        kinds = ((t, c, "tag" if kind.startswith("Dictionary") else kind) for t, c, kind in rows)
        return {f"{table}.{column}": _API.get(kind, kind) for table, column, kind in kinds}

    def contents(self, name: str, found: Existing) -> Contents:
        """Return nothing: the server's sizes of files lack rows that are only in its log."""
        return Contents()

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        for tag in (tag for table in tables for tag in table.tags):
            if tag.type is Type.BOOL:
                raise SetupError(f"{self.name}: column {tag.name}: a tag must not be a boolean")
        for name in self.buckets(tables):
            if not _DATABASE.fullmatch(name):
                raise UnstorableError(
                    f"{self.name}: database {name!r}: InfluxDB 3 accepts letters, digits, _ and -"
                )
        super().create(tables, batch_rows)
        with self.administration() as session:
            for table in tables:
                name = self.bucket(table)
                for part in table.names:  # a query fails without the table, also without rows
                    body = json.dumps(
                        {"db": name, "table": part, **_define_columns(table)}
                    ).encode()
                    session.http.request("POST", "/api/v3/configure/table", body, _JSON)

    # --- the server

    def compact(self, tables: Sequence[Table]) -> None:
        """Do nothing: Core writes its files by itself and merges none."""

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return None: the server's sizes of files lack rows that are only in its log."""
        return None

    def describe(self) -> Server:
        """Return the version and the durability, which depends on the object store."""
        with self.administration() as session:
            version = session.http.request("GET", "/ping").json()["version"]
        if self.options.no_sync:
            durability = "an acknowledged row is in memory (no_sync=true)"
            return Server(f"InfluxDB {version}", 1, durability, durable=False)
        durability = (
            "an acknowledged row is in the write-ahead log in the object store; whether a local "
            "disk has synced it, the server does not report"
        )
        return Server(f"InfluxDB {version}", 1, durability, durable=None)

    # --- queries

    def translate(self, query: Query) -> Statement:
        """Return the query as SQL with columns c0, c1, ..., because answers omit NULLs."""
        asked = queries.render(_DIALECT, with_innermost(query, _as_stored)).text
        columns = outputs(query)
        names = ", ".join(f"c{place}" for place in range(len(columns)))
        text = f"SELECT * FROM ({asked}) AS answer ({names})"
        return Statement(text, columns, (self.bucket(innermost(query).table),))

    def texts(self, table: Table) -> TextLanguage:
        stored = replace(table, columns=tuple(map(_find_stored, table.columns)))
        return _Texts(_DIALECT, stored, [self.name], self.bucket(table))


class _Texts(SqlTexts):
    """SQL about one database; its columns have the names that `translate` uses."""

    def __init__(
        self, dialect: sql.Dialect, table: Table, keys: Sequence[str], database: str
    ) -> None:
        super().__init__(dialect, table, keys)
        self._database = database

    def statement(self, query: TextQuery) -> Statement:
        """Return the text with its parameters."""
        asked = super().statement(query)
        names = ", ".join(f"c{place}" for place in range(len(asked.outputs)))
        inner = asked.text.strip().rstrip(";")
        text = f"SELECT * FROM ({inner}\n) AS answer ({names})"
        return replace(asked, text=text, parameters=(self._database,))


_OF_A_RUN = re.compile(
    r"(?:file_groups|chunks|files|metrics|partition_sizes)=(?:\{.*?\}|\[.*?\]|\w+),? ?"
)
"""Parts of a plan that differ by run: the files and parts that are read."""
_JSON = {"Content-Type": "application/json"}
_COLUMNS = (
    "SELECT table_name AS c0, column_name AS c1, data_type AS c2 FROM information_schema.columns "
    "WHERE table_schema = 'iox' AND column_name <> 'time'"
)
_API = {"Boolean": "bool"}
"""Type in the schema -> type in the API, where they differ in more than case."""
_COLUMN = (Output("table", Type.TEXT, TimeUnit.SECOND),) * 3


def _define_columns(table: Table) -> dict[str, Any]:
    """Return a table's columns in the form of the server's API."""
    fields = {c.name: _TYPES[c.type] for c in (*table.fields, *table.with_role(Role.KEY))}
    fields.setdefault(marker(table), "bool")
    return {
        "tags": [tag.name for tag in table.tags],
        "fields": [{"name": name, "type": kind} for name, kind in fields.items()],
    }


class Influx3Session(InfluxSession):
    """A connection for lines as bytes and for queries in SQL."""

    def greet(self) -> None:
        self.http.request("GET", "/api/v3/configure/database?format=json")

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        with self.in_client():
            return [*self._rows(statement)]

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plans of a statement without running it."""
        asked = replace(statement, text=f"{_EXPLAIN} {statement.text}")
        text = "\n".join(f"{row['plan_type']}:\n{row['plan']}" for row in self._answers(asked))
        shape = shapes.of_text(text, lambda line: _OF_A_RUN.sub("", line))
        yield QueryPlan(statement.text, text, shape)

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        return portions(self._rows(statement), rows)

    def _rows(self, statement: Statement) -> Iterator[Sequence[Any]]:
        columns = [(f"c{place}", output) for place, output in enumerate(statement.outputs)]
        for row in self._answers(statement):
            yield [_convert(output, row.get(name)) for name, output in columns]

    def _answers(self, statement: Statement) -> Iterator[dict[str, Any]]:
        if not statement.parameters:
            raise QueryFailed("a query in config.yaml names no database, which InfluxDB 3 requires")
        (database,) = statement.parameters
        body = json.dumps({"db": database, "q": statement.text, "format": "jsonl"}).encode()
        pieces = self.http.stream("POST", "/api/v3/query_sql", body, _JSON)
        for line in lines(self.await_parts(pieces)):
            yield json.loads(line)


def _no_client() -> NoReturn:
    raise NotImplementedError("influxdb-client has no method for the API of InfluxDB 3")


def _convert(output: Output, value: Any) -> Any:
    """Convert a value to its column's type: the server returns tags and instants as texts."""
    if not isinstance(value, str) or output.type is Type.TEXT:
        return value
    if _NUMBER.fullmatch(value):
        return float(value) if output.type in FLOATS else int(value)
    return in_units(nanoseconds(value), SECOND_NS // output.unit.per_second)


def _as_stored(query: Query) -> Query:
    """Return a query for the stored table, which has other types and another name of the time."""
    table = query.table
    renamed = {table.time.name: _TIME}

    def names(columns: Sequence[str]) -> tuple[str, ...]:
        return tuple(renamed.get(name, name) for name in columns)

    columns = tuple(map(_find_stored, table.columns))
    stored = replace(table, columns=columns, key=names(table.key))
    match query:
        case AggregateQuery():
            aggregates = tuple(
                replace(a, column=renamed.get(a.column or "", a.column)) for a in query.aggregates
            )
            return replace(query, table=stored, aggregates=aggregates)
        case NewestQuery() | DistinctQuery() | RowsQuery():
            return replace(query, table=stored, columns=names(query.columns))


def _find_stored(column: Column) -> Column:
    if column.role is Role.TIME:
        return replace(column, name=_TIME, type=Type.TIMESTAMP)
    is_instant = column.type is Type.TIMESTAMP
    return replace(column, type=Type.INT64) if is_instant else column
