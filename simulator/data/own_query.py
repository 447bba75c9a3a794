"""The user's own queries: texts with parameters, and answers without a known truth.

Instance i of a query is a pure function of the seed, the query's name, the stored rows and i, like
an instance of the workload's types.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from pydantic import Field

from simulator.data.block import Texts
from simulator.data.dataset import Dataset
from simulator.data.mixer import draw, key_of
from simulator.data.query import Output, RowsQuery
from simulator.data.query_type import QueryType
from simulator.data.ranges import numbers_between, sum_rows
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, Table, Type
from simulator.frozen import Frozen

PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
"""Pattern of a parameter in the text of a query."""
START, END = "start", "end"
"""Parameters of a time window: the first instant, and the instant after the last one."""
GIVEN = frozenset({"table", "bucket"})
"""Placeholders for the table and its bucket, which the module replaces."""
_MOST_TRIES = 64
"""Maximum number of rows tried to find one in which a column is not NULL."""

Number: TypeAlias = int | float
Listed: TypeAlias = Number | str


@dataclass(frozen=True, slots=True)
class Instant:
    """A point in time, in the table's unit."""

    value: int


Value: TypeAlias = Number | str | Instant


class ParameterSource(Frozen):
    """The source of a parameter: exactly one of a range, a list and a column."""

    between: tuple[int, int] | None = None
    """Range of a whole number, both ends included."""
    values: tuple[Listed, ...] = ()
    """Values to choose from."""
    column: str = ""
    """Column that provides the value, from a random stored row."""


class OwnQuery(Frozen):
    """A user's own query."""

    table: str = ""
    """Name of the table; empty: the only table."""
    columns: dict[str, Type]
    """Columns of the answers, in order."""
    texts: dict[str, str]
    """Module or language -> text of the query."""
    window_ms: int = 0
    """Length of a time window that begins at a random stored row; 0: no window."""
    parameters: dict[str, ParameterSource] = Field(default_factory=dict)

    def table_of(self, reader: DatasetReader) -> Table:
        """Return the table that the query reads."""
        return reader.table(self.table) if self.table else reader.tables[0]


@dataclass(frozen=True, slots=True)
class TextQuery:
    """An instance of an OwnQuery, for any language."""

    table: Table
    texts: Mapping[str, str]
    values: Mapping[str, Value]
    outputs: tuple[Output, ...]


def placeholders(text: str) -> frozenset[str]:
    """Return the names of the parameters in the text of a query."""
    return frozenset(PLACEHOLDER.findall(text))


def fill(text: str, written: Mapping[str, str]) -> str:
    """Return a query's text with values for its parameters; values may contain braces."""
    return PLACEHOLDER.sub(lambda found: written[found[1]], text)


def make_own_types(
    queries: Mapping[str, OwnQuery], dataset: Dataset, *, aligned: bool = False
) -> dict[str, QueryType[TextQuery]]:
    """Return the types of own queries over the rows of a dataset."""
    reader = DatasetReader(dataset)
    return {
        name: QueryType(
            _Instances(name, query, reader, dataset, aligned=aligned).instance,
            varies=bool(query.window_ms or query.parameters),
        )
        for name, query in queries.items()
    }


class _Instances:
    """The instances of one own query."""

    def __init__(
        self, name: str, query: OwnQuery, reader: DatasetReader, dataset: Dataset, *, aligned: bool
    ) -> None:
        self._name, self._query, self._reader, self._seed = name, query, reader, dataset.seed
        self._table = table = query.table_of(reader)
        place = reader.place(table)
        self._ranges = [item for item in dataset.ranges if item.table == place]
        self._rows = sum_rows(self._ranges)
        self._aligned = aligned
        self._outputs = tuple(
            Output(column, kind, table.time_unit) for column, kind in query.columns.items()
        )

    def instance(self, number: int) -> TextQuery:
        """Return the instance with this number."""
        values = {
            name: self._draw(name, drawn, number) for name, drawn in self._query.parameters.items()
        }
        if self._query.window_ms:
            unit = self._table.time_unit
            width = max(self._query.window_ms * unit.per_second // 1000, 1)
            start = int(self._draw_stored(START, self._table.time, number))
            start -= start % width if self._aligned else 0
            values |= {START: Instant(start), END: Instant(start + width)}
        return TextQuery(self._table, self._query.texts, values, self._outputs)

    def _draw(self, name: str, drawn: ParameterSource, number: int) -> Value:
        if drawn.between:
            low, high = drawn.between
            return low + self._draw_below(high - low + 1, name, number)
        if drawn.values:
            return drawn.values[self._draw_below(len(drawn.values), name, number)]
        column = self._table.column(drawn.column)
        found = self._draw_stored(name, column, number)
        return Instant(found) if column.type is Type.TIMESTAMP else found

    def _draw_below(self, bound: int, name: str, number: int, attempt: int = 0) -> int:
        """Return a random number 0 <= n < bound of a parameter."""
        key = key_of(self._seed, f"own.{self._name}.{name}.{attempt}")
        return (int(draw(key, np.array([number]))[0]) * bound) >> 64

    def _draw_stored(self, name: str, column: Column, number: int) -> Any:
        """Return a column's value in a random row; ValueError if it is NULL in every row tried."""
        table = self._table
        reader = self._reader.narrow([RowsQuery(table, (column.name,))])
        for attempt in range(_MOST_TRIES if self._rows else 0):
            place = self._draw_below(self._rows, name, number, attempt)
            row = numbers_between(self._ranges, place, place + 1)
            data = reader.draw_rows(table, row).data[column.name]
            if data.valid is None or data.valid[0]:
                found = data.to_list()[0] if isinstance(data, Texts) else data.values()[0].item()
                return found.decode() if isinstance(found, bytes) else found
        raise ValueError(f"{self._name}: found no row of {table.name} that has a {column.name}")
