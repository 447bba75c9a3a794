"""The tool on Elasticsearch or OpenSearch beside bulk requests that were encoded beforehand.

    python tests/perf/search.py [--server opensearch] [--rows 1000000] [--repeats 3]

Both send the same rows into the same index with as many connections and as many rows a request;
they take turns, so that the ratio holds although the machine's speed drifts.
"""

import argparse
import http.client
import multiprocessing
import sys
import tempfile
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.dataset import Dataset, Feed, lane_range
from simulator.encode.ndjson import documents
from simulator.modules.elasticsearch.database import Elasticsearch, ElasticsearchOptions
from simulator.schema import PrimaryKey
from tests.perf.pipeline import insert
from tests.servers import SERVERS

BATCH_ROWS = 5000
BULK = "/events/_bulk?filter_path=errors,items.*.status,items.*.error"
DATASET = Dataset(
    workload="iot", workload_version=1, params={"devices": 1}, seed=1,
    start_ms=1_795_232_700_000, primary_key=PrimaryKey.DB, parts=1,
)  # fmt: skip


def encode_file(path: Path, lane: int, rows: int) -> list[int]:
    """Write a worker's rows as bulk bodies, one after the other; return their sizes."""
    feed = Feed(DATASET)
    encoder = documents(feed.tables[0].columns, feed.tables[0].time_unit, None)
    sizes = []
    with path.open("wb") as file:
        for block in feed.blocks(lane_range(lane, 0, rows), 2 * BATCH_ROWS):
            sizes += map(file.write, encoder.encode(block[0], BATCH_ROWS))
    return sizes


def post_file(url: str, path: Path, sizes: list[int], barrier: Barrier) -> None:
    """Post a prepared file, one body a request."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    with path.open("rb") as file:
        barrier.wait()
        for size in sizes:
            header = {"Content-Type": "application/x-ndjson"}
            connection.request("POST", BULK, file.read(size), header)
            assert b'"errors":false' in connection.getresponse().read()
    connection.close()
    barrier.wait()


def raw_rate(url: str, files: list[tuple[Path, list[int]]], rows: int) -> float:
    """Return rows/s of posting prepared files, one process and connection for each."""
    module = Elasticsearch(ElasticsearchOptions(url=url))
    tables = Feed(DATASET).tables
    module.drop(tables)
    module.create(tables, BATCH_ROWS)
    barrier = multiprocessing.Barrier(len(files) + 1)
    processes = [
        multiprocessing.Process(target=post_file, args=(url, path, sizes, barrier))
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


def tool_rate(folder: Path, url: str, workers: int, rows: int) -> tuple[float, float]:
    """Return rows/s and client share of the tool."""
    config = folder / "config.yaml"
    config.write_text(f"targets: {{search: {{module: elasticsearch, url: '{url}'}}}}\n")
    result = insert(
        folder, f"--config={config}", "--target=search", "--runner=local",
        f"--workers={workers}", "--runs=1", f"--batch={BATCH_ROWS}", f"--num-inserts={rows}",
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.client_share


def compare(folder: Path, url: str, workers: int, total: int, repeats: int) -> None:
    """Print both rates and their ratio, pair by pair and in the median."""
    rows = total // workers
    files = []
    for lane in range(workers):
        path = folder / f"lane-{lane}.ndjson"
        files.append((path, encode_file(path, lane, rows)))
    ratios, raws, tools, shares = [], [], [], []
    for turn in range(repeats + 1):
        raw = raw_rate(url, files, rows * workers)
        tool, share = tool_rate(folder, url, workers, rows)
        if turn:  # the first pair warms both up
            raws.append(raw)
            tools.append(tool)
            shares.append(share)
            ratios.append(tool / raw)
    print(
        f"{workers} connections: prepared _bulk {median(raws):>9,.0f} rows/s, "
        f"tool {median(tools):>9,.0f} rows/s, ratio {median(ratios):.3f} "
        f"({min(ratios):.3f}..{max(ratios):.3f}), client share {median(shares):.1%}"
    )


def main() -> None:
    """Compare with 1 and 2 connections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--server", choices=("elasticsearch", "opensearch"), default="elasticsearch"
    )
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=3, help="pairs that count")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, SERVERS[arguments.server]() as server:
        url = server.options("")["url"]
        for workers in (1, 2):
            compare(Path(name), url, workers, arguments.rows, arguments.repeats)


if __name__ == "__main__":
    main()
