"""The contract of a workload: tables, rows as a pure function of their number, and queries.

Rows are numbered row = lane * LANE_ROWS + sequence. Each worker writes one lane. The rows of a
worker are therefore contiguous ranges, time rises in all lanes in parallel (as with devices that
send in parallel), and prefill, steps and `--no-clean` are further ranges of the same lanes.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from simulator.data.block import Array, ColumnData, Rows
from simulator.data.joined import joined
from simulator.data.query import Query, Selection
from simulator.data.schema import Table

LANE_BITS = 40
LANE_ROWS = 1 << LANE_BITS


class Params(BaseModel):
    """A workload's parameters; part of the dataset's manifest."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Workload(ABC):
    """One workload with its parameters, seed and start of time."""

    name: ClassVar[str]
    version: ClassVar[int]
    """Increased whenever the same parameters give different rows, so that versions never mix."""
    params_model: ClassVar[type[Params]]

    def __init__(self, params: Params, seed: int, start_ms: int) -> None:
        """Take the parameters; `start_ms` is the time of the first row in ms since 1970 UTC."""
        self.params = params
        self.seed = seed
        self.start_ms = start_ms

    @property
    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """The tables; row r belongs to table r modulo their number."""

    @property
    def rows(self) -> int | None:
        """Number of rows, all in lane 0; None: every lane is endless."""
        return None

    @abstractmethod
    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        """Return the columns of `table` (one of `tables`) for these rows, all of one lane."""

    def candidates(
        self,
        table: Table,
        selection: Selection,
    ) -> Rows | None:
        """Return the rows of `table` that a selection can match, ascending, and perhaps others.

        None if the workload cannot compute them, or if they are most of the rows.
        """
        return None

    @abstractmethod
    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return the workload's named queries over its tables as they are stored."""


def client_key(table: Table, data: Mapping[str, ColumnData]) -> Array:
    """Return the key of `--primary-key client`: the concatenated columns of the natural key."""
    return joined([data[name].values() for name in table.key])
