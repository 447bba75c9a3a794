"""Runs cells, a few at a time, each with servers of its own."""

import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path

from tests.faults import judge, network, trial
from tests.faults.cells import TARGETS, Cell, cells
from tests.faults.trial import Broken, Missed, Seen
from tests.faults.worlds import SERVED
from tests.servers import SERVERS, NotInstalled, Server

_MOST_PASSED = 100_000
MOST_MISSED = 20
"""One cell in so many may be missed: its phase was over before the fault in every try."""


@dataclass(frozen=True)
class Judged:
    """A cell, and what is wrong with it."""

    cell: Cell
    problems: list[str]
    seen: Seen | None
    took_s: float
    missed: str = ""
    """Why there was no fault: the phase was over too soon each time."""

    @property
    def right(self) -> bool:
        return not (self.problems or self.missed)


class Slots:
    """The servers of each thread, started when first needed."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[Server] = []

    def server(self, name: str) -> Server:
        """Return this thread's running server."""
        mine: dict[str, Server] = self._own.__dict__.setdefault("servers", {})
        if name not in mine:
            mine[name] = SERVERS[name]().__enter__()
            self._all.append(mine[name])
        mine[name].start()
        return mine[name]

    def close(self) -> None:
        """Stop all servers."""
        for server in self._all:
            server.close()


@cache
def skipped() -> dict[str, str]:
    """Return what cannot be tried on this machine, and why: a target, or `network`."""
    found = {}
    for target in TARGETS:
        if target in SERVED:
            try:
                SERVERS[SERVED[target][0]].installed()
            except NotInstalled as error:
                found[target] = str(error)
    if why := network.unavailable():
        found["network"] = why
    return found


def possible(cell: Cell) -> bool:
    """Return whether a cell can be tried on this machine."""
    cuts = cell.place.victim == "collector" and cell.place.fault in ("cut", "blink")
    return cell.place.target not in skipped() and not (cuts and "network" in skipped())


def chosen(seed: int, wanted: Callable[[Cell], bool] = lambda _: True) -> Iterator[Cell]:
    """Yield the cells of a seed that are wanted and possible, in their order."""
    for cell in islice(cells(seed), _MOST_PASSED):
        if wanted(cell) and possible(cell):
            yield cell


def judged(cell: Cell, slots: Slots, keep: Path | None = None) -> Judged:
    """Run a cell and judge it."""
    began = time.monotonic()
    seen, missed, problems = None, "", []
    try:
        seen = trial.run(cell, slots.server, keep)
        problems = judge.problems(cell, seen)
    except Missed as error:
        missed = str(error)
    except Broken as error:
        problems = [f"not tried: {error}"]
    except Exception:  # noqa: BLE001 - one broken cell must not end the matrix
        problems = [f"the harness failed: {traceback.format_exc()}"]
    return Judged(cell, problems, seen, time.monotonic() - began, missed)


class Pool:
    """Cells that run in the background, and the future of each by its number."""

    def __init__(self, at_once: int, keep: Path | None) -> None:
        self.futures: dict[int, Future[Judged]] = {}
        self._slots, self._keep = Slots(), keep
        self._threads = ThreadPoolExecutor(at_once)

    def submit(self, cell: Cell) -> Future[Judged]:
        """Run a cell as soon as a thread is free."""
        future = self._threads.submit(judged, cell, self._slots, self._keep)
        self.futures[cell.number] = future
        return future

    def close(self) -> None:
        """Wait for the running cells, drop the others, and stop the servers."""
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._slots.close()


@contextmanager
def running(wanted: Sequence[Cell], at_once: int, keep: Path | None = None) -> Iterator[Pool]:
    """Run cells in the background."""
    pool = Pool(at_once, keep)
    try:
        for cell in wanted:
            pool.submit(cell)
        yield pool
    finally:
        pool.close()


def run(
    wanted: Iterator[Cell], count: int, at_once: int, keep: Path | None = None
) -> Iterator[Judged]:
    """Yield each cell as it is judged, until `count` of them had a fault.

    The next cell takes the place of a missed one, as long as few are missed.
    """
    with running(list(islice(wanted, count)), at_once, keep) as pool:
        pending, spare = set(pool.futures.values()), count // MOST_MISSED
        while pending:
            done, pending = wait(pending, return_when=FIRST_COMPLETED)
            for found in (future.result() for future in done):
                yield found
                if found.missed and spare:
                    spare -= 1
                    pending |= {pool.submit(cell) for cell in islice(wanted, 1)}
