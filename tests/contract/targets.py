"""The databases under test: a row each where one differs from the defaults.

The command `contract` reads these rows without the servers and stand-ins, so nothing here imports
those before a test needs them.
"""

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

import pytest

from simulator.control.database import marks
from simulator.data.dataset import Dataset
from simulator.data.schema import PrimaryKey, Table, TimeUnit
from simulator.data.workloads import WORKLOADS
from simulator.data.workloads.iot import EVENTS, Iot
from simulator.modules import database_class
from simulator.modules.contract import DRIVER, IMPORT, Database
from tests.contract.harness import SCRATCH, Wideset
from tests.contract.wide import Awkward, Wide
from tests.unit.specs import dataset

if TYPE_CHECKING:
    from tests.servers.elsewhere import Address


class Duplicate(StrEnum):
    """What the database does with a row whose key exists."""

    REFUSED = "refused"
    REPLACED = "replaced"
    KEPT = "kept beside the other"


@dataclass(frozen=True)
class Target:
    """How to reach a database, and what a comparison must know about it."""

    module: str
    options: Callable[[pytest.FixtureRequest], dict[str, Any]] = lambda _: {}
    """Options for an empty database of the test, besides those of the server."""
    server: str | None = None
    """The server in tests/servers that the tests run on."""
    behind: bool = False
    """Tests reach it by `options` alone; the server is the stand-in's backend."""
    sums_beyond_64_bits: bool = True
    """A sum of integers beyond 64 bits is exact, not an error."""
    duplicate: Duplicate = Duplicate.REFUSED
    lacks: Collection[Awkward] = ()
    """Values that it cannot store, and refuses to encode."""
    lacks_in: Mapping[str, Collection[Awkward]] = field(default_factory=dict)
    """Insert mode -> values that it cannot store in this mode, and refuses to encode."""
    lacks_keys: Collection[PrimaryKey] = ()
    """Primary keys that its server is too old for."""
    unsupported: Collection[str] | None = ()
    """Queries of the wide workload that `render` refuses with Unsupported; None: not listed."""
    wrong: Collection[str] = ()
    """Queries of the wide workload that its test server answers wrongly."""
    stand_in: bool = False
    """The server under test is not the database itself."""
    unanswered: bool = False
    """It sends no acknowledgements, so there is nothing that a kill could lose."""
    may_lose: bool = False
    """It acknowledges rows before they are on disk: a kill may lose some."""
    size_unknown: bool = False
    size_of_all: bool = False
    """The size is that of everything that the server stores."""
    durability_unknown: bool = False
    product: str = ""
    """Product and version, of a server that reports no version."""
    note: str = ""
    """What a reader of the evidence must know about this server."""
    by_address: bool = False
    """The server runs elsewhere and was reached by its address."""
    finest: TimeUnit | None = None
    """The unit in which it counts instants, whatever that of the table; None: that of the table."""
    doubles: bool = False
    """It keeps a float32 as a double."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings by which a user's server is known to be one of this row, not the module's first."""
    redundant: bool = False
    """A kill takes one of several nodes; the others have its rows, and go on."""

    @property
    def database(self) -> type[Database]:
        return database_class(self.module)

    def wide(
        self, primary_key: PrimaryKey = PrimaryKey.NONE, parts: int = 1, mode: str = ""
    ) -> Wideset:
        """The wide dataset without what it cannot store; another key or one part where needed."""
        lacks = (*self.lacks, *self.lacks_in.get(mode, ()))
        can = self.database.capabilities
        key = primary_key if primary_key in can.primary_keys else next(iter(can.primary_keys))
        return Wideset(key, parts if can.multiple_tables else 1, lacks)

    def iot(self) -> Dataset:
        """The workload `iot` with one device that starts sending now."""
        return dataset(
            workload=Iot.name,
            workload_version=Iot.version,
            params={"devices": 1},
            start_ms=time.time_ns() // 10**6,
            primary_key=self.wide().dataset.primary_key,
        )

    def at(self, server: str, module: str, note: str = "") -> "Target":
        """The target on a server that runs elsewhere, instead of a stand-in or its own server."""
        return replace(
            self,
            module=module,
            options=(lambda _: {}) if self.stand_in else self.options,
            server=server,
            behind=False,
            stand_in=False,
            product=self.product and f"{self.product.split()[0]} of unknown version",
            note=note,
            by_address=True,
        )

    def open(self, request: pytest.FixtureRequest, **options: Any) -> Database:
        model = self.database.options_model
        direct = self.server and not self.behind
        reach = request.getfixturevalue("server_options") if direct else {}
        return self.database(model(**{**reach, **self.options(request), **options}))


def _sqlite(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"path": str(request.getfixturevalue("tmp_path") / "sqlite.db"), "busy_timeout_s": 5}


def _on_postgres(*statements: str) -> Callable[[pytest.FixtureRequest], dict[str, Any]]:
    """Let a PostgreSQL database sort by bytes, and run named statements of the stand-ins in it."""

    def options(request: pytest.FixtureRequest) -> dict[str, Any]:
        server, name = (request.getfixturevalue(n) for n in ("server", "server_database"))
        resolve_name("tests.standins.relatives:sorts_by_bytes")(server, name)
        server.execute(*map(resolve_name, statements), database=name)
        return {}

    return options


def _synthetic_crate(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"url": request.getfixturevalue("synthetic_crate").url, "timeout_s": 10}


def _synthetic_arango(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"url": request.getfixturevalue("synthetic_arango").url, "timeout_s": 10}


def _synthetic_splunk(request: pytest.FixtureRequest) -> dict[str, Any]:
    from tests.standins.splunk import SEARCH_TOKEN, TOKEN  # noqa: PLC0415

    url = request.getfixturevalue("synthetic_splunk").url
    reach = {"url": url, "search_url": url, "token": TOKEN, "search_token": SEARCH_TOKEN}
    return {**reach, "timeout_s": 10, "quiet_s": 0.01}


def _myisam(_: pytest.FixtureRequest) -> dict[str, Any]:
    return {"engine": "MyISAM"}


def _mongodb(document_format: str) -> Target:
    return Target(
        "mongodb",
        lambda _: {"document_format": document_format},
        server="ferretdb",
        sums_beyond_64_bits=False,
        durability_unknown=True,
        note="FerretDB on DocumentDB; not tested on MongoDB itself",
        doubles=True,
    )


def _postgres(server: str, module: str = "postgres", note: str = "") -> Target:
    return Target(module, server=server, note=note, finest=TimeUnit.MICROSECOND)


def _timescaledb(server: str) -> Target:
    return _postgres(server, "timescaledb", "Apache edition")


def _path(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"path": str(request.getfixturevalue("tmp_path") / "database")}


_INFLUXDB = Target(
    "influxdb",
    server="influxdb",
    sums_beyond_64_bits=False,
    duplicate=Duplicate.REPLACED,
    lacks_in={DRIVER: (Awkward.ODD_TAGS,)},
    finest=TimeUnit.NANOSECOND,
    doubles=True,
)
_IOTDB = Target(
    "iotdb",
    server="iotdb",
    duplicate=Duplicate.REPLACED,
    may_lose=True,
    lacks=(Awkward.FINE_TIME,),
    size_unknown=True,
    durability_unknown=True,
)
TARGETS = {
    "null": Target("null", sums_beyond_64_bits=False),
    "sqlite": Target("sqlite", _sqlite, sums_beyond_64_bits=False, doubles=True),
    "mongodb-flat": _mongodb("flat"),
    "mongodb-key-pair": _mongodb("key-pair"),
    "mongodb-timeseries": _mongodb("timeseries"),
    "postgres": _postgres("postgres"),
    "postgres17": _postgres("postgres17"),
    "postgres18": _postgres("postgres18"),
    "timescaledb": _timescaledb("timescaledb"),
    "timescaledb15": _timescaledb("timescaledb15"),
    "cockroachdb": Target(
        "tests.standins.relatives:CockroachdbOnPostgres",
        _on_postgres(),
        server="postgres",
        stand_in=True,
        finest=TimeUnit.MICROSECOND,
    ),
    "yugabyte_sql": Target(
        "tests.standins.relatives:YugabyteSqlOnPostgres",
        _on_postgres("tests.standins.relatives:YB_SERVERS"),
        server="postgres",
        stand_in=True,
        durability_unknown=True,
        finest=TimeUnit.MICROSECOND,
    ),
    "cratedb": Target(
        "cratedb",
        _synthetic_crate,
        server="postgres",
        behind=True,
        lacks=(Awkward.BIGINT_ENDS, Awkward.ODD_NAMES),
        stand_in=True,
    ),
    "cratedb_pg": Target(
        "tests.standins.relatives:CratedbPgOnPostgres",
        _on_postgres("tests.standins.crate:SETUP"),
        server="postgres",
        lacks=(Awkward.BIGINT_ENDS, Awkward.ODD_NAMES),
        stand_in=True,
        finest=TimeUnit.MICROSECOND,
    ),
    "arangodb": Target(
        "arangodb", _synthetic_arango, stand_in=True, sums_beyond_64_bits=False, doubles=True
    ),
    "mysql": Target("mysql", server="mysql", finest=TimeUnit.MICROSECOND),
    "mysql_myisam": Target(
        "mysql", _myisam, server="mysql", note="MyISAM", finest=TimeUnit.MICROSECOND
    ),
    "mariadb": Target("mysql", server="mariadb", finest=TimeUnit.MICROSECOND),
    "mariadb_myisam": Target(
        "mysql", _myisam, server="mariadb", note="MyISAM", finest=TimeUnit.MICROSECOND
    ),
    "influxdb": _INFLUXDB,
    "influxdb_influxql": replace(
        _INFLUXDB, options=lambda _: {"language": "influxql", "gzip": True}
    ),
    "influxdb1": replace(_INFLUXDB, module="influxdb1", server="influxdb1", lacks_in={}),
    "questdb": Target(
        "questdb",
        server="questdb",
        duplicate=Duplicate.KEPT,
        lacks=(Awkward.LEAST_INTEGERS, Awkward.ODD_NAMES, Awkward.OLD_ROWS),
        lacks_in={IMPORT: (Awkward.EMPTY_TEXT,)},
        finest=TimeUnit.MICROSECOND,
    ),
    "elasticsearch": Target("elasticsearch", server="elasticsearch"),
    "opensearch": Target("elasticsearch", server="opensearch"),
    "opensearch3": Target("elasticsearch", server="opensearch3"),
    "cassandra": Target(
        "cassandra",
        server="cassandra",
        duplicate=Duplicate.REPLACED,
        may_lose=True,
        note="one node; not tested on YugabyteDB",
    ),
    "clickhouse": Target(
        "tests.contract.clickhouse18:Clickhouse18",
        server="clickhouse",
        duplicate=Duplicate.KEPT,
        note="HTTP, with the types of that version; clickhouse_embedded shows today's",
    ),
    "clickhouse_embedded": Target("clickhouse_embedded", _path, duplicate=Duplicate.KEPT),
    "duckdb": Target("duckdb", _path, finest=TimeUnit.MICROSECOND),
    "victoriametrics": Target(
        "victoriametrics",
        server="victoriametrics",
        duplicate=Duplicate.KEPT,
        lacks=(
            Awkward.BEFORE_1970,
            Awkward.EXTREME_FLOATS,
            Awkward.FAR_INSTANTS,
            Awkward.FINE_TIME,
            Awkward.LARGE_INTEGERS,
            Awkward.MANY_DIGITS,
            Awkward.TEXT_FIELDS,
        ),
        product="VictoriaMetrics 1.145.0",
        size_of_all=True,
        may_lose=True,
        doubles=True,
    ),
    "graphite": Target(
        "graphite",
        server="graphite",
        duplicate=Duplicate.REPLACED,
        lacks=(
            Awkward.NULL_TAG,
            Awkward.FAR_INSTANTS,
            Awkward.LARGE_INTEGERS,
            Awkward.ODD_NAMES,
            Awkward.ODD_TAGS,
            Awkward.TEXT_FIELDS,
            Awkward.OLD_ROWS,
            Awkward.SUBSECOND_TIME,
        ),
        unanswered=True,
        size_unknown=True,
        doubles=True,
    ),
    "iotdb": _IOTDB,
    "iotdb_us": replace(
        _IOTDB,
        server="iotdb_us",
        lacks=(),
        note="timestamps in microseconds",
        settings={"timestamp_precision": "us"},
        wrong=("first and last by tag and time",),  # the maximum of negative numbers alone is NULL
        finest=TimeUnit.MICROSECOND,
    ),
    "splunk": Target(
        "splunk",
        _synthetic_splunk,
        stand_in=True,
        duplicate=Duplicate.KEPT,
        unsupported=("where a large integer is greater", "where a large integer is at least"),
        lacks=(Awkward.EMPTY_TEXT, Awkward.ODD_NAMES, Awkward.OLD_ROWS),
        doubles=True,
    ),
    "opentsdb": Target(
        "opentsdb",
        server="opentsdb",
        duplicate=Duplicate.REPLACED,
        lacks=(
            Awkward.NULL_TAG,
            Awkward.ODD_NAMES,
            Awkward.ODD_TAGS,
            Awkward.TEXT_FIELDS,
            Awkward.OLD_ROWS,
            Awkward.FINE_TIME,
        ),
        size_unknown=True,
        durability_unknown=True,
        doubles=True,
    ),
}


def _crate_cluster(module: str) -> Target:
    return Target(
        module,
        lambda _: {"replicas": "1"},
        lacks=TARGETS[module].lacks,
        redundant=True,
        note="three nodes",
    )


_COCKROACHDB_21 = Target("cockroachdb", lacks_keys=(PrimaryKey.SQL,), finest=TimeUnit.MICROSECOND)
BY_ADDRESS = {
    "cockroachdb_21": _COCKROACHDB_21,
    "cockroachdb_21_cluster": replace(_COCKROACHDB_21, redundant=True),
    "cratedb_cluster": _crate_cluster("cratedb"),
    "cratedb_pg_cluster": _crate_cluster("cratedb_pg"),
    "influxdb3": Target(
        "influxdb3",
        duplicate=Duplicate.REPLACED,
        lacks=(Awkward.ODD_NAMES, Awkward.ODD_TAGS),
        size_unknown=True,
        durability_unknown=True,
    ),
    "quasardb": Target(  # what test_quasardb.py shows without a server
        "quasardb",
        sums_beyond_64_bits=False,
        duplicate=Duplicate.KEPT,
        lacks=(Awkward.BIGINT_ENDS, Awkward.EMPTY_TEXT, Awkward.ODD_NAMES),
        unsupported=None,
        size_unknown=True,
    ),
    "timescaledb_aggregates": Target("timescaledb", lambda _: {"aggregate_intervals_s": "60,3600"}),
    "timescaledb_compressed": Target("timescaledb", lambda _: {"compress": True}),
}
"""Targets that no test starts a server for, and that have no stand-in: `--address` adds them."""
STORING = {name: target for name, target in TARGETS.items() if name != "null"}


def modules() -> dict[str, str]:
    """The targets that may be given an address, and their modules."""
    return {n: t.database.name for n, t in (TARGETS | BY_ADDRESS).items()}


def use_addresses(found: Mapping[str, "Address"], files: Sequence[str]) -> None:
    """Reach targets by their addresses; `files` are the targets of config.yaml."""
    from tests.servers import SERVERS  # noqa: PLC0415
    from tests.servers.elsewhere import server_at  # noqa: PLC0415

    for name, address in found.items():
        server = server_at(address, tables_of_tests, [name] if name in files else [])
        SERVERS[server.name] = server
        TARGETS[name] = (TARGETS | BY_ADDRESS)[name].at(server.name, address.module, address.note)
        STORING[name] = TARGETS[name]


def tables_of_tests() -> list[Table]:
    """Every table that a test makes in a database that it shares with others."""
    every = [tuple(EVENTS.stored(PrimaryKey.NONE, parts) for parts in (1, 4))]
    if Wide.name in WORKLOADS:  # only in the contract suite
        lacks: tuple[tuple[Awkward, ...], ...] = ((), (*Awkward,))
        every += [Wideset(parts=n, lacks=without).tables for n in (1, 4) for without in lacks]
    return [SCRATCH, marks.TABLE, *chain(*every)]
