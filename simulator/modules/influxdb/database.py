"""InfluxDB 2, through its HTTP interface: line protocol in, Flux and InfluxQL out.

Each table has a bucket of its own, in which its parts are measurements, tags are tags and all other
columns are fields. https://docs.influxdata.com/influxdb/v2/api/
"""

import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import ClassVar
from urllib.parse import urlencode

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement, outputs
from simulator.data.schema import PrimaryKey, Role, Table
from simulator.errors import SetupError
from simulator.modules.base import (
    BATCH,
    SINGLE,
    Capabilities,
    Database,
    Options,
    Server,
    with_remedy,
)
from simulator.modules.influxdb import influxql
from simulator.modules.influxdb import query as flux
from simulator.modules.influxdb.answers import Language, Plan
from simulator.modules.influxdb.influxql import ServerSaid
from simulator.modules.influxdb.session import PRECISIONS, InfluxSession, Reach
from simulator.modules.shared.http import Http, HttpError, HttpOptions, Refused

_SETTLE_S = 600
_POLL_S = 0.2


class InfluxOptions(HttpOptions):
    """Options of the module `influxdb`."""

    url: str = Field(description="where the server listens, such as http://influxdb:8086")
    org: str = Field("benchmark", description="the organization that owns the buckets")
    token: SecretStr | None = Field(
        None, description="an API token that may make and drop buckets, write and read"
    )
    prefix: str = Field(
        "benchmark_",
        description="what the names of the buckets begin with: each table has a bucket of its own, "
        "such as benchmark_events",
    )
    language: Language = Field(
        Language.FLUX,
        description="of the queries; what Flux cannot do (texts, whole rows) is always InfluxQL",
    )
    gzip: bool = Field(default=False, description="compress what is written, on the client's time")
    shard_group_s: int = Field(
        0, ge=0, description="how much time a shard of a bucket spans; 0: the server's choice, 7 d"
    )


class Influxdb(Database):
    """An organization of an InfluxDB 2 server."""

    name = "influxdb"
    capabilities = Capabilities(
        modes={
            SINGLE: "one request with one line",
            BATCH: "one request with a line for each row",
        },
        primary_keys={
            PrimaryKey.DB: "measurement, tags and time, by which InfluxDB knows a row",
            PrimaryKey.CLIENT: "the same, and a field that the client sends",
        },
        acknowledged="in the write-ahead log, which is synced before the answer",
        oldest={"InfluxDB": (2, 0)},
        limits=(
            "a row whose tags and time are there already replaces the other",
            "instants from 1677-09-21 to 2262-04-11 only",
            "no empty tags, no line ends and not every backslash in them",
            "the sum of integers is an error where it may exceed 64 bits",
        ),
    )
    options_model: ClassVar[type[Options]] = InfluxOptions
    options: InfluxOptions

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        if not self.options.token:
            found.append("token: is missing; see `influx auth list`, or the server's setup")
        if self.options.prefix.startswith("_") or not self.options.prefix:
            found.append("prefix: must not be empty, nor begin with _, which is InfluxDB's own")
        return found

    # --- connections

    def connect(self) -> InfluxSession:
        """Open a connection, and see that the server knows the token and the organization."""
        session = self._session()
        try:
            self._greet(session.http)
        except HttpError as error:
            session.close()
            raise SetupError(f"{self.name}: {self.explain(error)}") from error
        return session

    def _session(self) -> InfluxSession:
        options = self.options
        token = options.token.get_secret_value() if options.token else ""
        org = urlencode({"org": options.org})
        reach = Reach(
            write=f"/api/v2/write?{org}&bucket={{database}}&precision={{precision}}",
            influxql="/query?epoch=ns&chunked=true",
            flux=f"/api/v2/query?{org}",
            precisions=PRECISIONS,
            gzip=options.gzip,
            query_timeout_s=options.query_timeout_s,
        )
        http = Http(options, {"Authorization": f"Token {token}"})
        return InfluxSession(http, reach, options.prefix, options.language)

    def _greet(self, http: Http) -> None:
        http.request("GET", "/api/v2/buckets?" + urlencode({"org": self.options.org, "limit": 1}))

    @contextmanager
    def _admin(self) -> Iterator[InfluxSession]:
        """Open a connection for something other than a run."""
        with self.connect() as session:
            try:
                yield session
            except (HttpError, ServerSaid) as error:
                raise SetupError(f"{self.name}: {self.explain(error)}") from error

    # --- buckets

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create a bucket for each table; all or none."""
        for table in tables:
            check_names(table)
        names = [self._bucket(table) for table in tables]
        options = self.options
        span_s = options.shard_group_s
        rule = {"type": "expire", "everySeconds": 0, "shardGroupDurationSeconds": span_s}
        with self._admin() as session:
            http = session.http
            for name in names:
                if self._bucket_id(http, name):
                    raise SetupError(
                        f"{self.name}: bucket {name} already exists; drop it, or run with --clean"
                    )
            org = http.request("GET", "/api/v2/orgs?" + urlencode({"org": options.org})).json()
            for name in names:
                bucket = {"orgID": org["orgs"][0]["id"], "name": name, "retentionRules": [rule]}
                http.request("POST", "/api/v2/buckets", json.dumps(bucket).encode())

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables' buckets, with all parts that are in them."""
        with self._admin() as session:
            http = session.http
            for table in tables:
                if found := self._bucket_id(http, self._bucket(table)):
                    path = f"/api/v2/buckets/{found}"
                    http.request("DELETE", path, timeout_s=self.options.query_timeout_s)

    def _bucket(self, table: Table) -> str:
        return self.options.prefix + table.name

    def _bucket_id(self, http: Http, name: str) -> str | None:
        """Return the server's own name of a bucket, if there is one."""
        wanted = urlencode({"org": self.options.org, "name": name})
        try:
            found = http.request("GET", f"/api/v2/buckets?{wanted}").json()["buckets"]
        except Refused as error:
            if error.status == 404:
                return None
            raise
        return found[0]["id"] if found else None

    # --- the server

    def settle(self, tables: Sequence[Table]) -> None:
        """Have what is in memory written to files, and wait until they are compacted.

        Rows can be queried as soon as they are acknowledged. A backup of what is later than all
        makes the server write its cache, which it would else do after ten quiet minutes.
        """
        with self._admin() as session:
            http = session.http
            buckets = self._ids(http, tables)
            since = urlencode({"since": "2262-04-11T00:00:00Z"})
            for _, labels, _ in _metrics(http, ("storage_shard_disk_size",), buckets):
                path = f"/api/v2/backup/shards/{labels['id']}?{since}"
                # Only an operator's token may, and not while the server is at it itself.
                with suppress(Refused):
                    http.request("GET", path, timeout_s=self.options.query_timeout_s)
            busy = ("storage_compactions_active", "storage_compactions_queued")
            wait_until(lambda: not any(v for *_, v in _metrics(http, busy, buckets)))

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the shards: their files and logs, without the index of the series."""
        names = ("storage_tsm_files_disk_bytes", "storage_wal_size")
        with self._admin() as session:
            http = session.http
            found = _metrics(http, names, self._ids(http, tables))
            return int(sum(value for *_, value in found))

    def _ids(self, http: Http, tables: Sequence[Table]) -> set[str]:
        found = (self._bucket_id(http, self._bucket(table)) for table in tables)
        return {name for name in found if name}

    def describe(self) -> Server:
        """Return the version and, if the token may see them, the settings of the storage."""
        with self._admin() as session:
            http = session.http
            version = http.request("GET", "/ping").headers.get("X-Influxdb-Version", "of no name")
            settings: dict[str, str] = {}
            try:
                config = http.request("GET", "/api/v2/config").json()["config"]
                settings = {name: str(config[name]) for name in _SETTINGS if name in config}
            except Refused as error:
                if error.status not in (401, 403, 404):
                    raise
        return Server(f"InfluxDB {version.lstrip('v')}", 1, *durability(settings), settings)

    # --- queries

    def render(self, query: Query) -> Statement:
        """Return the query in Flux or InfluxQL."""
        of = flux if self.options.language is Language.FLUX else influxql
        plan = Plan(query, of.subqueries(query, self._bucket(query.table)))
        return Statement(plan.text, outputs(query), (plan,))

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        if not isinstance(error, (HttpError, ServerSaid, OverflowError)):
            return super().explain(error)
        return with_remedy(str(error), _REMEDIES)


_SETTINGS = (
    "storage-wal-fsync-delay",
    "storage-wal-max-concurrent-writes",
    "storage-cache-max-memory-size",
    "storage-cache-snapshot-memory-size",
    "storage-max-concurrent-compactions",
)

_REMEDIES = {
    "organization name .* not found": "name another in org, or make it: influx org create",
    "could not find bucket|bucket .* not found|database not found": "run an insert first",
    "field type conflict": "the measurement has a field of another type; run with --clean",
    "max-values-per-tag|max-series-per-database": "raise that limit in the server's configuration",
    "unauthorized access": "token must be one that may read and write buckets",
}
"""A pattern of the words -> what to try."""


def durability(settings: dict[str, str]) -> tuple[str, bool]:
    """Return what an acknowledgement means; no setting makes InfluxDB answer before it has synced.

    A delay gathers writes into one sync, and they wait for it.
    """
    shown = [f"{n}={v}" for n, v in settings.items() if n.endswith("wal-fsync-delay")]
    told = f" ({shown[0]})" if shown else ""
    return f"an acknowledged row is in the write-ahead log on disk{told}", True


def check_names(table: Table) -> None:
    """Raise SetupError if a name is one of InfluxDB's own."""
    for column in table.columns:
        if column.role is not Role.TIME and (column.name == "time" or column.name.startswith("_")):
            raise SetupError(
                f"influxdb: column {column.name}: InfluxDB keeps time and names that begin with _ "
                "to itself; rename it"
            )


def wait_until(done: Callable[[], bool]) -> None:
    """Return once it is done, or after ten minutes: compaction is throttled and may take hours."""
    deadline = time.monotonic() + _SETTLE_S
    while not done() and time.monotonic() < deadline:
        time.sleep(_POLL_S)


_METRIC = re.compile(r"(\w+)\{(.*)\} (\S+)")
_LABEL = re.compile(r'(\w+)="([^"]*)"')


def _metrics(
    http: Http, names: Sequence[str], buckets: set[str]
) -> list[tuple[str, dict[str, str], float]]:
    """Return what the server says of the shards of some buckets: metric, labels, value."""
    found = []
    for line in http.request("GET", "/metrics").body.decode().splitlines():
        if not line.startswith(tuple(names)):
            continue
        if match := _METRIC.fullmatch(line):
            name, told, value = match.groups()
            labels = dict(_LABEL.findall(told))
            if name in names and labels.get("bucket") in buckets:
                found.append((name, labels, float(value)))
    return found
