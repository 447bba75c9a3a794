"""The tool on VictoriaMetrics beside prepared bytes, sent by Python's own HTTP client.

    python tests/perf/victoriametrics.py [--rows 4000000] [--repeats 5]

All write the same rows with as many connections and as many rows in each request, and take turns,
so that ratios hold although the machine's speed drifts: the tool; and the same rows,
prepared, as series in JSON and in line protocol, of which the faster is what the tool compares to.
"""

import argparse
import http.client
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.dataset import Dataset, Feed, lane_range
from simulator.encode.lineprotocol import LineProtocol
from simulator.modules import database_class
from simulator.modules.victoriametrics.session import series_lines
from simulator.schema import PrimaryKey
from tests.perf.pipeline import insert
from tests.servers import SERVERS, Server

BATCH_ROWS = 1000
PATHS = {"series": "/api/v1/import", "lines": "/write?precision=ms"}


def dataset(devices: int) -> Dataset:
    return Dataset(
        workload="iot", workload_version=1, params={"devices": devices}, seed=1,
        start_ms=1_795_232_700_000, primary_key=PrimaryKey.DB, parts=1,
    )  # fmt: skip


def bodies(kind: str, devices: int, lane: int, rows: int) -> Iterator[bytes]:
    """Yield the bodies of a worker's requests."""
    feed = Feed(dataset(devices))
    (table,) = feed.tables
    series, lines = series_lines("perf_", table, "events"), LineProtocol(table, "perf_events")
    for (block,) in feed.blocks(lane_range(lane, 0, rows), 8 * BATCH_ROWS):
        if kind == "lines":
            yield from lines.encode(block, BATCH_ROWS)
        else:
            yield from series.encode(block, BATCH_ROWS, block.data[table.time.name].values())


def write_file(path: Path, kind: str, devices: int, lane: int, rows: int) -> list[int]:
    """Write the bodies to a file; return their sizes."""
    with path.open("wb") as file:
        return [file.write(body) for body in bodies(kind, devices, lane, rows)]


def post_file(url: str, target: str, path: Path, sizes: list[int], barrier: Barrier) -> None:
    """Post the prepared bodies."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc)
    connection.connect()
    with path.open("rb") as file:
        barrier.wait()
        for size in sizes:
            connection.request("POST", target, file.read(size))
            answer = connection.getresponse()
            assert answer.status == 204, answer.read()
            answer.read()
    connection.close()
    barrier.wait()


def raw_rate(server: Server, kind: str, files: list[tuple[Path, list[int]]], rows: int) -> float:
    """Return rows/s of prepared bodies, one process and connection for each file."""
    cls = database_class(server.name)
    options = server.options("perf")
    module = cls(cls.options_model(**options))
    tables = Feed(dataset(1)).tables
    module.drop(tables)
    module.create(tables, BATCH_ROWS)
    barrier = multiprocessing.Barrier(len(files) + 1)
    processes = [
        multiprocessing.Process(
            target=post_file, args=(options["url"], PATHS[kind], path, sizes, barrier)
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


def tool_rate(
    folder: Path, server: Server, devices: int, workers: int, rows: int
) -> tuple[float, float]:
    """Return rows/s and client share of the tool."""
    given = []
    for name, value in server.options("perf").items():
        os.environ[f"BENCH_{name.upper()}"] = value
        given.append(f"--extra-option={name}=${{BENCH_{name.upper()}}}")
    result = insert(
        folder, f"--target={server.name}", "--runner=local", f"--workers={workers}", "--runs=1",
        f"--batch={BATCH_ROWS}", f"--num-inserts={rows}", f"--devices={devices}",
        *given,
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.client_share


def compare(  # noqa: PLR0917
    folder: Path, server: Server, devices: int, workers: int, total: int, repeats: int
) -> None:
    """Print all rates and ratios, in the median of the turns."""
    rows = total // workers
    files: dict[str, list[tuple[Path, list[int]]]] = {}
    for kind in PATHS:
        paths = [folder / f"lane-{lane}.{kind}" for lane in range(workers)]
        files[kind] = [
            (path, write_file(path, kind, devices, lane, rows)) for lane, path in enumerate(paths)
        ]
    rates: dict[str, list[float]] = {"tool": [], "series": [], "lines": []}
    shares = []
    for turn in range(repeats + 1):
        raw = {kind: raw_rate(server, kind, files[kind], rows * workers) for kind in PATHS}
        tool, share = tool_rate(folder, server, devices, workers, rows)
        if turn:  # the first warms all up
            shares.append(share)
            for kind, rate in {"tool": tool, **raw}.items():
                rates[kind].append(rate)
    turns = zip(rates["tool"], rates["series"], rates["lines"], strict=True)
    ratios = [tool / max(series, lines) for tool, series, lines in turns]
    print(
        f"{devices} devices, {workers} connections: prepared lines {median(rates['lines']):>9,.0f} "
        f"rows/s, prepared series {median(rates['series']):>9,.0f}, tool "
        f"{median(rates['tool']):>9,.0f}, ratio {median(ratios):.3f} "
        f"({min(ratios):.3f}..{max(ratios):.3f}), client share {median(shares):.1%}",
        flush=True,
    )


def main() -> None:
    """Compare with one device a worker, and with many."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=5, help="turns that count")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, SERVERS["victoriametrics"]() as server:
        for devices in (1, 1000):
            for workers in (1, 2):
                compare(Path(name), server, devices, workers, arguments.rows, arguments.repeats)


if __name__ == "__main__":
    main()
