"""Small datasets of every generator, with each way to draw numbers, as tests of all of them use."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from simulator.data.block import ColumnData
from simulator.data.dataset import Dataset
from simulator.data.schema import PrimaryKey, Table
from simulator.data.workloads import GENERATORS
from simulator.data.workloads.base import Workload
from tests.unit.specs import dataset

START_MS = 1_767_225_600_000
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
ENDLESS_ROWS = 5000
"""Rows that are drawn of a workload without an end."""

_HOUR = {"duration_ms": HOUR_MS, "interval_ms": MINUTE_MS}
_SMALL: dict[str, dict[str, Any]] = {
    "devops": {"scale": 7, **_HOUR},
    "dashboard": {"scale": 12, **_HOUR},
    "metaquery": {"scale": 60},
    "cpu": {"scale": 7, **_HOUR},
    "homes": {"scale": 2, "duration_ms": 2 * HOUR_MS},
    "trucks": {"scale": 5, "duration_ms": 2 * HOUR_MS, "interval_ms": MINUTE_MS},
    "ohlcv": {"symbols": 2, "years": 0.02},
}
_WALKS = (
    {"precision": "full"},
    {"distribution": "documented"},
    {"distribution": "documented", "precision": "full"},
)
_VARIANTS: dict[str, tuple[dict[str, Any], ...]] = {
    "devops": _WALKS,
    "dashboard": _WALKS,
    "homes": _WALKS,
    "trucks": (*_WALKS, {"initial_scale": 2, "nulls": "none"}),
    "cpu": ({"usage": "doubles"}, {"usage": "doubles", "precision": "full"}),
    "metaquery": ({"precision": "full"},),
    "multi-measurement": ({"precision": "full"},),
    "ohlcv": ({"symbols": 5},),
    "iot": ({"devices": 3, "tick_ms": 1000},),
}


def _name_of(workload: str, variant: dict[str, Any]) -> str:
    return "-".join((workload, *map(str, variant.values())))


CASES = {
    _name_of(workload, variant): (workload, _SMALL.get(workload, {}) | variant)
    for workload in GENERATORS
    for variant in ({}, *_VARIANTS.get(workload, ()))
}
"""Name -> workload and parameters."""
WITH_END = {name: case for name, case in CASES.items() if GENERATORS[case[0]].has_end}


def dataset_of(case: str, seed: int = 1, **params: Any) -> Dataset:
    """Return the dataset of a case without any range of rows."""
    workload, small = CASES[case]
    return dataset(
        workload=workload,
        workload_version=GENERATORS[workload].version,
        params=small | params,
        seed=seed,
        start_ms=START_MS,
        primary_key=PrimaryKey.NONE,
    )


def workload_of(case: str, **params: Any) -> Workload:
    """Return the workload of a case, some of its parameters replaced."""
    workload, small = CASES[case]
    cls = GENERATORS[workload]
    return cls(cls.params_model(**(small | params)), 1, START_MS)


def rows_of(workload: Workload, table: Table) -> int:
    """Return how many rows of a table tests draw: all, unless it has no end."""
    return workload.size(table) or ENDLESS_ROWS


def table_of(workload: Workload, name: str) -> Table:
    """Return the table with this name."""
    return next(table for table in workload.tables if table.name == name)


def draw_table(
    workload: Workload, name: str, rows: Iterable[int] | None = None
) -> dict[str, ColumnData]:
    """Return these rows of a table, or all of them."""
    table = table_of(workload, name)
    chosen = np.arange(workload.size(table)) if rows is None else np.array(rows)
    return workload.draw(table, chosen)


def drawn(workload: Workload, table: Table) -> dict[str, ColumnData]:
    """Return the columns of all these rows."""
    return workload.draw(table, np.arange(rows_of(workload, table)))
