"""InfluxDB 2, by HTTP: rows are written as line protocol and queried with Flux and InfluxQL.

Each table, or group of tables that are written together, has its own bucket. The parts of a table
are measurements, its tags are tags, and all other columns are fields.
https://docs.influxdata.com/influxdb/v2/api/
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar
from urllib.parse import urlencode, urlsplit

from pydantic import Field, SecretStr

from simulator.data.features import Feature
from simulator.data.query import Query, Statement
from simulator.data.schema import FLOATS, INTEGERS, PrimaryKey, Role, Table, Type
from simulator.encode.lineprotocol import marker
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    BY_SERIES,
    DRIVER,
    MISSING,
    SINGLE,
    Capabilities,
    Columns,
    Contents,
    Existing,
    Options,
    Server,
    TextLanguage,
    signature,
)
from simulator.modules.influxdb import query as flux
from simulator.modules.influxdb.session import PRECISIONS, InfluxSession, Write
from simulator.modules.shared.client.driver import DriverOptions
from simulator.modules.shared.http.client import Http, HttpOptions, Refused
from simulator.modules.shared.http.database import HttpDatabase
from simulator.modules.shared.http.prometheus import Metrics, MetricSample
from simulator.modules.shared.http.tls import tls_context
from simulator.modules.shared.influx import influxql
from simulator.modules.shared.influx.chunks import Language
from simulator.modules.shared.influx.influxql import InfluxqlTexts
from simulator.modules.shared.waits import wait_until
from simulator.protocol.records import RecordFormat

if TYPE_CHECKING:
    from simulator.modules.influxdb.wire import Client

_COMPACT_S = 600
_POLL_S = 0.2


OWN_MODES = {
    SINGLE: "one request with one line",
    BATCH: "one request with a line for each row, of all tables of a group",
}
"""Insert mode -> how a batch is sent by this program."""


class InfluxOptions(HttpOptions, DriverOptions):
    """Options of the module `influxdb`."""

    url: str = Field(description="where the server listens, such as http://influxdb:8086")
    org: str = Field("benchmark", description="the organization that owns the buckets")
    token: SecretStr | None = Field(
        None, description="an API token that may create and delete buckets, write and read"
    )
    prefix: str = Field(
        "benchmark_",
        description="prefix of the buckets' names, such as benchmark_events; the tables of a "
        "group share a bucket, such as benchmark_devops",
    )
    language: Language = Field(
        Language.FLUX,
        description="language of the queries; whole rows and the extremes of texts, for which Flux "
        "is not suited, are always queried with InfluxQL",
    )
    gzip: bool = Field(default=False, description="compress writes, which takes client time")
    shard_group_s: int = Field(
        0, ge=0, description="time span of a bucket's shards; 0: the server's choice, 7 d"
    )


class Influxdb(HttpDatabase[InfluxSession]):
    """An organization of an InfluxDB 2 server."""

    name = "influxdb"
    urls = ("influxdb2://HOST:8086/ORG",)
    declares_columns: ClassVar[bool] = False  # a measurement has none until it has points
    field_types: ClassVar[Mapping[Type, str]] = {
        **dict.fromkeys((*INTEGERS, Type.TIMESTAMP), "integer"),
        **dict.fromkeys(FLOATS, "float"),
        Type.BOOL: "boolean",
        Type.TEXT: "string",
    }
    """Type of a column -> type of its field in the server's list."""
    capabilities = Capabilities(
        formats=frozenset({RecordFormat.INFLUX}),
        modes={
            **OWN_MODES,
            DRIVER: "influxdb-client's synchronous write_api, one request of points",
        },
        primary_keys={
            PrimaryKey.DB: "measurement, tags and time, which identify a row in InfluxDB",
            PrimaryKey.CLIENT: "the same, and a field that the client sends",
        },
        acknowledged="in the write-ahead log, which is synced before the answer",
        oldest={"InfluxDB": (2, 0)},
        unsupported={
            Feature.QUOTIENTS: "the module does not join two fields, which are separate series",
            Feature.SUBQUERIES: "the client merges several answers; the server never has the whole",
        },
        no_time_sums="the server adds up no times, and the client would have to fetch all of them",
        no_wide_sums="the server's sum of integers has 64 bits",
        plans="EXPLAIN of InfluxQL, the query profiler of Flux",
        in_client="decodes CSV or JSON; merges the answers of several statements; fetches all "
        "values for extremes of texts, sums of times and distinct times; selects the newest row "
        "among those of several series",
        mixes_tables=True,
        replaces_rows=True,
        changes=replace(
            BY_SERIES,
            corrects="lines: a row replaces another one with the same tags and time",
            deletes="POST /api/v2/delete",
            no_retention="the server enforces a bucket's retention every 30 minutes, and not on"
            " request",
        ),
        limits=(
            "a point of `iot` also has the field sequence_number, unlike the published one",
            "a row replaces an earlier one with the same tags and time",
            "instants from 1677-09-21 to 2262-04-11 only",
            "a tag is not empty and has no line end; some backslashes cannot be written",
            "the sum of integers is an error where it may exceed 64 bits",
            "tags are texts: a number among them can only be equal to another",
        ),
    )
    options_model: ClassVar[type[Options]] = InfluxOptions
    options: InfluxOptions
    remedies: ClassVar[Mapping[str, str]] = {
        "organization name .* not found": "name another, or create it: influx org create",
        "could not find bucket|bucket .* not found|database not found": MISSING,
        "field type conflict": "the measurement has a field of another type; run with --clean",
        "max-values-per-tag|max-series-per-database": "raise that limit in the server's "
        "configuration",
        "unauthorized access": "check the credentials: token must be one that may read and write "
        "buckets",
    }

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        found += self.options.list_excluded("gzip")
        if not self.options.token:
            found.append("the token is missing; check the token with `influx auth list`")
        if self.options.prefix.startswith("_") or not self.options.prefix:
            found.append("prefix: must not be empty nor start with _, which InfluxDB reserves")
        return found

    # --- connections

    def open(self) -> InfluxSession:
        options = self.options
        token = options.secrets().get("token", "")
        org = urlencode({"org": options.org})
        write = Write(
            f"/api/v2/write?{org}&bucket={{database}}&precision={{precision}}",
            PRECISIONS,
            gzip=options.gzip,
            prefix=options.prefix,
        )
        http = Http(options, {"Authorization": f"Token {token}"})
        client = partial(open_client, options, org=options.org, token=token)
        return InfluxSession(http, write, client, options.language)

    # --- buckets, or databases of InfluxDB 1 and 3

    def objects(self, table: Table) -> list[str]:
        """Return the name of the bucket, which the tables of a group share."""
        return [self.bucket(table)]

    container: ClassVar[str] = "bucket"
    """Kind of object that holds the measurements of a table, or of a group of tables."""

    def find_containers(self, session: InfluxSession, names: Collection[str]) -> set[str]:
        """Return which containers of these names exist."""
        return {name for name in names if session.client.bucket_id(name)}

    def create_container(self, session: InfluxSession, name: str, *, signed: bool) -> None:
        """Create a container, with its signature if it is `signed`."""
        text = signature(name) if signed else None
        session.client.create_bucket(name, self.options.shard_group_s, text)

    def drop_container(self, session: InfluxSession, name: str) -> None:
        """Drop a container that exists."""
        session.client.delete_bucket(str(session.client.bucket_id(name)))

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        with self.administration() as session:
            return {n: Existing(self.container) for n in self.find_containers(session, names)}

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        with self.administration() as session:
            return {n: session.client.description(n) == signature(n) for n in names}

    def columns_in(self, name: str) -> Columns:
        found: dict[str, str] = {}
        database = influxql.identifier(name)
        with self.administration() as session:
            for _, chunk in session.influxql(f"SHOW FIELD KEYS ON {database}"):
                fields = zip(chunk["fieldKey"], chunk["fieldType"], strict=True)
                found |= {f"{chunk.measurement}.{field}": str(kind) for field, kind in fields}
            for _, chunk in session.influxql(f"SHOW TAG KEYS ON {database}"):
                found |= {f"{chunk.measurement}.{tag}": "tag" for tag in chunk["tagKey"]}
        return found

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        """Yield the tags and fields of the measurements that hold tables."""
        found: dict[str, str] = {}
        for table in tables:
            kinds = {c.name: self.field_types[c.type] for c in table.columns if c is not table.time}
            kinds |= {tag.name: "tag" for tag in table.tags}
            kinds.setdefault(marker(table), self.field_types[Type.BOOL])
            found |= {f"{n}.{column}": kind for n in table.names for column, kind in kinds.items()}
        if tables:
            yield found

    def contents(self, name: str, found: Existing) -> Contents:
        with self.administration() as session:
            return Contents(None, self.sum_sizes(session, [name]))

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        check_names(tables)
        names = self.buckets(tables)
        with self.administration() as session:
            if taken := self.find_containers(session, names):
                raise self.already_exists(f"{self.container} {min(taken)}")
            for name in names:
                self.create_container(session, name, signed=tables[0].signed)

    def drop(self, names: Collection[str]) -> None:
        with self.administration() as session:
            for name in sorted(self.find_containers(session, names)):
                self.drop_container(session, name)

    def bucket(self, table: Table) -> str:
        """Return the name of the bucket of a table."""
        return self.options.prefix + table.container

    def buckets(self, tables: Iterable[Table]) -> list[str]:
        """Return the names of the tables' buckets, each once."""
        return [*dict.fromkeys(map(self.bucket, tables))]

    # --- the server

    def compact(self, tables: Sequence[Table]) -> None:
        """Make the server write its cache to files, and wait until the files are compacted.

        Without a snapshot, the server writes its cache after ten minutes without writes.
        """
        with self.administration() as session:
            buckets = _bucket_ids(session, self.buckets(tables))
            for shard in shard_metrics(session, ("storage_shard_disk_size",), buckets):
                # Only an operator's token may do it, and not during a snapshot of the server's own.
                with suppress(Refused):
                    session.client.snapshot(int(shard.labels["id"]))
            busy = ("storage_compactions_active", "storage_compactions_queued")
            wait_until_compacted(
                lambda: not any(s.value for s in shard_metrics(session, busy, buckets))
            )

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of the shards' files and logs, without the index of the series."""
        with self.administration() as session:
            return self.sum_sizes(session, self.buckets(tables))

    def sum_sizes(self, session: InfluxSession, names: Sequence[str]) -> int:
        """Return the size of the shards of these containers."""
        metrics = ("storage_tsm_files_disk_bytes", "storage_wal_size")
        found = shard_metrics(session, metrics, _bucket_ids(session, names))
        return int(sum(sample.value for sample in found))

    def describe(self) -> Server:
        """Describe the server; SetupError if InfluxQL reads other buckets under our names."""
        with self.administration() as session:
            if mapped := session.client.find_foreign_mappings(self.options.prefix):
                raise SetupError(
                    f"{self.name}: InfluxQL's database {mapped[0]} is mapped to another bucket, so "
                    "queries would not read the rows that are written; delete the mapping (influx "
                    "v1 dbrp list), or set another prefix among the target's options"
                )
            version = session.client.version()
            settings: dict[str, str] = {}
            try:
                config = session.client.config()
                settings = {name: str(config[name]) for name in _SETTINGS if name in config}
            except Refused as error:
                if error.status not in (401, 403, 404):
                    raise
        return Server(f"InfluxDB {version}", 1, *durability(settings), settings)

    # --- queries

    def translate(self, query: Query) -> Statement:
        in_flux = self.options.language is Language.FLUX
        planned = flux.plan if in_flux else influxql.plan
        return planned(query, self.bucket(query.table))

    def texts(self, table: Table) -> TextLanguage:
        kind = flux.FluxTexts if self.options.language is Language.FLUX else InfluxqlTexts
        return kind(table, self.bucket(table), self.name)


_SETTINGS = (
    "storage-wal-fsync-delay",
    "storage-wal-max-concurrent-writes",
    "storage-cache-max-memory-size",
    "storage-cache-snapshot-memory-size",
    "storage-max-concurrent-compactions",
)


def _bucket_ids(session: InfluxSession, names: Iterable[str]) -> list[str]:
    """Return the server's identifiers of the buckets that exist."""
    return [*filter(None, map(session.client.bucket_id, names))]


def open_client(options: HttpOptions, *, org: str, token: str, basic: bool = False) -> "Client":
    """Return the vendor's client; SetupError if the CA is unusable."""
    from simulator.modules.influxdb.wire import Client  # takes 0.6 s

    context = None
    if urlsplit(options.url).scheme == "https":
        context = tls_context(options.ca_file, options.ca, insecure=options.insecure)
    return Client(options, context, org=org, token=token, basic=basic)


def durability(settings: dict[str, str]) -> tuple[str, bool]:
    """Return the meaning of an acknowledgement, and whether rows are durable.

    InfluxDB always syncs before it answers: writes during a delay wait for one common sync.
    """
    delays = [f" ({n}={v})" for n, v in settings.items() if n.endswith("wal-fsync-delay")]
    return f"an acknowledged row is in the write-ahead log on disk{''.join(delays[:1])}", True


def check_names(tables: Iterable[Table]) -> None:
    """Raise SetupError if InfluxDB reserves the name of a column."""
    for column in (column for table in tables for column in table.columns):
        if column.role is not Role.TIME and (column.name == "time" or column.name.startswith("_")):
            raise SetupError(
                f"influxdb: column {column.name}: InfluxDB reserves time and names that start with "
                "_; rename it"
            )


def wait_until_compacted(done: Callable[[], bool]) -> None:
    """Return once `done`, or after ten minutes: compaction is throttled and may take hours."""
    wait_until(done, _COMPACT_S, _POLL_S)


def shard_metrics(
    session: InfluxSession, names: Sequence[str], buckets: Sequence[str]
) -> list[MetricSample]:
    """Return metrics of all shards of these buckets."""
    samples = Metrics.parse(session.client.metrics()).of(*names)
    return [sample for sample in samples if sample.labels.get("bucket") in buckets]
