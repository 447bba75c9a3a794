"""From a million rows to a billion: what a row takes to insert, and to verify.

    python tests/perf/growth.py [TARGET ...] [--rows 1M,10M,100M,1G] [--workers 1] [--batch 100000]
        [--verify counts,full] [--repeats 1]

Each number of rows is inserted into empty tables, compacted and verified. Printed are the times
for a row, how long verification takes beside the insert, and the most memory that a worker has
had. Levels of verification are measured in turns; of several repeats the medians are printed, and
of the shares the range, too. By default on embedded ClickHouse, which takes millions of rows a
second.
"""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.perf.on_servers import Line, print_table

HEAD = (
    "| Target | Rows | Level | Insert | A row | Verification | A row | Verification over insert"
    " | Worker's memory | On disk | Verdict |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Figures:
    """The figures of one insert and its verification."""

    rows: int
    insert_s: float
    verify_s: float
    memory_bytes: int
    disk_bytes: int
    verdict: str


def rows(line: Line, given: argparse.Namespace) -> str:
    """Return the rows of a target."""
    shown = []
    for number in given.rows.split(","):
        levels: dict[str, list[Figures]] = {level: [] for level in given.verify.split(",")}
        for repeat in range(given.repeats):
            for level in list(levels)[:: -1 if repeat % 2 else 1]:
                levels[level].append(measured(line, given, number, level))
        shown += [row(line.target, level, found) for level, found in levels.items()]
    return "\n".join(shown)


def measured(line: Line, given: argparse.Namespace, number: str, level: str) -> Figures:
    """Insert and verify a number of rows."""
    each = number.replace("G", "000M")
    line.run(
        "insert", f"--workers={given.workers}", "--runs=1", f"--num-inserts={each}",
        f"--batch={given.batch}", f"--verify={level}", "--quiet",
    )  # fmt: skip
    result = json.loads(max(line.folder.glob("*-insert-*.json")).read_text())
    if result["status"] != "done":
        raise RuntimeError(f"{number}: {result['cause']}")
    outcome = result["runs"][0]["outcome"]
    phases = outcome["phases_s"]
    memory = max(worker["memory_peak_bytes"] for worker in outcome["workers"])
    return Figures(
        result["manifest"]["rows"], phases["insert"], phases["verify"], memory,
        outcome["size_bytes"] or 0, outcome["verdict"]["status"],
    )  # fmt: skip


def row(target: str, level: str, found: list[Figures]) -> str:
    """Return the medians of equal inserts as a row."""
    stored = found[0].rows
    insert_s = median(each.insert_s for each in found)
    verify_s = median(each.verify_s for each in found)
    shares = sorted(each.verify_s / each.insert_s for each in found)
    between = f" ({shares[0]:.2f} to {shares[-1]:.2f})" if len(shares) > 1 else ""
    verdicts = ", ".join(dict.fromkeys(each.verdict for each in found))
    return (
        f"| {target} | {stored:,} | {level} | {insert_s:,.1f} s | {1e9 * insert_s / stored:,.0f} ns"
        f" | {verify_s:,.1f} s | {1e9 * verify_s / stored:,.0f} ns"
        f" | {median(shares):.2f}{between}"
        f" | {max(each.memory_bytes for each in found) / 2**20:,.0f} MiB"
        f" | {median(each.disk_bytes for each in found) / 1e6:,.0f} MB | {verdicts} |"
    )


if __name__ == "__main__":
    options = {
        "--rows": "1M,10M,100M,1G",
        "--workers": "1",
        "--batch": "100000",
        "--verify": "counts",
        "--repeats": 1,
    }
    print_table(HEAD, rows, __doc__, options, ("clickhouse_embedded",))
