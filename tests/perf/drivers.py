"""What each vendor's driver costs: inserts by `--client driver` beside our own bytes, as a table.

    python tests/perf/drivers.py [TARGET ...] [--pairs 3] [--duration 5s] [--batch 1000]

Each server is started for it, with the settings of an installation. Both insert the same rows, in
turn, each first equally often; the ratio is the median over the pairs, with their range. All rows
are verified.
"""

import argparse
import sys
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.modules import database_class
from simulator.modules.contract import DRIVER
from tests.perf.on_servers import Line, print_table

HEAD = (
    "| Target | Own, rows/s | Client | Driver, rows/s | Client | Driver over own (range)"
    " | Verdict |\n|---|---|---|---|---|---|---|"
)


def inserted(line: Line, client: str, given: argparse.Namespace) -> dict[str, float | str]:
    """Return the row of an insert."""
    found = line.run(
        "insert", f"--client={client}", "--workers=1", "--runs=1", f"--batch={given.batch}",
        f"--duration={given.duration}", "--warmup=1s",
    )  # fmt: skip
    (row,) = found["rows"]
    return dict(row)


def row(line: Line, given: argparse.Namespace) -> str:
    """Return the row of a target."""
    if DRIVER not in database_class(line.module).capabilities.modes:
        raise RuntimeError(database_class(line.module).capabilities.no_driver)
    pairs = []
    for number in range(given.pairs):
        order = ("own", "driver") if number % 2 == 0 else ("driver", "own")
        both = {client: inserted(line, client, given) for client in order}
        pairs.append((both["own"], both["driver"]))
    rates = [(float(own["rows_per_s"]), float(other["rows_per_s"])) for own, other in pairs]
    ratios = sorted(other / own for own, other in rates)
    shares = [[float(each["client_share"]) for each in side] for side in zip(*pairs, strict=True)]
    verdicts = {str(each["verdict"]) for pair in pairs for each in pair}
    own, other = (median(side) for side in zip(*rates, strict=True))
    return (
        f"| {line.target} | {own:,.0f} | {median(shares[0]):.0%} | {other:,.0f}"
        f" | {median(shares[1]):.0%} | {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        f" | {', '.join(sorted(verdicts))} |"
    )


if __name__ == "__main__":
    print_table(HEAD, row, __doc__, {"--pairs": 3, "--duration": "5s", "--batch": "1000"})
