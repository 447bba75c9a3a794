"""SQL of MySQL and MariaDB."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import ClassVar

from simulator.data.row_hash import LARGEST
from simulator.data.schema import Column, PrimaryKey, Role, Table, TimeUnit, Type
from simulator.modules.shared.sql import hashes as sql_hashes
from simulator.modules.shared.sql import language as sql

TEXT_LENGTHS = {Role.TAG: 128, Role.KEY: 250}
"""Default lengths of tags and the client's keys, in characters; MyISAM allows 1,000 bytes in a key.
"""
_LONGEST_FIELD = 1000
"""Longer fields are mediumtexts, because the varchars of a row share 65,535 bytes."""

_INDEXED_CHARACTERS = 190
"""Indexed characters of texts: at 4 bytes each, they leave room for numbers in 1,000 bytes."""
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001  # a DATETIME has no zone; these are in UTC


def varchar_length(column: Column) -> int | None:
    """Return the declared length of a text column; None for a mediumtext."""
    declared = column.max_characters
    if declared is None or (column.role is Role.FIELD and declared > _LONGEST_FIELD):
        return TEXT_LENGTHS.get(column.role)
    return declared


class MySqlDialect(sql.Dialect):
    """The SQL of MySQL and MariaDB; sums of integers are decimals, and exact."""

    finest: TimeUnit | None = TimeUnit.MICROSECOND
    bigint = "SIGNED"
    types: ClassVar[Mapping[Type, str]] = {
        Type.INT16: "smallint",
        Type.INT32: "int",
        Type.INT64: "bigint",
        Type.FLOAT32: "float",
        Type.FLOAT64: "double",
        Type.BOOL: "boolean",
        Type.TEXT: "mediumtext",
        Type.TIMESTAMP: "datetime(6)",  # a timestamp ends in 2038
    }
    long_names: ClassVar[Mapping[str, str]] = {"boolean": "tinyint"}
    ids: ClassVar[Mapping[PrimaryKey, str]] = {
        PrimaryKey.DB: "`id` bigint NOT NULL AUTO_INCREMENT PRIMARY KEY",
        PrimaryKey.UUID: "`id` binary(16) NOT NULL DEFAULT (unhex(replace(uuid(), '-', ''))) "
        "PRIMARY KEY",
    }

    def name(self, identifier: str) -> str:
        # Always quoted: MySQL and MariaDB reserve many words, and different ones.
        return f"`{identifier.replace('`', '``')}`"

    def text(self, value: str) -> str:
        # With NO_BACKSLASH_ESCAPES instead, MySQL 9.7 fails to push a condition on a text with a
        # quote into a UNION.
        return super().text(value.replace("\\", "\\\\"))

    def texts(self, values: Iterable[str]) -> str:
        """Return text literals, separated by commas."""
        return ", ".join(map(self.text, values))

    def type_of(self, column: Column) -> str:
        length = varchar_length(column) if column.type is Type.TEXT else None
        return f"varchar({length})" if length else super().type_of(column)

    def read(self, column: Column, expression: str = "") -> str:
        # The server prints a float with 6 digits only.
        plain = super().read(column, expression)
        return f"CAST({plain} AS DOUBLE)" if column.type is Type.FLOAT32 else plain

    def instant(self, value: int, unit: TimeUnit) -> str:
        """Return the literal of an instant, rounded up to microseconds."""
        microseconds = -(-value * 10**6 // unit.per_second)
        moment = (_EPOCH + timedelta(microseconds=microseconds)).isoformat(" ")
        return f"TIMESTAMP'{moment}'"

    def number(self, column: Column, unit: TimeUnit) -> str:
        name = self.name(column.name)
        if column.type is not Type.TIMESTAMP:
            return name  # a boolean is a tinyint, and floats are added as doubles
        microseconds = f"TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', {name})"
        if unit is TimeUnit.NANOSECOND:
            return f"({microseconds} * 1000)"
        return f"({microseconds} DIV {10**6 // unit.per_second})"

    def mean(self, total: str, count: str) -> str:
        return f"CAST({total} AS DOUBLE) / {count}"

    def remainder(self, double: str, scale: str, divisor: int) -> str:
        # A double beyond the range of the type would be an error.
        near = f"LEAST(GREATEST({double}, -{LARGEST}), {LARGEST})"
        return f"CAST(TRUNCATE({near} * {scale}, 0) % {divisor} AS SIGNED)"

    def hash_rows(self, table: Table, rows: str) -> sql.Select:
        return sql_hashes.remainders(self, table, rows, "CAST(crc32({}) AS SIGNED)".format)

    def latest(self, time: str, tags: str) -> str:
        # With max(), MariaDB 10.11 reads all rows of a tag for each of its rows, which takes a
        # minute for 10,000 rows.
        return f"first_value({time}) OVER (PARTITION BY {tags} ORDER BY {time} DESC)"

    def index_key(self, columns: Sequence[Column]) -> str:
        """Return the columns of an index, with only the beginning of long texts."""
        texts = [column for column in columns if column.type is Type.TEXT]
        most = _INDEXED_CHARACTERS // max(len(texts), 1)
        return ", ".join(
            f"{self.name(column.name)}({most})"
            if column.type is Type.TEXT and (varchar_length(column) or most + 1) > most
            else self.name(column.name)
            for column in columns
        )
