"""The rawest client of each database: prepared rows and a bare connection.

Each function takes the rows of a worker and returns a function that sends them all. Everything else
is prepared before the clock starts. Payloads come from the module's encoder, so the database gets
the same bytes, except where the driver's call takes other types (SQLite, Cassandra) or the vendor's
loader reads a file (MySQL).
"""

import io
import socket
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from simulator.data.block import Block
from simulator.data.schema import PrimaryKey, Table
from simulator.encode.objects import Objects
from simulator.modules.contract import BATCH, Database, Payload

Send = Callable[[], object]
Stored = Callable[[int, bytes], bool]
"""True if an HTTP status and body mean that the rows are stored."""


@dataclass(frozen=True)
class Prepared:
    """The rows of one connection."""

    module: Database
    options: Mapping[str, Any]
    """Options of the module."""
    table: Table
    blocks: list[Block]
    batch_rows: int

    def payloads(self) -> list[Payload]:
        """Return the rows as the module's own session encodes them."""
        with self.module.connect() as session:
            return [
                payload
                for block in self.blocks
                for payload in session.encode(block, BATCH, self.batch_rows)
            ]

    def objects(self) -> list[Any]:
        """Return the rows as lists of Python values, one list per batch."""
        encoder = Objects(self.table.columns, self.table.time_unit)
        return [rows for block in self.blocks for rows in encoder.encode(block, self.batch_rows)]


def sqlite_executemany(given: Prepared) -> Send:
    """Execute a statement for many rows, one transaction per batch."""
    batches = given.objects()
    columns = ", ".join(column.name for column in given.table.columns)
    marks = ", ".join("?" * len(given.table.columns))
    insert = f"INSERT INTO events ({columns}) VALUES ({marks})"
    connection = sqlite3.connect(given.options["path"], isolation_level=None, timeout=30)
    connection.execute("PRAGMA synchronous = normal")

    def send() -> None:
        for rows in batches:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(insert, rows)
            connection.execute("COMMIT")

    return send


def duckdb_arrow(given: Prepared) -> Send:
    """Insert Arrow tables, one transaction each."""
    import duckdb

    tables = [payload.data[1] for payload in given.payloads()]
    columns = ", ".join(f'"{column.name}"' for column in given.table.columns)
    connection = duckdb.connect(given.options["path"])

    def send() -> None:
        for rows in tables:  # noqa: B007  # the statement names it
            connection.execute(f"INSERT INTO events ({columns}) SELECT * FROM rows")

    return send


def chdb_insert(given: Prepared) -> Send:
    """Insert prepared blocks in ClickHouse's native format."""
    import chdb

    payloads = [payload.data for payload in given.payloads()]
    connection = chdb.connect(str(Path(given.options["path"]).resolve()))

    def send() -> None:
        for into, form, content in payloads:
            with connection.send_insert(into, form) as inserter:
                inserter.append(content)
                inserter.finish()

    return send


def copy(given: Prepared) -> Send:
    """COPY prepared streams, one transaction each."""
    import psycopg2

    payloads = [payload.data for payload in given.payloads()]
    reach = given.options["connection_string"]
    connection = psycopg2.connect(reach, password=given.options["password"])
    connection.autocommit = True
    cursor = connection.cursor()

    def send() -> None:
        for statement, stream in payloads:
            cursor.copy_expert(statement, io.BytesIO(stream))

    return send


def load_data(given: Prepared) -> Send:
    """Load prepared files, one transaction each."""
    import pymysql

    folder = Path(tempfile.mkdtemp(prefix="load-data-"))
    files = []
    for payload in given.payloads():
        files.append(folder / str(len(files)))
        files[-1].write_bytes(payload.data[1])
    columns = ", ".join(f"`{column.name}`" for column in given.table.columns)
    reach = {key: given.options[key] for key in ("host", "port", "user", "password", "database")}
    connection = pymysql.connect(**reach, local_infile=True, ssl_disabled=True, autocommit=True)
    cursor = connection.cursor()

    def send() -> None:
        for file in files:
            load = f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE events CHARACTER SET utf8mb4"
            cursor.execute(f"{load} ({columns})")
            file.unlink()
        folder.rmdir()

    return send


def insert_many(given: Prepared) -> Send:
    """Insert prepared documents through the driver, which has nothing left to encode."""
    from bson.raw_bson import RawBSONDocument
    from pymongo import MongoClient, WriteConcern

    with given.module.connect() as session:
        documents = [
            RawBSONDocument(payload.data[1][0][1])
            for block in given.blocks
            for payload in session.encode(block, BATCH, 1)
        ]
    starts = range(0, len(documents), given.batch_rows)
    batches = [documents[start : start + given.batch_rows] for start in starts]
    client: MongoClient[Any] = MongoClient(
        given.options["connection_string"], password=given.options["password"], retryWrites=False
    )
    concern = WriteConcern("majority", wtimeout=27_000)
    events = client[given.options["database"]].get_collection("events", write_concern=concern)

    def send() -> None:
        for batch in batches:
            events.insert_many(batch, ordered=False)

    return send


def execute_concurrent(given: Prepared) -> Send:
    """Execute bound batches, with as many in flight as the tool."""
    from cassandra.concurrent import execute_concurrent as execute
    from cassandra.query import BatchStatement, BatchType

    from simulator.modules.cassandra import query as cql

    session = given.module.connect()  # its policies are objects of the driver
    insert = cql.insert(given.options["keyspace"], given.table, given.table.name)
    statement = session.prepare(insert)
    batches = []
    for rows in given.objects():
        batch = BatchStatement(BatchType.UNLOGGED)
        for row in rows:
            batch.add(statement, row)
        batches.append((batch, None))
    return lambda: execute(
        session.session, batches, concurrency=given.options["max_sync_calls"],
        raise_on_first_error=True,
    )  # fmt: skip


def send_tablets(given: Prepared) -> Send:
    """Send prepared tablets; the driver's generated code only frames them."""
    payloads = given.payloads()
    session = given.module.connect()

    def send() -> None:
        for payload in payloads:
            session.send(payload)

    return send


def _post(
    given: Prepared, requests: list[tuple[str, bytes]], headers: Mapping[str, str], stored: Stored
) -> Send:
    """Post prepared bodies over one connection."""
    connection = HTTPConnection(urlsplit(given.options["url"]).netloc)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def send() -> None:
        for path, body in requests:
            connection.request("POST", path, body, dict(headers))
            answer = connection.getresponse()
            text = answer.read()
            assert stored(answer.status, text), (answer.status, text)

    return send


def post_lines(given: Prepared) -> Send:
    """Post prepared line protocol."""
    requests = [payload.data for payload in given.payloads()]
    with given.module.connect() as session:
        headers = dict(session.http._headers)
    return _post(given, requests, headers, lambda status, _: status == 204)


def post_bulk(given: Prepared) -> Send:
    """Post prepared bulk requests."""
    requests = [payload.data for payload in given.payloads()]
    headers = {"Content-Type": "application/x-ndjson"}
    return _post(given, requests, headers, lambda _, text: b'"errors":false' in text)


def post_series(given: Prepared) -> Send:
    """Post prepared lines of JSON, one per series, to VictoriaMetrics."""
    requests = [payload.data for payload in given.payloads()]
    return _post(given, requests, {}, lambda status, _: status == 204)


def post_points(given: Prepared) -> Send:
    """Post prepared points to OpenTSDB."""
    requests = [
        ("/api/put?details&sync", body) for payload in given.payloads() for body in payload.data
    ]
    headers = {"Content-Type": "application/json"}
    return _post(given, requests, headers, lambda _, text: b'"failed":0' in text)


@dataclass(frozen=True)
class Rival:
    """How a target is compared with a raw client."""

    way: str
    """Description for the table."""
    prepare: Callable[[Prepared], Send]
    server: str | None = None
    """In tests/servers; None: embedded."""
    rows: int = 1_000_000
    """Rows per run over all connections."""
    batch_rows: int = 1000
    connections: tuple[int, ...] = (1, 2)
    primary_key: PrimaryKey = PrimaryKey.DB
    options: Mapping[str, Any] = field(default_factory=dict)
    """Options of the module besides those that reach the server, for both sides."""


RIVALS: dict[str, Rival] = {
    "sqlite": Rival(
        "executemany of prepared rows", sqlite_executemany, rows=3_000_000, connections=(1,),
    ),
    "duckdb": Rival(
        "INSERT of prepared Arrow tables", duckdb_arrow, rows=10_000_000, batch_rows=100_000,
        connections=(1,),
    ),
    "clickhouse_embedded": Rival(
        "INSERT of prepared Native blocks", chdb_insert, rows=10_000_000, batch_rows=100_000,
        connections=(1,),
    ),
    "postgresql": Rival(
        "COPY of prepared binary rows", copy, "postgres", rows=3_000_000, connections=(2, 4),
        primary_key=PrimaryKey.SQL,
    ),
    "timescaledb": Rival(
        "COPY of prepared binary rows", copy, "timescaledb", rows=1_000_000, connections=(2, 4),
        primary_key=PrimaryKey.NONE,
    ),
    "mysql_innodb": Rival("LOAD DATA of prepared files", load_data, "mysql"),
    "mysql_myisam": Rival(
        "LOAD DATA of prepared files", load_data, "mysql", connections=(1,),
        options={"engine": "MyISAM"},
    ),
    "mariadb": Rival("LOAD DATA of prepared files", load_data, "mariadb"),
    "cassandra_sync": Rival(
        "execute_concurrent of bound batches", execute_concurrent, "cassandra", rows=300_000,
        connections=(1,), primary_key=PrimaryKey.NONE, options={"max_sync_calls": 8},
    ),
    "mongodb": Rival(
        "insert_many of prepared BSON", insert_many, "ferretdb", rows=300_000,
    ),
    "elasticsearch": Rival(
        "prepared _bulk by http.client", post_bulk, "elasticsearch", batch_rows=5000,
    ),
    "opensearch": Rival(
        "prepared _bulk by http.client", post_bulk, "opensearch", batch_rows=5000,
    ),
    "influxdb": Rival(
        "prepared lines by http.client", post_lines, "influxdb", batch_rows=5000,
    ),
    "influxdb1": Rival(
        "prepared lines by http.client", post_lines, "influxdb1", rows=4_000_000, batch_rows=5000,
    ),
    "questdb": Rival(
        "prepared lines by http.client", post_lines, "questdb", rows=12_000_000, batch_rows=75_000,
    ),
    "iotdb": Rival(
        "prepared tablets", send_tablets, "iotdb", rows=25_000_000, batch_rows=50_000,
    ),
    "victoriametrics": Rival(
        "prepared series by http.client", post_series, "victoriametrics", rows=12_000_000,
        batch_rows=50_000,
    ),
    "opentsdb": Rival(
        "prepared points by http.client", post_points, "opentsdb", rows=60_000, connections=(1,),
    ),
}  # fmt: skip
"""A target of config.yaml -> its raw client.

The batch size suits the database: the clients of QuestDB send 75,000 rows at once, and IoTDB is
faster with 50,000 rows per batch than with 1,000 or 100,000.

Not included: databases whose server is in no package registry; ClickHouse's server, whose only
packaged version is too old (the engine is included as clickhouse_embedded); and Graphite, which
acknowledges nothing, so that the rate would be that of the socket.
"""
