"""What faults do to each database: `insert --fault`, as a table.

    python tests/perf/outages.py [TARGET ...] [--duration 60s] [--rate 4000] [--fault "power cut"]
        [--option translog_durability=async]

Each server is started for it, with the settings of an installation. Two workers insert at a rate
that every database keeps up with, in batches of 100 rows. The database is paused for 3 s, or
killed and started again after 1 s, or the workers are killed, and others go on after 1 s; every
row is accounted for. Where this user may mount a disk, the server's files are on one that loses its
power: what was not synced is gone. --fault measures one of these, --option with an option of the
target.
"""

import argparse
import json
import sys
from functools import partial
from pathlib import Path
from threading import Timer
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.modules import database_class
from tests.perf.on_servers import Line, print_table
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
PAUSE, KILL, WORKER, POWER = "pause-database", "kill-database", "kill-worker", "power cut"


def rows(line: Line, given: argparse.Namespace) -> str:
    """Return the rows of a target."""
    server = line.server
    faults = {WORKER: ("--fault=kill-worker", "--for=1s")}
    if not server:
        return measured(line, given, WORKER, *faults[WORKER])
    with restarter(line.folder, partial(start, line.disk, server)) as command:
        again = f"--restart-with={command}"
        faults |= {  # after a kill, the target's own command restarts the server
            PAUSE: ("--fault=pause-database", "--for=3s"),
            KILL: ("--fault=kill-database", "--for=1s"),
            POWER: ("--fault=restart-database", again),
        }
        wanted = [PAUSE, KILL, WORKER] + [POWER] * bool(line.disk)
        found = []
        for fault in wanted:
            if given.fault not in ("", fault):
                continue
            if fault == POWER and line.disk:
                Timer(5, line.disk.sync).start()  # the tables are there
            found.append(measured(line, given, fault, *faults[fault]))
    return "\n".join(found)


def start(disk: Disk | None, server: Server) -> None:
    """Start a server that was killed; take the power from one that runs, before."""
    if disk and server.running:
        power.cut(disk, server)
    else:
        server.start()


def measured(line: Line, given: argparse.Namespace, fault: str, *words: str) -> str:
    """Return the row of a fault."""
    workers = database_class(line.module).capabilities.max_workers or 2
    printed = line.run(
        "insert", f"--workers={workers}", "--runs=1", "--batch=100", f"--rate={given.rate}",
        "--at=30%", f"--duration={given.duration}", "--quiet", *words,
        *[f"--extra-option={given.option}"] * bool(given.option),
    )  # fmt: skip
    target = f"{line.target} ({given.option})" if given.option else line.target
    result = json.loads(max(line.folder.glob("*-insert-*.json")).read_text())
    if printed["status"] != "done":
        return f"| {target} | {fault} | {result['cause']} |" + " |" * 9
    return _row(target, fault, result["runs"][0])


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
    options = {"--duration": "60s", "--rate": "4000", "--fault": "", "--option": ""}
    print_table(HEAD, rows, __doc__, options, on_disk=True)
