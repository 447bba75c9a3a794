"""Processor usage of a fleet of hosts: TSBS, use case `cpu-only`, and CrateDB's table `doc.cpu`.

`fields=1` is the use case `cpu-single` of TSBS: the first percentage alone.

One table, the first one of `devops`, with its ten tags and ten percentages: a point per host and
interval. Both documents took the table from `devops`.

Where the documents differ or leave something open, we decided:

- `usage=integers`, the default: percentages cut to whole numbers, 32 bits wide as in `doc.cpu`;
  TSBS writes whole numbers too. `usage=doubles` has the doubles of `devops`.
- The program behind `doc.cpu` draws independent values from 0 to 98. Here values are random walks
  between 0 and 100, as in TSBS, so neighbouring values are similar, as in measured data.
- That program also draws new tags for each row, so every row is a series. Here a host keeps its
  tags.
- `doc.cpu` has its tags in an OBJECT, as does the module cratedb with option `tags_as_object`. The
  time is called `time`, as in all workloads, not `ts`, and rows are unique by host and time.
- A day by default, as in TSBS, with queries over 12 and 24 hours. The dataset gives the start; TSBS
  begins at 2016-01-01.

Integers of 0 to 100 have 6.7 bits; doubles have 12.6 bits on the grid, and all bits with full
precision.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import numpy as np
from pydantic import Field, model_validator

from simulator.data.block import Coded, ColumnData, Rows
from simulator.data.query import Query, count_rows
from simulator.data.query_type import QueryType
from simulator.data.schema import Column, Role, Table, Type
from simulator.data.walks import Precision, Walks
from simulator.data.workloads.base import EndMs
from simulator.data.workloads.shared.fleets import NumberedParams
from simulator.data.workloads.shared.host_queries import ask_newest_rows
from simulator.data.workloads.shared.hosts import USAGE, USAGES, Hosts, make_host_table
from simulator.data.workloads.shared.windows import DAY_MS

WHOLE_PERCENTS = np.arange(101, dtype=np.int32)


class UsageType(StrEnum):
    """The type of the percentages."""

    INTEGERS = "integers"
    DOUBLES = "doubles"


class CpuParams(NumberedParams):
    """The fleet of hosts, and the type of its values."""

    duration_ms: EndMs = Field(DAY_MS, ge=1, description="end of the data, exclusive")
    usage: UsageType = Field(UsageType.INTEGERS, description="type of the percentages")
    fields: int = Field(
        len(USAGES), ge=1, le=len(USAGES), description="number of percentages of a host"
    )

    @model_validator(mode="after")
    def _has_fractions(self) -> "CpuParams":
        if self.usage is UsageType.INTEGERS and self.precision is Precision.FULL:
            raise ValueError("precision full has no meaning for integers; choose usage doubles")
        return self


class Cpu(Hosts):
    """One table of a fleet of hosts."""

    name = "cpu"
    version = 1
    params_model = CpuParams
    params: CpuParams

    def __init__(self, params: CpuParams, seed: int, start_ms: int) -> None:
        super().__init__(params, seed, start_ms)
        kind = Type.INT32 if params.usage is UsageType.INTEGERS else Type.FLOAT64
        exact = params.precision is Precision.GRID
        names = USAGES[: params.fields]
        fields = [Column(name, kind, Role.FIELD, exact=exact) for name in names]
        self.tables = (make_host_table(self.name, {}, fields),)
        walks = dict.fromkeys(names, USAGE)
        self._walks = Walks(self.name, walks, seed, params.distribution, params.precision)

    @property
    def precision(self) -> Precision | None:
        """Precision that the parameter selects; integers have no fraction."""
        return None if self.params.usage is UsageType.INTEGERS else self.params.precision

    def _draw_fields(self, table: Table, ticks: Rows, hosts: Rows) -> Mapping[str, ColumnData]:
        walks = self._walks.only({column.name for column in table.fields})
        walked = self._draw_walks(walks, ticks, hosts)
        if self.params.usage is UsageType.DOUBLES:
            return {name: self._encode_percentage(values) for name, values in walked.items()}
        return {n: Coded(values.astype(np.int64), WHOLE_PERCENTS) for n, values in walked.items()}

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        (cpu,) = tables
        return {"lastpoint": ask_newest_rows(cpu), "count-cpu": count_rows(cpu)}

    def random_types(
        self, tables: Sequence[Table], *, aligned: bool, until_ms: int | None
    ) -> dict[str, QueryType]:
        """Return the types of TSBS, under its names, and the type about one host."""
        (cpu,) = tables
        drawn = self._make_queries(cpu, aligned=aligned, until_ms=until_ms)
        return {**drawn.of_tsbs(), "single-lastpoint": drawn.single_lastpoint()}
