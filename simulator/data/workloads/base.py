"""What a workload is: tables, the rows in them as a pure function of their number, and questions.

Rows are numbered row = lane * LANE_ROWS + sequence. A worker writes one lane, so that ranges of
rows are contiguous for each worker, time rises in every lane at once (as it does when devices send
side by side), and prefill, steps, `--no-clean` and resuming are just further ranges.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from simulator.data.block import Array, ColumnData, Rows
from simulator.data.joined import joined
from simulator.data.query import Query
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
    """Changes whenever the same parameters give other rows, so that no two versions are mixed."""
    params_model: ClassVar[type[Params]]

    def __init__(self, params: Params, seed: int, start_ms: int) -> None:
        """Take the parameters; `start_ms` is the instant of the first row, since 1970 in UTC."""
        self.params = params
        self.seed = seed
        self.start_ms = start_ms

    @property
    @abstractmethod
    def tables(self) -> tuple[Table, ...]:
        """The tables; row r belongs to table r modulo their number."""

    @property
    def rows(self) -> int | None:
        """How many rows there are, all in lane 0; None: every lane goes on without end."""
        return None

    @abstractmethod
    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        """Return the columns of `table` (one of `tables`) for these rows, all of one lane."""

    @abstractmethod
    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        """Return the workload's named queries over its tables as they are stored."""


def client_key(table: Table, data: Mapping[str, ColumnData]) -> Array:
    """Return the concatenation of the natural key's columns, as `--primary-key client` has it."""
    return joined([data[name].values() for name in table.key])
