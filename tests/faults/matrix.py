"""Runs cells, a few at a time, each with servers of its own."""

import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.faults import judge, network, trial
from tests.faults.cells import TARGETS, Cell, cells
from tests.faults.trial import Broken, Missed, Seen
from tests.faults.worlds import SERVED
from tests.servers import SERVERS, NotInstalled, Server

_MOST_PASSED = 100_000


@dataclass(frozen=True)
class Judged:
    """A cell, and what is wrong with it."""

    cell: Cell
    problems: list[str]
    seen: Seen | None
    took_s: float

    @property
    def right(self) -> bool:
        return not self.problems


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
    """Whether a cell can be tried on this machine."""
    cuts = cell.place.victim == "collector" and cell.place.fault in ("cut", "blink")
    return cell.place.target not in skipped() and not (cuts and "network" in skipped())


def chosen(seed: int, count: int, wanted: Callable[[Cell], bool] = lambda _: True) -> list[Cell]:
    """Return the first cells of a seed that are wanted and possible."""
    found: list[Cell] = []
    for cell in cells(seed):
        if len(found) == count or cell.number > _MOST_PASSED:
            return found
        if wanted(cell) and possible(cell):
            found.append(cell)
    raise AssertionError("unreachable")


def judged(cell: Cell, slots: Slots, keep: Path | None = None) -> Judged:
    """Run a cell and judge it."""
    began = time.monotonic()
    seen = None
    try:
        seen = trial.run(cell, slots.server, keep)
        problems = judge.problems(cell, seen)
    except (Missed, Broken) as error:
        problems = [f"not tried: {error}"]
    except Exception:  # noqa: BLE001 - one broken cell must not end the matrix
        problems = [f"the harness failed: {traceback.format_exc()}"]
    return Judged(cell, problems, seen, time.monotonic() - began)


@contextmanager
def running(
    wanted: Sequence[Cell], at_once: int, keep: Path | None = None
) -> Iterator[dict[int, Future[Judged]]]:
    """Run cells in the background; yield the future of each, by its number."""
    slots = Slots()
    threads = ThreadPoolExecutor(at_once)
    try:
        yield {cell.number: threads.submit(judged, cell, slots, keep) for cell in wanted}
    finally:
        threads.shutdown(wait=True, cancel_futures=True)
        slots.close()


def run(wanted: Sequence[Cell], at_once: int, keep: Path | None = None) -> Iterator[Judged]:
    """Yield each cell as it is judged."""
    with running(wanted, at_once, keep) as futures:
        for future in as_completed(futures.values()):
            yield future.result()
