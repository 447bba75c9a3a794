"""This checkout beside another: drawing and encoding, in pairs.

    git worktree add ../before COMMIT
    python tests/perf/pairs.py ../before [PAIRS]

Each checkout has a process, both on one core. They do the same short piece of work in turns, so
that a machine whose speed changes changes both; they start again now and then, as a process keeps
its own speed. A ratio is the CPU time of the other checkout / of this one: above 1, this one is
faster. Each line is the median of the pairs with its 95 % interval. Two equal checkouts show how
much the machine adds by itself.
"""

import gc
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Self

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2]))

from simulator.data.schema import Type
from simulator.data.walks import Precision
from simulator.host import keep_freed_memory
from tests.perf import encode, walks, wide

ROOT = Path(__file__).resolve().parents[2]
PAIRS = 100
STARTS = 10
SINGLE_ROWS_BLOCKS = 1
BATCH_BLOCKS = 4
_SERVE = "--serve"


def work() -> dict[str, Callable[[], object]]:
    """Return the pieces of work by name."""
    found: dict[str, Callable[[], object]] = {}
    drawn = encode.blocks(1000)[:BATCH_BLOCKS]
    for rows, blocks in ((encode.BATCH_ROWS, drawn), (1, drawn[:SINGLE_ROWS_BLOCKS])):
        for name, encoder in encode.encoders().items():
            found[f"{name}, batches of {rows}"] = partial(_encode, encoder, blocks, rows)
    for kind in (Type.INT64, Type.FLOAT64):
        blocks = wide.blocks(kind)
        for name, encoder in wide.encoders(blocks[0].table).items():
            rows = wide.BATCH_ROWS
            found[f"{name}, wide, {kind}"] = partial(_encode, encoder.encode, blocks, rows)
    for precision in Precision:
        fleet = walks.fleet(100, precision)
        for table in fleet.tables:
            rows = walks.ROWS // 2 + np.arange(walks.BLOCK_ROWS)
            found[f"draw {table.name}, {precision}"] = partial(fleet.draw, table, rows)
    return found


def _encode(encoder: Callable, blocks: list, rows: int) -> None:
    for block in blocks:
        encoder(block, rows)


def serve() -> None:
    """Do each piece of work that is named on standard input, and print its nanoseconds."""
    keep_freed_memory()
    pieces = work()
    for piece in pieces.values():
        piece()
    print("\t".join(pieces), flush=True)
    gc.freeze()
    gc.disable()
    for line in sys.stdin:
        start = time.thread_time_ns()
        pieces[line.rstrip("\n")]()
        print(time.thread_time_ns() - start, flush=True)


class Checkout:
    """A process that does the work of one checkout."""

    def __init__(self, root: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, root / "tests/perf/pairs.py", _SERVE],
            cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.pieces = self._line().split("\t")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()

    def _line(self) -> str:
        assert self._process.stdout
        return self._process.stdout.readline().rstrip("\n")

    def spent_ns(self, piece: str) -> int:
        """Do a piece of work; return its CPU time."""
        assert self._process.stdin
        print(piece, file=self._process.stdin, flush=True)
        return int(self._line())


def interval(ratios: list[float]) -> tuple[float, float]:
    """Return the 95 % interval of the median, from the order of the values alone."""
    ordered, half = sorted(ratios), 0.98 * len(ratios) ** 0.5
    middle = len(ratios) / 2
    return ordered[max(int(middle - half), 0)], ordered[min(int(middle + half), len(ratios) - 1)]


def main() -> None:
    before = Path(sys.argv[1])
    pairs = int(sys.argv[2]) if len(sys.argv) > 2 else PAIRS
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    ratios: dict[str, list[float]] = {}
    for _ in range(STARTS):
        with Checkout(before) as old, Checkout(ROOT) as new:
            ratios |= {each: [] for each in new.pieces if each in old.pieces and each not in ratios}
            for number in range(pairs // STARTS):
                for piece in random.sample([*ratios], len(ratios)):
                    order = (old, new) if number % 2 else (new, old)
                    spent_ns = {side: side.spent_ns(piece) for side in order}
                    ratios[piece].append(spent_ns[old] / spent_ns[new])
    print(f"{'work':<34}  ratio  95 % interval, {pairs} pairs")
    for piece, found in ratios.items():
        low, high = interval(found)
        print(f"{piece:<34}{median(found):7.3f}  {low:.3f} to {high:.3f}")
    medians = [median(each) for each in ratios.values()]
    print(f"{'all':<34}{median(medians):7.3f}  {min(medians):.3f} to {max(medians):.3f} (medians)")


if __name__ == "__main__":
    serve() if sys.argv[1:] == [_SERVE] else main()
