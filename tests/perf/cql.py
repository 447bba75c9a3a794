"""The tool on Cassandra beside the driver's own execute_concurrent of batches bound beforehand.

    python tests/perf/cql.py [--rows 300000] [--repeats 5]

Both write the same rows in batches of 1,000 over one connection, with as many on their way at once;
they take turns, so that the ratio holds although the machine's speed drifts. What the driver needs
to bind the rows, which the tool has within its time, is told apart.
"""

import argparse
import os
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from cassandra.concurrent import execute_concurrent
from cassandra.query import BatchStatement, BatchType

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.dataset import Dataset, Feed, lane_range
from simulator.encode.objects import Objects
from simulator.modules.cassandra import tables as cql
from simulator.modules.cassandra.database import Cassandra, CassandraOptions
from simulator.schema import PrimaryKey
from tests.perf.pipeline import insert
from tests.servers import SERVERS

BATCH_ROWS = 1000
DATASET = Dataset(
    workload="iot", workload_version=1, params={"devices": 1}, seed=1,
    start_ms=1_795_232_700_000, primary_key=PrimaryKey.NONE, parts=1,
)  # fmt: skip


def raw_rates(options: dict, in_flight: int, rows: int) -> tuple[float, float]:
    """Return rows/s of execute_concurrent, and of binding the rows before."""
    feed = Feed(DATASET)
    (table,) = feed.tables
    module = Cassandra(CassandraOptions(**options))
    module.drop([table])
    module.create([table], BATCH_ROWS)
    encoder = Objects(table.columns, table.time_unit)
    with module.connect() as session:
        statement = session.prepare(cql.insert(options["keyspace"], table, table.name))
        start = time.perf_counter()
        batches = []
        for block in feed.blocks(lane_range(0, 0, rows), 8 * BATCH_ROWS):
            for values in encoder.encode(block[0], BATCH_ROWS):
                batch = BatchStatement(BatchType.UNLOGGED)
                for row in values:
                    batch.add(statement, row)
                batches.append((batch, None))
        bound_s = time.perf_counter() - start
        start = time.perf_counter()
        execute_concurrent(session.session, batches, concurrency=in_flight)
        spent_s = time.perf_counter() - start
    module.settle([table])
    return rows / spent_s, rows / bound_s


def tool_rate(folder: Path, options: dict, in_flight: int, rows: int) -> tuple[float, float]:
    """Return rows/s and client share of the tool."""
    os.environ["BENCH_PASSWORD"] = options["password"]
    reach = {**options, "password": "${BENCH_PASSWORD}", "max_sync_calls": in_flight}
    result = insert(
        folder, "--target=cassandra_sync", "--runner=local", "--workers=1", "--runs=1",
        f"--batch={BATCH_ROWS}", f"--num-inserts={rows}", "--primary-key=none",
        *(f"--extra-option={name}={value}" for name, value in reach.items()),
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.client_share


def compare(folder: Path, options: dict, in_flight: int, rows: int, repeats: int) -> None:
    """Print both rates and their ratio, pair by pair and in the median."""
    ratios, raws, tools, shares, bounds = [], [], [], [], []
    for turn in range(repeats + 1):
        raw, bound = raw_rates(options, in_flight, rows)
        tool, share = tool_rate(folder, options, in_flight, rows)
        if turn:  # the first pair warms both up
            raws.append(raw)
            bounds.append(bound)
            tools.append(tool)
            shares.append(share)
            ratios.append(tool / raw)
    print(
        f"{in_flight} in flight: execute_concurrent of bound batches {median(raws):>9,.0f} rows/s "
        f"(binding alone {median(bounds):,.0f}), tool {median(tools):>9,.0f} rows/s, ratio "
        f"{median(ratios):.3f} ({min(ratios):.3f}..{max(ratios):.3f}), "
        f"client share {median(shares):.1%}"
    )


def main() -> None:
    """Compare with 1 and 8 batches on their way at once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=300_000, help="rows of each run")
    parser.add_argument("--repeats", type=int, default=5, help="pairs that count")
    arguments = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        SERVERS["cassandra"]() as server,
        server.database() as keyspace,
    ):
        options = server.options(keyspace)
        for in_flight in (1, 8):
            compare(Path(folder), options, in_flight, arguments.rows, arguments.repeats)


if __name__ == "__main__":
    main()
