"""What faults do to each database: `insert --fault`, as a table.

    python tests/perf/outages.py [TARGET ...] [--duration 60s] [--rate 4000]

Each server is started for it, with the settings of an installation. Two workers insert at a rate
that every database keeps up with, in batches of 100 rows. The database is paused for 3 s, or
killed and started again after 1 s; every row is accounted for. Where this user may mount a disk,
the server's files are on one that loses its power: what was not synced is gone.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.perf.on_servers import PLACES, Line, print_table
from tests.servers import power
from tests.servers.base import Server
from tests.servers.power import Disk
from tests.servers.restarting import restarter

HEAD = (
    "| Target | Fault | Down | Without acknowledgement | Rate, latency back after"
    " | p99 meanwhile, otherwise | Acknowledged | Lost | Unknown: stored, not"
    " | Stored twice, never sent | Durable | Verdict |\n"
    "|---|---|---|---|---|---|---|---|---|---|---|---|"
)
PAUSE, KILL, POWER = "pause-database", "kill-database", "power cut"
EMBEDDED = ("sqlite", "duckdb", "clickhouse_embedded")


def rows(line: Line, given: argparse.Namespace) -> str:
    """Return the rows of a target."""
    server = line.server
    if not server:
        raise RuntimeError("is part of the workers, or runs elsewhere")
    with restarter(line.folder, partial(start, line.disk, server)) as command:
        again = f"--restart-with={command}"
        found = [measured(line, given, PAUSE, "--fault=pause-database", "--for=3s")]
        found.append(measured(line, given, KILL, "--fault=kill-database", "--for=1s", again))
        if line.disk:
            Timer(5, line.disk.sync).start()  # the tables are there
            found.append(measured(line, given, POWER, "--fault=restart-database", again))
    return "\n".join(found)


def start(disk: Disk | None, server: Server) -> None:
    """Start a server that was killed; take the power from one that runs, before."""
    if disk and server.running:
        power.cut(disk, server)
    else:
        server.start()


def measured(line: Line, given: argparse.Namespace, fault: str, *words: str) -> str:
    """Return the row of a fault."""
    printed = line.run(
        "insert", "--workers=2", "--runs=1", "--batch=100", f"--rate={given.rate}", "--at=30%",
        f"--duration={given.duration}", "--quiet", *words,
    )  # fmt: skip
    result = json.loads(max(line.folder.glob("*-insert-*.json")).read_text())
    if printed["status"] != "done":
        return f"| {line.target} | {fault} | {result['cause']} |" + " |" * 9
    return _row(line.target, fault, result["runs"][0])


def _row(target: str, fault: str, run: dict[str, Any]) -> str:
    (outage,), outcome = run["outages"], run["outcome"]
    accounts = outcome["verdict"]["accounts"]
    durable = {True: "yes", False: "no", None: "not said"}[outcome["server"]["durable"]]
    back = ", ".join(
        f"{outage[name]:.1f} s" if outage[name] is not None else "not in the run"
        for name in ("recovery_s", "settled_s")
    )
    return (
        f"| {target} | {fault} | {outage['undone_s'] - outage['began_s']:.1f} s"
        f" | {outage['silent_s']:.1f} s | {back}"
        f" | {outage['p99_inside_ms'] or 0:,.0f} ms, {outage['p99_outside_ms'] or 0:,.0f} ms"
        f" | {accounts['kept'] + accounts['lost']:,} | {accounts['lost']:,}"
        f" | {accounts['present']:,}, {accounts['absent']:,}"
        f" | {accounts['doubled']:,}, {accounts['foreign']:,}"
        f" | {durable} | {outcome['verdict']['status']} |"
    )


if __name__ == "__main__":
    servers = tuple(name for name in PLACES if name not in EMBEDDED)
    options = {"--duration": "60s", "--rate": "4000"}
    print_table(HEAD, rows, __doc__, options, servers, on_disk=True)
