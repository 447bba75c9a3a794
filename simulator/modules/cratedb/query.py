"""What CrateDB's two modules share: its SQL, its tables, and rows as the values of an INSERT.

It has no transactions and no sequences. Names are always quoted, so that no word is reserved.
"""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from simulator.data.block import Block, Coded
from simulator.data.query import Query, Statement
from simulator.data.schema import FLOATS, Column, PrimaryKey, Table, TimeUnit, Type, former_names
from simulator.encode.rows import Frame
from simulator.encode.text import Slot, Style
from simulator.errors import SetupError, UnstorableError
from simulator.modules.base import Database, Options, Server
from simulator.modules.shared import sql

LONGEST_TEXT_BYTES = 32_766
"""Lucene's longest term."""

ACKNOWLEDGED = (
    "in the translog of the primary shard and of every copy in sync; `translog_durability` says "
    "whether it was synced to disk; visible after a refresh"
)
LIMITS = (
    f"A text has at most {LONGEST_TEXT_BYTES:,} bytes, a float is finite.",
    "An instant finer or coarser than a millisecond is stored as an integer in its own unit.",
)
PRIMARY_KEYS = {
    PrimaryKey.CLIENT: "TEXT, sent by the client",
    PrimaryKey.UUID: "TEXT DEFAULT gen_random_text_uuid()",
    PrimaryKey.NONE: "no key and no id column; a hidden _id is drawn",
}


class CrateOptions(Options):
    """How tables are made and settled."""

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
        description="keep a row's tags in one column, OBJECT(DYNAMIC), as the reference document "
        "does, and not in a column each",
    )
    translog_durability: Literal["request", "async"] = Field(
        "request",
        description="request: synced to disk before it is acknowledged; async: later",
    )
    optimize: bool = Field(
        default=True, description="merge each shard into one segment when settling"
    )


class CrateDialect(sql.Dialect):
    """CrateDB's types, and one table's tags where they are members of an object."""

    types: ClassVar[dict[Type, str]] = {
        Type.INT16: "SMALLINT",
        Type.INT32: "INTEGER",
        Type.INT64: "BIGINT",
        Type.FLOAT32: "REAL",
        Type.FLOAT64: "DOUBLE PRECISION",
        Type.BOOL: "BOOLEAN",
        Type.TEXT: "TEXT",
        Type.TIMESTAMP: "BIGINT",
    }

    def __init__(self, table: Table, *, tags_as_object: bool) -> None:
        self.columns = tuple(c for c in table.columns if not (tags_as_object and c in table.tags))
        """The columns that are columns."""
        self.members = table.tags if tags_as_object else ()
        """The tags that are members of the object."""
        self._names = {column.name for column in self.members}
        self._object = _quoted(sql.unused("tags", table))
        self._unit = table.time_unit

    def name(self, identifier: str) -> str:
        """Return an identifier, quoted, or the place of a tag in the object."""
        if identifier in self._names:
            return f"{self._object}[{self.text(identifier)}]"
        return _quoted(identifier)

    def _is_native(self, column: Column) -> bool:
        """Whether it is an instant that CrateDB's own type, in milliseconds, can hold."""
        return column.type is Type.TIMESTAMP and self._unit is TimeUnit.MILLISECOND

    def _declared(self, column: Column) -> str:
        kind = "TIMESTAMP WITH TIME ZONE" if self._is_native(column) else self.types[column.type]
        return f"{_quoted(column.name)} {kind}"

    def declared(self) -> list[str]:
        """Return the definitions of the columns, in the order of `inserted`."""
        columns = [self._declared(column) for column in self.columns]
        if self.members:
            members = ", ".join(self._declared(column) for column in self.members)
            columns.append(f"{self._object} OBJECT(DYNAMIC) AS ({members})")
        return columns

    def inserted(self) -> list[str]:
        """Return the names of the columns that an INSERT fills."""
        return [*(_quoted(c.name) for c in self.columns), *([self._object] if self.members else [])]

    def row(self, style: Style, row: Frame, between: bytes, member: "Member") -> list[Slot]:
        """Return the places of the values in a row; `member` writes the key of one in an object."""
        placed = [(column, b"", b"") for column in self.columns]
        for place, column in enumerate(self.members):
            opened = b"{" if place == 0 else b""
            closed = b"}" if place == len(self.members) - 1 else b""
            placed.append((column, opened + member(column.name), closed))
        slots = []
        for place, (column, lead, trail) in enumerate(placed):
            before = (row.before if place == 0 else b"") + lead
            last = place == len(placed) - 1
            after = trail + (row.after + between if last else row.between)
            slots.append(Slot(column, style, before, after, before + style.null + after))
        return slots

    def number(self, column: Column, unit: TimeUnit) -> str:
        """Return a column as a number whose sum is exact."""
        name = self.name(column.name)
        if column.type is Type.BOOL:
            return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END"
        return (
            f"CAST({name} AS BIGINT)" if self._is_native(column) else super().number(column, unit)
        )


Member = Callable[[str], bytes]


def _quoted(identifier: str) -> str:
    return '"' + identifier.replace('"', '""') + '"'


class CrateTables(Database):
    """Tables of CrateDB, whatever the way to ask."""

    options: CrateOptions

    @abstractmethod
    def _ask(self, statements: Sequence[str]) -> list[Sequence[Sequence[Any]]]:
        """Run statements one by one and return the rows of each; SetupError if one fails."""

    def dialect_of(self, table: Table) -> CrateDialect:
        """Return how this table is spoken of."""
        return CrateDialect(table, tags_as_object=self.options.tags_as_object)

    def create(self, tables: Sequence[Table], batch_rows: int) -> None:
        """Create the tables; those that were made before one that failed are dropped again."""
        made: list[str] = []
        for table in tables:
            for name in table.names:
                try:
                    self._ask([self._create_table(table, name)])
                except SetupError:
                    self._ask([_drop(each) for each in made])
                    raise
                made.append(name)

    def _create_table(self, table: Table, name: str) -> str:
        parts = self.dialect_of(table).declared()
        if table.primary_key is PrimaryKey.UUID:
            parts.insert(0, '"id" TEXT DEFAULT gen_random_text_uuid()')
        if table.primary_key is not PrimaryKey.NONE:
            parts.append('PRIMARY KEY ("id")')
        return f"CREATE TABLE {_quoted(name)} ({', '.join(parts)}){self._storage()}"

    def _storage(self) -> str:
        options = self.options
        settings = [f"\"translog.durability\" = '{options.translog_durability.upper()}'"]
        if options.replicas:
            settings.append(f"number_of_replicas = '{options.replicas}'")
        shards = f" CLUSTERED INTO {options.shards} SHARDS" if options.shards else ""
        return f"{shards} WITH ({', '.join(settings)})"

    def drop(self, tables: Sequence[Table]) -> None:
        """Drop the tables, one by one."""
        self._ask([_drop(name) for name in former_names(tables)])

    def settle(self, tables: Sequence[Table]) -> None:
        """Make what was acknowledged visible, and merge each shard's segments into one."""
        names = ", ".join(_quoted(name) for table in tables for name in table.names)
        statements = [f"REFRESH TABLE {names}"]
        if self.options.optimize:
            statements.append(f"OPTIMIZE TABLE {names} WITH (max_num_segments = 1)")
        self._ask(statements)

    def size_bytes(self, tables: Sequence[Table]) -> int | None:
        """Return the size of all shards, copies included."""
        names = ", ".join("'" + n.replace("'", "''") + "'" for t in tables for n in t.names)
        shards = "SELECT sum(size) FROM sys.shards WHERE schema_name = CURRENT_SCHEMA"
        (((size,),),) = self._ask([f"{shards} AND table_name IN ({names})"])
        return int(size or 0)

    def describe(self) -> Server:
        """Return the version and the number of nodes; durability is what tables are made with."""
        ((version,),), ((nodes,),) = self._ask(
            ["SELECT version()", "SELECT count(*) FROM sys.nodes"]
        )
        durability = self.options.translog_durability
        durable = durability == "request"
        when = "on disk" if durable else "synced to disk every few seconds"
        told = f"an acknowledged row is in the translog of every copy in sync, {when} "
        settings = {"translog.durability": durability.upper()}
        told += f"(translog.durability={durability.upper()})"
        return Server(str(version).split(" (built")[0], int(nodes), told, durable, settings)

    def render(self, query: Query) -> Statement:
        """Return the query as SQL."""
        return sql.render(self.dialect_of(query.table), query)


def _drop(name: str) -> str:
    return f"DROP TABLE IF EXISTS {_quoted(name)}"


def check(block: Block) -> None:
    """Raise UnstorableError if a value is none that CrateDB can hold as its type."""
    for column in block.table.columns:
        data = block.data[column.name]
        values = data.levels if isinstance(data, Coded) else data.array
        if column.type in FLOATS and not np.isfinite(values).all():
            values = data.values() if data.valid is None else data.values()[data.valid]
            wrong = values[~np.isfinite(values)]
            if len(wrong):
                raise UnstorableError(f"{column.name}: expected finite numbers, found {wrong[0]}")
        if column.type is Type.TEXT and values.dtype.itemsize > LONGEST_TEXT_BYTES:
            values = data.values() if data.valid is None else data.values()[data.valid]
            longest = int(np.strings.str_len(values).max(initial=0))
            if longest > LONGEST_TEXT_BYTES:
                raise UnstorableError(
                    f"{column.name}: an indexed text has at most {LONGEST_TEXT_BYTES} bytes, "
                    f"found one of {longest}"
                )
