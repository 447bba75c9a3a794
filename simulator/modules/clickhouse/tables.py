"""Tables of ClickHouse's engine, in a server or in the worker's process."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Literal, assert_never

from pydantic import Field

from simulator.data.query import Query, Statement
from simulator.data.row_hash import MurmurHash
from simulator.data.schema import PrimaryKey, Table, names_of
from simulator.errors import SetupError
from simulator.modules.clickhouse.query import (
    READING_AGGREGATES,
    VIEW,
    AggregatesDialect,
    ClickhouseDialect,
    define_aggregates,
)
from simulator.modules.clickhouse.session import CSV, ROWBINARY, ClickhouseSession, ServerError
from simulator.modules.contract import (
    BATCH,
    MISSING,
    AggregateOptions,
    Changes,
    Columns,
    Contents,
    Existing,
    Server,
    all_or_none,
    intervals,
    signature,
)
from simulator.modules.shared.sql import hashes as sql_hashes
from simulator.modules.shared.sql import queries
from simulator.modules.shared.sql.database import SqlDatabase
from simulator.modules.shared.sql.preaggregated import aggregates_of, from_kept

_MOST_ROWS = 1_000_000
_DETACHED = "detached table"
_NOT_SHOWN = frozenset({60, 390, 497})
"""Error codes for a missing table, and for one that the user is not allowed to see."""
_SYNC = ("fsync_after_insert", "fsync_part_directory")


class TableOptions(AggregateOptions):
    """Options of both ClickHouse modules."""

    columns = ("order_by", *AggregateOptions.columns)
    aggregate_intervals_s: str = intervals(
        "let materialized views fill a table of aggregates for each table"
    )
    engine: str = Field(
        "MergeTree",
        description="table engine with its parameters, one of the MergeTree family",
    )
    order_by: str = Field(
        "",
        description="columns of the sorting key, such as `timestamp` or `device_id, timestamp`; "
        "default: the tags, then the time",
    )
    low_cardinality: bool = Field(
        default=True,
        description="store text tags as LowCardinality(String), suitable for up to about 10,000 "
        "different values",
    )
    format: Literal["native", "rowbinary", "csv"] = Field(
        "native",
        description="format of a batch: binary columns (native), binary rows, or text (csv)",
    )
    fsync: bool = Field(
        default=False,
        description="create tables with fsync_after_insert and fsync_part_directory, so that an "
        "acknowledged row is synced to disk",
    )
    optimize: bool = Field(
        default=True,
        description="rewrite each table into as few parts as possible (OPTIMIZE FINAL) after "
        "an insert; false: leave merging to the server",
    )


class ClickhouseTables(SqlDatabase[ClickhouseSession]):
    """The common part of a ClickHouse server and the embedded engine."""

    options: TableOptions
    settings: ClassVar[dict[str, str]] = {
        "aggregate_functions_null_for_empty": "1",  # as in standard SQL
        "max_insert_threads": "1",  # one INSERT makes one part
    }
    """Settings of every statement."""
    remedies: ClassVar[Mapping[str, str]] = {
        r"^Code: 60\b": MISSING,
        r"^Code: 81\b": "create it (CREATE DATABASE), or name another",
        r"^Code: 115\b": "the server must be ClickHouse 22.8 or newer",
        r"^Code: 159\b": "raise max_execution_time on the server",
        r"^Code: 164\b": "the user may only read; use another, or GRANT what is missing",
        r"^Code: (192|193|194|516)\b": "check user and password",
        r"^Code: 241\b": "give the server more memory, or use a smaller --batch",
        r"^Code: 243\b": "free disk space on the server",
        r"^Code: 252\b": "every INSERT makes a part; use a larger --batch, fewer workers, or "
        "async_insert=true",
        r"^Code: 497\b": "GRANT CREATE TABLE, DROP TABLE, INSERT, SELECT, OPTIMIZE, and "
        "CREATE VIEW for aggregate_intervals_s, ON ... to the user",
    }

    comments = (
        "SELECT name, comment FROM system.tables WHERE database = currentDatabase() "
        "AND engine LIKE '%MergeTree'"
    )
    columns = (
        "SELECT name, type FROM system.columns WHERE database = currentDatabase() "
        "AND table = {name}"
    )
    relative = "clickhouse"
    own_errors = (ServerError,)
    row_hash = MurmurHash()
    hash_probe = sql_hashes.MURMUR_PROBE

    @property
    def dialect(self) -> ClickhouseDialect:
        """SQL as ClickHouse reads it; LowCardinality is an option of the target."""
        return ClickhouseDialect(low_cardinality=self.options.low_cardinality)

    def insert_mode(self, mode: str) -> str:
        modes = {"native": BATCH, "rowbinary": ROWBINARY, "csv": CSV}
        return modes[self.options.format] if mode == BATCH else mode

    def problems(self, key: PrimaryKey, parts: int, mode: str, batch_rows: int) -> list[str]:
        found = super().problems(key, parts, mode, batch_rows)
        if batch_rows > _MOST_ROWS:
            found.append(
                f"--batch: at most {_MOST_ROWS} rows are stored atomically, got {batch_rows}"
            )
        return found

    # --- tables

    def change(self, statements: Sequence[str]) -> None:
        with self.administration() as session:
            for statement in statements:
                session.execute(statement)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        with self.administration() as session, all_or_none() as undo:
            for name, statement in self._list_statements(tables):
                session.execute(statement)
                undo(session.execute, self.drop_table(name))

    def _list_statements(self, tables: Sequence[Table]) -> Iterator[tuple[str, str]]:
        """Yield the objects of tables, each with the statement that creates it."""
        for table in tables:
            for part in table.names:
                made = {part: self.define_table(table, part)}
                for interval_s in self.options.intervals_s:
                    made |= define_aggregates(self.dialect, table, part, interval_s)
                for name, statement in made.items():
                    signs = self.comments and table.signed and not name.endswith(VIEW)
                    comment = f" COMMENT {self.dialect.text(signature(name))}" if signs else ""
                    yield name, statement + comment

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        for table in tables:
            if name in table.names:
                names = [column.name for column in table.columns]
                yield dict(zip(names, self.dialect.types_of(table), strict=True))

    def objects(self, table: Table) -> list[str]:
        kept = names_of(aggregates_of([table], self.options))
        return [*(name + VIEW for name in kept), *kept, *table.names]

    def define_table(self, table: Table, name: str) -> str:
        """Return the statement that creates one physical table."""
        dialect = self.dialect
        order = self.options.order_by or dialect.names(self.order_of(table))
        behind = f"ENGINE = {self.options.engine} ORDER BY ({order})"
        settings = self.table_settings(table)
        if settings:
            behind += f" SETTINGS {', '.join(settings)}"
        return dialect.create_table(table, name, _define_key(table), behind, self.on_cluster)

    def order_of(self, table: Table) -> list[str]:
        """Return the columns of the default sorting key."""
        return [*(column.name for column in table.tags), table.time.name]

    def table_settings(self, table: Table) -> list[str]:
        """Return the settings of a new table."""
        settings = []
        if any(column.nullable for column in table.tags):
            settings.append("allow_nullable_key = 1")
        if self.options.fsync:
            settings += ["fsync_after_insert = 1", "fsync_part_directory = 1"]
        return settings

    @property
    def on_cluster(self) -> str:
        """The clause ON CLUSTER, or "" for tables on one server."""
        return ""

    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        texts = ", ".join(map(self.dialect.text, names))
        with self.administration() as session:
            rows = session.ask(
                "SELECT name, engine FROM system.tables WHERE database = currentDatabase() "
                f"AND name IN ({texts})"
            )
            found = {str(name): _describe_existing(str(name), str(engine)) for name, engine in rows}
            detached = (n for n in names if n not in found and self._is_detached(session, n))
            return found | {name: Existing(_DETACHED, alike=False) for name in detached}

    def _is_detached(self, session: ClickhouseSession, name: str) -> bool:
        """Return whether the engine knows the statement of a table that it does not list."""
        try:
            session.execute(f"SHOW CREATE TABLE {self.dialect.name(name)}")
        except ServerError as error:
            if error.code in _NOT_SHOWN:
                return False
            raise
        return True

    def contents(self, name: str, found: Existing) -> Contents:
        return Contents() if found.kind == _DETACHED else super().contents(name, found)

    def render_drops(self, names: Collection[str]) -> list[str]:
        return [*map(self.drop_table, sorted(names, key=lambda name: not name.endswith(VIEW)))]

    def drop_table(self, name: str) -> str:
        """Return the statement that drops one physical table."""
        return f"DROP TABLE IF EXISTS {self.dialect.name(name)}{self.on_cluster} SYNC"

    def compact(self, tables: Sequence[Table]) -> None:
        if not self.options.optimize:
            return
        with self.administration() as session:
            for name in map(self.dialect.name, self._list_stored_names(tables)):
                session.execute(f"OPTIMIZE TABLE {name} FINAL")

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the compressed size of active parts on this server, with aggregates."""
        texts = ", ".join(map(self.dialect.text, self._list_stored_names(tables)))
        with self.administration() as session:
            ((size,),) = session.ask(
                "SELECT ifNull(sum(bytes_on_disk), 0) FROM system.parts WHERE active "
                f"AND database = currentDatabase() AND table IN ({texts})"
            )
        return int(size)

    def _list_stored_names(self, tables: Sequence[Table]) -> list[str]:
        return names_of([*tables, *aggregates_of(tables, self.options)])

    @property
    def changes(self) -> Changes:
        """The ways to change stored rows; deleted rows would stay in the aggregates."""
        known = super().changes
        if not self.interval_s:
            return known
        why = "what is deleted stays in the aggregates; insert without aggregate_intervals_s"
        return replace(known, deletes="", no_deletion=why)

    # --- the server

    def describe(self) -> Server:
        with self.administration() as session:
            settings = _fetch_defaults(session)
            nodes = self.nodes(session)
        if self.options.fsync:
            settings = dict.fromkeys(settings, "1")  # the tables are created with these settings
        settings |= self.insert_settings()
        durable, sentence = durability(settings)
        return Server(f"ClickHouse {session.version}", nodes, sentence, durable, settings)

    def describe_stored(self, described: Server, tables: Sequence[Table]) -> Server | None:
        names = names_of(tables)
        texts = ", ".join(map(self.dialect.text, names))
        with self.administration() as session:
            defaults = _fetch_defaults(session)
            found = session.ask(
                "SELECT engine, engine_full FROM system.tables WHERE database = currentDatabase() "
                f"AND name IN ({texts})"
            )
        engines = {str(engine): str(full) for engine, full in found}
        if gone := [engine for engine in sorted(engines) if engine in _NOT_KEPT]:
            why = f"an acknowledged row {_NOT_KEPT[gone[0]]} (engine {gone[0]})"
            return replace(described, durable=False, durability=why)
        if len(found) < len(names) or any(not e.endswith("MergeTree") for e in engines):
            return None
        settings = {**described.settings, **{
            name: min(_read_setting(str(full), name, value) for _, full in found)
            for name, value in defaults.items()
        }}  # fmt: skip
        durable, sentence = durability(settings)
        return replace(described, durable=durable, durability=sentence, settings=settings)

    def insert_settings(self) -> dict[str, str]:
        """Return the settings of inserts, which the result shows."""
        return {}

    def nodes(self, session: ClickhouseSession) -> int:
        """Return the number of servers."""
        return 1

    def from_aggregates(self, query: Query) -> Statement | None:
        kept = from_kept(query, self.options)
        if kept is None:
            return None
        statement = queries.render(AggregatesDialect(), kept)
        return replace(statement, text=f"{statement.text} {READING_AGGREGATES}")


def _describe_existing(name: str, engine: str) -> Existing:
    if engine == "MaterializedView":
        return Existing("materialized view", alike=name.endswith(VIEW))
    alike = engine.endswith("MergeTree")
    named = {"View": "view", "Dictionary": "dictionary"}
    kind = "table" if alike else named.get(engine, f"table with engine {engine}")
    return Existing(kind, alike=alike)


_NOT_KEPT = {
    "Buffer": "is in the server's memory until the buffer is written to its table",
    "Memory": "is in the server's memory, and lost when it ends",
    "Null": "is not stored",
}
"""Engine that does not store rows, or only later -> the meaning of an acknowledgement."""


def _fetch_defaults(session: ClickhouseSession) -> dict[str, str]:
    """Return the default settings of tables."""
    found = session.ask(f"SELECT name, value FROM system.merge_tree_settings WHERE name IN {_SYNC}")
    return dict(found)


def _read_setting(engine: str, name: str, default: str) -> str:
    """Return a setting of a table from the text of its engine."""
    found = re.search(rf"\b{name} = '?(\w+)", engine)
    return {"true": "1", "false": "0"}.get(found[1], found[1]) if found else default


def durability(settings: Mapping[str, str]) -> tuple[bool, str]:
    """Return whether an acknowledged row survives a power cut, and the reason in a sentence."""
    shown = ", ".join(f"{name}={value}" for name, value in settings.items())
    if settings.get("wait_for_async_insert") == "0":
        meaning = "is in the server's memory; a crash of the server or an invalid row loses it"
        return False, f"an acknowledged row {meaning} ({shown})"
    if all(settings.get(name) == "1" for name in _SYNC):
        return True, f"an acknowledged row is in a part that is synced to disk ({shown})"
    meaning = "survives a crash of the server, but not of the machine: its part is not synced"
    return False, f"an acknowledged row {meaning} ({shown or 'this version cannot sync'})"


def _define_key(table: Table) -> list[str]:
    """Return the definition of the primary key's column if the server generates it, else []."""
    match table.primary_key:
        case PrimaryKey.DB:
            return ["id UInt64 DEFAULT generateSnowflakeID()"]
        case PrimaryKey.UUID:
            return ["id UUID DEFAULT generateUUIDv4()"]
        case PrimaryKey.CLIENT | PrimaryKey.NONE:
            return []
        case PrimaryKey.SQL:
            raise SetupError(f"clickhouse has no {table.primary_key} key; see --primary-key")
        case _:
            assert_never(table.primary_key)
