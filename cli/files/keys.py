"""Whether the rows of a prepared file have a natural key: (tags, time)."""

import numpy as np

from simulator.data.dataset import Dataset, DatasetReader, lane_range
from simulator.data.hashes import block_hashes
from simulator.data.query import Output
from simulator.data.schema import ID, PrimaryKey, Role
from simulator.data.workloads.file import File, FileParams
from simulator.errors import ConfigError

MAX_ROWS = 50_000_000
"""Larger files are not searched: it takes 8 bytes of memory a row."""
_BLOCK_ROWS = 1 << 16


def with_key(params: FileParams, primary_key: PrimaryKey) -> FileParams:
    """Return the parameters with what is found; ConfigError if the primary key needs a key."""
    key = [c for c in params.columns if c.role in (Role.TAG, Role.TIME)]
    names = [column.name for column in key]
    searched = params.rows <= MAX_ROWS and not any(column.nullable for column in key)
    if searched and _distinct(params, names, PrimaryKey.NONE):
        params = params.model_copy(update={"unique": True})
    if primary_key is not PrimaryKey.CLIENT:
        return params
    if not params.unique:
        raise ConfigError(
            f"--primary-key client: needs a key, and no two rows may have the same"
            f" ({', '.join(names)}) for that (looked for in up to {MAX_ROWS:,} rows without NULLs"
            " there); name more --tags, or use another primary key"
        )
    if not _distinct(params, [ID.name], PrimaryKey.CLIENT):
        raise ConfigError(
            f"--primary-key client: ({', '.join(names)}) written one behind the other are the same"
            " for two rows; use another primary key"
        )
    return params


def _distinct(params: FileParams, names: list[str], primary_key: PrimaryKey) -> bool:
    """Whether no two rows agree in all these columns.

    Different hashes are of different rows; that two different rows hash alike (once in 2**14 files
    of MAX_ROWS rows) only means that their key goes unused.
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
    for (batch,) in reader.blocks(lane_range(0, 0, params.rows), _BLOCK_ROWS):
        first = int(batch.rows[0])
        hashes[first : first + len(batch)] = block_hashes(columns, batch)
    hashes.sort()
    return not bool((hashes[1:] == hashes[:-1]).any())
