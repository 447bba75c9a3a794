"""How often `compare` errs: pairs of equal sweeps, and sweeps that were made 10 % slower.

    python tests/perf/compare.py [TARGET ...] [--pairs 10] [--runs N] [--seconds 2]

Each pair is two sweeps of the same thing, one after the other, and a third one whose batches take a
ninth longer (tests/perf/slowed.py). Of 30 pairs, 10 on each target, at most 2 may come out as
anything but noise, and of the slowed ones at least 27 must be found slower than the sweep before.
Stop other work on the machine first.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import yaml

from cli.compare.comparison import Judgement, compared
from cli.compare.sides import Side
from cli.kinds import summary_of
from cli.planning.options import DEFAULT_RUNS
from cli.results.result import Result
from tests.perf.pipeline import insert
from tests.servers import SERVERS

PLAIN = {"null": "null", "sqlite": "sqlite", "postgres": "postgres"}
SLOWED = {name: f"tests.perf.slowed:Slowed{name.title()}" for name in PLAIN}
FIRST_ROWS = 20_000
MOST_ALARMS, LEAST_FOUND = 2 / 30, 27 / 30
HEAD = "| Target | Runs | Spread | Equal, not noise | Slowed, found |\n|---|---|---|---|---|"


@contextmanager
def reached(target: str, folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the options of the target's module; its server runs meanwhile."""
    if target == "postgres":
        SERVERS[target].install()
        with SERVERS[target]() as server, server.database() as database:
            yield server.options(database)
    else:
        yield {"path": str(folder / "bench.db")} if target == "sqlite" else {"encode": "pgcopy"}


class Trials:
    """Sweeps of one target, plain and slowed."""

    def __init__(self, folder: Path, target: str, options: Mapping[str, Any], runs: int) -> None:
        self._folder, self._runs = folder, runs
        self._config = folder / "config.yaml"
        own = {"runner": "local", **options}
        targets = {
            "plain": {"module": PLAIN[target], **own},
            "slowed": {"module": SLOWED[target], **own},
        }
        self._config.write_text(yaml.safe_dump({"targets": targets}))
        self.rows = FIRST_ROWS

    def sweep(self, target: str, runs: int | None = None) -> Result:
        """Return the result of a sweep."""
        return insert(
            self._folder, f"--target={target}", "--workers=1", "--batch=1000",
            f"--runs={runs or self._runs}", f"--num-inserts={self.rows}", config=self._config,
        )  # fmt: skip

    def size(self, seconds: float) -> None:
        """Choose the number of rows, so that the timed part of a run takes this long."""
        for _ in range(2):
            metrics = self.sweep("plain", runs=1).runs[0].metrics
            assert metrics
            self.rows = max(int(metrics.rows_per_s * seconds), FIRST_ROWS)


def judgement(base: Result, other: Result) -> Judgement | None:
    """Return what `compare` says of two results with one row."""
    sides = [Side(((Path(each.sweep_id), each),)) for each in (base, other)]
    (row,) = compared(*sides).rows
    return row.lines[0].judgement


def counted(trials: Trials, pairs: int) -> tuple[int, int, float]:
    """Return how many equal pairs are not noise, how many slowed ones are found, and the spread."""
    alarms = found = 0
    spreads = []
    for _ in range(pairs):
        first, second = trials.sweep("plain"), trials.sweep("plain")
        slowed = trials.sweep("slowed")
        alarms += judgement(first, second) is not Judgement.NOISE
        found += judgement(second, slowed) is Judgement.SLOWER
        spreads.append(summary_of(first).rows[0].figures["rows_per_s"].spread or 0.0)
    return alarms, found, median(spreads)


def main() -> None:
    """Print a row for each target; exit with 1 if too many judgements are wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(PLAIN)}")
    parser.add_argument("--pairs", type=int, default=10, help="of each target")
    parser.add_argument("--runs", type=int, default=DEFAULT_RUNS, help="of each sweep")
    parser.add_argument("--seconds", type=float, default=2.0, help="timed part of each run")
    given = parser.parse_args()
    targets = given.targets or list(PLAIN)
    if unknown := set(targets) - PLAIN.keys():
        parser.error(f"no such target: {', '.join(sorted(unknown))}; known: {', '.join(PLAIN)}")
    all_alarms = all_found = 0
    print(HEAD, flush=True)
    for target in targets:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            with reached(target, folder) as options:
                trials = Trials(folder, target, options, given.runs)
                trials.size(given.seconds)
                alarms, found, spread = counted(trials, given.pairs)
        all_alarms, all_found = all_alarms + alarms, all_found + found
        shown = f"{spread:.1%} | {alarms} of {given.pairs} | {found} of {given.pairs}"
        print(f"| {target} | {given.runs} | {shown} |", flush=True)
    pairs = given.pairs * len(targets)
    sys.exit(int(all_alarms > MOST_ALARMS * pairs or all_found < LEAST_FOUND * pairs))


if __name__ == "__main__":
    main()
