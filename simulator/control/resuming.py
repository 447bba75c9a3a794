"""Takes the place of a collector that was lost: replays the journal of the run."""

from collections.abc import Iterator
from typing import NamedTuple

from simulator import clock
from simulator.control.journal import Began, Entered, Ramped, Steadied, Stepped, TablesPrepared
from simulator.control.progress.follower import Follower
from simulator.control.workers.gate import Gate
from simulator.host import boot_id
from simulator.protocol.events import Occurrence


class Resumed(NamedTuple):
    """The progress of the run."""

    replaced_s: tuple[float, ...] = ()
    """Times at which collectors replaced lost ones, this one included."""
    prepared: TablesPrepared | None = None
    """None: the tables are not ready, and no worker has begun."""
    spent_s: float = 0.0
    """Time since the start of the run."""

    def occurrences(self, began_s: float) -> Iterator[Occurrence]:
        """Yield when collectors were replaced after the beginning."""
        for at_s in self.replaced_s:
            if at_s >= began_s:
                what = "collector replaced"
                yield Occurrence(at_s=round(at_s - began_s, 1), what=what, is_failure=True)


def resume(gate: Gate, follower: Follower) -> Resumed:
    """Bring a new collector to where the run is, and note that it has begun."""
    journal = gate.run.journal
    began: list[float] = []
    prepared = None
    for at_s, uid, what in journal.entries():
        match what:
            case Began():
                began.append(at_s)
                if what.boot_id == boot_id():  # the clock may have been set meanwhile
                    clock.adopt(what.ahead_s)
            case TablesPrepared():
                prepared = what
            case Entered() | Stepped() | Ramped():
                follower.restore(what)
            case Steadied():
                gate.run.measured_s = what.measured_s
            case _:
                gate.take(what, uid)
    journal.note(Began(boot_id=boot_id(), ahead_s=clock.ahead_s()))
    if not began:
        return Resumed()
    now_s = clock.now_s()
    return Resumed((*began[1:], now_s), prepared, now_s - began[0])
