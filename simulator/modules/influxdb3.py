"""InfluxDB 3 Core and Enterprise: line protocol in, SQL out. By the vendor's documentation only.

https://docs.influxdata.com/influxdb3/core/api/. Each table has a database of its own, in which its
parts are tables; what is the time in ours is called `time` there, and counted in nanoseconds.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar
from urllib.parse import urlencode

from pydantic import Field, SecretStr

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
from simulator.encode.lineprotocol import marker
from simulator.errors import SetupError
from simulator.modules.base import Options, Server
from simulator.modules.influxdb.answers import SECOND_NS, Language
from simulator.modules.influxdb.database import Influxdb, check_names
from simulator.modules.influxdb.influxql import ServerSaid
from simulator.modules.influxdb.query import moment, nanoseconds
from simulator.modules.influxdb.session import InfluxSession, Reach
from simulator.modules.shared import sql
from simulator.modules.shared.http import Http, HttpOptions, lines

_TIME = "time"


class Influx3Options(HttpOptions):
    """Options of the module `influxdb3`."""

    url: str = Field(description="where the server listens, such as http://influxdb3:8181")
    token: SecretStr | None = Field(None, description="an admin token; none if it asks for none")
    prefix: str = Field(
        "benchmark_",
        description="what the names of the databases begin with: each table has one of its own, "
        "such as benchmark_events; Core takes 5 databases",
    )
    no_sync: bool = Field(
        default=False, description="have rows acknowledged before they are in the write-ahead log"
    )
    gzip: bool = Field(default=False, description="compress what is written, on the client's time")


class _Dialect(sql.Dialect):
    """DataFusion's SQL."""

    types: ClassVar[dict[Type, str]] = {}

    def name(self, identifier: str) -> str:
        """Return an identifier in quotes, without which it would be folded to lower case."""
        return '"' + identifier.replace('"', '""') + '"'

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal to compare the time with."""
        return f"TIMESTAMP '{moment(value * (SECOND_NS // unit.per_second))}'"

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column as a number; instants in the table's unit."""
        if column.type is Type.TIMESTAMP:
            unit_ns = SECOND_NS // unit.per_second
            return f"CAST({self.name(column.name)} AS BIGINT) / {unit_ns}"
        if column.type is Type.BOOL:
            return f"CAST({self.name(column.name)} AS BIGINT)"
        return self.name(column.name)  # every float is a double, every integer of 64 bits


_DIALECT = _Dialect()


class Influxdb3(Influxdb):
    """An InfluxDB 3 server."""

    name = "influxdb3"
    capabilities = replace(
        Influxdb.capabilities,
        acknowledged="in the write-ahead log in the object store, unless no_sync=true",
        oldest={"InfluxDB": (3, 0)},
        limits=(
            *Influxdb.capabilities.limits[:-1],
            "tags are texts",
            "Core refuses queries over more than 432 files, about 72 hours of data",
        ),
    )
    options_model: ClassVar[type[Options]] = Influx3Options
    options: Influx3Options  # type: ignore[assignment]

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        return super(Influxdb, self).problems(primary_key, parts, batch_rows)

    # --- connections

    def _session(self) -> "Influx3Session":
        options = self.options
        flags = urlencode({"accept_partial": "false", "no_sync": str(options.no_sync).lower()})
        reach = Reach(
            write=f"/api/v3/write_lp?db={{database}}&precision={{precision}}&{flags}",
            influxql="",
            flux="",
            precisions={unit: unit.name.lower() for unit in TimeUnit},
            gzip=options.gzip,
            query_timeout_s=options.query_timeout_s,
        )
        token = options.token.get_secret_value() if options.token else ""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return Influx3Session(Http(options, headers), reach, options.prefix, Language.INFLUXQL)

    def _greet(self, http: Http) -> None:
        http.request("GET", "/api/v3/configure/database?format=json")

    # --- databases

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create a database for each table; all or none."""
        for table in tables:
            check_names(table)
            for tag in table.tags:
                if tag.type is not Type.TEXT:
                    raise SetupError(f"{self.name}: column {tag.name}: expected a text for a tag")
        names = [self._bucket(table) for table in tables]
        with self._admin() as session:
            http = session.http
            taken = self._databases(http)
            for name in names:
                if name in taken:
                    raise SetupError(
                        f"{self.name}: database {name} already exists; drop it, or run with --clean"
                    )
            for name, table in zip(names, tables, strict=True):
                body = json.dumps({"db": name}).encode()
                http.request("POST", "/api/v3/configure/database", body, _JSON)
                for part in table.names:  # so that an empty one can be asked
                    body = json.dumps({"db": name, "table": part, **_columns(table)}).encode()
                    http.request("POST", "/api/v3/configure/table", body, _JSON)

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables' databases; their files go when the server cleans up."""
        with self._admin() as session:
            taken = self._databases(session.http)
            for name in map(self._bucket, tables):
                if name in taken:
                    path = "/api/v3/configure/database?" + urlencode({"db": name})
                    session.http.request("DELETE", path)

    @staticmethod
    def _databases(http: Http) -> set[str]:
        found = http.request("GET", "/api/v3/configure/database?format=json").json()
        return {row["iox::database"] for row in found}

    # --- the server

    def settle(self, tables: Sequence[Table]) -> None:
        """Do nothing: acknowledged rows can be queried, and nothing makes the server compact."""

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return None: the server tells of files, and not of rows that are in its log alone."""
        return None

    def describe(self) -> Server:
        """Return the version; what an acknowledgement is worth depends on the object store."""
        with self._admin() as session:
            version = session.http.request("GET", "/ping").json()["version"]
        if self.options.no_sync:
            durability = "an acknowledged row is in memory (no_sync=true)"
            return Server(f"InfluxDB {version}", 1, durability, durable=False)
        durability = (
            "an acknowledged row is in the write-ahead log in the object store; whether a local "
            "disk has synced it, the server does not tell"
        )
        return Server(f"InfluxDB {version}", 1, durability, durable=None)

    # --- queries

    def render(self, query: Query) -> Statement:
        """Return the query as SQL, whose columns are called c0, c1, ...: NULLs are left out."""
        asked = sql.render(_DIALECT, _as_stored(query)).text
        columns = outputs(query)
        names = ", ".join(f"c{place}" for place in range(len(columns)))
        text = f"SELECT * FROM ({asked}) AS answer ({names})"
        return Statement(text, columns, (self._bucket(query.table),))


_JSON = {"Content-Type": "application/json"}
_TYPES = {
    **dict.fromkeys((*INTEGERS, Type.TIMESTAMP), "int64"),
    **dict.fromkeys(FLOATS, "float64"),
    Type.BOOL: "bool",
    Type.TEXT: "utf8",
}


def _columns(table: Table) -> dict[str, Any]:
    """Return a table's columns as the server wants them told."""
    fields = {c.name: _TYPES[c.type] for c in (*table.fields, *table.with_role(Role.KEY))}
    fields.setdefault(marker(table), "bool")
    return {
        "tags": [tag.name for tag in table.tags],
        "fields": [{"name": name, "type": kind} for name, kind in fields.items()],
    }


class Influx3Session(InfluxSession):
    """A connection, over which lines go out as bytes and SQL is asked."""

    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and fetch every row."""
        return [*self._rows(statement)]

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield its rows in portions as they come."""
        portion = []
        for row in self._rows(statement):
            portion.append(row)
            if len(portion) == rows:
                yield portion
                portion = []
        if portion:
            yield portion

    def _rows(self, statement: Statement) -> Iterator[Sequence[Any]]:
        if not statement.parameters:
            raise ServerSaid("a query of config.yaml does not tell the database, which has to be")
        (database,) = statement.parameters
        body = json.dumps({"db": database, "q": statement.text, "format": "jsonl"}).encode()
        timeout_s = self._reach.query_timeout_s
        columns = [(f"c{place}", output) for place, output in enumerate(statement.outputs)]
        pieces = self.http.stream("POST", "/api/v3/query_sql", body, _JSON, timeout_s)
        for line in lines(pieces):
            row = json.loads(line)
            yield [_value(output, row.get(name)) for name, output in columns]


def _value(output: Output, value: Any) -> Any:
    """Return a value; what comes as text and is none is the time."""
    if isinstance(value, str) and output.type is not Type.TEXT:
        return nanoseconds(value) // (SECOND_NS // output.unit.per_second)
    return value


def _as_stored(query: Query) -> Query:
    """Return a query about the table as it is stored: other types, and another name of the time."""
    table = query.table
    renamed = {table.time.name: _TIME}
    stored = replace(table, columns=tuple(map(_stored, table.columns)))
    match query:
        case AggregateQuery():
            aggregates = tuple(
                replace(a, column=renamed.get(a.column or "", a.column)) for a in query.aggregates
            )
            return replace(query, table=stored, aggregates=aggregates)
        case NewestQuery() | DistinctQuery():
            columns = tuple(renamed.get(name, name) for name in query.columns)
            return replace(query, table=stored, columns=columns)
        case RowsQuery():
            return replace(query, table=stored)


def _stored(column: Column) -> Column:
    if column.role is Role.TIME:
        return replace(column, name=_TIME, type=Type.TIMESTAMP)
    is_instant = column.type is Type.TIMESTAMP
    return replace(column, type=Type.INT64) if is_instant else column
