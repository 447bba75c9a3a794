"""Reading a CSV or Parquet file portion by portion, in bounded memory."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.errors import ConfigError

SUFFIXES = (".csv", ".parquet")
CSV_BLOCK_BYTES = 4 << 20
_PARQUET_BATCH_ROWS = 1 << 16
_MAX_TOLD = 300
_PLACE = re.compile(r"(?:In CSV column #(\d+): )?(?:CSV parse error: )?Row #(\d+): (.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is open for reading."""

    names: tuple[str, ...]
    types: tuple[Any, ...]
    """Their Arrow types; of a CSV, what its first CSV_BLOCK_BYTES look like."""
    first_row: int
    """The number that a reader gives to the first row: a CSV's heading is row 1."""
    batches: Iterator[Any]

    def portions(self) -> Iterator[list[Any]]:
        """Yield the rows in order, as an Arrow array for each column."""
        for batch in self.batches:
            yield batch.columns


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a file; ConfigError where it, or later a row of it, cannot be read."""
    import pyarrow as pa  # noqa: PLC0415

    names: tuple[str, ...] = ()
    try:
        # Arrow's own file: its threads read ahead, and would wait for Python's when that ends.
        with pa.OSFile(str(path)) as file:
            source = _parquet(file) if path.suffix.lower() == ".parquet" else _csv(file)
            if all(str(arrow_type) == "null" for arrow_type in source.types):
                raise ConfigError(f"--data: {path}: has no rows, or only empty ones")
            names = source.names
            yield source
    except pa.ArrowException as error:
        raise ConfigError(f"--data: {path}: {_told(names, str(error))}") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigError(f"--data: {path}: cannot be read: {reason}") from error


def _csv(file: Any) -> Source:
    from pyarrow import csv  # noqa: PLC0415

    # One thread is as fast here as several, and only then does an error tell its row.
    reader = csv.open_csv(
        file,
        read_options=csv.ReadOptions(use_threads=False, block_size=CSV_BLOCK_BYTES),
        parse_options=csv.ParseOptions(newlines_in_values=True),
    )
    schema = reader.schema
    return Source(tuple(schema.names), tuple(schema.types), 2, iter(reader))


def _parquet(file: Any) -> Source:
    from pyarrow import parquet  # noqa: PLC0415

    reader = parquet.ParquetFile(file)
    schema = reader.schema_arrow
    batches = reader.iter_batches(batch_size=_PARQUET_BATCH_ROWS)
    return Source(tuple(schema.names), tuple(schema.types), 1, batches)


def _told(names: tuple[str, ...], error: str) -> str:
    """Return Arrow's words, with the column's name, and a remedy where a CSV's value is wrong."""
    place = _PLACE.match(error)
    if not place:
        return error[:_MAX_TOLD]
    column, row, words = place.groups()
    where = f"row {row} (the heading is row 1)"
    if column is None:
        return f"{where}: {words[:_MAX_TOLD]}"
    return (
        f"{where}, column {names[int(column)]!r}: {words[:_MAX_TOLD]}; a column has the type that"
        f" its values in the first {CSV_BLOCK_BYTES >> 20} MiB have: mend the value, or convert"
        " the file to Parquet with the types you mean"
    )
