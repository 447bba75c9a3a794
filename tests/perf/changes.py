"""How fast each database corrects and deletes rows: `change`, as a table.

    python tests/perf/changes.py [TARGET ...] [--num-inserts 200000]

Each server is started for it, with the settings of an installation. Of the rows of one worker a
tenth are corrected; then the older half are deleted, in ten steps.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.data.schema import PrimaryKey
from simulator.modules import database_class
from simulator.modules.contract import Changes
from tests.perf.on_servers import Line, print_table

HEAD = (
    "| Target | Inserted rows/s | Corrected rows/s | Deleted rows/s | A tenth of it, median"
    " | Size after it | Verdict |\n|---|---|---|---|---|---|---|"
)


def row(line: Line, given: argparse.Namespace) -> str:
    """Return the row of a target."""
    changes = database_class(line.module).capabilities.changes
    inserted = line.run(
        "insert", "--workers=1", "--runs=1", "--batch=1000", "--quiet",
        f"--num-inserts={given.num_inserts}", *key_of(changes),
    )  # fmt: skip
    corrected = changed(line, changes.corrects, "--correct=10%")
    deleted = changed(line, changes.deletes, "--delete-oldest=50%", "--delete-steps=10")
    results = [json.loads(file.read_text()) for file in sorted(line.folder.glob("*-change-*"))]
    outcomes = [each["runs"][0]["outcome"] for each in results]
    sizes = [outcomes[-1][name] for name in ("size_before_bytes", "size_bytes")] if outcomes else []
    verdicts = {each["verdict"] for found in (corrected, deleted) for each in found}
    return (
        f"| {line.target} | {inserted['rows'][0]['rows_per_s']:,.0f}"
        f" | {figure(corrected, 'rows_per_s')} | {figure(deleted, 'rows_per_s')}"
        f" | {figure(deleted, 'p50_ms')} ms | {shrunk(*sizes)} | {', '.join(sorted(verdicts))} |"
    )


def key_of(changes: Changes) -> list[str]:
    """Return the option of a key by which rows can be corrected; the database's own comes first."""
    own = changes.keys - {PrimaryKey.CLIENT}
    return ["--primary-key=client"] if changes.corrects and not own else []


def changed(line: Line, how: str, *words: str) -> list[dict[str, Any]]:
    """Return the rows of a change; none if the database has no such change."""
    rows: list[dict[str, Any]] = []
    if how:
        rows = line.run("change", "--batch=1000", *words)["rows"]
    return rows


def figure(rows: list[dict[str, Any]], name: str) -> str:
    """Return a figure of a change."""
    return f"{rows[0][name]:,.0f}" if rows else "-"


def shrunk(before: int | None = None, after: int | None = None) -> str:
    """Return the size after a change, over that before."""
    return f"{after / before:.0%}" if before and after else "-"


if __name__ == "__main__":
    print_table(HEAD, row, __doc__, {"--num-inserts": "200000"})
