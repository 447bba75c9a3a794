"""A Parquet file: its columns have types."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from iotbench.rows.files.names import column_names
from iotbench.rows.files.records import Malformed
from iotbench.rows.files.source import FilePart, Portion

_BATCH_ROWS = 1 << 16


class ParquetPart(FilePart):
    """A Parquet file."""

    unit = "row"

    def __init__(self, path: Path, name: str) -> None:
        """Read the schema; `name`: the file as the user names it."""
        self._path, self.name = path, name
        with pa.OSFile(str(path)) as file:
            schema = parquet.ParquetFile(file).schema_arrow
        self._read_names = schema.names
        self.names = column_names(schema.names)
        self.types = tuple(_plain(pa.array([], each)).type for each in schema.types)

    def portions(self, columns: Sequence[int]) -> Iterator[tuple[Portion, Sequence[Malformed]]]:
        """Yield these columns of the rows in order."""
        names = [self._read_names[column] for column in columns]
        # A name with a point is that of a nested column, too: then all are read.
        only = None if any("." in name for name in names) else names
        # Arrow's own file: its threads read ahead, and would wait for Python's when that ends.
        with pa.OSFile(str(self._path)) as file:
            read = 0
            for batch in parquet.ParquetFile(file).iter_batches(_BATCH_ROWS, columns=only):
                places = columns if only is None else map(batch.schema.names.index, names)
                rows = np.arange(read + 1, read + len(batch) + 1)
                yield Portion([_plain(batch.column(place)) for place in places], rows), ()
                read += len(batch)

    def no_rows(self) -> str:
        """Return why there is no row."""
        return "has no rows"


def _plain(column: Any) -> Any:
    """Return a column in a type that is stored alike: bytes as text, which is checked later."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.dictionary_decode())
    if pa.types.is_null(kind):
        return column.cast(pa.string())
    if pa.types.is_float16(kind):
        return column.cast(pa.float32())
    if pa.types.is_fixed_size_binary(kind):
        return _plain(column.cast(pa.binary()))
    if pa.types.is_binary(kind):
        return column.view(pa.string())
    return column.view(pa.large_string()) if pa.types.is_large_binary(kind) else column
