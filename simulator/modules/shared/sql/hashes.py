"""Hashes of rows in SQL; `simulator/data/row_hash.py` computes the same in NumPy. Pure."""

from collections.abc import Callable

from simulator.data.row_hash import (
    COARSE,
    DOUBLE,
    FINE,
    LONG,
    NULL,
    NUMBERS,
    OTHER_PRIME,
    PRIME,
    SEED,
    TEXT,
    WHOLE,
    salt,
    weight,
)
from simulator.data.schema import FLOATS, Column, Table, TimeUnit, Type
from simulator.modules.contract import Unsupported
from simulator.modules.shared.sql.language import Dialect, Select

_SEEDED = [f"hashint8extended({number}, {seed})" for seed in (1, SEED) for number in NUMBERS]
JENKINS_PROBE = (
    f"SELECT {', '.join(_SEEDED)}, hashtextextended('{TEXT}', 1), hashfloat8extended({DOUBLE}, 1)"
)
_MURMURED = ", ".join(f"intHash64(toInt64({number}))" for number in NUMBERS)
MURMUR_PROBE = f"SELECT {_MURMURED}, murmurHash2_64('{TEXT}')"
CRC32_PROBE = f"SELECT crc32('{TEXT}')"
_NUMBERS = [f"CAST({number} AS BIGINT)" for number in NUMBERS]
_KNOWN = (*_NUMBERS, f"CAST({DOUBLE} AS DOUBLE)", f"'{TEXT}'")
_HASHED = ", ".join(f"hash({value})" for value in _KNOWN)
DUCKDB_PROBE = f"SELECT {_HASHED}, hash(hash({', '.join(_KNOWN)})) >> 1"


_JENKINS = {
    Type.INT16: "hashint2extended({}, {})",
    Type.INT32: "hashint4extended({}, {})",
    Type.INT64: "hashint8extended({}, {})",
    Type.FLOAT32: "hashfloat4extended({}, {})",
    Type.FLOAT64: "hashfloat8extended({}, {})",
    Type.BOOL: "hashint4extended(CAST({} AS integer), {})",
    Type.TEXT: 'hashtextextended({} COLLATE "C", {})',
    Type.TIMESTAMP: "interval_hash_extended({} - TIMESTAMPTZ '2000-01-01 00:00+00', {})",
}


def jenkins(dialect: Dialect, table: Table, rows: str) -> Select:
    """Return the number of rows and the sum of their hashes, by PostgreSQL's own functions.

    The other columns form the seed of the time's hash, which saves a function per row.
    """
    _expect_whole_times(dialect, table)
    numbers = [
        _fill(c, _JENKINS[c.type].format(dialect.name(c.name), place + 1), NULL + place)
        for place, c in enumerate(table.columns)
        if c != table.time
    ]
    seed = " # ".join(numbers) or str(SEED)
    whole = _JENKINS[table.time.type].format(dialect.name(table.time.name), seed)
    return Select(("count(*)", f"sum({whole})"), rows)


def murmur(dialect: Dialect, table: Table, rows: str) -> Select:
    """Return count and sum by ClickHouse's `intHash64`; the sum wraps around."""
    numbers = []
    for place, column in enumerate(table.columns):
        name = dialect.name(column.name)
        if column.type is Type.TEXT:
            bits = f"murmurHash2_64({name})"
        elif column.type in FLOATS:
            bits = f"reinterpretAsUInt64(toFloat64({name}))"
        else:
            bits = f"toInt64({dialect.number(column, table.time_unit)})"
        numbers.append(_fill(column, f"intHash64({bits} + {salt(place)})", NULL, "ifNull"))
    return Select(("count(*)", f"sum(intHash64({' + '.join(numbers)}))"), rows)


def duckdb(dialect: Dialect, table: Table, rows: str) -> Select:
    """Return count and sum by DuckDB's `hash` of all columns at once, including NULLs."""
    values = dialect.names([column.name for column in table.columns])
    return Select(("count(*)", f"sum(CAST(hash(hash({values})) >> 1 AS BIGINT))"), rows)


def remainders(
    dialect: Dialect,
    table: Table,
    rows: str,
    texts: Callable[[str], str],
    *,
    misfit: Callable[[Column], str] = lambda _: "",
) -> Select:
    """Return count and sum; the hash of a row is a product of weighted sums modulo two primes.

    `texts` turns a text into a number. `misfit` is a term that adds 1 for a value of another type
    than the column's, where the database stores any.
    """
    _expect_whole_times(dialect, table)
    unit = dialect.finest or table.time_unit
    terms = []
    for place, column in enumerate(table.columns):
        name = dialect.name(column.name)
        if column.type is Type.TEXT:
            number = texts(name)
        elif column.type in FLOATS:
            parts = (dialect.remainder(name, f"{scale:.18e}", PRIME) for scale in (COARSE, FINE))
            number = " + ".join(parts)
        else:
            whole = dialect.as_bigint(dialect.number(column, unit))
            number = f"{whole} % {WHOLE}"
            if column.type is Type.INT64:
                number += f" + {whole} % {LONG}"
        number = f"({number}{misfit(column)}) * {weight(place)}"
        terms.append(_fill(column, number, NULL * weight(place)))
    total = f"(SELECT {' + '.join(terms)} AS total FROM {rows}{dialect.kept_apart}) AS totals"
    product = f"(total % {PRIME}) * (total % {OTHER_PRIME})"
    return Select(("count(*)", f"sum({product} % {PRIME})"), total)


def _fill(column: Column, number: str, null: int, function: str = "coalesce") -> str:
    return f"{function}({number}, {null})" if column.nullable else number


def _expect_whole_times(dialect: Dialect, table: Table) -> None:
    if table.time_unit is TimeUnit.NANOSECOND and dialect.finest is TimeUnit.MICROSECOND:
        raise Unsupported("the hash of a row has no instants in nanoseconds here")
