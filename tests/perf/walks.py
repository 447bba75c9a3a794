"""Drawing speed of workload devops: whole tables in order, and single hosts anywhere.

    python tests/perf/walks.py

Values/s of fields (tags and times cost next to nothing), in blocks of 8,192 rows, on one core, as
CPU time, so that a busy machine counts little. Random access: rows of one host
and one hour out of 10^8 rows, 1,000 times.
"""

import random
import sys
import time
from pathlib import Path
from statistics import median

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.data.schema import Table
from simulator.data.walks import Precision
from simulator.data.workloads.devops import Devops, DevopsParams

BLOCK_ROWS = 8192
BLOCKS = 6
REPEATS = 5
ROWS = 100_000_000
HOUR_TICKS = 360
ACCESSES = 1000


def fleet(hosts: int, precision: Precision) -> Devops:
    """Return a fleet with 10^8 rows in each table."""
    params = DevopsParams(scale=hosts, duration_ms=ROWS // hosts * 10_000, precision=precision)
    return Devops(params, 1, 1_451_606_400_000)


def rate(workload: Devops, table: Table) -> float:
    """Return values/s of consecutive blocks from the middle of a table."""
    spent = []
    for _ in range(REPEATS):
        start = time.process_time()
        for block in range(BLOCKS):
            workload.draw(table, ROWS // 2 + block * BLOCK_ROWS + np.arange(BLOCK_ROWS))
        spent.append(time.process_time() - start)
    return BLOCKS * BLOCK_ROWS * len(table.fields) / median(spent)


def show_rates() -> None:
    """Print values/s of every table."""
    names = [table.name for table in fleet(1, Precision.GRID).tables]
    print("million values/s, blocks of 8,192 rows in order")
    print(f"{'hosts':>8} {'':6}" + "".join(f"{name:>11}" for name in names))
    for hosts in (1, 100, 4000, 100_000):
        for precision in Precision:
            workload = fleet(hosts, precision)
            rates = [rate(workload, table) / 1e6 for table in workload.tables]
            print(f"{hosts:>8,} {precision:6}" + "".join(f"{each:11.1f}" for each in rates))


def show_access() -> None:
    """Print the time of 1,000 draws of one host and one hour."""
    source = random.Random(1)
    print(f"{ACCESSES:,} times the rows of one host and one hour out of 10^8")
    for hosts in (100, 4000):
        workload = fleet(hosts, Precision.GRID)
        for table in workload.tables:
            if table.name not in ("cpu", "redis"):
                continue
            workload.draw(table, np.arange(hosts))
            start = time.process_time()
            for _ in range(ACCESSES):
                tick = source.randrange(ROWS // hosts - HOUR_TICKS)
                workload.draw(
                    table, (tick + np.arange(HOUR_TICKS)) * hosts + source.randrange(hosts)
                )
            print(f"{hosts:>8,} hosts, {table.name:6} {time.process_time() - start:6.2f} s")


if __name__ == "__main__":
    show_rates()
    show_access()
