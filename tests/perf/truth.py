"""The speed of the truth: how fast the oracle folds rows, and how fast it answers by few of them.

    python tests/perf/truth.py [--rows 100000000] [--threads 2]

Draw and fold are apart, in processor time per row, the best of several rounds: other work on the
machine then matters least. The ratio is to a plain Python loop over the same rows. `--rows` is the
size of the fleet, of which a host reports every ten seconds.
"""

import argparse
import resource
import subprocess
import sys
import time
from base64 import b64decode
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import repeat
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from typing import ClassVar

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.data.block import Block, Coded, ColumnData, Rows, Values
from simulator.data.dataset import Dataset
from simulator.data.fleet import select_fleet_rows
from simulator.data.mixer import below, key_of
from simulator.data.query import Aggregate, AggregateQuery, Function, OneOf, Query, Selection
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.data.workloads import WORKLOADS
from simulator.data.workloads.base import Params, Workload
from simulator.host import keep_freed_memory
from simulator.load.fold_tasks import Folder
from simulator.modules.null import Null, NullOptions
from simulator.protocol.spec import RunSpec, Work
from simulator.verify.truth.folding import VERIFY_BLOCK_ROWS, FoldTasks, fold_here, truths
from simulator.verify.truth.needed import statistics_of
from simulator.verify.truth.oracle import Oracle

START_MS = 1_795_232_700_000
INTERVAL_MS, HOUR_MS = 10_000, 3_600_000
HOSTS = 1000
INSTANCES = 1000
FOLD_ROWS = 1 << 20
LOOP_ROWS = 1 << 16
ROUNDS = 5
GRID = np.arange(100 * 64 + 1) / 64

CPU = Table(
    "cpu",
    (
        Column("time", Type.TIMESTAMP, Role.TIME),
        Column("hostname", Type.TEXT, Role.TAG),
        Column("usage_user", Type.FLOAT64, Role.FIELD),
    ),
    key=("hostname", "time"),
)
FUNCTIONS = (Function.MIN, Function.AVG, Function.MAX)
USAGE = tuple(Aggregate(function, "usage_user") for function in FUNCTIONS)
BY_HOUR_AND_HOST = AggregateQuery(CPU, USAGE, ("hostname",), HOUR_MS)


class FleetParams(Params):
    """Number of rows."""

    rows: int


class Fleet(Workload):
    """One field of a fleet of hosts: row n is (tick, host) = divmod(n, HOSTS)."""

    name: ClassVar[str] = "fleet"
    version: ClassVar[int] = 1
    params_model = FleetParams
    params: FleetParams
    _names = np.array([b"host_%d" % host for host in range(HOSTS)])

    @property
    def tables(self) -> tuple[Table, ...]:
        return (CPU,)

    def draw(self, table: Table, rows: Rows) -> dict[str, ColumnData]:
        ticks, hosts = np.divmod(rows, HOSTS)
        makers: dict[str, Callable[[], ColumnData]] = {
            "time": lambda: Values(ticks * INTERVAL_MS + self.start_ms),
            "hostname": lambda: Coded(hosts, self._names),
            "usage_user": lambda: Coded(below(key_of(self.seed, "usage"), rows, len(GRID)), GRID),
        }
        return {column.name: makers[column.name]() for column in table.columns}

    def candidates(self, table: Table, selection: Selection) -> Rows | None:
        del table
        ticks = self.params.rows // HOSTS
        tags = {"hostname": self._names}
        return select_fleet_rows(tags, selection, ticks, self.start_ms, INTERVAL_MS)

    def queries(self, tables: Sequence[Table]) -> dict[str, Query]:
        del tables
        return {}


def dataset(workload: str, size: int, **params: int) -> Dataset:
    """Return a dataset of `size` rows."""
    return Dataset(
        workload=workload, workload_version=1, params=params, seed=1, start_ms=START_MS,
        primary_key=PrimaryKey.NONE, parts=1, ranges=(RowRange(start=0, stop=size),),
    )  # fmt: skip


def best_ns(work: Callable[[], object], rows: int) -> float:
    """Return the processor time for a row, the least of several rounds."""
    spent_s = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        spent_s.append(time.process_time() - start)
    return min(spent_s) / rows * 1e9


def drawn(reader: DatasetReader) -> Iterator[Block]:
    for turn in reader.blocks((RowRange(start=0, stop=FOLD_ROWS),), VERIFY_BLOCK_ROWS):
        yield from turn


def exhaust(blocks: Iterable[Block]) -> None:
    for _ in blocks:
        pass


def fold(queries: Sequence[Query], blocks: Sequence[Block]) -> Oracle:
    oracle = Oracle(queries)
    for block in blocks:
        oracle.add(block)
    return oracle


def plain_loop(block: Block, by: str, field: str) -> dict[bytes, list[float]]:
    """Fold count, sum, minimum and maximum of a field by a tag, a row at a time."""
    found: dict[bytes, list[float]] = {}
    tags, values = (block.data[name].values().tolist() for name in (by, field))
    for tag, value in zip(tags, values, strict=True):
        cell = found.get(tag)
        if cell is None:
            found[tag] = [1, value, value, value]
        else:
            cell[0] += 1
            cell[1] += value
            cell[2] = min(cell[2], value)
            cell[3] = max(cell[3], value)
    return found


def show_folds() -> None:
    """Print what it costs to draw and fold a row, for the queries of `iot` and for its counts."""
    print("processor time per row, one core; rate of draw + fold; ratio of folds to a plain loop")
    print("                                 draw ns   fold ns   Mrows/s    x loop")
    for devices in (1, 1000):
        reader = DatasetReader(dataset("iot", FOLD_ROWS, devices=devices))
        blocks = [*drawn(reader)]
        draw_ns = best_ns(lambda reader=reader: exhaust(drawn(reader)), FOLD_ROWS)
        piece = blocks[0].slice(0, LOOP_ROWS)
        loop_ns = best_ns(
            lambda piece=piece: plain_loop(piece, "device_id", "temperature"), len(piece)
        )
        for name, queries in {
            "five queries of iot": [*reader.queries().values()],
            "counts": [statistics_of(reader.tables[0])],
        }.items():
            fold_ns = best_ns(lambda q=queries, b=blocks: fold(q, b), FOLD_ROWS)
            print(
                f"  {name + f', {devices} devices':30}{draw_ns:9.1f} {fold_ns:9.1f}"
                f"{1e3 / (draw_ns + fold_ns):10.1f}{loop_ns / fold_ns:10.1f}"
            )
    fleet = DatasetReader(dataset("fleet", FOLD_ROWS, rows=FOLD_ROWS))
    blocks = [*drawn(fleet)]
    draw_ns = best_ns(lambda: exhaust(drawn(fleet)), FOLD_ROWS)
    loop_ns = best_ns(lambda: plain_loop(blocks[0], "hostname", "usage_user"), len(blocks[0]))
    for name, bucket in {"hour": HOUR_MS, "minute": 60_000, "tick": INTERVAL_MS}.items():
        query = AggregateQuery(CPU, USAGE, ("hostname",), bucket)
        fold_ns = best_ns(lambda query=query: fold([query], blocks), FOLD_ROWS)
        print(
            f"  {f'a field by {name} and host':30}{draw_ns:9.1f} {fold_ns:9.1f}"
            f"{1e3 / (draw_ns + fold_ns):10.1f}{loop_ns / fold_ns:10.1f}"
        )


def show_whole(rows: int, threads: int) -> None:
    """Print time and memory of one field by hour and host over all rows, in its own process."""
    start, before = time.perf_counter(), time.process_time()
    fold = partial(fold_here, threads=threads)
    found = truths([BY_HOUR_AND_HOST], dataset("fleet", rows, rows=rows), fold)
    spent_s, used_s = time.perf_counter() - start, time.process_time() - before
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    groups = len(found[BY_HOUR_AND_HOST].answer.rows)
    print(
        f"one field by hour and host, {rows:,} rows, {threads} threads: {spent_s:.1f} s,"
        f" processor {used_s:.1f} s, {groups:,} groups, {peak_mb:.0f} MB"
    )


def show_instances(rows: int) -> None:
    """Print the time of answers about one host and hour each, drawn from all rows."""
    rng = np.random.default_rng(1)
    hours = rows // HOSTS * INTERVAL_MS // HOUR_MS
    queries: list[Query] = []
    for host, hour in zip(
        rng.integers(HOSTS, size=INSTANCES), rng.integers(hours, size=INSTANCES), strict=True
    ):
        since = START_MS + int(hour) * HOUR_MS + int(rng.integers(HOUR_MS))
        one = (OneOf("hostname", (f"host_{host}",)),)
        selection = Selection(one, since=since, until=since + HOUR_MS)
        queries.append(AggregateQuery(CPU, USAGE, (), 60_000, selection))
    start, before = time.perf_counter(), time.process_time()
    found = truths(queries, dataset("fleet", rows, rows=rows))
    spent_s, used_s = time.perf_counter() - start, time.process_time() - before
    print(
        f"{len(found):,} answers of one host and hour by minute, {rows:,} rows: {spent_s:.1f} s,"
        f" processor {used_s:.1f} s"
    )


def show_workers(rows: int) -> None:
    """Print the time in which 1, 2 and 4 processes fold all rows, and one process merges them."""
    spec = RunSpec(
        run_id="r", work=Work.INSERT, target="t", module="null", options={}, workers=(),
        dataset=dataset("iot", rows, devices=HOSTS),
    )  # fmt: skip
    for workers in (1, 2, 4):
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            list(pool.map(_fold_task, [spec] * workers, repeat(0), repeat(())))
            start = time.perf_counter()
            (table,) = DatasetReader(spec.dataset).tables
            tasks = FoldTasks([statistics_of(table)], spec.dataset)
            taken = [*iter(tasks.take, None)]
            contents = pool.map(
                _fold_task, repeat(spec), [p.number for p in taken], [p.ranges for p in taken]
            )
            for task, content in zip(taken, contents, strict=True):
                tasks.merge_bytes(task.number, content)
            spent_s = time.perf_counter() - start
        print(
            f"counts of {rows:,} rows, folded by {workers} workers: {spent_s:.2f} s,"
            f" {rows / spent_s / 1e6:.0f} Mrows/s"
        )


def _fold_task(spec: RunSpec, number: int, ranges: Sequence[RowRange]) -> bytes:
    folded = Folder(spec, (("", 0),), Event(), Null(NullOptions())).fold(number, ranges)
    assert folded
    assert folded.content
    return b64decode(folded.content)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000, help="rows of the fleet")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--whole", action="store_true", help="only the fold of the whole fleet")
    given = parser.parse_args()
    keep_freed_memory()
    WORKLOADS[Fleet.name] = Fleet
    if given.whole:
        show_whole(given.rows, given.threads)
        return
    show_folds()
    sys.stdout.flush()
    alone = [sys.executable, __file__, "--whole", f"--rows={given.rows}"]
    subprocess.run([*alone, f"--threads={given.threads}"], check=True)
    show_instances(given.rows)
    show_workers(given.rows)


if __name__ == "__main__":
    main()
