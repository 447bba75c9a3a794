"""CrateDB's SQL, with a dialect for each table; names are always quoted."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import numpy as np

from simulator.data.block import Array, Block, Coded
from simulator.data.octets import octets
from simulator.data.schema import FLOATS, INTEGERS, Column, PrimaryKey, Table, TimeUnit, Type
from simulator.encode.rows import Frame
from simulator.encode.text import Slot, ValueStyle
from simulator.errors import UnstorableError
from simulator.modules.shared import names
from simulator.modules.shared.sql import language as sql

LONGEST_TEXT_BYTES = 32_766
"""Lucene's longest term."""

_NO_TABLE = re.compile(r'^_|[/\\*?"<>|\s,.]')
_NO_COLUMN = re.compile(r"^_[a-z]+(?:_[a-z]+)*$|[.\[\t\r\n]")
"""Names that no column can have, such as the system column _id."""
_BIGINT = np.iinfo(np.int64)

Member = Callable[[str], bytes]
"""Name of an object's member -> the bytes before its value in a row."""


class CrateDialect(sql.Dialect):
    """CrateDB's types, and a table's tags as members of an object."""

    types: ClassVar[Mapping[Type, str]] = {
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
        """The columns of the physical table, without the object."""
        self.members = table.tags if tags_as_object else ()
        """The tags that are members of the object."""
        self._names = {column.name for column in self.members}
        self._object = sql.quote(table.find_unused("tags"))
        self._table, self._unit = table, table.time_unit

    def name(self, identifier: str) -> str:
        """Return an identifier in quotes, or the subscript of a tag in the object."""
        if identifier in self._names:
            return f"{self._object}[{self.text(identifier)}]"
        return sql.quote(identifier)

    def _is_native(self, column: Column) -> bool:
        """Return whether the column has CrateDB's own type, which holds milliseconds."""
        return column.type is Type.TIMESTAMP and self._unit is TimeUnit.MILLISECOND

    def type_of(self, column: Column) -> str:
        return "TIMESTAMP WITH TIME ZONE" if self._is_native(column) else self.types[column.type]

    def list_catalogued(self) -> dict[str, str]:
        """Return the columns of the table and their types in the catalogue."""
        columns = {column.name: self.type_of(column) for column in self.columns}
        return columns | ({self._table.find_unused("tags"): "object"} if self.members else {})

    def _declare(self, columns: Sequence[Column]) -> list[str]:
        return [f"{sql.quote(column.name)} {self.type_of(column)}" for column in columns]

    def create_table(self, table: Table, name: str, storage: str) -> str:
        """Return the statement that creates one physical table."""
        parts = self._declare(self.columns)
        if self.members:
            members = ", ".join(self._declare(self.members))
            parts.append(f"{self._object} OBJECT(DYNAMIC) AS ({members})")
        if table.primary_key is PrimaryKey.UUID:
            parts.insert(0, '"id" TEXT DEFAULT gen_random_text_uuid()')
        if table.primary_key is not PrimaryKey.NONE:
            parts.append('PRIMARY KEY ("id")')
        return f"CREATE TABLE {sql.quote(name)} ({', '.join(parts)}){storage}"

    def find_inserted(self) -> list[str]:
        """Return the names of the columns that an INSERT fills."""
        return [
            *(sql.quote(c.name) for c in self.columns),
            *([self._object] if self.members else []),
        ]

    def row(self, style: ValueStyle, row: Frame, between: bytes, member: Member) -> list[Slot]:
        """Return the slots of a row's values; `member` begins a member of the object."""
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

    def of_answers(self) -> "CrateDialect":
        return CrateDialect(self._table, tags_as_object=False)

    def number(self, column: Column, unit: TimeUnit) -> str:
        name = self.name(column.name)
        if column.type is Type.BOOL:
            return f"CASE WHEN {name} THEN 1 WHEN NOT {name} THEN 0 END"
        return (
            f"CAST({name} AS BIGINT)" if self._is_native(column) else super().number(column, unit)
        )

    def end(self, column: Column, time: str, *, last: bool) -> str | None:
        name, function = self.name(column.name), "max_by" if last else "min_by"
        some = f" FILTER (WHERE {name} IS NOT NULL)" if column.nullable else ""
        return f"{function}({name}, {time}){some}"

    def total(self, column: Column, unit: TimeUnit) -> str:
        # A sum of BIGINT would overflow 64 bits.
        if column.type in INTEGERS or column.type is Type.TIMESTAMP:
            return f"sum(CAST({self.number(column, unit)} AS NUMERIC))"
        return super().total(column, unit)


def check_names(tables: Sequence[Table]) -> None:
    """Raise UnstorableError with every name that CrateDB refuses."""
    names.check_names("CrateDB", tables, _NO_TABLE, _NO_COLUMN)


def check_values(block: Block) -> None:
    """Raise UnstorableError for a value that CrateDB cannot store."""
    for column in block.table.columns:
        data = block.data[column.name]
        values = data.levels if isinstance(data, Coded) else data.array
        # Wrong values may be unused: a level, or the placeholder of a NULL.
        if _find_problem(column, values) and (problem := _find_problem(column, data.present())):
            raise UnstorableError(f"{column.name}: {problem}")


def _find_problem(column: Column, values: Array) -> str:
    """Return why CrateDB cannot store the values, or ""."""
    if column.type in FLOATS:
        wrong = values[~np.isfinite(values)]
        return f"expected finite numbers, found {wrong[0]}" if len(wrong) else ""
    if column.type in (Type.INT64, Type.TIMESTAMP):
        wrong = values[(values == _BIGINT.min) | (values == _BIGINT.max)]
        return f"{wrong[0]} is an end of BIGINT, which CrateDB cannot hold" if len(wrong) else ""
    if column.type is not Type.TEXT or not len(values):
        return ""
    lengths = np.strings.str_len(values)
    if lengths.max() > LONGEST_TEXT_BYTES:
        return f"expected at most {LONGEST_TEXT_BYTES} bytes in a text, found {lengths.max()}"
    # PostgreSQL's protocol drops NUL without an error. Padding is NUL, too, so compare counts.
    if np.count_nonzero(octets(np.ascontiguousarray(values))) != lengths.sum():
        return "expected text without the character NUL, which CrateDB does not store"
    return ""
