"""`python -m tests.faults`: runs the matrix and prints it; exit code 1 if any cell is wrong."""

import argparse
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from tests.faults import judge
from tests.faults.cells import TARGETS, Cell
from tests.faults.matrix import Judged, chosen, run, skipped

_CELLS = 200
_AT_ONCE = 3


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, help="seed of the matrix; default: a random one")
    parser.add_argument("--cells", type=int, default=_CELLS, help="how many cells (%(default)s)")
    parser.add_argument("--cell", type=int, metavar="N", help="repeat one cell of --seed")
    text = "cells of one kind; parts may be missing or have wildcards, as in */worker/kill"
    parser.add_argument("--only", metavar="TARGET/VICTIM/FAULT/PHASE", default="", help=text)
    parser.add_argument("--at-once", type=int, default=_AT_ONCE, help="cells at once (%(default)s)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the folders of the cells")
    parser.add_argument("--list", action="store_true", help="list the cells and run none")
    parser.add_argument("--verbose", action="store_true", help="print what each cell showed")
    return parser.parse_args()


def repeats(cell: Cell) -> str:
    """Return the command that repeats a cell."""
    return f"python -m tests.faults --seed {cell.seed} --cell {cell.number}"


def _word(judged: Judged) -> str:
    return "missed" if judged.missed else "ok    " if judged.right else "WRONG "


def line_of(judged: Judged) -> str:
    """Return a line about a cell."""
    cell, seen = judged.cell, judged.seen
    words = [f"{_word(judged)} {cell}"]
    if seen:
        words.append(f"in {seen.at.phase} of run {cell.run}/{cell.runs}")
        words.append(f"ended after {judge.ended_after_s(seen):.1f} s" if seen.ended_at else "hung")
        cause = seen.result.cause if seen.result else ""
        words.append(f"exit {seen.done.code}" + (f": {cause[:140]}" if cause else ""))
    return ", ".join([*words, f"{judged.took_s:.0f} s"])


def details(judged: Judged) -> str:
    """Return what is wrong with a cell, and how to repeat it."""
    lines = [f"      {problem}" for problem in judged.problems or [judged.missed]]
    return "\n".join([*lines, f"      {repeats(judged.cell)}"])


def table(done: Sequence[Judged]) -> str:
    """Return cells tried and right, by victim and fault, and by target."""
    tried: Counter[tuple[str, str]] = Counter()
    right: Counter[tuple[str, str]] = Counter()
    for judged in (each for each in done if not each.missed):
        place = judged.cell.place
        kind = (f"{place.victim} {place.fault}", place.target)
        tried[kind] += 1
        right[kind] += judged.right
    names = sorted({name for name, _ in tried})
    lines = [f"{'right/tried':<18}" + "".join(f"{target:>12}" for target in TARGETS)]
    for name in names:
        pairs = [(right[name, target], tried[name, target]) for target in TARGETS]
        cells = [f"{r}/{t}" if t else "-" for r, t in pairs]
        lines.append(f"{name:<18}" + "".join(f"{cell:>12}" for cell in cells))
    return "\n".join(lines)


def main() -> int:
    """Run the matrix; return the exit code."""
    for number in (signal.SIGINT, signal.SIGTERM):  # also where the parent ignores the first
        signal.signal(number, signal.default_int_handler)
    arguments = _arguments()
    if arguments.cell and arguments.seed is None:
        sys.exit("--cell: needs the --seed of the matrix")
    seed = random.randrange(1, 10**6) if arguments.seed is None else arguments.seed
    for name, why in skipped().items():
        print(f"skipped: {name}: {why}")

    def wanted(cell: Cell) -> bool:
        if arguments.cell:
            return bool(cell.number == arguments.cell)
        return cell.place.matches(arguments.only)

    count = 1 if arguments.cell else arguments.cells
    print(f"seed {seed}: {count} cells, {arguments.at_once} at once", flush=True)
    picked = chosen(seed, wanted)
    if arguments.list:
        print("\n".join(map(repr if arguments.verbose else str, islice(picked, count))))
        return 0
    return tried(seed, picked, count, arguments)


def tried(seed: int, picked: Iterator[Cell], count: int, arguments: argparse.Namespace) -> int:
    """Run the cells and print them; return the exit code."""
    began, done = time.monotonic(), []
    try:
        for judged in run(picked, count, arguments.at_once, arguments.keep):
            done.append(judged)
            print(line_of(judged), flush=True)
            if not judged.right:
                print(details(judged), flush=True)
            if arguments.verbose:
                print(judged.cell, judged.seen, sep="\n", flush=True)
    except KeyboardInterrupt:
        print("interrupted", flush=True)
    missed = [judged for judged in done if judged.missed]
    faults = [judged for judged in done if not judged.missed]
    wrong = [judged for judged in faults if not judged.right]
    print(f"\n{table(done)}\n")
    for judged in sorted(wrong, key=lambda each: each.cell.number):
        print(f"WRONG {judged.cell}: {judged.problems[0].splitlines()[0]}")
        print(f"      {repeats(judged.cell)}")
    took_s = time.monotonic() - began
    print(
        f"seed {seed}: {len(faults)} tried, {len(faults) - len(wrong)} right,"
        f" {len(missed)} missed (no fault: the phase was over each time) in {took_s:.0f} s"
    )
    return 1 if wrong or len(faults) < count else 0


if __name__ == "__main__":
    sys.exit(main())
