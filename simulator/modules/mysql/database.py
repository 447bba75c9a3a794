"""MySQL and MariaDB, through PyMySQL and LOAD DATA LOCAL INFILE out of memory.

PyMySQL is pure Python, which is no loss: rows are encoded before, and sending costs 0.2 us a row.
"""

import socket
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, SecretStr

from simulator.data.query import Query, Statement
from simulator.data.schema import PrimaryKey, Role, Table, former_names
from simulator.errors import SetupError
from simulator.modules.base import BATCH, SINGLE, Capabilities, Database, Options, Server
from simulator.modules.mysql import server
from simulator.modules.mysql.query import TEXT_LENGTHS, MySqlDialect, key
from simulator.modules.mysql.session import TRANSACTION, VALUES, MySqlSession
from simulator.modules.shared import sql
from simulator.modules.shared.tls import socket_options, tls_context

if TYPE_CHECKING:
    from simulator.modules.mysql.wire import Connection


class MySqlOptions(Options):
    """Options of the module `mysql`."""

    host: str = Field(description="where the server listens")
    port: int = Field(3306, ge=1, le=65535, description="its port")
    user: str = Field(description="who logs in")
    password: SecretStr | None = Field(None, description="the user's password")
    database: str = Field(description="the database that takes the tables; it must exist")
    engine: str = Field(
        "InnoDB",
        pattern="^[A-Za-z]+$",
        description="the tables' storage engine: InnoDB, MyISAM, Aria, ...; one without "
        "transactions keeps the rows of a batch that came before a refused one",
    )
    use_values_lists: bool = Field(
        default=False,
        description="send a batch as one INSERT with a list of rows, not as LOAD DATA LOCAL "
        "INFILE, which the server has to allow (local_infile)",
    )
    transaction: bool = Field(
        default=False, description="insert single rows, and commit once a batch"
    )
    commit_every_s: float = Field(
        0,
        ge=0,
        description="with transaction: commit as well whenever so many seconds have passed "
        "(0: never); with 1 and a large --batch, a transaction lasts a second",
    )
    create_indices: bool = Field(
        default=False, description="make indices on (tags, time, first field) and (first field)"
    )
    tls: bool = Field(
        default=False,
        description="encrypt, and check that a known authority vouches for the host's name",
    )
    ca_file: str | None = Field(
        None,
        description="encrypt, and check the server's certificate against that of an authority in "
        "this file (PEM)",
    )
    ca: SecretStr | None = Field(
        None,
        description="that certificate itself, which pods can take from a Secret: "
        "ca_from: {secret: NAME, key: ca.crt}",
    )
    insecure: bool = Field(
        default=False, description="encrypt, but take any certificate: nobody checks the server"
    )
    connect_timeout_s: float = Field(10, gt=0, description="how long to wait for a connection")

    @property
    def encrypted(self) -> bool:
        """Whether the connection is to be encrypted."""
        return self.tls or self.insecure or bool(self.ca_file) or self.ca is not None


class MySql(Database):
    """A MySQL or MariaDB database."""

    name = "mysql"
    dialect = MySqlDialect()
    capabilities = Capabilities(
        modes={
            SINGLE: "one INSERT, committed on its own",
            BATCH: "BEGIN and LOAD DATA LOCAL INFILE, and COMMIT if the server took every row",
            VALUES: "one INSERT with a list of rows, which is a transaction",
            TRANSACTION: "BEGIN, an INSERT for each row, COMMIT",
        },
        primary_keys={
            PrimaryKey.DB: "bigint AUTO_INCREMENT",
            PrimaryKey.CLIENT: f"varchar({TEXT_LENGTHS[Role.KEY]}), sent by the client",
            PrimaryKey.UUID: "binary(16) DEFAULT, of the server's UUID(), which counts time",
            PrimaryKey.NONE: "no key and no id column; InnoDB orders the rows by a hidden number",
        },
        acknowledged="committed; the server's innodb_flush_log_at_trx_commit and sync_binlog say "
        "what that is worth. With MyISAM: handed to the operating system",
        # Where window functions, casts to double and an order of texts by bytes came together.
        oldest={"MySQL": (8, 0, 17), "MariaDB": (10, 5)},
        indices=True,
        limits=(
            (
                f"a tag has at most {TEXT_LENGTHS[Role.TAG]} characters, a key made by the client "
                f"{TEXT_LENGTHS[Role.KEY]}"
            ),
            "instants are stored in microseconds, and lie in years 1 to 9999",
            (
                "without transactions (MyISAM), what a batch stored before an error remains, so "
                "its rows count as uncertain"
            ),
        ),
    )
    options_model: ClassVar[type[Options]] = MySqlOptions
    options: MySqlOptions

    def insert_mode(self, batch_rows: int) -> str:
        """Return the insert mode that the options and the batch size choose (0: single rows)."""
        if batch_rows and self.options.transaction:
            return TRANSACTION
        if batch_rows and self.options.use_values_lists:
            return VALUES
        return super().insert_mode(batch_rows)

    def problems(self, primary_key: PrimaryKey, parts: int, batch_rows: int) -> list[str]:
        """Return what cannot work."""
        found = super().problems(primary_key, parts, batch_rows)
        options = self.options
        for name in ("use_values_lists", "transaction"):
            if getattr(options, name) and not batch_rows:
                found.append(f"{name}: needs --batch with more than single rows")
        if options.use_values_lists and options.transaction:
            found.append("use_values_lists and transaction exclude each other")
        if options.commit_every_s and not options.transaction:
            found.append("commit_every_s: needs transaction=true")
        return found

    def connect(self) -> MySqlSession:
        """Open a connection; text is UTF-8, and what does not fit is an error."""
        import pymysql  # noqa: PLC0415

        connection = None
        try:
            connection = self._open()
            connection.query(_SETTINGS)
            transactional = self._is_transactional(connection)
        except (pymysql.Error, OSError) as error:
            if connection:
                connection.hang_up()
            raise SetupError(f"{self.name}: {self.explain(error)}") from error
        return MySqlSession(
            connection,
            self.dialect,
            transactional=transactional,
            commit_every_s=self.options.commit_every_s,
        )

    def _open(self) -> "Connection":
        from simulator.modules.mysql.wire import Connection  # noqa: PLC0415

        options = self.options
        context = None
        if options.encrypted:
            context = tls_context(options.ca_file, options.ca, insecure=options.insecure)
        secrets = options.secrets()
        connection = Connection(
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
        way = socket.create_connection((options.host, options.port), options.connect_timeout_s)
        for option in socket_options():
            way.setsockopt(*option)
        connection.connect(way)
        return connection

    def _is_transactional(self, connection: "Connection") -> bool:
        """Return whether the engine has transactions, as the server says."""
        engine = self.options.engine
        rows = connection.fetch(
            "SELECT transactions FROM information_schema.engines "
            f"WHERE engine = {self.dialect.text(engine)} AND support IN ('YES', 'DEFAULT')"
        )
        if not rows:
            known = "SELECT engine FROM information_schema.engines WHERE support <> 'NO'"
            names = ", ".join(sorted(name for (name,) in connection.fetch(known)))
            connection.hang_up()
            raise SetupError(f"{self.name}: no storage engine {engine!r} here; there are: {names}")
        return bool(rows[0][0] == "YES")

    @contextmanager
    def _connection(self) -> Iterator["Connection"]:
        """Open a connection for something other than a run."""
        import pymysql  # noqa: PLC0415

        with self.connect() as session:
            try:
                yield session.connection
            except pymysql.Error as error:
                raise SetupError(f"{self.name}: {self.explain(error)}") from error

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables, all or none: DDL is no transaction here; what was made is dropped."""
        import pymysql  # noqa: PLC0415

        made: list[str] = []
        with self._connection() as connection:
            order = "utf8mb4_0900_bin"  # by bytes, and a space at the end counts
            if server.version(connection.server_version)[0] == "MariaDB":
                order = "utf8mb4_nopad_bin"
            end = f" ENGINE={self.options.engine} CHARACTER SET utf8mb4 COLLATE {order}"
            try:
                for table in tables:
                    for name in table.names:
                        create = sql.create_table(self.dialect, table, name, *key(table))
                        connection.query(create + end)
                        made.append(name)
                if self.options.create_indices:
                    self._create_indices(connection, tables)
            except pymysql.Error:
                if made and connection.open:
                    connection.query(f"DROP TABLE {self.dialect.names(made)}")
                raise

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables."""
        with self._connection() as connection:
            connection.query(f"DROP TABLE IF EXISTS {self.dialect.names(former_names(tables))}")

    def create_indices(self, tables: Sequence[Table]) -> None:
        """Create the secondary indices that are not there yet."""
        with self._connection() as connection:
            self._create_indices(connection, tables)

    def _create_indices(self, connection: "Connection", tables: Sequence[Table]) -> None:
        there = "SELECT table_name, index_name FROM information_schema.statistics "
        there += "WHERE table_schema = DATABASE()"
        found = set(connection.fetch(there))
        for index, name, columns in sql.indices(tables):
            if (name, index) not in found:
                on = f"{self.dialect.name(name)} ({self.dialect.index_key(columns)})"
                connection.query(f"CREATE INDEX {self.dialect.name(index)} ON {on}")

    def settle(self, tables: Sequence[Table]) -> None:
        """Gather the planner's statistics; repair first what of MyISAM a crash left open."""
        with self._connection() as connection:
            transactional = self._is_transactional(connection)
            for table in tables:
                for name in map(self.dialect.name, table.names):
                    if not transactional and _troubles(connection, f"CHECK TABLE {name} FAST"):
                        self._maintain(connection, f"REPAIR TABLE {name}")
                    self._maintain(connection, f"ANALYZE TABLE {name}")

    def _maintain(self, connection: "Connection", statement: str) -> None:
        errors = _troubles(connection, statement).get("error")
        if errors:
            raise SetupError(f"{self.name}: {statement}: {errors}")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the pages of the tables and their indices."""
        names = [name for table in tables for name in table.names]
        with self._connection() as connection:
            if server.version(connection.server_version)[0] == "MySQL":
                connection.query("SET SESSION information_schema_stats_expiry = 0")
            ((size,),) = connection.fetch(
                "SELECT SUM(data_length + index_length) FROM information_schema.tables WHERE "
                f"table_schema = DATABASE() AND table_name IN ({self._texts(names)})"
            )
        return int(size or 0)

    def _texts(self, values: Sequence[str]) -> str:
        return ", ".join(map(self.dialect.text, values))

    def describe(self) -> Server:
        """Return the version, and the settings as they hold for this user."""
        with self._connection() as connection:
            kind, version = server.version(connection.server_version)
            names = self._texts(server.SHOWN)
            rows = connection.fetch(f"SHOW VARIABLES WHERE variable_name IN ({names})")
            # MySQL can run without a redo log; MariaDB does not know the word.
            rows = [*rows, *connection.fetch("SHOW STATUS LIKE 'Innodb_redo_log_enabled'")]
            settings = {"engine": self.options.engine, **{n.lower(): v for n, v in rows}}
            transactional = self._is_transactional(connection)
        durable, durability = server.durability(settings, transactional=transactional)
        shown = f"{kind} {'.'.join(map(str, version))}"
        return Server(shown, 1, durability, durable, settings)

    def render(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return sql.render(self.dialect, query)

    def explain(self, error: Exception) -> str:
        """Return an error in the server's words, with a remedy where one is known."""
        import pymysql  # noqa: PLC0415

        if isinstance(error, OSError):
            where = f"{self.options.host}:{self.options.port}"
            return f"{where}: {error.strerror or error}; {server.CHECK}"
        if not isinstance(error, pymysql.Error):
            return super().explain(error)
        code = error.args[0] if error.args else None
        words = " ".join(str(error.args[-1]).split()) if error.args else ""
        words = words or "the connection is closed"
        remedy = server.remedy(code, words)
        return f"{words}; {remedy}" if remedy else words


_SETTINGS = (
    # What does not fit is an error, and so is an engine that is not there.
    "SET sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION',"
    " lock_wait_timeout = 60"  # its default is a year
)


def _troubles(connection: "Connection", statement: str) -> dict[str, str]:
    """Run a statement of table maintenance and return what it tells as an error or a warning."""
    told = connection.fetch(statement)
    kinds = [(kind.lower(), words) for _, _, kind, words in told]
    return {kind: words for kind, words in kinds if kind in ("error", "warning")}
