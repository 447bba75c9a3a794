"""The tool on IoTDB beside tablets that were prepared beforehand.

    python tests/perf/tablets.py [--rows 4000000] [--repeats 5] [--batch 1000]

Prepared in two ways: as the bytes of requests, which the driver's generated code only frames, and
as the vendor's NumpyTablets, which its session encodes when it sends them. All write the same rows
into the same table with as many connections and as many rows in each tablet; they take turns, so
that the ratio holds although the machine's speed drifts.
"""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from multiprocessing.synchronize import Barrier
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from iotdb.Session import Session as VendorsSession
from iotdb.utils.IoTDBConstants import TSDataType
from iotdb.utils.NumpyTablet import NumpyTablet
from iotdb.utils.Tablet import ColumnType

from simulator.dataset import Dataset, Feed, lane_range
from simulator.modules.base import BATCH
from simulator.modules.iotdb.database import IotDb, IotDbOptions
from simulator.schema import PrimaryKey
from tests.perf.pipeline import insert
from tests.servers import SERVERS, Server

DATASET = Dataset(
    workload="iot", workload_version=1, params={"devices": 1}, seed=1,
    start_ms=1_795_232_700_000, primary_key=PrimaryKey.DB, parts=1,
)  # fmt: skip
DATABASE = "perf"
TYPES = [TSDataType.STRING, TSDataType.INT64, TSDataType.FLOAT]
CATEGORIES = [ColumnType.TAG, ColumnType.FIELD, ColumnType.FIELD]


def send_requests(module: IotDb, lane: int, rows: int, batch: int, barrier: Barrier) -> None:
    """Send tablets whose bytes are ready."""
    feed = Feed(DATASET)
    with module.connect() as session:
        payloads = [
            payload
            for block in feed.blocks(lane_range(lane, 0, rows), 8 * batch)
            for payload in session.encode(block[0], BATCH, batch)
        ]
        barrier.wait()
        for payload in payloads:
            session.send(payload)
        barrier.wait()


def send_tablets(module: IotDb, lane: int, rows: int, batch: int, barrier: Barrier) -> None:
    """Send the vendor's tablets, as its session does."""
    options = module.options
    session = VendorsSession(options.host, options.port, enable_redirection=False)
    session.sql_dialect, session.database = "table", options.database
    session.open()
    feed = Feed(DATASET)
    table = feed.tables[0]
    names = [column.name for column in table.columns[1:]]
    tablets = []
    for (block,) in feed.blocks(lane_range(lane, 0, rows), batch):
        times, device, *fields = (block.data[column.name].values() for column in table.columns)
        columns = [device.astype(str).astype(object), *fields]
        tablets.append(
            NumpyTablet(table.name, names, TYPES, columns, times, column_types=CATEGORIES)
        )
    barrier.wait()
    for tablet in tablets:
        session.insert_relational_tablet(tablet)
    barrier.wait()
    session.close()


def raw_rate(
    send: Callable[..., None], server: Server, workers: int, rows: int, batch: int
) -> float:
    """Return rows/s of prepared tablets, one process and connection for each worker."""
    module = IotDb(IotDbOptions(**server.options(DATABASE)))
    tables = Feed(DATASET).tables
    module.drop(tables)
    module.create(tables, batch)
    barrier = multiprocessing.Barrier(workers + 1)
    processes = [
        multiprocessing.Process(target=send, args=(module, lane, rows, batch, barrier))
        for lane in range(workers)
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
    return rows * workers / spent


def tool_rate(
    folder: Path, server: Server, workers: int, rows: int, batch: int
) -> tuple[float, float]:
    """Return rows/s and client share of the tool."""
    given = [f"--extra-option={n}={v}" for n, v in server.options(DATABASE).items()]
    result = insert(
        folder, "--target=iotdb", "--runner=local", f"--workers={workers}", "--runs=1",
        f"--batch={batch}", f"--num-inserts={rows}", *given,
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.client_share


def compare(folder: Path, server: Server, workers: int, arguments: Any) -> None:
    """Print the rates and ratios, in the median of the turns."""
    rows, batch = arguments.rows // workers, arguments.batch
    turns = []
    for turn in range(arguments.repeats + 1):
        requests = raw_rate(send_requests, server, workers, rows, batch)
        tablets = raw_rate(send_tablets, server, workers, rows, batch)
        tool, share = tool_rate(folder, server, workers, rows, batch)
        if turn:  # the first warms all up
            turns.append((requests, tablets, tool, tool / requests, tool / tablets, share))
    requests, tablets, tool, of_requests, of_tablets, share = map(median, zip(*turns, strict=True))
    print(
        f"{workers} connections: prepared requests {requests:>9,.0f} rows/s, "
        f"NumpyTablets {tablets:>9,.0f} rows/s, tool {tool:>9,.0f} rows/s, "
        f"ratio {of_requests:.3f} and {of_tablets:.3f}, client share {share:.1%}",
        flush=True,
    )


def main() -> None:
    """Compare with 1 and 2 connections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4_000_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=5, help="turns that count")
    parser.add_argument("--batch", type=int, default=1000, help="rows of each tablet")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, SERVERS["iotdb"]() as server:
        for workers in (1, 2):
            compare(Path(name), server, workers, arguments)


if __name__ == "__main__":
    main()
