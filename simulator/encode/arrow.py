"""Blocks as Arrow tables, which engines in the same process read in place.

pyarrow is imported when the first block is encoded, so that other databases do not need the
package.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from simulator.data.block import Array, Block, Coded, ColumnData
from simulator.data.schema import Column, TimeUnit, Type
from simulator.encode.columns import LevelCache


class Arrow:
    """Encodes blocks as Arrow tables; the memory of numbers is shared, not copied.

    Coded text becomes a dictionary, which is cached by its levels.
    """

    def __init__(self, columns: Sequence[Column], unit: TimeUnit) -> None:
        """Store the columns of a table, and the table's time unit."""
        self._columns = [(column, LevelCache(_convert_texts)) for column in columns]
        self._unit = unit

    def encode(self, block: Block, batch_rows: int) -> list[Any]:
        """Return the block as tables of `batch_rows` rows (the last may have fewer)."""
        import pyarrow as pa  # noqa: PLC0415

        arrays = [self._make_array(c, texts, block.data[c.name]) for c, texts in self._columns]
        table = pa.table(arrays, names=[column.name for column, _ in self._columns])
        starts = range(0, len(block), batch_rows)
        return [table.slice(start, batch_rows) for start in starts]

    def _make_array(self, column: Column, texts: LevelCache[Any], data: ColumnData) -> Any:
        import pyarrow as pa  # noqa: PLC0415

        null = None if data.valid is None or data.valid.all() else ~data.valid
        if column.type is Type.TEXT and isinstance(data, Coded):
            codes = pa.array(data.codes.astype(np.int32), mask=null)
            return pa.DictionaryArray.from_arrays(codes, texts(data.levels))
        if column.type is Type.TEXT:
            return pa.array(data.values(), pa.binary(), mask=null).cast(pa.string())
        instants = pa.timestamp(self._unit.value) if column.type is Type.TIMESTAMP else None
        return pa.array(data.values(), instants, mask=null)


def _convert_texts(levels: Array) -> Any:
    import pyarrow as pa  # noqa: PLC0415

    return pa.array(levels, pa.binary()).cast(pa.string())
