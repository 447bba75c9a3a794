"""Apache IoTDB, by tablets of its table model.

The table model, because a batch of many devices is one tablet there, and because its SQL groups by
tags and by time at once. The tree model has a path of its own for each device, so that a batch
would be as many requests as it has devices, and a tag that is NULL has no place in a path.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field, SecretStr, field_validator

from simulator.data.query import Query, Statement
from simulator.data.schema import INTEGERS, PrimaryKey, Role, Table, TimeUnit, Type, former_names
from simulator.errors import SetupError
from simulator.modules.base import BATCH, SINGLE, Capabilities, Database, Options, Server
from simulator.modules.iotdb import query as queries
from simulator.modules.iotdb.clock import sent, type_of
from simulator.modules.iotdb.errors import (
    NO_DATABASE,
    REMEDIES,
    SYNTAX,
    TABLE_EXISTS,
    IotDbError,
    ServerError,
)
from simulator.modules.iotdb.query import quoted, stored_table
from simulator.modules.shared.tls import CA, CA_FILE, INSECURE

if TYPE_CHECKING:
    from simulator.modules.iotdb.link import Link
    from simulator.modules.iotdb.session import IotDbSession

_MOST_ROWS = 1_000_000


class IotDbOptions(Options):
    """Options of the module `iotdb`."""

    host: str = Field(description="a DataNode's address")
    port: int = Field(6667, ge=1, le=65535, description="its port for clients (dn_rpc_port)")
    username: str = Field("root", description="the user")
    password: SecretStr = Field(
        SecretStr("root"), description="the user's password; default: what a new server has"
    )
    database: str = Field(
        "benchmark", min_length=1, description="the database; it is made if it is not there"
    )
    tls: bool = Field(default=False, description="whether the server wants TLS")
    ca_file: str | None = CA_FILE
    ca: SecretStr | None = CA
    insecure: bool = INSECURE
    timeout_s: float = Field(30, gt=0, description="how long to wait for an acknowledgement")
    query_timeout_s: float = Field(
        3600, gt=0, description="how long to wait for an answer to a query"
    )
    fetch_rows: int = Field(
        10_000, ge=1, le=1_000_000, description="how many rows of an answer are fetched at once"
    )

    @field_validator("host")
    @classmethod
    def _host(cls, host: str) -> str:
        if not host or "/" in host:
            raise ValueError("expected a host's name or address; the port is an option of its own")
        return host


class IotDb(Database):
    """An IoTDB cluster, through one of its DataNodes."""

    name = "iotdb"
    capabilities = Capabilities(
        modes={
            SINGLE: "a tablet of one row",
            BATCH: "a tablet (insertTablet): the batch column by column, device after device",
        },
        primary_keys={
            PrimaryKey.DB: "tags and time, by which IoTDB knows a row; one that has them is "
            "replaced",
            PrimaryKey.CLIENT: "the same, and a field of text that the client sends",
        },
        acknowledged="in memory and handed to the write-ahead log, which is synced first only if "
        "the server's wal_mode is SYNC",
        limits=(
            "the time's column is called `time` in the server's tables",
            "names that differ in capitals only are the same",
            "a table whose name is not made of letters, digits and _ is called by it in backquotes",
            "times finer than the server's timestamp_precision (ms unless set) are refused",
            "sums of integers are doubles there: the client sums pieces of 16 bits, each exact",
            "different values are counted by the client: the server's DISTINCT gives some twice",
            "there is no UNION: the client puts the answers of multiple tables together",
            "the size on disk is told for a whole database only, rounded and late: unknown here",
        ),
    )
    options_model: ClassVar[type[Options]] = IotDbOptions
    options: IotDbOptions

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return, a sentence each, what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        if batch_rows > _MOST_ROWS:
            found.append(f"--batch: a tablet has at most {_MOST_ROWS} rows, got {batch_rows}")
        return found

    # --- connecting

    def connect(self) -> "IotDbSession":
        """Open a session that uses the database."""
        from simulator.modules.iotdb.session import IotDbSession  # noqa: PLC0415

        return IotDbSession(self._open(self.options.database))

    def _open(self, database: str) -> "Link":
        # A driver is imported only when its module connects.
        from simulator.modules.iotdb.link import Link  # noqa: PLC0415

        try:
            return Link(self.options, database)
        except IotDbError as error:
            raise SetupError(f"{self.name}: {self.explain(error)}") from error

    @contextmanager
    def _linked(self) -> Iterator["Link"]:
        """Open a session for something other than a run; the database need not be there."""
        link = self._open("")
        try:
            yield link
        except IotDbError as error:
            raise SetupError(f"{self.name}: {self.explain(error)}") from error
        finally:
            link.close()

    def _full(self, table: str) -> str:
        return f"{quoted(self.options.database)}.{quoted(stored_table(table))}"

    # --- tables

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none, and the database if it is not there."""
        for table in tables:
            _check(table)
        with self._linked() as link:
            link.execute(f"CREATE DATABASE IF NOT EXISTS {quoted(self.options.database)}")
            made: list[str] = []
            try:
                for table in tables:
                    for name in table.names:
                        link.execute(self._create(table, name, link.precision))
                        made.append(name)
            except ServerError:
                for name in made:
                    link.execute(f"DROP TABLE IF EXISTS {self._full(name)}")
                raise

    def _create(self, table: Table, name: str, precision: TimeUnit) -> str:
        columns = [f"{quoted('time')} TIMESTAMP TIME"]
        for column in sent(table):
            kind = type_of(column, table.time_unit, precision)
            role = "TAG" if column.role is Role.TAG else "FIELD"
            columns.append(f"{quoted(column.name)} {kind} {role}")
        return f"CREATE TABLE {self._full(name)} ({', '.join(columns)})"

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables that are there."""
        with self._linked() as link:
            for name in former_names(tables):
                try:
                    link.execute(f"DROP TABLE IF EXISTS {self._full(name)}")
                except ServerError as error:
                    if error.codes == {NO_DATABASE}:
                        return
                    raise

    def settle(self, tables: Sequence[Table]) -> None:
        """Write what is in memory to files; the server merges those when it sees fit."""
        with self._linked() as link:
            link.execute(f"FLUSH {quoted(self.options.database)}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return None: the server tells a rounded size of the whole database, seconds late."""
        return None

    # --- what it says of itself

    def describe(self) -> Server:
        """Return version, nodes, and the write-ahead log's mode if the server tells it."""
        with self._linked() as link:
            version = link.execute("SHOW VERSION")[0][0]
            nodes = [row for row in link.execute("SHOW CLUSTER") if row[1] == "DataNode"]
            variables = dict(link.execute("SHOW VARIABLES"))
            settings = {
                "timestamp_precision": str(link.precision),
                "data_replication_factor": variables.get("DataReplicationFactor", "unknown"),
                "data_region_consensus": variables.get(
                    "DataRegionConsensusProtocolClass", "unknown"
                ).rpartition(".")[2],
            }
            mode = _wal_mode(link)
        if mode:
            settings["wal_mode"] = mode
        durable, durability = _DURABILITY[mode]
        return Server(f"IoTDB {version}", len(nodes), durability, durable, settings)

    def render(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return queries.render(query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        if not isinstance(error, IotDbError):
            return super().explain(error)
        codes = error.codes if isinstance(error, ServerError) else ()
        told = str(error)
        if TABLE_EXISTS in codes:
            told = told.replace(f". ({TABLE_EXISTS})", "")
        remedy = next((REMEDIES[code] for code in sorted(codes) if code in REMEDIES), None)
        return f"{told}; {remedy}" if remedy else told


_BEFORE = "an acknowledged row is in the server's memory"
_UNTOLD = (
    f"{_BEFORE} and handed to the write-ahead log; this version does not tell whether that is "
    "synced first, which is wal_mode (ASYNC, if nobody has set it: it is not)"
)
_DURABILITY: dict[str, tuple[bool | None, str]] = {
    "SYNC": (True, "an acknowledged row is in the write-ahead log, synced to disk (wal_mode=SYNC)"),
    "ASYNC": (
        False,
        f"{_BEFORE} and handed to the write-ahead log, which is synced later (wal_mode=ASYNC)",
    ),
    "DISABLE": (False, f"{_BEFORE} and nowhere else until a flush (wal_mode=DISABLE)"),
    "": (None, _UNTOLD),
}
"""wal_mode -> whether a row survives a power cut, and why."""


def _wal_mode(link: "Link") -> str:
    """Return the server's wal_mode; empty if it does not tell."""
    try:
        rows: list[tuple[Any, ...]] = link.execute("SHOW CONFIGURATION")
    except ServerError as error:
        if SYNTAX in error.codes:
            return ""  # older than that statement
        raise
    told = next((str(row[1]).upper() for row in rows if row[0] == "wal_mode"), "")
    return told if told in _DURABILITY else ""


def _check(table: Table) -> None:
    """Refuse what no table of the server can have."""
    if "root" in map(str.lower, table.names):
        raise SetupError(
            "iotdb: no table can be called root: a tablet's table is read as a path, and that is "
            "where paths begin; rename it in the workload"
        )
    names = ["time", *(column.name.lower() for column in sent(table))]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise SetupError(
            f"iotdb: table {table.name}: two columns would be called {twice!r}, as the time's is "
            "called 'time' and capitals do not count; rename one in the workload"
        )
    for column in table.tags:
        if column.type not in {Type.TEXT, *INTEGERS}:
            raise SetupError(
                f"iotdb: table {table.name}: column {column.name} is {column.type}, and a tag is "
                "text or an integer"
            )
