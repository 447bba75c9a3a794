"""From a million rows to a billion: what a row takes to insert, and to verify.

    python tests/perf/growth.py [TARGET ...] [--rows 1M,10M,100M,1G] [--workers 1] [--batch 100000]
        [--verify counts]

Each number of rows is inserted into empty tables, compacted and verified. Printed are
the times for a row, how long verification takes beside the insert, and the most memory that a
worker has had. By default on embedded ClickHouse, which takes millions of rows a second.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.perf.on_servers import Line, print_table

HEAD = (
    "| Target | Rows | Insert | A row | Verification | A row | Verification over insert"
    " | Worker's memory | On disk | Verdict |\n"
    "|---|---|---|---|---|---|---|---|---|---|"
)


def rows(line: Line, given: argparse.Namespace) -> str:
    """Return the rows of a target."""
    return "\n".join(row(line, given, number) for number in given.rows.split(","))


def row(line: Line, given: argparse.Namespace, number: str) -> str:
    """Return the row of a number of rows."""
    each = number.replace("G", "000M")
    line.run(
        "insert", f"--workers={given.workers}", "--runs=1", f"--num-inserts={each}",
        f"--batch={given.batch}", f"--verify={given.verify}", "--quiet",
    )  # fmt: skip
    result = json.loads(max(line.folder.glob("*-insert-*.json")).read_text())
    if result["status"] != "done":
        return f"| {line.target} | {number} | {result['cause']} |" + " |" * 7
    outcome = result["runs"][0]["outcome"]
    phases, stored = outcome["phases_s"], result["manifest"]["rows"]
    insert_s, verify_s = phases["insert"], phases["verify"]
    memory = max(worker["memory_peak_bytes"] for worker in outcome["workers"]) / 2**20
    return (
        f"| {line.target} | {stored:,} | {insert_s:,.1f} s | {1e9 * insert_s / stored:,.0f} ns"
        f" | {verify_s:,.1f} s | {1e9 * verify_s / stored:,.0f} ns | {verify_s / insert_s:.2f}"
        f" | {memory:,.0f} MiB | {(outcome['size_bytes'] or 0) / 1e6:,.0f} MB"
        f" | {outcome['verdict']['status']} |"
    )


if __name__ == "__main__":
    options = {
        "--rows": "1M,10M,100M,1G",
        "--workers": "1",
        "--batch": "100000",
        "--verify": "counts",
    }
    print_table(HEAD, rows, __doc__, options, ("clickhouse_embedded",))
