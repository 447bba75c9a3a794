"""Blocks of rows that are plain Python values."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simulator.data.block import Block, Coded, ColumnData, Values
from simulator.data.schema import Column, Table, Type, dtype_of

UNUSED = "a level that no row has"


def block_of(table: Table, rows: Sequence[Mapping[str, Any]], seed: int = 0) -> Block:
    """Make a block, half of whose columns are coded, with levels in an order of their own."""
    rng = np.random.default_rng(seed)
    data = {c.name: _column([row[c.name] for row in rows], c, rng) for c in table.columns}
    return Block(table, 0, np.arange(len(rows)), data)


def _column(items: Sequence[Any], column: Column, rng: np.random.Generator) -> ColumnData:
    valid = np.array([item is not None for item in items], np.bool_) if column.nullable else None
    if column.type is Type.TEXT:
        filled = np.array([("?" if item is None else item).encode() for item in (*items, UNUSED)])
    else:
        filled = np.array([7 if item is None else item for item in (*items, 1)])
        filled = filled.astype(dtype_of(column.type))
    if rng.random() < 0.5:
        return Values(filled[:-1], valid)
    levels, codes = np.unique(filled, return_inverse=True)
    order = rng.permutation(len(levels))
    return Coded(np.argsort(order)[codes[:-1]], levels[order], valid)
