"""The tool on MySQL or MariaDB beside LOAD DATA LOCAL INFILE of files that were encoded beforehand.

    python tests/perf/mysql.py [--rows 1000000] [--repeats 5] [--server mysql|mariadb]
                               [--engine InnoDB|MyISAM]

Both write the same rows into the same table with as many connections and as many rows in each
transaction; they take turns, so that the ratio holds although the machine's speed drifts.
"""

import argparse
import multiprocessing
import os
import sys
import tempfile
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import Any

import pymysql

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.dataset import Dataset, Feed, lane_range
from simulator.encode.text import Text
from simulator.modules.mysql.database import MySql, MySqlOptions
from simulator.modules.mysql.session import LOAD_FORMAT
from simulator.schema import PrimaryKey
from tests.perf.pipeline import insert
from tests.servers import SERVERS

BATCH_ROWS = 1000
DATASET = Dataset(
    workload="iot", workload_version=1, params={"devices": 1}, seed=1,
    start_ms=1_795_232_700_000, primary_key=PrimaryKey.DB, parts=1,
)  # fmt: skip


def encode_files(folder: Path, lane: int, rows: int) -> list[Path]:
    """Write a worker's rows as a file for each batch."""
    feed = Feed(DATASET)
    encoder = Text.of(feed.tables[0].columns, feed.tables[0].time_unit, LOAD_FORMAT)
    files = []
    for block in feed.blocks(lane_range(lane, 0, rows), 8 * BATCH_ROWS):
        for content in encoder.encode(block[0], BATCH_ROWS):
            files.append(folder / f"{lane}-{len(files)}.tsv")
            files[-1].write_bytes(content)
    return files


def load_files(reach: dict[str, Any], files: list[Path], barrier: Barrier) -> None:
    """Load prepared files, each a transaction."""
    columns = ", ".join(f"`{column.name}`" for column in Feed(DATASET).tables[0].columns)
    connection = pymysql.connect(**reach, local_infile=True, ssl_disabled=True, autocommit=True)
    with connection, connection.cursor() as cursor:
        barrier.wait()
        for file in files:
            load = f"LOAD DATA LOCAL INFILE '{file}' INTO TABLE events CHARACTER SET utf8mb4"
            cursor.execute(f"{load} ({columns})")
    barrier.wait()


def raw_rate(module: MySql, reach: dict[str, Any], files: list[list[Path]], rows: int) -> float:
    """Return rows/s of prepared files, one process and connection for each worker's."""
    tables = Feed(DATASET).tables
    module.drop(tables)
    module.create(tables, BATCH_ROWS)
    barrier = multiprocessing.Barrier(len(files) + 1)
    processes = [
        multiprocessing.Process(target=load_files, args=(reach, mine, barrier)) for mine in files
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


def tool_rate(
    folder: Path, options: dict[str, Any], workers: int, rows: int
) -> tuple[float, float]:
    """Return rows/s and client share of the tool."""
    os.environ["BENCH_PASSWORD"] = options["password"]
    shown = {**options, "password": "${BENCH_PASSWORD}"}
    result = insert(
        folder, "--target=mysql_innodb", "--runner=local", f"--workers={workers}", "--runs=1",
        f"--batch={BATCH_ROWS}", f"--num-inserts={rows}", "--verify=counts",
        *(f"--extra-option={name}={value}" for name, value in shown.items()),
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.client_share


def compare(folder: Path, options: dict[str, Any], workers: int, total: int, repeats: int) -> None:
    """Print both rates and their ratio, in the median of the pairs."""
    rows = total // workers
    engine = options["engine"]
    reach = {name: value for name, value in options.items() if name != "engine"}
    module = MySql(MySqlOptions(**options))
    files = [encode_files(folder, lane, rows) for lane in range(workers)]
    ratios, raws, tools, shares = [], [], [], []
    for turn in range(repeats + 1):
        raw = raw_rate(module, reach, files, rows * workers)
        tool, share = tool_rate(folder, options, workers, rows)
        if turn:  # the first pair warms both up
            raws.append(raw)
            tools.append(tool)
            shares.append(share)
            ratios.append(tool / raw)
    print(
        f"{workers} connections, {engine}: prepared LOAD DATA {median(raws):>9,.0f} rows/s, "
        f"tool {median(tools):>9,.0f} rows/s, ratio {median(ratios):.3f} "
        f"({min(ratios):.3f}..{max(ratios):.3f}), client share {median(shares):.1%}",
        flush=True,
    )


def main() -> None:
    """Compare with 2 and 4 connections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=5, help="pairs that count")
    parser.add_argument("--server", choices=("mysql", "mariadb"), default="mysql")
    parser.add_argument("--engine", default="InnoDB")
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        SERVERS[given.server]() as server,
        server.database() as database,
    ):
        for workers in (2, 4):
            options = {**server.options(database), "engine": given.engine}
            compare(Path(name), options, workers, given.rows, given.repeats)


if __name__ == "__main__":
    main()
