"""The tool on FerretDB beside insert_many of documents that were encoded beforehand.

    python tests/perf/mongodb.py [--rows 400000] [--repeats 3]

Both write the same rows into the same collection with as many connections, as many rows in each
batch and the same write concern; they take turns, so that the ratio holds although the machine's
speed drifts. `raw` is the rawest call of the driver: RawBSONDocument, of which nothing is left to
encode; `dict` is the usual one, of documents as dictionaries, made beforehand too.

On a busy machine even turns of seconds drift apart. So first a module's session, which encodes as
it goes, and insert_many take turns block by block in one process.
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

import bson
from bson.raw_bson import RawBSONDocument
from pymongo import MongoClient, WriteConcern

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.batch import Batch
from simulator.dataset import Dataset, Feed, lane_range
from simulator.encode.bson import Bson
from simulator.modules.base import BATCH
from simulator.modules.mongodb.database import Mongodb, MongodbOptions
from simulator.modules.mongodb.documents import Documents, Format
from simulator.schema import PrimaryKey
from tests.perf.pipeline import insert
from tests.servers.ferretdb import FerretDb

BATCH_ROWS = 1000
DATASET = Dataset(
    workload="iot", workload_version=1, params={"devices": 1}, seed=1,
    start_ms=1_795_232_700_000, primary_key=PrimaryKey.DB, parts=1,
)  # fmt: skip


def prepared(lane: int, rows: int) -> list[list[bytes]]:
    """Return a worker's rows as batches of documents."""
    feed = Feed(DATASET)
    encoder = Bson(Documents(feed.tables[0], Format.FLAT).elements, feed.tables[0].time_unit)
    documents: list[bytes] = []
    for block in feed.blocks(lane_range(lane, 0, rows), 8 * BATCH_ROWS):
        documents += encoder.encode(block[0], 1)
    return [documents[start : start + BATCH_ROWS] for start in range(0, rows, BATCH_ROWS)]


def write(options: dict[str, Any], kind: str, lane: int, rows: int, barrier: Barrier) -> None:
    """Insert prepared documents, one batch after the other."""
    make = RawBSONDocument if kind == "raw" else bson.decode
    batches = [[make(document) for document in batch] for batch in prepared(lane, rows)]
    reach, password = options["connection_string"], options["password"]
    with MongoClient(reach, password=password, retryWrites=False, maxPoolSize=1) as client:
        concern = WriteConcern("majority", wtimeout=27_000)
        events = client[options["database"]].get_collection("events", write_concern=concern)
        events.find_one()
        barrier.wait()
        for batch in batches:
            events.insert_many(batch, ordered=False)
        barrier.wait()


def turns(options: dict[str, Any], other: dict[str, Any], total: int) -> None:
    """Print the rates of the module's session and of insert_many, which take turns of a block."""
    feed, spent = Feed(DATASET), {"session": 0.0, "raw": 0.0}
    modules = [Mongodb(MongodbOptions(**each)) for each in (options, other)]
    for module in modules:
        module.create(feed.tables, BATCH_ROWS)
    with modules[0].connect() as session, modules[1].connect() as beside:
        concern = WriteConcern("majority", wtimeout=27_000)
        events = beside.database.get_collection("events", write_concern=concern)
        for number, (block,) in enumerate(feed.blocks(lane_range(0, 0, total), 8 * BATCH_ROWS)):
            singles = [payload.data[1][0][1] for payload in session.encode(block, BATCH, 1)]
            documents = [RawBSONDocument(single) for single in singles]

            def by_session(block: Batch = block) -> None:
                for payload in session.encode(block, BATCH, BATCH_ROWS):
                    session.send(payload)

            def by_driver(documents: list[RawBSONDocument] = documents) -> None:
                for start in range(0, len(documents), BATCH_ROWS):
                    events.insert_many(documents[start : start + BATCH_ROWS], ordered=False)

            pair = [("session", by_session), ("raw", by_driver)]
            for name, send in pair if number % 2 else reversed(pair):
                start = time.perf_counter()
                send()
                spent[name] += time.perf_counter() - start
    rates = {name: total / seconds for name, seconds in spent.items()}
    print(
        f"block by block: session {rates['session']:,.0f} rows/s, insert_many raw "
        f"{rates['raw']:,.0f} rows/s, ratio {rates['session'] / rates['raw']:.3f}"
    )


def driver_rate(options: dict[str, Any], kind: str, workers: int, rows: int) -> float:
    """Return rows/s of insert_many, one process and connection for each worker."""
    module = Mongodb(MongodbOptions(**options))
    tables = Feed(DATASET).tables
    module.drop(tables)
    module.create(tables, BATCH_ROWS)
    barrier = multiprocessing.Barrier(workers + 1)
    processes = [
        multiprocessing.Process(target=write, args=(options, kind, lane, rows, barrier))
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
    folder: Path, options: dict[str, Any], workers: int, rows: int
) -> tuple[float, float]:
    """Return rows/s and client share of the tool."""
    os.environ["BENCH_PASSWORD"] = options["password"]
    shown = {**options, "password": "${BENCH_PASSWORD}"}
    result = insert(
        folder, "--target=mongodb", "--runner=local", f"--workers={workers}", "--runs=1",
        f"--batch={BATCH_ROWS}", f"--num-inserts={rows}", "--primary-key=db",
        *(f"--extra-option={name}={value}" for name, value in shown.items()),
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.client_share


def compare(folder: Path, options: dict[str, Any], workers: int, total: int, repeats: int) -> None:
    """Print the rates and the tool's ratios to the driver's, turn by turn and in the median."""
    rows = total // workers // BATCH_ROWS * BATCH_ROWS
    found: dict[str, list[float]] = {"raw": [], "dict": [], "tool": [], "share": []}
    for turn in range(repeats + 1):
        rates = {kind: driver_rate(options, kind, workers, rows) for kind in ("raw", "dict")}
        rates["tool"], rates["share"] = tool_rate(folder, options, workers, rows)
        if turn:  # the first turn warms all of them up
            for name, rate in rates.items():
                found[name].append(rate)
    print(
        f"{workers} connections: insert_many raw {median(found['raw']):>8,.0f} rows/s, "
        f"dict {median(found['dict']):>8,.0f} rows/s, tool {median(found['tool']):>8,.0f} rows/s;"
    )
    for kind in ("raw", "dict"):
        ratios = [tool / rate for tool, rate in zip(found["tool"], found[kind], strict=True)]
        print(
            f"  tool by {kind}: {median(ratios):.3f} ({min(ratios):.3f}..{max(ratios):.3f}), "
            f"client share {median(found['share']):.1%}"
        )


def main() -> None:
    """Compare with 1 and 2 connections."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=400_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=3, help="turns that count")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        FerretDb() as server,
        server.database() as database,
    ):
        with server.database() as other:
            turns(server.options(database), server.options(other), arguments.rows)
        for workers in (1, 2):
            options = server.options(database)
            compare(Path(name), options, workers, arguments.rows, arguments.repeats)


if __name__ == "__main__":
    main()
