"""Apache IoTDB, by tablets of its table model.

In the table model, a batch of many devices is one tablet, and SQL groups by tags and by time. In
the tree model, each device has its own path: a batch would need a request for each device, and a
NULL tag cannot be part of a path.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from simulator.data.features import Feature
from simulator.data.query import Query, Statement
from simulator.data.schema import INTEGERS, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    BY_SERIES,
    DRIVER,
    EXISTS,
    MISSING,
    MOST_COUNTED,
    SINGLE,
    Capabilities,
    Columns,
    Contents,
    Database,
    Existing,
    Options,
    Server,
    all_or_none,
)
from simulator.modules.iotdb import query as queries
from simulator.modules.iotdb.options import IotDbOptions
from simulator.modules.iotdb.query import ANALYZE, columns_of, name_table, type_of
from simulator.modules.shared.http.tls import tls_context
from simulator.modules.shared.sql.language import quote

if TYPE_CHECKING:
    from iotdb.table_session import TableSession

    from simulator.modules.iotdb.session import IotDbSession
    from simulator.modules.iotdb.wire import Link

_MOST_ROWS = 1_000_000
_NO_DATABASE, _TABLE_EXISTS, _SYNTAX = 500, 551, 700


class IotDb(Database["IotDbSession"]):
    """An IoTDB cluster, through one of its DataNodes."""

    name = "iotdb"
    urls = ("iotdb://USERNAME@HOST:6667/DATABASE",)
    capabilities = Capabilities(
        modes={
            SINGLE: "a tablet of one row",
            BATCH: "a tablet (insertTablet): the batch column by column, device after device",
            DRIVER: "apache-iotdb's TableSession.insert, one Tablet of Python values",
        },
        primary_keys={
            PrimaryKey.DB: "tags and time, which identify a row in IoTDB; a row with existing ones "
            "replaces that row",
            PrimaryKey.CLIENT: "the same, and a text field that the client sends",
        },
        acknowledged="in memory and handed to the write-ahead log, which is synced first only if "
        "the server's wal_mode is SYNC",
        replaces_rows=True,
        changes=replace(
            BY_SERIES,
            corrects="a tablet: a row replaces another one with the same tags and time",
            deletes="DELETE",
        ),
        unsupported={
            Feature.QUOTIENTS: "a condition could, but it is not tested",
            Feature.SUBQUERIES: "the client merges several answers; the server never has the whole",
        },
        plans=ANALYZE,
        by_version={"IoTDB": "SHOW CONFIGURATION; without it the durability is unknown"},
        in_client="decodes blocks of columns; adds up integers from 16-bit pieces, because the "
        "server sums doubles; counts distinct values, because the server's DISTINCT repeats some; "
        "combines the answers of several tables, because there is no UNION",
        limits=(
            "the time column is called `time` on the server",
            "names are case-insensitive",
            "a table's name with other characters than letters, digits and _ includes backquotes",
            "times finer than the server's timestamp_precision (default: ms) are refused",
            "the size on disk is unknown: the server reports a whole database, rounded and late",
            "IoTDB 2.0.1-beta may bring back rows of a dropped table in a new one of its name",
            "IoTDB 2.0.1-beta returns NULL as the maximum of only negative FLOAT or DOUBLE values",
        ),
    )
    options_model: ClassVar[type[Options]] = IotDbOptions
    options: IotDbOptions
    remedies: ClassVar[Mapping[str, str]] = {
        rf"\({_TABLE_EXISTS}\)": EXISTS,
        rf"\({_NO_DATABASE}\)": f"{MISSING}, or name another database",
        r"\(550\)": MISSING,
        r"\(600\)": "the server is read-only: see its log and disks, then SET SYSTEM TO RUNNING",
        r"\(606\)": "use fewer workers, or give the server more memory",
        r"\(611\)": "free disk space on the server",
        r"\((801|804)\)": "check username and password",
        r"\(803\)": "GRANT ALL ON DATABASE ... TO USER ...",
    }

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        found += self.options.list_excluded("ca", "insecure")
        if batch_rows > _MOST_ROWS:
            found.append(f"--batch: a tablet has at most {_MOST_ROWS} rows, got {batch_rows}")
        return found

    # --- connecting

    def connect(self) -> "IotDbSession":
        # These files import the driver.
        from simulator.modules.iotdb.session import IotDbSession
        from simulator.modules.iotdb.wire import IotDbError, Link

        options, context = self.options, None
        if options.tls:
            context = tls_context(options.ca_file, options.ca, insecure=options.insecure)
        try:
            return IotDbSession(Link(options, context), self._open_driver)
        except IotDbError as error:
            raise self.setup_error(error) from error

    def _open_driver(self) -> "TableSession":
        """Open the vendor's session, with its defaults."""
        from iotdb.table_session import TableSession, TableSessionConfig

        options = self.options
        return TableSession(
            TableSessionConfig(
                node_urls=[f"{options.host}:{options.port}"],
                username=options.username,
                password=options.password.get_secret_value(),
                database=options.database,
                use_ssl=options.tls,
                ca_certs=options.ca_file,
                connection_timeout_in_ms=int(options.timeout_s * 1000),
            )
        )

    @contextmanager
    def administration(self) -> Iterator["IotDbSession"]:
        """Open a session that uses no database, because the database may not exist."""
        anywhere = IotDb(self.options.model_copy(update={"database": ""}))
        with super(IotDb, anywhere).administration() as session:
            yield session

    def words(self, error: Exception) -> str:
        from simulator.modules.iotdb.wire import IotDbError

        return str(error) if isinstance(error, IotDbError) else super().words(error)

    # --- tables

    def _name_full(self, table: str) -> str:
        return f"{quote(self.options.database)}.{quote(name_table(table))}"

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        from simulator.modules.iotdb.wire import ServerError

        with self.administration() as session:
            try:
                rows = session.link.execute(f"SHOW TABLES FROM {quote(self.options.database)}")
            except ServerError as error:
                if error.codes == {_NO_DATABASE}:
                    return {}
                raise
        known = {str(row[0]).lower() for row in rows}
        return {name: Existing("table") for name in names if name_table(name) in known}

    def columns_in(self, name: str) -> Columns:
        with self.administration() as session:
            found = session.link.execute(f"DESC {self._name_full(name)}")
        return {str(column): str(kind) for column, kind, *_ in found}

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        with self.administration() as session:
            precision = session.link.precision
        for table in tables:
            typed = {c.name: type_of(c, table.time_unit, precision) for c in columns_of(table)}
            yield {"time": "TIMESTAMP", **typed}

    def contents(self, name: str, found: Existing) -> Contents:
        some = f"SELECT 1 FROM {self._name_full(name)} LIMIT {MOST_COUNTED + 1}"
        with self.administration() as session:
            ((rows,),) = session.link.execute(f"SELECT count(*) FROM ({some})")
        return Contents(int(rows))

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        for table in tables:
            _check(table)
        with self.administration() as session, all_or_none() as undo:
            link = session.link
            link.execute(f"CREATE DATABASE IF NOT EXISTS {quote(self.options.database)}")
            for table in tables:
                for name in table.names:
                    link.execute(self._define_table(table, name, link.precision))
                    undo(link.execute, f"DROP TABLE IF EXISTS {self._name_full(name)}")

    def _define_table(self, table: Table, name: str, precision: TimeUnit) -> str:
        columns = [f"{quote('time')} TIMESTAMP TIME"]
        for column in columns_of(table):
            kind = type_of(column, table.time_unit, precision)
            role = "TAG" if column.role is Role.TAG else "FIELD"
            columns.append(f"{quote(column.name)} {kind} {role}")
        return f"CREATE TABLE {self._name_full(name)} ({', '.join(columns)})"

    def drop(self, names: Collection[str]) -> None:
        from simulator.modules.iotdb.wire import ServerError

        with self.administration() as session:
            for name in names:
                try:
                    session.link.execute(f"DROP TABLE IF EXISTS {self._name_full(name)}")
                except ServerError as error:
                    if error.codes == {_NO_DATABASE}:
                        return
                    raise

    def compact(self, tables: Sequence[Table]) -> None:
        """Write the memory to files; the server decides when to merge them."""
        with self.administration() as session:
            session.link.execute(f"FLUSH {quote(self.options.database)}")

    # --- the server

    def describe(self) -> Server:
        with self.administration() as session:
            link = session.link
            version = link.execute("SHOW VERSION")[0][0]
            nodes = [row for row in link.execute("SHOW CLUSTER") if row[1] == "DataNode"]
            variables = dict(link.execute("SHOW VARIABLES"))
            consensus = variables.get("DataRegionConsensusProtocolClass", "unknown")
            settings = {
                "timestamp_precision": str(link.precision),
                "data_replication_factor": variables.get("DataReplicationFactor", "unknown"),
                "data_region_consensus": consensus.rpartition(".")[2],
            }
            mode = wal_mode(link)
        if mode:
            settings["wal_mode"] = mode
        durable, sentence = DURABILITY[mode]
        return Server(f"IoTDB {version}", len(nodes), sentence, durable, settings)

    def translate(self, query: Query) -> Statement:
        return queries.render(query)

    def texts(self, table: Table) -> queries.IotDbTexts:
        return queries.IotDbTexts(table, queries.Clock(table.time_unit, table.time_unit))


_IN_MEMORY = "an acknowledged row is in the server's memory"
_NOT_REPORTED = (
    f"{_IN_MEMORY} and handed to the write-ahead log; this version does not report wal_mode, which "
    "decides whether the log is synced first (by default it is not: ASYNC)"
)
DURABILITY: dict[str, tuple[bool | None, str]] = {
    "SYNC": (True, "an acknowledged row is in the write-ahead log, synced to disk (wal_mode=SYNC)"),
    "ASYNC": (
        False,
        f"{_IN_MEMORY} and handed to the write-ahead log, which is synced later (wal_mode=ASYNC)",
    ),
    "DISABLE": (False, f"{_IN_MEMORY} and nowhere else until a flush (wal_mode=DISABLE)"),
    "": (None, _NOT_REPORTED),
}
"""wal_mode -> whether an acknowledged row survives a power cut, and the reason in a sentence."""


def wal_mode(link: "Link") -> str:
    """Return the server's wal_mode; empty if the server does not report it."""
    from simulator.modules.iotdb.wire import ServerError

    try:
        rows: list[tuple[Any, ...]] = link.execute("SHOW CONFIGURATION")
    except ServerError as error:
        if _SYNTAX in error.codes:
            return ""  # the server is older than this statement
        raise
    mode = next((str(row[1]).upper() for row in rows if row[0] == "wal_mode"), "")
    return mode if mode in DURABILITY else ""


def _check(table: Table) -> None:
    """Raise SetupError for a table that the server cannot have."""
    if "root" in map(str.lower, table.names):
        raise SetupError(
            "iotdb: a table cannot be called root, because a tablet's table is parsed as a path "
            "and root is where paths begin; rename it in the workload"
        )
    names = ["time", *(column.name.lower() for column in columns_of(table))]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise SetupError(
            f"iotdb: table {table.name}: two columns would be called {twice!r}: names are "
            "case-insensitive, and the time column is called 'time'; rename one in the workload"
        )
    for column in table.tags:
        if column.type not in {Type.TEXT, *INTEGERS}:
            raise SetupError(
                f"iotdb: table {table.name}: column {column.name} is {column.type}, but a tag must "
                "be text or an integer"
            )
