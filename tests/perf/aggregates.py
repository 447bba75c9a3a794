"""What aggregates that a database keeps cost, and how far they lag behind, as a table.

    python tests/perf/aggregates.py [TARGET ...] [--duration 20s] [--insert-rate 2000]
        [--address timescaledb_aggregates=postgresql://...] [--extra-option aggregate_refresh_s=1]

Each server is started for it, with the settings of an installation. The same rows are inserted by
one worker without and with aggregates by tags and second, and by minute; then both sets are asked
for statistics of each device. At last one worker inserts at a low rate and another asks the
aggregates as fast as it can: the lag is the time from the acknowledgement of a row until they have
it.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.modules import database_class
from tests.perf.on_servers import Line, print_table

HEAD = (
    "| Target | Inserted without, rows/s | With | Query of rows | Of aggregates | Size with"
    " | Lag, median | 99th percentile | Verdict |\n|---|---|---|---|---|---|---|---|---|"
)
KEPT = "--extra-option=aggregate_intervals_s=1,60"
ROWS = ("--workers=1", "--runs=1", "--batch=1000", "--quiet")
STATS = ("--types=temperature-stats-per-device", "--runs=20", "--align")


def row(line: Line, given: argparse.Namespace) -> str:
    """Return the row of a target."""
    number = f"--num-inserts={given.num_inserts}"
    more = [f"--extra-option={each}" for each in given.extra_option.split() if each]
    without = line.run("insert", *ROWS, number, "--extra-option=aggregate_intervals_s=")
    of_rows = line.run("query", *STATS, "--extra-option=aggregate_intervals_s=")
    kept = line.run("insert", *ROWS, number, KEPT, *more)
    of_kept = line.run("query", *STATS, KEPT, *more)
    lag = "- | -"
    verdicts = {
        each["verdict"] for one in (without, of_rows, kept, of_kept) for each in one["rows"]
    }
    if database_class(line.module).capabilities.max_workers != 1:
        mixed = line.run(
            "mixed", "--fresh=10m", "--align", KEPT, *more, "--batch=100", "--types=fresh-count",
            f"--duration={given.duration}", f"--insert-rate={given.insert_rate}", "--warmup=2s",
        )  # fmt: skip
        count = next(each for each in mixed["rows"] if each.get("query") == "fresh-count")
        lag = f"{count['freshness_p50_ms']:,.1f} ms | {count['freshness_p99_ms']:,.1f} ms"
        verdicts |= {each["verdict"] for each in mixed["rows"]}
    results = [json.loads(each.read_text()) for each in sorted(line.folder.glob("*-insert-*"))]
    before, after = (each["runs"][0]["outcome"]["size_bytes"] for each in results)
    return (
        f"| {line.target} | {_rate(without)} | {_rate(kept)} | {_wait(of_rows)} | {_wait(of_kept)}"
        f" | {after / before:.0%} | {lag}"
        f" | {', '.join(sorted(verdicts))} |"
    )


def _rate(found: dict[str, Any]) -> str:
    return f"{found['rows'][0]['rows_per_s']:,.0f}"


def _wait(found: dict[str, Any]) -> str:
    return f"{found['rows'][0]['p50_ms']:,.1f} ms"


if __name__ == "__main__":
    options = {
        "--num-inserts": "1000000", "--duration": "15s", "--insert-rate": "2000",
        "--extra-option": "",
    }  # fmt: skip
    print_table(HEAD, row, __doc__, options, ("clickhouse_embedded", "questdb"))
