"""Blocks for tests of encoders."""

from collections.abc import Mapping

import numpy as np

from simulator.data.block import Block, ColumnData
from simulator.data.schema import Column, Role, Table, TimeUnit, Type


def block(
    columns: Mapping[str, tuple[Type, ColumnData]],
    time_unit: TimeUnit = TimeUnit.MILLISECOND,
    role: Role = Role.FIELD,
) -> Block:
    """Return a block of columns given as name -> (type, data)."""
    described = tuple(
        Column(name, kind, role, nullable=data.valid is not None)
        for name, (kind, data) in columns.items()
    )
    data = {name: data for name, (_, data) in columns.items()}
    rows = np.arange(len(next(iter(data.values()))))
    return Block(Table("t", described, (), time_unit), 0, rows, data)
