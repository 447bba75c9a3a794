"""The cost of the client: from draw to send, memory, barrier, and time to the first result.

    python tests/perf/pipeline.py [--rows 100000000]

All figures come from the product's own command line and collector. Compare only figures of one run.
"""

import argparse
import asyncio
import json
import random
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from iotbench.results.result import Result
from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.data.schema import PrimaryKey
from simulator.protocol.messages import TOKEN_HEADER, UID_HEADER
from simulator.protocol.spec import InsertTask, RunSpec, Work
from tests.pods import mount

ROOT = Path(__file__).parents[2]
LOOP_ROWS = 200_000
BARRIER_WORKERS = 500


def insert(folder: Path, *arguments: str, config: Path = ROOT / "config.yaml") -> Result:
    """Run `insert` and return its result file's contents."""
    command = [sys.executable, str(ROOT / "run.py"), "insert", "--quiet", f"--output={folder}"]
    command += [f"--config={config}", *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    newest = max(folder.glob("*.json"))
    return Result.model_validate_json(newest.read_bytes())


def null_rate(folder: Path, encoding: str, rows: int) -> tuple[float, int]:
    """Return rows/s and peak memory of one worker that inserts into `null`."""
    result = insert(
        folder, "--target=null", "--workers=1", "--runs=1", "--batch=1000",
        f"--num-inserts={rows}", f"--extra-option=encode={encoding}",
    )  # fmt: skip
    metrics = result.runs[0].metrics
    assert metrics
    return metrics.rows_per_s, metrics.memory_peak_bytes


def plain_loop() -> float:
    """Return rows/s of a plain Python loop that draws and formats the same kind of rows."""
    source = random.Random(1)
    start = time.perf_counter()
    now, lines = 1_795_232_700_000, []
    for number in range(LOOP_ROWS):
        now += source.randint(5, 10) * 60
        lines.append(f"{now},AAAA0000BBBB,{number},{source.uniform(-20, 35)}\n")
        if len(lines) == 1000:
            "".join(lines).encode()
            lines.clear()
    return LOOP_ROWS / (time.perf_counter() - start)


def show_rates(folder: Path) -> None:
    """Print the rate of draw + encode + worker loop on one core, beside a plain loop."""
    loop = median(plain_loop() for _ in range(3))
    print("draw + encode + worker loop into null, one worker, batches of 1,000, median of 3")
    print(f"  {'plain Python loop':20} {loop / 1e6:8.2f} million rows/s")
    for encoding in ("none", "pgcopy", "csv", "tsv", "sql", "objects"):
        rate = median(null_rate(folder, encoding, 10_000_000)[0] for _ in range(3))
        print(f"  {encoding:20} {rate / 1e6:8.2f} million rows/s  {rate / loop:6.0f} x the loop")


def show_memory(folder: Path, rows: int) -> None:
    """Print a worker's peak memory for few and for many rows."""
    print("a worker's peak memory, encode=pgcopy, batches of 1,000")
    for count in (100_000, rows):
        peak = null_rate(folder, "pgcopy", count)[1]
        print(f"  {count:>13,} rows {peak / 1e6:8.1f} MB")


def show_start(folder: Path) -> None:
    """Print the time from the command to the result."""
    print("from the command to the verified result: insert of 10,000 single rows on SQLite")
    for what, options in (
        ("1 worker, 1 run", ["--workers=1", "--runs=1"]),
        ("1, 2 and 4 workers, 3 runs of each", ["--workers=1,2,4", "--runs=3"]),
    ):
        spent = []
        for _ in range(5):
            start = time.perf_counter()
            insert(
                folder, "--target=sqlite", "--num-inserts=10000", *options,
                f"--extra-option=path={folder / 'start.db'}",
            )  # fmt: skip
            spent.append(time.perf_counter() - start)
        least, most = min(spent), max(spent)
        print(f"  {what}: min {least:.2f} s, median {median(spent):.2f} s, max {most:.2f} s")


async def post(port: int, path: str, index: int, **body: object) -> None:
    """Post a message as a worker does, and wait for the reply."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    content = json.dumps({"index": index, **body}).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n{TOKEN_HEADER}: token\r\n"
        f"{UID_HEADER}: {index:032x}\r\n"
        f"Content-Length: {len(content)}\r\nConnection: close\r\n\r\n"
    )
    writer.write(head.encode() + content)
    await writer.drain()
    status = (await reader.read()).split(b" ", 2)[1]
    writer.close()
    assert status == b"200", status


async def barrier_s(port: int) -> float:
    """Return the time from the last arrival to the last release of the barrier."""
    workers = range(BARRIER_WORKERS)
    await asyncio.gather(*(
        post(port, "/register", i, version=__version__) for i in workers
    ))  # fmt: skip
    waiting = [
        asyncio.create_task(post(port, "/barrier", i, barrier="insert")) for i in workers[:-1]
    ]
    await asyncio.sleep(2)
    assert not any(task.done() for task in waiting)
    start = time.perf_counter()
    await post(port, "/barrier", workers[-1], barrier="insert")
    await asyncio.gather(*waiting)
    return time.perf_counter() - start


def show_barrier(folder: Path) -> None:
    """Print how fast the collector releases a barrier of many simulated workers."""
    dataset = Dataset(
        workload="iot", workload_version=1, params={}, seed=1, start_ms=0,
        primary_key=PrimaryKey.NONE, parts=1,
    )  # fmt: skip
    spec = RunSpec(
        run_id="barrier", work=Work.INSERT, target="null", module="null", options={},
        dataset=dataset, workers=(InsertTask(),) * BARRIER_WORKERS,
    )  # fmt: skip
    files = mount(folder, spec.model_dump_json())
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        collector = subprocess.Popen(
            [sys.executable, "-m", "simulator", "collector", f"--fd={listener.fileno()}", *files],
            pass_fds=(listener.fileno(),), cwd=ROOT, stdout=subprocess.DEVNULL,
        )  # fmt: skip
        try:
            released = asyncio.run(barrier_s(listener.getsockname()[1]))
        finally:
            collector.kill()
            collector.wait()
    print(f"a barrier of {BARRIER_WORKERS} simulated workers: from the last arrival to the last")
    print(f"  release {released:.3f} s")


def main() -> None:
    """Print every figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000_000, help="rows of the memory test")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        show_rates(folder)
        show_memory(folder, arguments.rows)
        show_start(folder)
        show_barrier(folder)


if __name__ == "__main__":
    main()
