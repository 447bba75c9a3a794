"""The tool on InfluxDB beside lines that were encoded beforehand, sent by Python's own HTTP client.

    python tests/perf/influxdb.py [--rows 2000000] [--repeats 5] [--server influxdb|influxdb1]

Both write the same rows into the same measurement with as many connections and as many rows in each
request; they take turns, so that the ratio holds although the machine's speed drifts.
"""

import argparse
import http.client
import multiprocessing
import os
import sys
import tempfile
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.dataset import Dataset, Feed, lane_range
from simulator.encode.lineprotocol import LineProtocol
from simulator.modules import database_class
from simulator.modules.base import BATCH
from simulator.schema import PrimaryKey
from tests.perf.pipeline import insert
from tests.servers import SERVERS, Server

BATCH_ROWS = 1000
DATASET = Dataset(
    workload="iot", workload_version=1, params={"devices": 1}, seed=1,
    start_ms=1_795_232_700_000, primary_key=PrimaryKey.DB, parts=1,
)  # fmt: skip


def encode_file(path: Path, lane: int, rows: int) -> list[int]:
    """Write a worker's rows as the bodies of its requests; return their sizes."""
    feed = Feed(DATASET)
    encoder = LineProtocol(feed.tables[0], "events")
    sizes = []
    with path.open("wb") as file:
        for block in feed.blocks(lane_range(lane, 0, rows), 8 * BATCH_ROWS):
            sizes += map(file.write, encoder.encode(block[0], BATCH_ROWS))
    return sizes


def post_file(
    url: str, request: tuple[str, dict[str, str]], path: Path, sizes: list[int], barrier: Barrier
) -> None:
    """Post the prepared bodies."""
    target, headers = request
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.connect()
    with path.open("rb") as file:
        barrier.wait()
        for size in sizes:
            connection.request("POST", target, file.read(size), headers)
            answer = connection.getresponse()
            assert answer.status == 204, answer.read()
            answer.read()
    connection.close()
    barrier.wait()


def raw_rate(server: Server, files: list[tuple[Path, list[int]]], rows: int) -> float:
    """Return rows/s of prepared bodies, one process and connection for each file."""
    cls = database_class(server.name)
    options = server.options("perf")
    module = cls(cls.options_model(**options))
    tables = Feed(DATASET).tables
    module.drop(tables)
    module.create(tables, BATCH_ROWS)
    with module.connect() as session:
        feed = Feed(DATASET)
        (block,) = next(iter(feed.blocks(lane_range(0, 0, 1), 1)))
        (payload,) = session.encode(block, BATCH, 1)
        request = payload.data[0], dict(session.http._headers)
    barrier = multiprocessing.Barrier(len(files) + 1)
    processes = [
        multiprocessing.Process(
            target=post_file, args=(options["url"], request, path, sizes, barrier)
        )
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


def tool_rate(folder: Path, server: Server, workers: int, rows: int) -> tuple[float, float]:
    """Return rows/s and client share of the tool."""
    given = []
    for name, value in server.options("perf").items():
        os.environ[f"BENCH_{name.upper()}"] = value
        given.append(f"--extra-option={name}=${{BENCH_{name.upper()}}}")
    result = insert(
        folder, f"--target={server.name}", "--runner=local", f"--workers={workers}", "--runs=1",
        f"--batch={BATCH_ROWS}", f"--num-inserts={rows}", *given,
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.client_share


def compare(folder: Path, server: Server, workers: int, total: int, repeats: int) -> None:
    """Print both rates and their ratio, in the median of the pairs."""
    rows = total // workers
    files = []
    for lane in range(workers):
        path = folder / f"lane-{lane}.lines"
        files.append((path, encode_file(path, lane, rows)))
    ratios, raws, tools, shares = [], [], [], []
    for turn in range(repeats + 1):
        raw = raw_rate(server, files, rows * workers)
        tool, share = tool_rate(folder, server, workers, rows)
        if turn:  # the first pair warms both up
            raws.append(raw)
            tools.append(tool)
            shares.append(share)
            ratios.append(tool / raw)
    print(
        f"{workers} connections: prepared lines {median(raws):>9,.0f} rows/s, "
        f"tool {median(tools):>9,.0f} rows/s, ratio {median(ratios):.3f} "
        f"({min(ratios):.3f}..{max(ratios):.3f}), client share {median(shares):.1%}"
    )


def main() -> None:
    """Compare with 2 and 4 connections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2_000_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=5, help="pairs that count")
    parser.add_argument("--server", choices=("influxdb", "influxdb1"), default="influxdb")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, SERVERS[arguments.server]() as server:
        for workers in (2, 4):
            compare(Path(name), server, workers, arguments.rows, arguments.repeats)


if __name__ == "__main__":
    main()
