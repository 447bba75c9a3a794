"""A session with InfluxDB: it sends lines as bytes, and queries in Flux and InfluxQL."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from urllib.parse import quote

from simulator.data.block import Array, Block, Coded, Rows
from simulator.data.query import Statement
from simulator.data.schema import Role, Table, TimeUnit, Type
from simulator.encode.columns import LevelCache
from simulator.encode.lineprotocol import INFLUXDB, LineDialect, LineProtocol, tag_text
from simulator.encode.objects import Objects
from simulator.errors import UnstorableError
from simulator.modules.contract import (
    BATCH,
    DRIVER,
    Encoder,
    Envelope,
    Failure,
    MixedEncoder,
    Payload,
    QueryPlan,
)
from simulator.modules.influxdb import query as flux
from simulator.modules.influxdb.query import moment
from simulator.modules.shared import shapes
from simulator.modules.shared.client.driver import batches
from simulator.modules.shared.client.planned import Answers, PlannedQuery, PlannedSession
from simulator.modules.shared.http.client import (
    Http,
    HttpError,
    NoAnswer,
    Refused,
    classify,
    gzip_body,
    lines,
)
from simulator.modules.shared.http.database import HttpSession
from simulator.modules.shared.influx import influxql
from simulator.modules.shared.influx.chunks import Chunk, Language, Subquery, read_named_columns
from simulator.protocol.records import RecordFormat

if TYPE_CHECKING:
    from simulator.modules.influxdb.wire import Client

PRECISIONS = {unit: unit.value for unit in TimeUnit}
_CACHE_FULL = "cache-max-memory-size exceeded"
_STORED = 204
_DROPPED = re.compile(r"partial write: .*dropped=(\d+)", re.DOTALL)


class PartialWrite(HttpError):
    """The server stored some of a request's rows and refused the others."""


class Write(NamedTuple):
    """Parameters of a request that posts lines."""

    path: str
    """Path and query; {database} and {precision} are placeholders."""
    precisions: Mapping[TimeUnit, str]
    gzip: bool
    prefix: str
    """Start of a database's name; the rest is the name of the table."""
    dialect: LineDialect = INFLUXDB


class InfluxSession(PlannedSession, HttpSession):
    """One connection for sends, and the vendor's client for everything else."""

    correcting: ClassVar[str] = BATCH

    def __init__(
        self,
        http: Http,
        write: Write,
        open_client: "Callable[[], Client]",
        language: Language = Language.INFLUXQL,
    ) -> None:
        super().__init__(http)
        self._write = write
        self._open_client = open_client
        self._language = language
        self._headers = {"Content-Type": "text/plain; charset=utf-8"}
        if write.gzip:
            self._headers["Content-Encoding"] = "gzip"

    @cached_property
    def client(self) -> "Client":
        """The vendor's client, which connects when it is first used."""
        return self._open_client()

    def greet(self) -> None:
        self.client.check_access()
        self.http.request("GET", "/ping")

    def close(self) -> None:
        super().close()
        if "client" in self.__dict__:
            self.client.close()

    # --- rows

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        if mode == DRIVER:
            return _encode_points(table, name)
        path, protocol = self._path(table), LineProtocol(table, name, self._write.dialect)

        def encode(block: Block, rows_per_batch: int) -> Sequence[Any]:
            bodies = protocol.encode(block, rows_per_batch)
            return [(path, gzip_body(body) if self._write.gzip else body) for body in bodies]

        return encode

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        path = self._path(tables[0])
        protocols = [LineProtocol(table, table.name, self._write.dialect) for table in tables]

        def encode(blocks: Sequence[Block], edges: Sequence[Rows]) -> Sequence[Any]:
            parts = map(LineProtocol.between, protocols, blocks, edges)
            bodies = map(b"".join, zip(*parts, strict=True))
            return [(path, gzip_body(body) if self._write.gzip else body) for body in bodies]

        return encode

    def envelope(self, tables: Sequence[Table], form: RecordFormat) -> Envelope:
        path = self._path(tables[0])
        return lambda body, _rows: (path, gzip_body(body) if self._write.gzip else body)

    def delete_before(self, table: Table, until: int) -> None:
        last_ns = until * (10**9 // table.time_unit.per_second) - 1  # the end is included
        for name in table.names:
            self.client.delete(self._write.prefix + table.container, name, moment(last_ns))

    def _path(self, table: Table) -> str:
        """Return the path for lines of a table and of all tables in its container."""
        database = quote(self._write.prefix + table.container, safe="")
        precision = self._write.precisions[table.time_unit]
        return self._write.path.format(database=database, precision=precision)

    def send(self, payload: Payload) -> None:
        """Post the lines and return once all of them are acknowledged.

        PartialWrite if the server refused some rows. If InfluxDB 1 cannot read a line of a request,
        it stores the others and reports 0 dropped rows.
        """
        try:
            if payload.mode == DRIVER:
                table: Table = payload.data.into
                bucket = self._write.prefix + table.container
                precision = self._write.precisions[table.time_unit]
                self.client.write(bucket, precision, payload.data.rows)
                return
            path, body = payload.data
            reply = self.http.request("POST", path, body, self._headers)
        except Refused as error:
            dropped = _DROPPED.search(error.words)
            if dropped and int(dropped[1]) != payload.rows:
                raise PartialWrite(
                    f"{dropped[1]} of {payload.rows} rows were dropped: {error.words}"
                ) from error
            raise
        if reply.status != _STORED:  # the only answer of a server that has stored all lines
            raise NoAnswer(f"expected status 204, got {reply.status}: {reply.body[:200]!r}")

    def classify(self, error: Exception) -> Failure:
        """Return what an error of `send` means for its rows.

        After a PartialWrite, some rows are stored: UNKNOWN. If every row was dropped (a field type
        conflict, an instant beyond the retention period), a retry cannot store them: FATAL.
        """
        if isinstance(error, Refused) and _CACHE_FULL in error.words:
            # Rows of other shards may be stored; sending them again replaces them.
            return Failure.NOT_APPLIED
        return classify(error)

    # --- queries

    def plan(self, statement: Statement) -> PlannedQuery:
        """Return the plan; the answer to a user's text has columns with the query's names."""
        if isinstance(statement, PlannedQuery):
            return statement
        read = read_named_columns(statement.outputs)
        fetch = Subquery(statement.text, read, self._language)
        return PlannedQuery(statement.text, statement.outputs, fetches=(fetch,))

    def answers(self, plan: PlannedQuery, rows: int | None = None) -> Answers:
        """Run the statements of a plan, in one request for each language."""
        fetches = [fetch for fetch in plan.fetches if isinstance(fetch, Subquery)]
        in_flux = {fetch.name: fetch for fetch in fetches if fetch.language is Language.FLUX}
        in_influxql = [fetch for fetch in fetches if fetch.language is Language.INFLUXQL]
        if in_flux:
            text = "\n".join(each.text for each in in_flux.values())
            with closing(self.client.flux(text)) as pieces:
                for name, chunk in flux.read_chunks(lines(self.await_parts(pieces))):
                    yield in_flux.get(name, fetches[0]), chunk  # a user's text has other names
        if in_influxql:
            text = "; ".join(each.text for each in in_influxql)
            for number, chunk in self.influxql(text, rows or influxql.CHUNK_ROWS):
                yield in_influxql[min(number, len(in_influxql) - 1)], chunk

    def query_plans(self, statement: Statement) -> Iterator[QueryPlan]:
        """Yield the plan of each statement that answers a query; statements in Flux are run."""
        for fetch in self.plan(statement).fetches:
            assert isinstance(fetch, Subquery)
            if fetch.language is Language.FLUX:
                with closing(self.client.flux(flux.PROFILED + fetch.text)) as pieces:
                    text = flux.plan_of_flux(lines(pieces))
                shape = shapes.of_text(text, lambda line: flux.STAMPS.sub("", line))
            else:
                found = self.influxql(f"{flux.EXPLAIN} {fetch.text}")
                columns = (column for _, chunk in found for column in chunk.columns.values())
                text = "\n".join(str(line) for column in columns for line in column)
                # EXPLAIN only adds how much each part reads, and omits some of many parts.
                shape = shapes.without_values(fetch.text)
            yield QueryPlan(fetch.text, text, shape)

    def influxql(
        self, text: str, chunk_rows: int = influxql.CHUNK_ROWS
    ) -> Iterator[tuple[int, Chunk]]:
        """Run statements of InfluxQL and yield the chunks of each answer, with its number."""
        with closing(self.client.influxql(text, chunk_rows)) as pieces:
            yield from influxql.read_chunks(lines(self.await_parts(pieces)))


# --- rows through influxdb-client's write_api
# https://influxdb-client.readthedocs.io/en/stable/usage.html#write


def _encode_points(table: Table, name: str) -> Encoder:
    """Return the encoder of rows as dicts without NULLs."""
    columns, tags = table.columns, table.tags
    time = columns.index(table.time)
    tagged = [(columns.index(column), column.name) for column in tags]
    fields = [
        (place, column.name)
        for place, column in enumerate(columns)
        if column not in tags and column.role is not Role.TIME
    ]
    marker = INFLUXDB.marker(table)
    always = {marker: True} if marker else {}
    objects = Objects(columns, table.time_unit)
    checks = [(column.name, INFLUXDB.check(table, column)) for column in columns]
    checked = {column.name: LevelCache(partial(_check_tags, column.name)) for column in tags
               if column.type is Type.TEXT}  # fmt: skip

    def point(row: Sequence[Any]) -> dict[str, Any]:
        return {
            "measurement": name,
            "tags": {key: row[place] for place, key in tagged if row[place] is not None},
            "fields": always | {key: row[place] for place, key in fields if row[place] is not None},
            "time": row[time],
        }

    def encode(block: Block, rows_per_batch: int) -> Sequence[Sequence[Any]]:
        for key, check in checks:
            check(block.data[key])
        for key, check_levels in checked.items():
            data = block.data[key]
            if isinstance(data, Coded):
                check_levels(data.levels)
            else:
                _check_tags(key, data.present())
        return [list(map(point, rows)) for rows in objects.encode(block, rows_per_batch)]

    return batches(table, encode)


def _check_tags(column: str, texts: Array) -> None:
    """Raise UnstorableError for a tag that the client or line protocol would change."""
    for text in texts.tolist():
        if b"\t" in text:
            raise UnstorableError(
                f"column {column}: influxdb-client writes a tab in a tag as a backslash and a t,"
                f" found {text.decode()!r}; use client=own"
            )
        tag_text(column, text)
