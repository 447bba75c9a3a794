"""How tables look in CQL: names, types and keys. Everything here is a pure function."""

import hashlib
import re
from dataclasses import dataclass

from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.errors import SetupError

_PLAIN = re.compile(r"[a-z][a-z0-9_]*")
_NOT_IN_NAMES = re.compile(r"\W", re.ASCII)
_LONGEST_NAME = 48
_DIGEST = 8

# What cqlsh's grammar calls reserved, with what Cassandra 5 refuses besides.
_RESERVED = frozenset(
    """
    add allow alter and apply asc authorize batch begin by columnfamily create default delete desc
    describe drop entries execute from full grant if in index infinity insert into is keyspace
    limit materialized mbean mbeans modify nan norecursive not null of on or order primary rename
    replace revoke schema select set table to token truncate unlogged unset update use using view
    where with
    """.split()
)

_TYPES = {
    Type.INT16: "smallint",
    Type.INT32: "int",
    Type.INT64: "bigint",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    # As many bytes as a boolean, which CQL can neither add up nor cast into a number.
    Type.BOOL: "tinyint",
    Type.TEXT: "text",
    Type.TIMESTAMP: "timestamp",
}
_WHOLE_MS = (TimeUnit.SECOND, TimeUnit.MILLISECOND)

ID = "id"
"""The column that is the primary key of `--primary-key client` and `uuid`."""


def quoted(identifier: str) -> str:
    """Return an identifier, quoted if it needs to be."""
    if _PLAIN.fullmatch(identifier) and identifier not in _RESERVED:
        return identifier
    return '"' + identifier.replace('"', '""') + '"'


def quoted_all(identifiers: tuple[str, ...]) -> str:
    """Return identifiers with commas between."""
    return ", ".join(map(quoted, identifiers))


def table_name(name: str) -> str:
    """Return a physical table's name as CQL allows it: letters, digits and _, at most 48.

    Where that is not the name itself, a digest of it keeps different names different.
    """
    allowed = _NOT_IN_NAMES.sub("_", name)
    if allowed == name and len(name) <= _LONGEST_NAME:
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:_DIGEST]
    return f"{allowed[: _LONGEST_NAME - _DIGEST - 1]}_{digest}"


def type_name(column: Column, unit: TimeUnit) -> str:
    """Return the type that holds a column exactly; a CQL timestamp has only milliseconds."""
    if column.type is Type.TIMESTAMP and unit not in _WHOLE_MS:
        return "bigint"
    return _TYPES[column.type]


@dataclass(frozen=True, slots=True)
class Key:
    """A table's primary key: which node has a row, and the order of the rows there."""

    partition: tuple[str, ...]
    clustering: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.partition, *self.clustering)


def key_of(table: Table, clustering_columns: str) -> Key:
    """Return the primary key; SetupError if the table has not what it takes.

    A row of the same key replaces another one, so the key must tell all rows apart.
    """
    if table.primary_key in (PrimaryKey.CLIENT, PrimaryKey.UUID):
        return Key((ID,), ())
    if not table.key:
        raise SetupError(
            f"cassandra: nothing is known to tell all rows of {table.name} apart, and rows with "
            "equal keys would replace each other; use --primary-key uuid"
        )
    tags = tuple(tag.name for tag in table.tags if tag.name in table.key)
    named = tuple(name for name in re.split(r"[\s,]+", clustering_columns) if name)
    known = [c.name for c in table.columns if c.role in (Role.TIME, Role.KEY)]
    if unknown := [name for name in named if name not in known]:
        raise SetupError(
            f"cassandra: clustering_columns names {', '.join(unknown)}, and those of "
            f"{table.name} can be: {', '.join(known)}"
        )
    key = Key(tags, named or (table.time.name,))
    if not tags:
        key = Key(key.clustering, ())
    for name in key.columns:
        if table.column(name).nullable:
            raise SetupError(
                f"cassandra: {name} of {table.name} may be NULL, and CQL takes no NULL in a "
                "primary key; use --primary-key uuid"
            )
    return key


def create_table(keyspace: str, table: Table, name: str, key: Key, table_options: str) -> str:
    """Return the statement that makes one physical table.

    Rows of a partition are in order of time, the newest first: that is what is asked for most.
    """
    columns = [f"{quoted(c.name)} {type_name(c, table.time_unit)}" for c in table.columns]
    if table.primary_key is PrimaryKey.UUID:
        columns.insert(0, f"{ID} uuid")
    primary = ", ".join([f"({quoted_all(key.partition)})", *map(quoted, key.clustering)])
    order = ", ".join(f"{quoted(name)} DESC" for name in key.clustering)
    options = [f"CLUSTERING ORDER BY ({order})"] if order else []
    options += [table_options] if table_options else []
    behind = f" WITH {' AND '.join(options)}" if options else ""
    return (
        f"CREATE TABLE {full_name(keyspace, name)} "
        f"({', '.join(columns)}, PRIMARY KEY ({primary})){behind}"
    )


def insert(keyspace: str, table: Table, name: str) -> str:
    """Return the statement that is prepared to insert a row; the server draws a UUID."""
    names = [column.name for column in table.columns]
    values = ["?"] * len(names)
    if table.primary_key is PrimaryKey.UUID:
        names, values = [ID, *names], ["uuid()", *values]
    into = f"{full_name(keyspace, name)} ({quoted_all(tuple(names))})"
    return f"INSERT INTO {into} VALUES ({', '.join(values)})"


def full_name(keyspace: str, name: str) -> str:
    """Return a physical table with its keyspace."""
    return f"{quoted(keyspace)}.{quoted(table_name(name))}"
