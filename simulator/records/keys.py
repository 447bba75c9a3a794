"""The natural key of a prepared file's rows: (tags, time), if it differs in every row."""

from collections.abc import Sequence

import numpy as np

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.hashes import block_hashes
from simulator.data.query import Output
from simulator.data.ranges import lane_range
from simulator.data.schema import PrimaryKey, Role
from simulator.data.workloads.file import File, FileColumn, FileParams

MAX_ROWS = 50_000_000
"""Larger files are not searched: a search takes 8 bytes of memory per row."""
_BLOCK_ROWS = 1 << 16


def key_columns(params: FileParams) -> list[FileColumn]:
    """Return tags and time."""
    return [column for column in params.columns if column.role in (Role.TAG, Role.TIME)]


def has_key(params: FileParams) -> bool:
    """Return whether the rows have a key, and are few enough to know it."""
    key = key_columns(params)
    searched = params.rows <= MAX_ROWS and not any(column.nullable for column in key)
    return searched and are_distinct(params, [column.name for column in key], PrimaryKey.NONE)


def are_distinct(params: FileParams, names: Sequence[str], primary_key: PrimaryKey) -> bool:
    """Return whether no two rows agree in all these columns.

    Rows are compared by hash. A collision (once in 2**14 files of MAX_ROWS rows) only hides a key.
    """
    dataset = Dataset(
        workload=File.name,
        workload_version=File.version,
        params=params.model_dump(),
        seed=0,
        start_ms=0,
        primary_key=primary_key,
        parts=1,
    )
    reader = DatasetReader(dataset)
    (table,) = reader.tables
    columns = [Output(name, table.column(name).type, table.time_unit) for name in names]
    hashes = np.empty(params.rows, np.uint64)
    for (block,) in reader.blocks((lane_range(0, 0, params.rows),), _BLOCK_ROWS):
        first = int(block.rows[0])
        hashes[first : first + len(block)] = block_hashes(columns, block)
    hashes.sort()
    return not bool((hashes[1:] == hashes[:-1]).any())
