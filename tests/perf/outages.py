"""What faults do to each database: `insert --fault`, as a table.

    python tests/perf/outages.py [TARGET ...] [--duration 60s] [--rate 4000]

Each server is started for it, with the settings of an installation. Two workers insert at a rate
that every database keeps up with, in batches of 100 rows. The database is paused for 3 s, or
killed and started again after 1 s; every row is accounted for.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.perf.on_servers import PLACES, Line, print_table
from tests.servers.restarting import restarter

HEAD = (
    "| Target | Fault | Down | Without acknowledgement | Rate, latency back after | p99 meanwhile, otherwise"
    " | Acknowledged | Lost | Unknown: stored, not | Stored twice | Durable | Verdict |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|"
)
FAULTS = {"pause-database": "3s", "kill-database": "1s"}
EMBEDDED = ("sqlite", "duckdb", "clickhouse_embedded")


def rows(line: Line, given: argparse.Namespace) -> str:
    """Return the rows of a target."""
    if not line.server:
        raise RuntimeError("is part of the workers, or runs elsewhere")
    found = []
    with restarter(line.folder, line.server.start) as command:
        for fault, length in FAULTS.items():
            words = (f"--fault={fault}", "--at=30%", f"--for={length}")
            words += (f"--restart-with={command}",) * (fault == "kill-database")
            printed = line.run(
                "insert", "--workers=2", "--runs=1", "--batch=100", f"--rate={given.rate}",
                f"--duration={given.duration}", "--quiet", *words,
            )  # fmt: skip
            result = json.loads(max(line.folder.glob("*-insert-*.json")).read_text())
            if printed["status"] != "done":
                raise RuntimeError(f"{fault}: {result['cause']}")
            found.append(_row(line.target, result["runs"][0]))
    return "\n".join(found)


def _row(target: str, run: dict) -> str:
    (outage,), outcome = run["outages"], run["outcome"]
    accounts = outcome["verdict"]["accounts"]
    durable = {True: "yes", False: "no", None: "not said"}[outcome["server"]["durable"]]
    back = ", ".join(
        f"{outage[name]:.1f} s" if outage[name] is not None else "not in the run"
        for name in ("recovery_s", "settled_s")
    )
    return (
        f"| {target} | {outage['fault']} | {outage['undone_s'] - outage['began_s']:.1f} s"
        f" | {outage['silent_s']:.1f} s | {back}"
        f" | {outage['p99_inside_ms'] or 0:,.0f} ms, {outage['p99_outside_ms'] or 0:,.0f} ms"
        f" | {accounts['kept'] + accounts['lost']:,} | {accounts['lost']:,}"
        f" | {accounts['present']:,}, {accounts['absent']:,} | {accounts['doubled']:,}"
        f" | {durable} | {outcome['verdict']['status']} |"
    )


if __name__ == "__main__":
    servers = tuple(name for name in PLACES if name not in EMBEDDED)
    print_table(HEAD, rows, __doc__, {"--duration": "60s", "--rate": "4000"}, servers)
