"""What many connections cost the client: `--connections` of `insert` or `query`, as a table.

    python tests/perf/connections.py [TARGET ...] [--workers 16] [--connections 625] [--rate 500]
        [--ask newest-per-device]

Each server is started for it, with the settings of an installation. Single rows are inserted at a
low rate, in turn over all connections; with --ask, that query is asked so about 20,000 rows. Client
memory is the sum of the workers' peaks: what they share, such as the interpreter, counts for each.
"""

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.perf.on_servers import Line, print_table

HEAD = (
    "| Target | Connections | Opened in, median | 99th percentile | Rows or queries/s"
    " | Latency, median | 99th percentile | Client memory | Verdict |\n"
    "|---|---|---|---|---|---|---|---|---|"
)


RAISED, MOST = ("mysql_innodb", "mysql_myisam", "mariadb"), 20_000
"""Targets whose server takes so many connections, by --setup."""


def row(line: Line, given: argparse.Namespace) -> str:
    """Return the row of a target."""
    setup = line.folder / "setup.sql"
    setup.write_text(f"SET GLOBAL max_connections = {MOST};\n")
    raised = [f"--setup={setup}"] if line.target in RAISED else []
    load = [f"--workers={given.workers}", f"--connections={given.connections}",
            f"--rate={given.rate}", f"--duration={given.duration}", "--force"]  # fmt: skip
    if given.ask:
        line.run("insert", "--num-inserts=20000", "--workers=1", "--runs=1", *raised)
        found = line.run("query", f"--types={given.ask}", *load)
    else:
        found = line.run("insert", "--runs=1", *raised, *load)
    kind = "query" if given.ask else "insert"
    result = json.loads(max(line.folder.glob(f"*-{kind}-*.json")).read_text())
    if result["status"] != "done":
        raise RuntimeError(result["cause"])
    (one,), run = found["rows"], result["runs"][0]
    rate = one["queries_per_s" if given.ask else "rows_per_s"]
    connections = given.workers * given.connections
    memory = sum(each["memory_peak_bytes"] for each in run["outcome"]["workers"])
    return (
        f"| {line.target} | {connections:,} | {one['connect_p50_ms']:,.1f} ms"
        f" | {one['connect_p99_ms']:,.1f} ms | {rate:,.0f} | {one['p50_ms']:,.1f} ms"
        f" | {one['p99_ms']:,.1f} ms | {memory / 1e9:.2f} GB | {one['verdict']} |"
    )


if __name__ == "__main__":
    options = {
        "--workers": 16,
        "--connections": 625,
        "--rate": "500",
        "--duration": "20s",
        "--ask": "",
    }
    print_table(HEAD, row, __doc__, options)
