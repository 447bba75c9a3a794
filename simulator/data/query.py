"""Logical queries, independent of any database's language, and the columns of their answers.

A module renders a query into a Statement, which a Session runs.
"""

import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias, assert_never

import numpy as np

from simulator.data.row_hash import RowHash
from simulator.data.schema import FLOATS, ID, INTEGERS, Column, Table, TimeUnit, Type, dtype_of


class Operator(StrEnum):
    """Operators of a Condition."""

    LESS = "<"
    AT_MOST = "<="
    EQUAL = "="
    AT_LEAST = ">="
    MORE = ">"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A text tag has one of these values; NULL never matches."""

    column: str
    values: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ValueError(f"{self.column}: a list of values must not be empty")


@dataclass(frozen=True, slots=True)
class Condition:
    """A numeric column compared with a number that fits its type exactly; NULL never matches."""

    column: str
    operator: Operator
    value: float
    divisor: str | None = None
    """Numeric column that divides the compared one, as doubles; a quotient by 0 is NULL."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The rows that a query reads: the rows for which all conditions hold."""

    one_of: tuple[OneOf, ...] = ()
    compared: tuple[Condition, ...] = ()
    since: int | None = None
    until: int | None = None
    """Half-open range of time in the table's time unit."""

    @property
    def fixed(self) -> frozenset[str]:
        """The tags that have the same value in all rows."""
        return frozenset(one.column for one in self.one_of if len(set(one.values)) == 1)

    @property
    def limits(self) -> tuple[tuple[Operator, int], ...]:
        """The limits of the range of time, as comparisons."""
        ends = ((Operator.AT_LEAST, self.since), (Operator.LESS, self.until))
        return tuple((operator, end) for operator, end in ends if end is not None)

    def places(self, before: Callable[[int], int], count: int) -> range:
        """Return the indices of the instants, among `count` ascending ones, in the range of time.

        `before` returns the number of instants before a given one; the result is cut to 0..`count`.
        """
        start, stop = (
            end if limit is None else min(max(before(limit), 0), count)
            for limit, end in ((self.since, 0), (self.until, count))
        )
        return range(start, stop)


EVERYTHING = Selection()
HASHED = ("count", "hashes")
"""The columns of an answer to a query for hashed rows."""


class Function(StrEnum):
    """An aggregate function. It ignores NULLs, as in SQL."""

    COUNT = "count"
    SUM = "sum"
    AVG = "avg"
    MIN = "min"
    MAX = "max"
    FIRST = "first"
    LAST = "last"
    """The values at the least and greatest time; no two rows of a group have the same time."""


ENDS = frozenset({Function.FIRST, Function.LAST})


@dataclass(frozen=True, slots=True)
class Aggregate:
    """One output of an AggregateQuery; a count without a column counts rows."""

    function: Function
    column: str | None = None
    wide: bool = False
    """True if the sum of whole numbers or times may exceed 64 bits."""

    @property
    def label(self) -> str:
        """Name of the output."""
        return f"{self.function}_{self.column}" if self.column else self.function.value


@dataclass(frozen=True, slots=True)
class AggregateQuery:
    """Aggregates of the rows that match, in total or by tags and time bucket.

    The answer's columns are the `by` tags, then the bucket's start ("bucket", int64 in the table's
    time unit) if there is one, then the aggregates.
    """

    table: Table
    aggregates: tuple[Aggregate, ...]
    by: tuple[str, ...] = ()
    bucket: int | None = None
    """Width of a time bucket in the table's time unit; a bucket starts at a multiple of it."""
    selection: Selection = EVERYTHING
    newest: int | None = None
    """Maximum number of buckets, the latest with rows; not together with `by`."""

    def __post_init__(self) -> None:
        _expect_selectable(self.table, self.selection)
        _expect_whole(self.table, (a.column for a in self.aggregates if a.column))
        if self.newest is not None and (self.newest < 1 or self.bucket is None or self.by):
            raise ValueError("newest counts buckets of time, at least one, without tags")
        ends = [a.label for a in self.aggregates if a.function in ENDS]
        if ends:
            _expect_times_differ(self.table, {*self.by, *self.selection.fixed}, ", ".join(ends))


def count_rows(table: Table) -> AggregateQuery:
    """Return the query for the number of rows of a table."""
    return AggregateQuery(table, (Aggregate(Function.COUNT),))


@dataclass(frozen=True, slots=True)
class NewestQuery:
    """The newest row of each combination of tags, as the tags and then the named columns.

    No two rows of a combination have the same time.
    """

    table: Table
    tags: tuple[str, ...]
    columns: tuple[str, ...]
    selection: Selection = EVERYTHING

    def __post_init__(self) -> None:
        _expect_selectable(self.table, self.selection)
        _expect_whole(self.table, self.columns)


@dataclass(frozen=True, slots=True)
class DistinctQuery:
    """The number of distinct combinations of these columns: the natural key, or tags."""

    table: Table
    columns: tuple[str, ...]
    selection: ClassVar[Selection] = EVERYTHING

    @property
    def counts_rows(self) -> bool:
        """True if no two rows have the same combination, because it contains the natural key."""
        return bool(self.table.key) and {*self.table.key} <= {*self.columns}


@dataclass(frozen=True, slots=True)
class RowsQuery:
    """Rows of `table` as they are stored, in any order."""

    table: Table
    columns: tuple[str, ...] = ()
    """Names of the columns to read; empty: all columns."""
    selection: Selection = EVERYTHING
    newest: int | None = None
    """Maximum number of rows, the latest; no two selected rows have the same time."""
    hashed: RowHash | None = None
    """Hash to sum: the answer is the number of rows and the sum, exact or modulo 2**64."""

    def __post_init__(self) -> None:
        _expect_selectable(self.table, self.selection)
        _expect_whole(self.table, (column.name for column in self.read))
        if self.newest is not None:
            if self.newest < 1:
                raise ValueError("the number of newest rows must be at least one")
            _expect_times_differ(self.table, self.selection.fixed, "the newest rows")

    @property
    def read(self) -> tuple[Column, ...]:
        """Columns of the answer."""
        return tuple(map(self.table.column, self.columns)) or self.table.columns


Query: TypeAlias = AggregateQuery | NewestQuery | DistinctQuery | RowsQuery


def columns_of(query: Query) -> frozenset[str]:
    """Return the columns that a query reads.

    The time is left out. The natural key is included if the query reads the ID.
    """
    table, found = query.table, set[str]()
    match query:
        case AggregateQuery():
            found = {*query.by, *(a.column for a in query.aggregates if a.column is not None)}
        case NewestQuery():
            found = {*query.tags, *query.columns}
        case DistinctQuery():
            found = {*query.columns}
        case RowsQuery():
            found = {column.name for column in query.read}
        case _:
            assert_never(query)
    found |= {one.column for one in query.selection.one_of}
    for compared in query.selection.compared:
        found |= {compared.column, *([compared.divisor] if compared.divisor else [])}
    return frozenset({*found, *table.key} if ID.name in found else found)


def _expect_selectable(table: Table, selection: Selection) -> None:
    """Raise ValueError if the table lacks columns of the selection."""
    for one in selection.one_of:
        if one.column not in {tag.name for tag in table.tags if tag.type is Type.TEXT}:
            raise ValueError(f"{one.column} is not a text tag of {table.name}")
    for compared in selection.compared:
        column = table.column(compared.column)
        divisor = None if compared.divisor is None else table.column(compared.divisor)
        for number in (column, divisor):
            if number is not None and number.type not in INTEGERS | FLOATS:
                raise ValueError(f"{number.name} ({number.type}) cannot hold {compared.value}")
        kind = column.type if divisor is None else Type.FLOAT64
        if not _can_hold(kind, compared.value):
            raise ValueError(f"{column.name} ({kind}) cannot hold {compared.value}")


def _expect_whole(table: Table, names: Iterable[str]) -> None:
    """Raise ValueError if the values of one of these columns may differ between databases."""
    for name in names:
        if table.column(name).rounded:
            raise ValueError(f"{name} of {table.name} is rounded: it can only be compared")


def _can_hold(column_type: Type, value: float) -> bool:
    if column_type in FLOATS:
        return math.isfinite(value) and float(dtype_of(column_type).type(value)) == value
    ends: np.iinfo[Any] = np.iinfo(dtype_of(column_type).type)
    return isinstance(value, int) and ends.min <= value <= ends.max


def _expect_times_differ(table: Table, fixed: Collection[str], what: str) -> None:
    """Raise ValueError unless rows that agree in the tags `fixed` have different times."""
    fixed, tags = {*fixed, table.time.name}, {tag.name for tag in table.tags}
    if table.distinct_times:
        return
    if not table.key or not (fixed >= tags or fixed >= {*table.key}):
        raise ValueError(f"{what} of {table.name}: rows with the same time are not distinguished")


@dataclass(frozen=True, slots=True)
class Output:
    """A column of an answer."""

    name: str
    type: Type
    unit: TimeUnit
    ticks: int = 1
    """Number of the driver's integers in one unit of time; finer times keep their fraction."""
    shortened: bool = False
    """True if a float32 arrives with the fewest digits that identify it, such as 20.2."""
    signless: bool = False
    """True if 0.0 and -0.0 have the same hash, as the database does not distinguish them."""


def outputs(query: Query) -> tuple[Output, ...]:
    """Return the names and types of the answer's columns."""
    unit = query.table.time_unit
    typed: list[tuple[str, Type]] = []
    match query:
        case AggregateQuery():
            typed = [(tag, query.table.column(tag).type) for tag in query.by]
            if query.bucket is not None:
                typed.append(("bucket", Type.INT64))
            typed += [(a.label, _find_aggregate_type(query.table, a)) for a in query.aggregates]
        case NewestQuery():
            typed = [(c, query.table.column(c).type) for c in (*query.tags, *query.columns)]
        case DistinctQuery():
            typed = [("count", Type.INT64)]
        case RowsQuery(hashed=RowHash()):
            typed = [(name, Type.INT64) for name in HASHED]
        case RowsQuery():
            typed = [(c.name, c.type) for c in query.read]
        case _:
            assert_never(query)
    return tuple(Output(name, column_type, unit) for name, column_type in typed)


def _find_aggregate_type(table: Table, aggregate: Aggregate) -> Type:
    if aggregate.function is Function.COUNT or aggregate.column is None:
        return Type.INT64
    column_type = table.column(aggregate.column).type
    if aggregate.function is Function.AVG:
        return Type.FLOAT64
    if aggregate.function is Function.SUM:
        return Type.FLOAT64 if column_type in FLOATS else Type.INT64
    if aggregate.function in ENDS:
        return column_type
    return Type.INT64 if column_type is Type.BOOL else column_type


@dataclass(frozen=True, slots=True)
class Statement:
    """A query in the language of one database."""

    text: str
    outputs: tuple[Output, ...]
    parameters: tuple[Any, ...] = ()
    tuned: bool = False
    """True if the statement comes from config.yaml, not from the module."""
    own: bool = False
    """True if the statement is a user's own query."""

    def with_floats(self, *, shortened: bool, signless: bool) -> "Statement":
        """Return the statement with outputs that show how the driver returns floats."""
        columns = (
            replace(c, shortened=shortened and c.type is Type.FLOAT32, signless=signless)
            for c in self.outputs
        )
        return replace(self, outputs=tuple(columns)) if shortened or signless else self
