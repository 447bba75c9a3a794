"""How often `compare` errs on databases: equal sides, and sides that were made 10 % slower.

    python tests/perf/compare.py [TARGET ...] [--minutes 15] [--seconds 1] [--folder FOLDER]

The repeats of a plan are rounds of three inserts of one run: two that are equal, and one whose
batches take a ninth longer (tests/perf/slowed.py). Pairs of sides are drawn from them: some rounds
that follow each other, and in each of these which of the equal inserts is of which side. Results
are kept in the folder, and the same command goes on; another folder begins again.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np
import yaml

from iotbench.comparison.comparison import CONFIDENCE, NOISE
from iotbench.comparison.statistics import difference
from iotbench.results.result_files import read
from simulator.errors import Interrupted
from tests.servers import SERVERS

ROOT = Path(__file__).parents[2]
PLAIN = {"null": "null", "sqlite": "sqlite", "duckdb": "duckdb", "postgres": "postgres"}
SLOWED = {name: f"tests.perf.slowed:Slowed{name.title()}" for name in PLAIN}
SIDES = ("base", "equal", "slower")
"""Targets of the plan; every other round is backwards."""
MOST_ROUNDS, PORT = 300, 42_300
DRAWN = 3000
"""Pairs of sides; the share of wrong calls is then known to within 0.8 %."""
PAIRS = (3, 5, 7, 10, 15)
"""Rounds of a pair of sides."""
MOST_ALARMS = 0.05
HEAD = "| Target | Rounds | A run varies by | " + " | ".join(f"{n} pairs" for n in PAIRS) + " |"


@contextmanager
def reached(target: str, folder: Path) -> Iterator[Mapping[str, Any]]:
    """Yield the options of the target's module; its server runs meanwhile."""
    if target == "postgres":
        SERVERS[target].install()
        server = SERVERS[target]()
        server.first_port = PORT  # items are found again by the options of their target
        with server:
            server.create_database("judged")
            yield server.options("judged")
    else:
        yield {"encode": "pgcopy"} if target == "null" else {"path": str(folder / "bench.db")}


class Rounds:
    """Rounds of a target, which are the repeats of a plan: two equal inserts, and a slower one."""

    def __init__(self, folder: Path, target: str) -> None:
        self._folder, self._target = (folder / target).resolve(), target
        self._folder.mkdir(parents=True, exist_ok=True)

    def measure(self, seconds: float, run_s: float) -> None:
        """Measure rounds for some seconds; those that were measured before stay."""
        with reached(self._target, self._folder) as options:
            own = {"runner": "local", **options}
            modules = (PLAIN[self._target], PLAIN[self._target], SLOWED[self._target])
            targets = {name: {"module": module, **own}
                       for name, module in zip(SIDES, modules, strict=True)}  # fmt: skip
            insert = {"workload": "iot", "workers": 1, "batch": 1000, "duration": f"{run_s:g}s"}
            plan = {"name": "judged", "targets": [*SIDES], "repeats": MOST_ROUNDS,
                    "settings": [{"name": "equal", "insert": insert}]}  # fmt: skip
            for name, content in (("config", {"targets": targets}), ("plan", plan)):
                (self._folder / f"{name}.yaml").write_text(yaml.safe_dump(content))
            command = [sys.executable, str(ROOT / "run.py"), "run", str(self._folder / "plan.yaml"),
                       f"--config={self._folder / 'config.yaml'}", f"--output={self._folder}",
                       "--quiet", f"--stop-after={seconds:.0f}s"]  # fmt: skip
            done = subprocess.run(command, check=False, capture_output=True, text=True)
            assert done.returncode in {0, Interrupted.exit_code}, done.stderr

    @cached_property
    def rates(self) -> list[tuple[float, ...]]:
        """The rates of whole rounds, in the order of SIDES."""
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in SIDES}
        for path in self._folder.glob("*-insert-*.json"):
            result = read(path)
            for run in result.runs if result.status == "done" else ():
                if run.metrics:
                    began_s = result.created.timestamp()
                    found[result.target].append((began_s, run.metrics.rows_per_s))
        sides = ([rate for _, rate in sorted(found[name])] for name in SIDES)
        return list(zip(*sides, strict=False))

    @property
    def spread(self) -> float:
        """The standard deviation of the equal inserts over their mean."""
        values = [rate for each in self.rates for rate in each[:2]]
        return stdev(values) / fmean(values)


def is_called(base: Sequence[float], other: Sequence[float]) -> bool:
    """Return whether sides in turns are called different."""
    sides = [[[rate] for rate in side] for side in (base, other)]
    found = difference(sides[0], sides[1], CONFIDENCE, in_turns=True)
    return found is not None and found.exceeds(NOISE)


def shares(rates: Sequence[Sequence[float]], pairs: int) -> tuple[float, float] | None:
    """Return the shares of equal sides called different, and of slower ones; None: too few.

    Fewer than twice the rounds of a side would draw the same rounds again and again.
    """
    if len(rates) < 2 * pairs:
        return None
    source = np.random.default_rng(20261128)
    alarms = found = 0
    for _ in range(DRAWN):
        first = int(source.integers(len(rates) - pairs + 1))
        rounds = rates[first : first + pairs]
        swaps = source.integers(2, size=pairs)
        base = [each[swap] for each, swap in zip(rounds, swaps, strict=True)]
        other = [each[1 - swap] for each, swap in zip(rounds, swaps, strict=True)]
        alarms += is_called(base, other)
        slower = [each[2] for each in rounds]
        found += is_called(base, slower) and fmean(slower) < fmean(base)
    return alarms / DRAWN, found / DRAWN


def row(target: str, rounds: Rounds) -> tuple[str, bool]:
    """Return a row of the table, and whether no design errs too often."""
    cells, is_right = [], True
    for pairs in PAIRS:
        got = shares(rounds.rates, pairs)
        is_right &= got is None or got[0] <= MOST_ALARMS
        cells.append("-" if got is None else f"{got[0]:.1%} / {got[1]:.0%}")
    head = f"| {target} | {len(rounds.rates)} | {rounds.spread:.1%} |"
    return f"{head} {' | '.join(cells)} |", is_right


def main() -> None:
    """Print a row for each target; exit with 1 if equal sides are called different too often."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(PLAIN)}")
    parser.add_argument("--minutes", type=float, default=15.0, help="of all targets; 0: print only")
    parser.add_argument("--seconds", type=float, default=1.0, help="timed part of each insert")
    parser.add_argument("--folder", type=Path, default=Path("results/judged"), help="of the rates")
    given = parser.parse_args()
    targets = given.targets or list(PLAIN)
    if unknown := set(targets) - PLAIN.keys():
        parser.error(f"no such target: {', '.join(sorted(unknown))}; known: {', '.join(PLAIN)}")
    given.folder.mkdir(parents=True, exist_ok=True)
    print(f"{HEAD}\n{'|---' * (3 + len(PAIRS))}|", flush=True)
    all_right = True
    for target in targets:
        rounds = Rounds(given.folder, target)
        if given.minutes:
            rounds.measure(60 * given.minutes / len(targets), given.seconds)
        if len(rounds.rates) > 1:
            line, is_right = row(target, rounds)
            all_right &= is_right
            print(line, flush=True)
    sys.exit(int(not all_right))


if __name__ == "__main__":
    main()
