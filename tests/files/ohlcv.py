"""One-minute OHLCV bars of one stock over years, as CSV or Parquet: real input for the tests.

    python tests/files/ohlcv.py FILE --mib 100

The same arguments give the same file, byte for byte, with the same NumPy and pyarrow.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

FIRST_DAY = "2001-01-02"
OPENING_MINUTE = 9 * 60 + 30
MINUTES = 390  # a trading day
DAYS = 250  # a chunk: about a year
SEED = 8
LEAST_CENTS = 1_000


def years() -> Iterator[pa.Table]:
    """Yield chunk after chunk of bars; the price walks on from one to the next."""
    random = np.random.default_rng(SEED)
    walked, last_close, day = 5_000, LEAST_CENTS + 5_000, 0
    while True:
        bars = DAYS * MINUTES
        walk = walked + random.integers(-8, 9, bars).cumsum()
        close = LEAST_CENTS + np.abs(walk)
        opened = np.append(last_close, close[:-1])
        high = np.maximum(opened, close) + random.integers(0, 5, bars)
        low = np.minimum(opened, close) - random.integers(0, 5, bars)
        yield pa.table(
            {
                "timestamp": pa.array(_instants(day), pa.timestamp("s")),
                "open": opened / 100,
                "high": high / 100,
                "low": low / 100,
                "close": close / 100,
                "volume": random.lognormal(8, 1, bars).astype(np.int64),
            }
        )
        walked, last_close, day = int(walk[-1]), int(close[-1]), day + DAYS


def _instants(first: int) -> np.ndarray:
    """Return the minutes of a chunk's trading days; weekends are left out."""
    days = np.busday_offset(FIRST_DAY, np.arange(first, first + DAYS), roll="forward")
    minutes = np.arange(OPENING_MINUTE, OPENING_MINUTE + MINUTES).astype("timedelta64[m]")
    return (days[:, None] + minutes).astype("datetime64[s]").ravel()


def write(path: Path, size_bytes: int = 0, rows: int = 0) -> None:
    """Write bars until the file has this size (to a year), or exactly so many rows."""
    first = next(years())
    left = rows
    with path.open("wb") as sink, _writer(sink, first.schema, path.suffix) as writer:
        for chunk in years():
            part = chunk.slice(0, left) if rows else chunk
            writer.write_table(part)
            left -= len(part)
            if (left <= 0) if rows else (sink.tell() >= size_bytes):
                break


def _writer(sink: object, schema: pa.Schema, suffix: str) -> parquet.ParquetWriter | csv.CSVWriter:
    if suffix == ".parquet":
        return parquet.ParquetWriter(sink, schema)
    return csv.CSVWriter(sink, schema, write_options=csv.WriteOptions(quoting_style="none"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, help="file to write: .csv or .parquet")
    parser.add_argument("--mib", type=int, default=100, help="size to reach")
    arguments = parser.parse_args()
    write(arguments.file, arguments.mib << 20)
    print(f"{arguments.file}: {arguments.file.stat().st_size / 2**20:.1f} MiB")
