"""True if the rows of a prepared file have a natural key: (tags, time)."""

import numpy as np

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.hashes import block_hashes
from simulator.data.query import Output
from simulator.data.ranges import lane_range
from simulator.data.schema import ID, PrimaryKey, Role
from simulator.data.workloads.file import File, FileColumn, FileParams
from simulator.errors import ConfigError

MAX_ROWS = 50_000_000
"""Larger files are not searched: a search takes 8 bytes of memory per row."""
_BLOCK_ROWS = 1 << 16


def with_key(params: FileParams) -> FileParams:
    """Return the parameters with `unique` set, if the rows have a key and are few enough."""
    key = _key(params)
    searched = params.rows <= MAX_ROWS and not any(column.nullable for column in key)
    if searched and _distinct(params, [column.name for column in key], PrimaryKey.NONE):
        return params.model_copy(update={"unique": True})
    return params


def expect_key(params: FileParams, primary_key: PrimaryKey) -> None:
    """Raise ConfigError if the primary key needs a natural key, and the rows have none.

    Whether its parts, concatenated, are different too is only known of rows of this machine.
    """
    if primary_key is not PrimaryKey.CLIENT:
        return
    names = ", ".join(column.name for column in _key(params))
    if not params.unique:
        raise ConfigError(
            f"--primary-key client: needs ({names}) to be different in every row and never NULL, in"
            f" a file of at most {MAX_ROWS:,} rows; name more --tags, or use another primary key"
        )
    if not (params.claim or _distinct(params, [ID.name], PrimaryKey.CLIENT)):
        raise ConfigError(
            f"--primary-key client: ({names}), concatenated, are equal for two rows; use another"
            " primary key"
        )


def _key(params: FileParams) -> list[FileColumn]:
    """Return tags and time."""
    return [column for column in params.columns if column.role in (Role.TAG, Role.TIME)]


def _distinct(params: FileParams, names: list[str], primary_key: PrimaryKey) -> bool:
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
