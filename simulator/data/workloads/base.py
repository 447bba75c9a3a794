"""The contract of a workload: tables, rows as a pure function of their number, and queries.

Each table has its own row numbers. A workload without an end has lanes (see ranges): each worker
writes one, so time rises in all lanes in parallel, like devices that send in parallel. Tables of
other workloads have a number of rows in the order of time, which the workers share. Prefill, steps
and `--no-clean` are further ranges of the same rows.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Annotated, ClassVar

from simulator.data.block import Array, ColumnData, Rows
from simulator.data.digits import join
from simulator.data.query import Query, Selection
from simulator.data.query_type import QueryType, always
from simulator.data.ranges import LANE_ROWS, RowRange
from simulator.data.schema import PrimaryKey, Table
from simulator.data.walks import Precision
from simulator.frozen import Frozen


class MillisecondNotation(StrEnum):
    """Notation of a number of milliseconds; the option's name then lacks `_ms`."""

    DURATION = "duration"
    END = "end"
    """The instant at the end of the duration; the option is --end."""


DurationMs = Annotated[int, MillisecondNotation.DURATION]
EndMs = Annotated[int, MillisecondNotation.END]


class Params(Frozen):
    """A workload's parameters: part of the dataset's manifest, and options of `insert`.

    A parameter is an integer, a number or a StrEnum; its description is the help text.
    """


class Workload(ABC):
    """One workload with its parameters, seed and start of time."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Version of the rows, increased whenever the same parameters give other rows."""
    params_model: ClassVar[type[Params]]
    has_end: ClassVar[bool] = False
    """True if tables have a fixed number of rows; otherwise, their lanes have no end."""
    default_key: ClassVar[PrimaryKey | None] = None
    """The primary key unless --primary-key names one; None: the database's default."""
    incidental: ClassVar[frozenset[str]] = frozenset()
    """Names of parameters that do not determine the rows, perhaps `seed` and `start_ms` too."""

    tables: tuple[Table, ...]

    def __init__(self, params: Params, seed: int, start_ms: int) -> None:
        """Store the parameters; `start_ms` is the time of the first row in ms since 1970 UTC."""
        self.params = params
        self.seed = seed
        self.start_ms = start_ms

    @property
    def precision(self) -> Precision | None:
        """Precision of numbers with a fraction; None: none are drawn."""
        return None

    def nulls(self, table: Table, ranges: Iterable[RowRange]) -> int | None:
        """Return how many values are NULL in rows of a table with nullable columns; None: unknown.

        `table` is one of `tables`, or one reduced to its time and some other columns.
        """
        return None

    def size(self, table: Table) -> int | None:
        """Return the number of rows of a table, all in lane 0; None: every lane is endless."""
        return None

    @property
    def time_rises(self) -> bool:
        """True if no row has an earlier time than the rows of its table and lane before it."""
        return True

    @property
    def lane_rows(self) -> int:
        """Number of rows of a lane in a workload without an end."""
        return LANE_ROWS

    def series(self, table: Table) -> int:
        """Return the number s of series of a table with an end, if row r belongs to series r mod s.

        Otherwise return 0.
        """
        return 1

    def last_ms(self, rows: int) -> int:
        """Return a time in ms since 1970 that no row before number `rows` of a lane exceeds."""
        return self.start_ms

    @abstractmethod
    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        """Return the columns of `table` for these rows, ascending and all of one lane.

        `table` is one of `tables`, or one reduced to its time and some other columns.
        """

    def candidates(
        self,
        table: Table,
        selection: Selection,
    ) -> Rows | None:
        """Return the rows of `table` that a selection can match, and perhaps others, ascending.

        Return None if the workload cannot compute the rows, or if most rows match.
        """
        return None

    @abstractmethod
    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return the queries over the stored tables, by name: queries without parameters."""

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        """Return the query types with random parameters, by name.

        If `aligned`, windows of time begin and end at multiples of the query's bucket. Windows end
        by `until_ms`; if it is None, by the end of the data.
        """
        return {}

    def query_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None = None
    ) -> dict[str, QueryType]:
        """Return all query types by name: first the random ones, then the fixed ones."""
        fixed = {name: always(query) for name, query in self.queries(tables).items()}
        return {**self.random_types(tables, aligned=aligned, until_ms=until_ms), **fixed}


def client_key(table: Table, data: Mapping[str, ColumnData]) -> Array:
    """Return the key of `--primary-key client`: the concatenated columns of the natural key."""
    return join([data[name].values() for name in table.key])
