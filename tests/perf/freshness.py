"""How soon each database shows a row that it has acknowledged: `mixed --fresh`, as a table.

    python tests/perf/freshness.py [TARGET ...] [--duration 10s] [--insert-rate 2000]

Each server is started for it, with the settings of an installation. One worker inserts at a low
rate, another asks as fast as it can, so that the time between two answers is short. A database
that shows rows at once has about that time; what is longer is its own.
"""

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.modules import database_class
from tests.perf.on_servers import Line, print_table

HEAD = (
    "| Target | Rows/s | Answers/s | Freshness, median | 99th percentile | Rows never seen"
    " | Verdict | Promise |\n|---|---|---|---|---|---|---|---|"
)
INSERT = ("--workers=1", "--runs=1", "--batch=1000", "--num-inserts=20000", "--quiet")


def row(line: Line, given: argparse.Namespace) -> str:
    """Return the row of a target."""
    line.run("insert", *INSERT)
    found = line.run(
        "mixed", "--fresh=1m", "--batch=100", f"--duration={given.duration}",
        f"--insert-rate={given.insert_rate}", "--warmup=1s", "--types=fresh-count",
    )  # fmt: skip
    rows = {each.get("load") or each["query"]: each for each in found["rows"]}
    result = json.loads(max(line.folder.glob("*-mixed-*.json")).read_text())
    late = database_class(line.module).capabilities.late
    (freshness,) = result["runs"][0]["outcome"]["freshness"]
    count = rows["fresh-count"]
    return (
        f"| {line.target} | {rows['inserts']['rows_per_s']:,.0f} | {count['queries_per_s']:,.0f}"
        f" | {_shown(count, 'p50')} | {_shown(count, 'p99')}"
        f" | {freshness['unseen_rows']:,} of {freshness['rows'] + freshness['unseen_rows']:,}"
        f" | {count['verdict']} | {late or 'at once'} |"
    )


def _shown(count: Mapping[str, Any], quantile: str) -> str:
    """Return a quantile, or a dash where too few rows were seen."""
    found = count.get(f"freshness_{quantile}_ms")
    return "-" if found is None else f"{found:,.1f} ms"


if __name__ == "__main__":
    print_table(HEAD, row, __doc__, {"--duration": "10s", "--insert-rate": "2000"})
