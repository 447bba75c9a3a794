"""A Parquet file as a source: its columns have types."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from cli.files.cells import AsStored
from cli.files.source import Portion, Source
from simulator.errors import ConfigError

_BATCH_ROWS = 1 << 16


class ParquetSource(Source):
    """A Parquet file."""

    def __init__(self, path: Path, name: str) -> None:
        """Read the schema and the first rows; `name`: the file as the user names it."""
        self._path, self._name = path, name
        with pa.OSFile(str(path)) as file:
            schema = parquet.ParquetFile(file).schema_arrow
        self.names = tuple(schema.names)
        self.types = tuple(map(AsStored, schema.types))
        first = next(self.portions(), None)
        if first is None:
            raise ConfigError(f"--data: {name}: has no rows")
        self.first = first

    def portions(self) -> Iterator[Portion]:
        """Yield the rows in order, from the first each time."""
        # Arrow's own file: its threads read ahead, and would wait for Python's when that ends.
        with pa.OSFile(str(self._path)) as file:
            read = 0
            for batch in parquet.ParquetFile(file).iter_batches(batch_size=_BATCH_ROWS):
                rows = np.arange(read + 1, read + len(batch) + 1)
                columns = [_plain(column) for column in batch.columns]
                self._check_utf8(self._name, columns, rows)
                yield Portion(columns, rows)
                read += len(batch)

    def places(self, rows: Iterable[int]) -> dict[int, str]:
        """Return the numbers of rows, counted from 1."""
        return {row: f"row {row}" for row in rows}


def _plain(column: Any) -> Any:
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
