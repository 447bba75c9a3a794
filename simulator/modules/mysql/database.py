"""MySQL and MariaDB, through PyMySQL and LOAD DATA LOCAL INFILE from memory.

PyMySQL is pure Python, but costs little: rows are already encoded, and sending takes 0.2 us/row.
"""

import socket
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, SecretStr

from simulator.data.row_hash import RemainderHash
from simulator.data.schema import PrimaryKey, Role, Table, names_of
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    DRIVER,
    IMPORT,
    SINGLE,
    Alike,
    Capabilities,
    Changes,
    Existing,
    Options,
    Product,
    ReadCounters,
    Server,
    all_or_none,
    recognize,
    signature,
)
from simulator.modules.mysql import server
from simulator.modules.mysql.query import TEXT_LENGTHS, MySqlDialect
from simulator.modules.mysql.session import ANALYZE, ANALYZE_JSON, MySqlSession
from simulator.modules.shared.http.tls import (
    CA,
    CERTIFICATES,
    UNTRUSTED,
    socket_options,
    tls_context,
)
from simulator.modules.shared.sql import hashes as sql_hashes
from simulator.modules.shared.sql.database import SqlDatabase, indices_of
from simulator.modules.shared.sql.transactions import (
    PREPARED,
    TRANSACTION,
    VALUES,
    TransactionOptions,
)

if TYPE_CHECKING:
    from simulator.modules.mysql.wire import WireConnection

_SETTINGS = (
    # A value that does not fit, or an unknown engine, is an error.
    "SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
    " lock_wait_timeout = 60,"  # the default is a year
    " autocommit = ON,"  # the driver assumes the state in the server's greeting
    # An administrator's limits on rows would truncate answers, or refuse full scans.
    f" sql_select_limit = {2**64 - 1}, sql_big_selects = ON"
)
_GREETING = "MySQL "
"""Prefix of the version in a server's greeting, which names the protocol for `recognize`."""


class MySqlOptions(TransactionOptions):
    """Options of the module `mysql`."""

    host: str = Field(description="where the server listens")
    port: int = Field(3306, ge=1, le=65535, description="its port")
    user: str = Field(description="the user")
    password: SecretStr | None = Field(None, description="the user's password")
    database: str = Field(description="the database of the tables; it must exist")
    engine: str = Field(
        "InnoDB",
        pattern="^[A-Za-z]+$",
        description="the tables' storage engine: InnoDB, MyISAM, Aria, ...; an engine without "
        "transactions keeps the rows of a batch that precede a refused row",
    )
    tls: bool = Field(
        default=False,
        description="encrypt, and check the server's certificate against the system's authorities",
    )
    ca_file: str | None = Field(
        None,
        description="encrypt, and check the server's certificate against the authority in this "
        "file (PEM)",
    )
    ca: SecretStr | None = CA
    insecure: bool = Field(
        default=False,
        description="encrypt, but accept any certificate, without a check of its host",
    )
    connect_timeout_s: float = Field(10, gt=0, description="how long to wait for a connection")

    @property
    def uses_tls(self) -> bool:
        """True if the connection is encrypted."""
        return self.tls or self.insecure or bool(self.ca_file) or self.ca is not None


class MySql(SqlDatabase[MySqlSession]):
    """A MySQL or MariaDB database."""

    name = "mysql"
    urls = ("mysql://USER@HOST:3306/DATABASE", "mariadb://USER@HOST:3306/DATABASE")
    dialect = MySqlDialect()
    row_hash = RemainderHash(ticks_per_second=10**6, saturates=False)
    hash_probe = sql_hashes.CRC32_PROBE
    capabilities = Capabilities(
        modes={
            SINGLE: "one INSERT, committed on its own",
            BATCH: "BEGIN and LOAD DATA LOCAL INFILE, and COMMIT if the server stored every row",
            VALUES: "one INSERT with a list of rows, which is a transaction",
            TRANSACTION: "BEGIN, an INSERT for each row, COMMIT",
            PREPARED: "COM_STMT_PREPARE once, and COM_STMT_EXECUTE for each row, committed on its "
            "own, or between BEGIN and COMMIT",
            DRIVER: "PyMySQL's executemany, INSERTs of many rows between BEGIN and COMMIT",
            IMPORT: "as batch, of one file with a tab between values, the default of LOAD DATA",
        },
        primary_keys={
            PrimaryKey.DB: "bigint AUTO_INCREMENT",
            PrimaryKey.CLIENT: f"varchar({TEXT_LENGTHS[Role.KEY]}), sent by the client",
            PrimaryKey.UUID: "binary(16) DEFAULT, from the server's UUID() of version 1",
            PrimaryKey.NONE: "no key and no id column; InnoDB orders the rows by a hidden number",
        },
        alike={Alike.ZEROS: "MariaDB returns 0.0 for -0.0"},
        acknowledged="committed; the server's innodb_flush_log_at_trx_commit and sync_binlog "
        "decide whether it is durable. With MyISAM: written to the operating system's cache",
        oldest={"MySQL": (8, 0, 17), "MariaDB": (10, 5)},
        by_version=dict.fromkeys(
            ("MySQL", "MariaDB"),
            "window functions, casts to double and texts that sort by bytes",
        ),
        changes=Changes(
            corrects="INSERT ... ON DUPLICATE KEY UPDATE", retags="UPDATE", deletes="DELETE"
        ),
        plans=f"{ANALYZE}, on MariaDB {ANALYZE_JSON}",
        indices=True,
        limits=(
            (
                "a tag has at most as many characters as the workload declares, or else "
                f"{TEXT_LENGTHS[Role.TAG]}; a key from the client {TEXT_LENGTHS[Role.KEY]}"
            ),
            "instants are stored in microseconds, in years 1 to 9999",
            (
                "without transactions (MyISAM), rows of a batch that precede an error stay stored, "
                "so the batch counts as uncertain"
            ),
        ),
    )
    options_model: ClassVar[type[Options]] = MySqlOptions
    options: MySqlOptions
    remedies: ClassVar[Mapping[str, str]] = {
        **CERTIFICATES,
        "CERTIFICATE_VERIFY_FAILED": UNTRUSTED,
        "SSL is required but": "remove tls, ca_file, ca and insecure, or enable TLS on the server",
        "ocal infile|oading local data": "allow it on the server (SET GLOBAL local_infile = ON), "
        "or set use_values_lists=true",
        "timed out": server.CHECK,
        "--(super-)?read-only option": "connect to the primary, or SET GLOBAL read_only = OFF",
        "Packet sequence number wrong": "the server refused a packet; raise its max_allowed_packet",
        "crashed|repair": "run REPAIR TABLE ..., or set myisam_recover_options on the server",
    }

    comments = (
        "SELECT table_name, table_comment FROM information_schema.tables "
        "WHERE table_schema = DATABASE() AND table_type = 'BASE TABLE'"
    )
    attachments = (
        "SELECT DISTINCT concat('foreign key ', constraint_name, ' of table ', table_name) "
        "FROM information_schema.key_column_usage WHERE referenced_table_schema = DATABASE() "
        "AND referenced_table_name IN ({names}) "
        "AND NOT (table_schema = DATABASE() AND table_name IN ({names})) ORDER BY 1"
    )
    columns = (
        "SELECT column_name, "
        "CASE WHEN data_type IN ('varchar', 'datetime') THEN column_type ELSE data_type END "
        "FROM information_schema.columns "
        "WHERE table_schema = DATABASE() AND table_name = {name}"
    )

    def insert_mode(self, mode: str) -> str:
        return self.options.choose_mode(mode)

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        return found + self.options.find_conflicts(mode)

    def connect(self) -> MySqlSession:
        import pymysql

        connection = None
        try:
            connection = self._open()
            connection.query(_SETTINGS)
            transactional = self._is_transactional(connection)
        except (pymysql.Error, OSError) as error:
            if connection:
                connection.hang_up()
            raise self.setup_error(error) from error
        return MySqlSession(
            connection,
            self.dialect,
            transactional=transactional,
            commit_every_s=self.options.commit_every_s,
        )

    def identify(self) -> str:
        with self.connection() as connection:
            return f"{_GREETING}{connection.server_version}"

    def _open(self) -> "WireConnection":
        from simulator.modules.mysql.wire import WireConnection

        options = self.options
        context = None
        if options.uses_tls:
            context = tls_context(options.ca_file, options.ca, insecure=options.insecure)
        secrets = options.secrets()
        connection = WireConnection(
            host=options.host,
            port=options.port,
            user=options.user,
            password=secrets.get("password", "").encode(),
            database=options.database,
            ssl=context,
            ssl_disabled=context is None,
            program_name=f"benchmark {socket.gethostname()}",
            answer_within_s=options.connect_timeout_s,
        )
        link = socket.create_connection((options.host, options.port), options.connect_timeout_s)
        for option in socket_options():
            link.setsockopt(*option)
        connection.connect(link)
        return connection

    def _is_transactional(self, connection: "WireConnection") -> bool:
        """Return whether the engine has transactions; SetupError if the server lacks the engine."""
        engine = self.options.engine
        rows = connection.fetch(
            "SELECT transactions FROM information_schema.engines "
            f"WHERE engine = {self.dialect.text(engine)} AND support IN ('YES', 'DEFAULT')"
        )
        if not rows:
            known = "SELECT engine FROM information_schema.engines WHERE support <> 'NO'"
            names = ", ".join(sorted(name for (name,) in connection.fetch(known)))
            connection.hang_up()
            raise SetupError(
                f"{self.name}: the server has no storage engine {engine!r}; it has: {names}"
            )
        return bool(rows[0][0] == "YES")

    @contextmanager
    def connection(self) -> Iterator["WireConnection"]:
        """Open an administration session and yield its connection."""
        with self.administration() as session:
            yield session.connection

    def change(self, statements: Sequence[str]) -> None:
        with self.connection() as connection:
            for statement in statements:
                connection.query(statement)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        with self.connection() as connection, all_or_none() as undo:
            order = "utf8mb4_0900_bin"  # by bytes, and trailing spaces count
            if _product(connection).name == "MariaDB":
                order = "utf8mb4_nopad_bin"
            end = f" ENGINE={self.options.engine} CHARACTER SET utf8mb4 COLLATE {order}"
            for table in tables:
                for name in table.names:
                    (create,) = self.create_table(table, name, batch_rows)
                    sign = f" COMMENT={self.dialect.text(signature(name))}" if table.signed else ""
                    connection.query(create + end + sign)
                    undo(connection.query, f"DROP TABLE {self.dialect.name(name)}")
            if self.options.create_indices:
                self._create_indices(connection, tables)

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        with self.connection() as connection:
            ((folds,),) = connection.fetch("SELECT @@lower_case_table_names <> 0")
            rows = connection.fetch(
                "SELECT table_name, lower(replace(replace(table_type, 'BASE ', ''), "
                "'SYSTEM VERSIONED', 'system-versioned table')) "
                "FROM information_schema.tables WHERE table_schema = DATABASE()"
            )
        fold = str.lower if int(folds) else str
        kinds = {fold(name): kind for name, kind in rows}
        found = {name: kinds[fold(name)] for name in names if fold(name) in kinds}
        return {name: Existing(kind, alike=kind == "table") for name, kind in found.items()}

    def create_indices(self, tables: Sequence[Table]) -> None:
        with self.connection() as connection:
            self._create_indices(connection, tables)

    def _create_indices(self, connection: "WireConnection", tables: Sequence[Table]) -> None:
        existing = set(
            connection.fetch(
                "SELECT table_name, index_name FROM information_schema.statistics "
                "WHERE table_schema = DATABASE()"
            )
        )
        for index, name, columns in indices_of(tables):
            if (name, index) not in existing:
                on = f"{self.dialect.name(name)} ({self.dialect.index_key(columns)})"
                connection.query(f"CREATE INDEX {self.dialect.name(index)} ON {on}")

    def visible(self, tables: Sequence[Table]) -> None:
        """Repair MyISAM tables that a crash left open; other tables show all rows at once."""
        with self.connection() as connection:
            if self._is_transactional(connection):
                return
            for name in map(self.dialect.name, names_of(tables)):
                if _problems(connection, f"CHECK TABLE {name} FAST"):
                    self._maintain(connection, f"REPAIR TABLE {name}")

    def compact(self, tables: Sequence[Table]) -> None:
        """Collect the planner's statistics; inserted rows leave no gaps to compact."""
        with self.connection() as connection:
            for name in map(self.dialect.name, names_of(tables)):
                self._maintain(connection, f"ANALYZE TABLE {name}")

    def _maintain(self, connection: "WireConnection", statement: str) -> None:
        errors = _problems(connection, statement).get("error")
        if errors:
            raise SetupError(f"{self.name}: {statement}: {errors}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        names = self.dialect.texts(names_of(tables))
        with self.connection() as connection:
            if _product(connection).name == "MySQL":
                connection.query("SET SESSION information_schema_stats_expiry = 0")
            ((size,),) = connection.fetch(
                "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE "
                f"table_schema = DATABASE() AND table_name IN ({names})"
            )
        return int(size or 0)

    def describe(self) -> Server:
        with self.connection() as connection:
            product = _product(connection)
            names = self.dialect.texts(server.SHOWN)
            rows = connection.fetch(f"SHOW VARIABLES WHERE variable_name IN ({names})")
            # MySQL can run without a redo log; MariaDB lacks the variable.
            rows = [*rows, *connection.fetch("SHOW STATUS LIKE 'Innodb_redo_log_enabled'")]
            settings = {"engine": self.options.engine, **{n.lower(): v for n, v in rows}}
            transactional = self._is_transactional(connection)
        durable, durability = server.durability(settings, transactional=transactional)
        pool = settings.get("innodb_buffer_pool_size") if transactional else None
        return Server(str(product), 1, durability, durable, settings, int(pool) if pool else None)

    def describe_stored(self, described: Server, tables: Sequence[Table]) -> Server | None:
        """Return the server with the durability of the tables' engines; None for a view."""
        names = names_of(tables)
        with self.connection() as connection:
            found = connection.fetch(
                "SELECT engine, (SELECT transactions FROM information_schema.engines AS e "
                "WHERE e.engine = t.engine) FROM information_schema.tables AS t "
                f"WHERE table_schema = DATABASE() AND table_name IN ({self.dialect.texts(names)})"
            )
        if len(found) < len(names) or any(engine is None for engine, _ in found):
            return None
        others = {e: t for e, t in found if e.lower() != self.options.engine.lower()}
        promised = [
            server.durability({**described.settings, "engine": engine}, transactional=does == "YES")
            for engine, does in sorted(others.items())
        ]
        if not promised:
            return described
        weakest = min(promised, key=lambda each: (each[0] is not False, each[0] is not None))
        return replace(described, durable=weakest[0], durability=weakest[1])

    @contextmanager
    def background_work(self) -> Iterator[ReadCounters]:
        names = self.dialect.texts([*server.WAITS])
        with self.connection() as connection:

            def counters() -> Mapping[str, int]:
                rows = connection.fetch(f"SHOW GLOBAL STATUS WHERE variable_name IN ({names})")
                found = {name.lower(): int(value) for name, value in rows}
                return {shown: found[name] for name, shown in server.WAITS.items() if name in found}

            yield counters

    def words(self, error: Exception) -> str:
        import pymysql

        if isinstance(error, OSError):
            return f"{self.options.host}:{self.options.port}: {error.strerror or error}"
        if not isinstance(error, pymysql.Error):
            return super().words(error)
        words = " ".join(str(error.args[-1]).split()) if error.args else ""
        return words or "the connection is closed"

    def remedy(self, error: Exception) -> str | None:
        if isinstance(error, OSError):
            return server.CHECK
        code = error.args[0] if error.args else None
        return server.REMEDIES.get(code) or super().remedy(error)


def _problems(connection: "WireConnection", statement: str) -> dict[str, str]:
    """Run a statement of table maintenance and return its errors and warnings."""
    kinds = [(kind.lower(), words) for _, _, kind, words in connection.fetch(statement)]
    return {kind: words for kind, words in kinds if kind in ("error", "warning")}


def _product(connection: "WireConnection") -> Product:
    return recognize(f"{_GREETING}{connection.server_version}")
