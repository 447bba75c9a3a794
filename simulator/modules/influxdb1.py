"""InfluxDB 1.8, by HTTP: databases, users with passwords, InfluxQL.

https://docs.influxdata.com/influxdb/v1/. Each table has its own database, in which its parts
are measurements. The vendor's client, made for InfluxDB 2, serves /ping and /query here.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import ClassVar, Literal
from urllib.parse import quote

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Table, TimeUnit
from simulator.modules.contract import Options, Server, TextLanguage
from simulator.modules.influxdb.database import (
    OWN_MODES,
    Influxdb,
    durability,
    open_client,
    wait_until_compacted,
)
from simulator.modules.influxdb.query import EXPLAIN
from simulator.modules.influxdb.session import PRECISIONS, InfluxSession, Write
from simulator.modules.shared.http.client import Http, HttpOptions, basic
from simulator.modules.shared.influx import influxql
from simulator.modules.shared.influx.chunks import Chunk
from simulator.modules.shared.influx.influxql import QueryFailed, identifier, literal


class Influx1Options(HttpOptions):
    """Options of the module `influxdb1`."""

    url: str = Field(description="where the server listens, such as http://influxdb1:8086")
    user: str = Field("", description="a user who may create and drop databases; empty: no user")
    password: SecretStr | None = Field(None, description="the user's password")
    prefix: str = Field(
        "benchmark_",
        description="prefix of the databases' names: each table has a database of its own, such as "
        "benchmark_events",
    )
    gzip: bool = Field(default=False, description="compress writes, which takes client time")
    shard_group_s: int = Field(
        0,
        ge=0,
        description="time span of a database's shards; 0: the server's choice, 7 d",
    )
    consistency: Literal["any", "one", "quorum", "all"] | None = Field(
        None,
        description="nodes of a cluster (InfluxDB Enterprise) that store a row before it is "
        "acknowledged",
    )


class Influxdb1(Influxdb):
    """An InfluxDB 1.8 server."""

    name = "influxdb1"
    urls = ("influxdb1://USER@HOST:8086",)
    capabilities = replace(
        Influxdb.capabilities,
        modes=OWN_MODES,
        changes=replace(Influxdb.capabilities.changes, deletes="DELETE"),
        plans=EXPLAIN,
        oldest={"InfluxDB": (1, 8)},
    )
    options_model: ClassVar[type[Options]] = Influx1Options
    options: Influx1Options  # type: ignore[assignment]

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        """Return the known problems; InfluxDB 2 has further ones."""
        return super(Influxdb, self).problems(key, parts, mode, batch_rows)

    def open(self) -> InfluxSession:
        options = self.options
        password = options.secrets().get("password", "")
        consistency = f"&consistency={options.consistency}" if options.consistency else ""
        write = Write(
            f"/write?db={{database}}&precision={{precision}}{consistency}",
            {**PRECISIONS, TimeUnit.MICROSECOND: "u", TimeUnit.NANOSECOND: "n"},
            gzip=options.gzip,
            prefix=options.prefix,
        )
        headers = {"Authorization": basic(options.user, password)} if options.user else {}
        token = f"{options.user}:{password}" if options.user else ""
        client = partial(open_client, options, org="-", token=token, basic=bool(token))
        return Influx1Session(Http(options, headers), write, client)

    def translate(self, query: Query) -> Statement:
        return influxql.plan(query, self.bucket(query.table))

    def texts(self, table: Table) -> TextLanguage:
        return influxql.InfluxqlTexts(table, self.bucket(table), self.name)

    # --- databases

    container = "database"

    def find_containers(self, session: InfluxSession, names: Collection[str]) -> set[str]:
        return {*names} & {n for chunk in _ask(session, "SHOW DATABASES") for n in chunk["name"]}

    def create_container(self, session: InfluxSession, name: str, *, signed: bool) -> None:
        span_s = self.options.shard_group_s
        span = f" SHARD DURATION {span_s}s" if span_s else ""
        # "autogen" is the name that the server gives to policies of its own.
        policy = f'DURATION INF REPLICATION 1{span} NAME "autogen"'
        _ask(session, f"CREATE DATABASE {identifier(name)} WITH {policy}")

    def drop_container(self, session: InfluxSession, name: str) -> None:
        _ask(session, f"DROP DATABASE {identifier(name)}")

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return nothing: a database has no place for a signature."""
        return {}

    # --- the server

    def compact(self, tables: Sequence[Table]) -> None:
        """Wait until files are compacted.

        This server writes its cache after ten minutes without writes, and not on request.
        """
        with self.administration() as session:
            wait_until_compacted(lambda: not any(self._count_compactions(session, tables)))

    def _count_compactions(self, session: InfluxSession, tables: Sequence[Table]) -> Iterator[int]:
        """Yield how many compactions run or wait, by shard and kind."""
        for chunk in _read_statistics(session, "tsm1_engine", self.buckets(tables)):
            for name, values in chunk.columns.items():
                if name.endswith(("CompactionsActive", "CompactionsQueue", "CompactionQueue")):
                    yield from values

    def sum_sizes(self, session: InfluxSession, names: Sequence[str]) -> int:
        shards = _read_statistics(session, "shard", names)
        return sum(int(size) for chunk in shards for size in chunk["diskBytes"])

    def describe(self) -> Server:
        with self.administration() as session:
            version = session.client.version()
            settings: dict[str, str] = {}
            with suppress(QueryFailed):  # allowed to administrators only
                for chunk in _ask(session, "SHOW DIAGNOSTICS FOR 'config-data'"):
                    settings |= {name: str(column[0]) for name, column in chunk.columns.items()}
        return Server(f"InfluxDB {version}", 1, *durability(settings), settings)


class Influx1Session(InfluxSession):
    """One connection for sends, and the vendor's client for everything else."""

    def greet(self) -> None:
        _ask(self, "SHOW DATABASES")
        self.http.request("GET", "/ping")

    def delete_before(self, table: Table, until: int) -> None:
        before_ns = until * (10**9 // table.time_unit.per_second)
        database = quote(self._write.prefix + table.container, safe="")
        for name in table.names:
            asked = f"DELETE FROM {identifier(name)} WHERE time < {before_ns}"
            reply = self.http.request("POST", f"/query?db={database}&q={quote(asked)}").json()
            if failed := reply["results"][0].get("error"):
                raise QueryFailed(failed)


def _read_statistics(
    session: InfluxSession, component: str, databases: Sequence[str]
) -> list[Chunk]:
    found = _ask(session, f"SHOW STATS FOR {literal(component)}")
    return [chunk for chunk in found if chunk.shared.get("database") in databases]


def _ask(session: InfluxSession, text: str) -> list[Chunk]:
    return [chunk for _, chunk in session.influxql(text)]
