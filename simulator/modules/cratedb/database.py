"""CrateDB through HTTP: bulk_args with a JSON array per row, in one or more concurrent requests.

https://cratedb.com/docs/crate/reference/en/latest/interfaces/http.html. `CrateTables` is also the
base of `cratedb_pg`, which uses PostgreSQL's protocol. CrateDB has no transactions, no sequences.
"""

import re
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import Field, SecretStr

from simulator.data.derived import below
from simulator.data.query import Query, RowsQuery, Statement
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import SetupError
from simulator.modules.contract import (
    BATCH,
    MISSING,
    SINGLE,
    Capabilities,
    Columns,
    Contents,
    Existing,
    Options,
    Server,
    Session,
    all_or_none,
)
from simulator.modules.cratedb.query import LONGEST_TEXT_BYTES, CrateDialect, check_names
from simulator.modules.cratedb.session import CratedbSession
from simulator.modules.shared.http.client import Http, HttpOptions, basic
from simulator.modules.shared.http.database import HttpDatabase
from simulator.modules.shared.sql.database import STANDARD_COLUMNS, SqlDatabase
from simulator.modules.shared.sql.language import literal, quote
from simulator.modules.shared.waits import retry, wait_until

ACKNOWLEDGED = (
    "in the translog of the primary shard and of every copy in sync; `translog_durability` decides "
    "whether it was synced to disk; visible after a refresh"
)
LIMITS = (
    f"A text has at most {LONGEST_TEXT_BYTES:,} bytes and no NUL; a float is finite.",
    "A bigint is neither -2^63 nor 2^63-1.",
    "First and last values need CrateDB 5.2, which introduced min_by and max_by.",
    "An instant that is not in milliseconds is stored as an integer in its own unit.",
    'No / \\ * ? " < > | . , or space in table names, nor _ at their start.',
    "No . or [ in column names, nor the form of system columns, such as _id.",
)
PRIMARY_KEYS = {
    PrimaryKey.CLIENT: "TEXT, sent by the client",
    PrimaryKey.UUID: "TEXT DEFAULT gen_random_text_uuid()",
    PrimaryKey.NONE: "no key and no id column; CrateDB generates a hidden _id",
}
_BLOCKED = (
    "CrateDB blocks writes to the table; if its disk is above the flood-stage watermark, free disk "
    "space, else reset the table's settings blocks.*"
)
REMEDIES = {
    "[Ss]chema 'sys' unknown|sys\\.(cluster|nodes|shards|segments)": "grant the permission: GRANT "
    "DQL ON TABLE sys.cluster, sys.nodes, sys.shards, sys.segments TO ...",
    "MissingPrivilege|[Mm]issing '.*' privilege": "grant the permissions: GRANT DDL, DML, DQL ON "
    "SCHEMA ... TO ...; GRANT DQL ON TABLE sys.cluster, sys.nodes, sys.shards, sys.segments TO ...",
    "blocked by: \\[|doesn't support or allow \\w+ operations": _BLOCKED,
    "DuplicateKey|same primary key exists|duplicate key": "rows with these keys are already "
    "stored; run with --clean, or use another --primary-key",
    "RelationUnknown|[Rr]elation '.*' unknown": f"{MISSING}; if the server has just "
    "started, wait until it knows its tables",
    "SchemaUnknown|[Ss]chema '.*' unknown": f"{MISSING}, or check the name of the schema; "
    "if the server has just started, wait until it knows its tables",
}
"""Pattern of the server's message -> remedy; the permission for sys... comes first."""

_UNKNOWN = re.compile("(?i)(relation|schema).* unknown")
_RECOVERY_POLL_S = 0.5
_MASTER = "SELECT master_node FROM sys.cluster"
SIZE_STANDS_S = 10.5
"""CrateDB caches the sizes in sys.shards for 10 s."""
_SIZE_TIMEOUT_S = 300.0
_SIZE_POLL_S = 1.0


class CrateOptions(Options):
    """Options for the creation and compaction of tables."""

    shards: int | None = Field(
        None, ge=1, description="shards of a table; default: the server's choice"
    )
    replicas: str | None = Field(
        None,
        pattern=r"^\d+(-(\d+|all))?$",
        description="copies of each shard beside the primary, such as 1 or 0-1; default: the "
        "server's choice",
    )
    tags_as_object: bool = Field(
        default=False,
        description="store a row's tags in one column, OBJECT(DYNAMIC), as the reference document "
        "does, instead of one column each",
    )
    translog_durability: Literal["request", "async"] = Field(
        "request",
        description="request: synced to disk before it is acknowledged; async: later",
    )
    optimize: bool = Field(
        default=True, description="merge each shard into one segment when compacting"
    )


CrateSession_co = TypeVar("CrateSession_co", bound=Session, covariant=True)


class CrateTables(SqlDatabase[CrateSession_co]):
    """Tables of CrateDB, through either protocol."""

    reconnect_s: ClassVar[float] = 30.0  # a node restarts in 9 to 19 s

    options: CrateOptions
    columns = f"{STANDARD_COLUMNS} AND column_name NOT LIKE '%[%'"  # of an object's members
    shows_types = False

    def ask(self, statements: Sequence[str]) -> list[Sequence[Sequence[Any]]]:
        """Run statements one by one and return the rows of each; SetupError if one fails."""
        with self.administration() as session:
            return [session.run(Statement(each, ())) for each in statements]

    def dialect_of(self, table: Table) -> CrateDialect:
        return CrateDialect(table, tags_as_object=self.options.tags_as_object)

    def change(self, statements: Sequence[str]) -> None:
        self.ask(statements)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        check_names(tables)
        with all_or_none() as undo:
            for table in tables:
                for name in table.names:
                    self.change(self.create_table(table, name, batch_rows))
                    undo(self.change, [f"DROP TABLE IF EXISTS {quote(name)}"])

    def create_table(self, table: Table, name: str, batch_rows: int) -> list[str]:
        return [self.dialect_of(table).create_table(table, name, self.storage())]

    def storage(self) -> str:
        """Return the clauses of CREATE TABLE after the columns."""
        options = self.options
        settings = [f"\"translog.durability\" = '{options.translog_durability.upper()}'"]
        if options.replicas:
            settings.append(f"number_of_replicas = '{options.replicas}'")
        shards = f" CLUSTERED INTO {options.shards} SHARDS" if options.shards else ""
        return f"{shards} WITH ({', '.join(settings)})"

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        self._await_master()
        return super().find_existing(names)

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        for table in tables:
            for as_object in (False, True):
                yield CrateDialect(table, tags_as_object=as_object).list_catalogued()

    def _await_master(self) -> None:
        """Wait for a master node, without which a starting node answers as if it had no tables."""
        if not wait_until(
            lambda: self.ask([_MASTER])[0][0][0] is not None, self.reconnect_s, _RECOVERY_POLL_S
        ):
            raise SetupError(
                f"CrateDB has had no master node for {self.reconnect_s:g} s, so it does not"
                " know its tables; start the other nodes of the cluster"
            )

    def contents(self, name: str, found: Existing) -> Contents:
        # Without the size, which takes 10 s to become final.
        return replace(super().contents(name, replace(found, alike=False)), size_bytes=None)

    def visible(self, tables: Sequence[Table]) -> None:
        """Refresh the tables; after a crash, a node knows its tables only after some seconds."""
        retry(
            lambda: self.change([f"REFRESH TABLE {_list(tables)}"]),
            lambda error: bool(_UNKNOWN.search(str(error))),
            self.reconnect_s,
            _RECOVERY_POLL_S,
        )

    def compact(self, tables: Sequence[Table]) -> None:
        if self.options.optimize:
            merge = f"OPTIMIZE TABLE {_list(tables)} WITH (max_num_segments = 1)"
            # The refresh releases the merged segments.
            self.change([merge, f"REFRESH TABLE {_list(tables)}"])

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of all shards with their copies; None if it does not become final.

        Merged segments are deleted later, and sys.shards shows sizes that are up to 10 s old. A
        size is final if no shard has two segments and it has not changed for longer than that.
        """
        statements = _sizes(names_of(tables))
        size, since = -1, time.monotonic()
        deadline = since + _SIZE_TIMEOUT_S
        while time.monotonic() < deadline:
            (((found,),), ((segments,),)) = self.ask(statements)
            merged = (segments or 0) <= 1 or not self.options.optimize
            if not merged or found != size:
                size, since = found, time.monotonic()
            elif time.monotonic() - since >= SIZE_STANDS_S:
                return int(size or 0)
            time.sleep(min(_SIZE_POLL_S, SIZE_STANDS_S))  # the server reports no end of merges
        return None

    def describe(self) -> Server:
        ((version,),), ((nodes,),) = self.ask(
            ["SELECT version()", "SELECT count(*) FROM sys.nodes"]
        )
        durability = self.options.translog_durability
        durable = durability == "request"
        when = "on disk" if durable else "synced to disk every few seconds"
        settings = {"translog.durability": durability.upper()}
        meaning = (
            f"an acknowledged row is in the translog of every copy in sync, {when} "
            f"(translog.durability={durability.upper()})"
        )
        return Server(str(version).split(" (built")[0], int(nodes), meaning, durable, settings)


def _sizes(names: Sequence[str]) -> list[str]:
    """Return two statements: for the size of all shards, and for the most segments in a shard."""
    known = f"table_name IN ({', '.join(map(literal, names))})"
    segments = (
        "SELECT count(*) AS segments FROM sys.segments "
        f"WHERE table_schema = CURRENT_SCHEMA AND {known} "
        "GROUP BY table_name, shard_id, node['id']"
    )
    return [
        f"SELECT sum(size) FROM sys.shards WHERE schema_name = CURRENT_SCHEMA AND {known}",
        f"SELECT max(segments) FROM ({segments}) AS shards",
    ]


class CratedbOptions(HttpOptions, CrateOptions):
    """Options of the module `cratedb`."""

    username: str | None = Field(None, description="user; default: crate, the superuser")
    password: SecretStr | None = Field(None, description="the user's password")
    schema_name: str = Field("doc", description="the schema of the tables")
    concurrent_requests: int = Field(
        1,
        ge=1,
        le=100,
        description="split each batch into this many requests and send them at the same time; with "
        "10 and --batch 100000 each has 10,000 rows",
    )


class Cratedb(CrateTables[CratedbSession], HttpDatabase[CratedbSession]):
    """A CrateDB cluster, through HTTP."""

    name = "cratedb"
    urls = ("cratedb://USERNAME@HOST:4200/SCHEMA_NAME",)
    capabilities = Capabilities(
        by_version={"CrateDB": "error in the answer for a refused row, or else error_message"},
        shortens_float32=True,
        modes={
            SINGLE: "an INSERT of one row",
            BATCH: "an INSERT with bulk_args, each row on its own: it is not a transaction",
        },
        primary_keys=PRIMARY_KEYS,
        acknowledged=ACKNOWLEDGED,
        late="a query sees rows after the next refresh (refresh_interval)",
        plans="EXPLAIN",
        in_client="decodes JSON",
        limits=LIMITS,
    )
    options_model: ClassVar[type[Options]] = CratedbOptions
    options: CratedbOptions
    remedies: ClassVar[Mapping[str, str]] = REMEDIES

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        requests = self.options.concurrent_requests
        if requests > batch_rows:
            found.append(
                f"concurrent_requests={requests} is more than the {batch_rows} rows of a batch;"
                " use a larger --batch"
            )
        return found

    def open(self) -> CratedbSession:
        options, password = self.options, self.options.secrets().get("password", "")
        headers = {"Content-Type": "application/json", "Default-Schema": options.schema_name}
        if options.username or password:
            headers["Authorization"] = basic(options.username or "crate", password)
        connections = [Http(options, headers) for _ in range(options.concurrent_requests)]
        return CratedbSession(connections, self.dialect_of)

    def translate(self, query: Query) -> Statement:
        # All rows of a table are read in the order of time, portion by portion.
        statement = super().translate(query)
        if below(query.table) is None and query == RowsQuery(query.table):
            return Statement(statement.text, statement.outputs, (query.table.time.name,))
        return statement


def _list(tables: Sequence[Table]) -> str:
    """Return the names of the physical tables, separated by commas."""
    return ", ".join(map(quote, names_of(tables)))
