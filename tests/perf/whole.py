"""This checkout beside another: whole inserts and queries on one server, in pairs.

    git worktree add ../before COMMIT
    python tests/perf/whole.py --before ../before [TARGET ...] [--pairs 10] [--duration 3s]

Both checkouts insert for some seconds, insert fewer rows and query these, in turns, each first
equally often. A ratio is this checkout over the other: of rates above 1, this one is faster; of
latencies below 1. Each ratio is the median of the pairs with its 95 % interval. Two equal checkouts
show how much the machine adds by itself.
"""

import argparse
import math
import sys
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.perf.on_servers import Line, print_table
from tests.perf.pairs import interval

HEAD = "| Target | Rows/s | This / other | p50 of batches | p50 of queries |\n|---|---|---|---|---|"
FIGURES = ("rows_per_s", "p50_ms", "queries_p50_ms")


def measured(line: Line, given: argparse.Namespace) -> dict[str, float]:
    """Insert and query once; return the figures, whose verdicts are `verified`."""
    common = ("insert", "--workers=1", "--runs=1", f"--batch={given.batch}")
    inserted = line.run(*common, f"--duration={given.duration}", "--warmup=1s")["rows"]
    queried_rows = line.run(*common, f"--num-inserts={given.queried}")["rows"]
    queried = line.run("query", "--workers=1", "--runs=10")["rows"]
    verdicts = {each["verdict"] for each in (*inserted, *queried_rows, *queried)}
    if not all(each.startswith("verified") for each in verdicts):
        raise RuntimeError(f"verdicts: {', '.join(sorted(verdicts))}")
    (row,) = inserted
    logs = [math.log(each["p50_ms"]) for each in queried]
    figures = (row["rows_per_s"], row["p50_ms"], math.exp(fmean(logs)))
    return dict(zip(FIGURES, figures, strict=True))


def row(line: Line, given: argparse.Namespace) -> str:
    """Return the row of a target."""
    other = replace(line, root=Path(given.before).resolve())
    ratios: dict[str, list[float]] = {name: [] for name in FIGURES}
    rates = []
    for number in range(given.pairs):
        order = (line, other) if number % 2 else (other, line)
        found: dict[Path, dict[str, Any]] = {side.root: measured(side, given) for side in order}
        this, that = found[line.root], found[other.root]
        rates.append(this["rows_per_s"])
        for name in FIGURES:
            ratios[name].append(this[name] / that[name])
    cells = []
    for each in ratios.values():
        low, high = interval(each)
        cells.append(f"{median(each):.3f} ({low:.3f} to {high:.3f})")
    return f"| {line.target} | {median(rates):,.0f} | {' | '.join(cells)} |"


if __name__ == "__main__":
    options = {"--before": "", "--pairs": 10, "--duration": "3s", "--batch": "1000",
               "--queried": "50k"}  # fmt: skip
    print_table(HEAD, row, __doc__, options, ("sqlite", "duckdb", "postgresql"))
