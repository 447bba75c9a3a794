"""The cost of the client: from draw to send, memory, and time to the first result.

    python tests/perf/pipeline.py [--rows 100000000]

All figures come from the product's own command line. Compare only figures of one run.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from iotbench.results.result import Result

ROOT = Path(__file__).parents[2]
LOOP_ROWS = 200_000


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


if __name__ == "__main__":
    main()
