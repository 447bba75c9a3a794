"""InfluxDB 1.8: databases and retention policies, users and passwords, and InfluxQL.

https://docs.influxdata.com/influxdb/v1/. Each table has a database of its own, in which its parts
are measurements.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import ClassVar, Literal
from urllib.parse import urlencode

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement, outputs
from simulator.data.schema import PrimaryKey, Table, TimeUnit
from simulator.errors import SetupError
from simulator.modules.base import Options, Server
from simulator.modules.influxdb import influxql
from simulator.modules.influxdb.answers import Chunk, Language, Plan
from simulator.modules.influxdb.database import Influxdb, check_names, durability, wait_until
from simulator.modules.influxdb.influxql import ServerSaid, identifier, literal
from simulator.modules.influxdb.session import PRECISIONS, InfluxSession, Reach
from simulator.modules.shared.http import Http, HttpOptions, basic


class Influx1Options(HttpOptions):
    """Options of the module `influxdb1`."""

    url: str = Field(description="where the server listens, such as http://influxdb1:8086")
    user: str = Field("", description="a user who may make and drop databases; empty: no user")
    password: SecretStr | None = Field(None, description="the user's password")
    prefix: str = Field(
        "benchmark_",
        description="what the names of the databases begin with: each table has one of its own, "
        "such as benchmark_events",
    )
    gzip: bool = Field(default=False, description="compress what is written, on the client's time")
    shard_group_s: int = Field(
        0,
        ge=0,
        description="how much time a shard of a database spans; 0: the server's choice, 7 d",
    )
    consistency: Literal["any", "one", "quorum", "all"] | None = Field(
        None, description="how many nodes of a cluster (InfluxDB Enterprise) store a row first"
    )


class Influxdb1(Influxdb):
    """An InfluxDB 1.8 server."""

    name = "influxdb1"
    capabilities = replace(Influxdb.capabilities, oldest={"InfluxDB": (1, 8)})
    options_model: ClassVar[type[Options]] = Influx1Options
    options: Influx1Options  # type: ignore[assignment]

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        return super(Influxdb, self).problems(primary_key, parts, batch_rows)

    # --- connections

    def _session(self) -> InfluxSession:
        options = self.options
        password = options.password.get_secret_value() if options.password else ""
        consistency = f"&consistency={options.consistency}" if options.consistency else ""
        reach = Reach(
            write=f"/write?db={{database}}&precision={{precision}}{consistency}",
            influxql="/query?epoch=ns&chunked=true",
            flux="",
            precisions={**PRECISIONS, TimeUnit.MICROSECOND: "u", TimeUnit.NANOSECOND: "n"},
            gzip=options.gzip,
            query_timeout_s=options.query_timeout_s,
        )
        headers = {"Authorization": basic(options.user, password)} if options.user else {}
        return InfluxSession(Http(options, headers), reach, options.prefix, Language.INFLUXQL)

    def _greet(self, http: Http) -> None:
        http.request("GET", "/query?" + urlencode({"q": "SHOW DATABASES"}))

    def render(self, query: Query) -> Statement:
        """Return the query in InfluxQL."""
        plan = Plan(query, influxql.subqueries(query, self._bucket(query.table)))
        return Statement(plan.text, outputs(query), (plan,))

    # --- databases

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create a database for each table; all or none."""
        for table in tables:
            check_names(table)
        names = [self._bucket(table) for table in tables]
        span = (
            f" SHARD DURATION {self.options.shard_group_s}s" if self.options.shard_group_s else ""
        )
        with self._admin() as session:
            taken = self._databases(session)
            for name in names:
                if name in taken:
                    raise SetupError(
                        f"{self.name}: database {name} already exists; drop it, or run with --clean"
                    )
            for name in names:
                # The policy's name is that of those which the server makes itself.
                policy = f'DURATION INF REPLICATION 1{span} NAME "autogen"'
                _ask(session, f"CREATE DATABASE {identifier(name)} WITH {policy}")

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables' databases, with all parts that are in them."""
        with self._admin() as session:
            taken = self._databases(session)
            for name in map(self._bucket, tables):
                if name in taken:
                    _ask(session, f"DROP DATABASE {identifier(name)}")

    def _databases(self, session: InfluxSession) -> set[str]:
        return {name for chunk in _ask(session, "SHOW DATABASES") for name in chunk["name"]}

    # --- the server

    def settle(self, tables: Sequence[Table]) -> None:
        """Wait until files are compacted; rows can be queried as soon as they are acknowledged.

        Nothing makes this server write its cache before ten quiet minutes are over.
        """
        with self._admin() as session:
            wait_until(lambda: not any(self._compactions(session, tables)))

    def _compactions(self, session: InfluxSession, tables: Sequence[Table]) -> Iterator[int]:
        """Yield how many compactions run or wait, by shard and kind."""
        for chunk in self._statistics(session, "tsm1_engine", tables):
            for name, values in chunk.columns.items():
                if name.endswith(("CompactionsActive", "CompactionsQueue", "CompactionQueue")):
                    yield from values

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the shards: their files and logs, without the index of the series."""
        with self._admin() as session:
            shards = self._statistics(session, "shard", tables)
            return sum(int(size) for chunk in shards for size in chunk["diskBytes"])

    def _statistics(
        self, session: InfluxSession, component: str, tables: Sequence[Table]
    ) -> list[Chunk]:
        names = {self._bucket(table) for table in tables}
        found = _ask(session, f"SHOW STATS FOR {literal(component)}")
        return [chunk for chunk in found if chunk.shared.get("database") in names]

    def describe(self) -> Server:
        """Return the version and, if the user may see them, the settings of the storage."""
        with self._admin() as session:
            headers = session.http.request("GET", "/ping").headers
            settings: dict[str, str] = {}
            with suppress(ServerSaid):  # only an administrator may
                for chunk in _ask(session, "SHOW DIAGNOSTICS FOR 'config-data'"):
                    settings |= {name: str(column[0]) for name, column in chunk.columns.items()}
        version = headers.get("X-Influxdb-Version", "of no name").lstrip("v")
        return Server(f"InfluxDB {version}", 1, *durability(settings), settings)


def _ask(session: InfluxSession, text: str) -> list[Chunk]:
    return [chunk for _, chunk in session.ask_influxql(text)]
