"""The tool on PostgreSQL or TimescaleDB beside COPY of rows that were encoded beforehand.

    python tests/perf/postgres.py [--server timescaledb] [--rows 3000000] [--repeats 5]

Both write the same rows into the same table with as many connections and as many rows in each
transaction; they take turns, so that the ratio holds although the machine's speed drifts.
"""

import argparse
import io
import multiprocessing
import os
import sys
import tempfile
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median

import psycopg2

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.dataset import Dataset, Feed, lane_range
from simulator.encode.pgcopy import PgCopy
from simulator.modules import database_class
from simulator.schema import PrimaryKey
from tests.perf.pipeline import insert
from tests.servers import SERVERS

TARGETS = {"postgres": "postgresql", "timescaledb": "timescaledb"}
"""A server in tests/servers and module -> its target in config.yaml."""
BATCH_ROWS = 1000
DATASET = Dataset(
    workload="iot", workload_version=1, params={"devices": 1}, seed=1,
    start_ms=1_795_232_700_000, primary_key=PrimaryKey.SQL, parts=1,
)  # fmt: skip


def encode_file(path: Path, lane: int, rows: int) -> list[int]:
    """Write a worker's rows as complete COPY streams, one after the other; return their sizes."""
    feed = Feed(DATASET)
    encoder = PgCopy(feed.tables[0].columns, feed.tables[0].time_unit)
    sizes = []
    with path.open("wb") as file:
        for block in feed.blocks(lane_range(lane, 0, rows), 8 * BATCH_ROWS):
            sizes += map(file.write, encoder.encode(block[0], BATCH_ROWS))
    return sizes


def copy_file(reach: str, path: Path, sizes: list[int], barrier: Barrier) -> None:
    """COPY a prepared file, one stream a transaction."""
    columns = ", ".join(f'"{column.name}"' for column in Feed(DATASET).tables[0].columns)
    copy = f"COPY events ({columns}) FROM STDIN (FORMAT binary)"
    connection = psycopg2.connect(reach)
    connection.autocommit = True
    with connection.cursor() as cursor, path.open("rb") as file:
        barrier.wait()
        for size in sizes:
            cursor.copy_expert(copy, io.BytesIO(file.read(size)))
    connection.close()
    barrier.wait()


def raw_rate(name: str, reach: str, files: list[tuple[Path, list[int]]], rows: int) -> float:
    """Return rows/s of COPY from prepared files, one process and connection for each."""
    cls = database_class(name)
    module = cls(cls.options_model.model_validate({"connection_string": reach}))
    tables = Feed(DATASET).tables
    module.drop(tables)
    module.create(tables, BATCH_ROWS)
    barrier = multiprocessing.Barrier(len(files) + 1)
    processes = [
        multiprocessing.Process(target=copy_file, args=(reach, path, sizes, barrier))
        for path, sizes in files
    ]
    for process in processes:
        process.start()
    barrier.wait()
    start = time.perf_counter()
    barrier.wait()
    spent = time.perf_counter() - start
    for process in processes:
        process.join()
    module.settle(tables)
    return rows / spent


def tool_rate(name: str, folder: Path, reach: str, workers: int, rows: int) -> tuple[float, float]:
    """Return rows/s and client share of the tool."""
    os.environ["BENCH_POSTGRES"] = reach
    result = insert(
        folder, f"--target={TARGETS[name]}", "--runner=local", f"--workers={workers}", "--runs=1",
        f"--batch={BATCH_ROWS}", f"--num-inserts={rows}", "--primary-key=sql",
        "--extra-option=connection_string=${BENCH_POSTGRES}",
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.client_share


def compare(name: str, folder: Path, reach: str, *, workers: int, total: int, repeats: int) -> None:
    """Print both rates and their ratio, pair by pair and in the median."""
    rows = total // workers
    files = []
    for lane in range(workers):
        path = folder / f"lane-{lane}.copy"
        files.append((path, encode_file(path, lane, rows)))
    ratios, raws, tools, shares = [], [], [], []
    for turn in range(repeats + 1):
        raw = raw_rate(name, reach, files, rows * workers)
        tool, share = tool_rate(name, folder, reach, workers, rows)
        if turn:  # the first pair warms both up
            raws.append(raw)
            tools.append(tool)
            shares.append(share)
            ratios.append(tool / raw)
    print(
        f"{workers} connections: prepared COPY {median(raws):>9,.0f} rows/s, "
        f"tool {median(tools):>9,.0f} rows/s, ratio {median(ratios):.3f} "
        f"({min(ratios):.3f}..{max(ratios):.3f}), client share {median(shares):.1%}"
    )


def main() -> None:
    """Compare with 2 and 4 connections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", choices=TARGETS, default="postgres", help="on what to run")
    parser.add_argument("--rows", type=int, default=3_000_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=5, help="pairs that count")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        SERVERS[arguments.server]() as server,
        server.database() as database,
    ):
        reach = f"{server.connection_string(database)} password={server.password}"
        for workers in (2, 4):
            compare(
                arguments.server,
                Path(folder),
                reach,
                workers=workers,
                total=arguments.rows,
                repeats=arguments.repeats,
            )


if __name__ == "__main__":
    main()
