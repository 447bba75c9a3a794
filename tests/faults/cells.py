"""Cells: what happens to which process of which command on which target, and when.

Cell number N of a seed is the same whatever else is run, so that one can be repeated alone.
"""

import fnmatch
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

TARGETS = ("sqlite", "postgres", "influxdb")
"""InfluxDB is the HTTP database: it starts in a second, uses 80 MB, asks for a credential, and
syncs its log before it acknowledges, so that a kill may lose nothing."""

PHASES = {
    "insert": ("start", "init", "prefill", "barrier", "insert", "compact", "verify"),
    "query": ("start", "init", "barrier", "query", "verify"),
}
_HERE_ONLY = {"worker": ("start", "init", "prefill", "barrier", "insert", "query")}
"""Later, a worker only folds rows for the collector, and only if there are more than a cell has."""
_FAULTS = {
    "command": ("kill", "stop", "pause"),
    "collector": ("kill", "stop", "pause", "cut", "blink"),
    "worker": ("kill", "stop", "pause", "cut"),
    "server": ("kill", "stop", "pause", "cut", "reset"),
}
"""kill: SIGKILL. stop: SIGSTOP, for ever. pause: SIGSTOP, then SIGCONT. cut: nothing passes any
more (collector: between it and its workers; worker, server: to the database). blink: cut for a
while. reset: all connections are reset, and new ones refused for a while."""
_DELAY_S = {"start": 0.5, "init": 0.5, "prefill": 1.2, "insert": 2.5, "query": 1.2}
_OTHER_DELAY_S = 0.4
TIMEOUT_S = 12
"""--timeout where only it can end the run: a database that does not answer may be slow."""
SHORT_S = 10.0
"""A shorter pause must do no harm."""


@dataclass(frozen=True)
class Place:
    """A kind of cell."""

    target: str
    command: str
    phase: str
    victim: str
    fault: str

    def __str__(self) -> str:
        return f"{self.target}/{self.victim}/{self.fault}/{self.phase} of {self.command}"

    def matches(self, only: str) -> bool:
        """Return whether TARGET/VICTIM/FAULT/PHASE matches; parts may be missing or wildcards."""
        parts = only.split("/")
        own = (self.target, self.victim, self.fault, self.phase)
        return all(fnmatch.fnmatch(o, p or "*") for o, p in zip(own, parts, strict=False))


@dataclass(frozen=True)
class Cell:
    """One cell, with everything that is drawn for it."""

    seed: int
    number: int
    place: Place
    workers: int
    runs: int
    run: int
    """The run in which the fault happens."""
    batch: int
    rate: int
    rows: int
    """Of each worker."""
    prefill: int
    verify: str
    before: bool
    """True if an earlier insert has left rows and a result."""
    delay_s: float
    """From the beginning of the phase."""
    pause_s: float
    """How long a pause, a blink or a reset lasts; how long a stopped command line lives."""
    index: int
    """Of the victim among the workers."""
    then: str
    """The command after the fault, before the next insert."""

    def __str__(self) -> str:
        return f"{self.number} {self.place}"

    @property
    def waits_for_timeout(self) -> bool:
        """True if only --timeout can end the run."""
        place = self.place
        silent = place.fault == "cut" or (place.victim == "server" and place.fault == "stop")
        return silent and place.victim in ("server", "worker")

    @property
    def planned(self) -> int:
        """Rows that an undisturbed run stores."""
        return self.prefill + self.workers * self.rows

    @property
    def length_s(self) -> float:
        """The longest time of the whole sweep without a fault, on a busy machine."""
        return 20.0 * self.runs


def places() -> list[Place]:
    """Return every kind of cell."""
    found = []
    for target, (command, phases), (victim, faults) in itertools.product(
        TARGETS, PHASES.items(), _FAULTS.items()
    ):
        if target == "sqlite" and victim == "server":
            continue
        for phase, fault in itertools.product(phases, faults):
            if phase not in _HERE_ONLY.get(victim, phases):
                continue
            if fault == "cut" and victim == "worker" and (target == "sqlite" or phase == "start"):
                continue
            if fault in ("cut", "blink") and victim == "collector" and phase == "verify":
                continue  # the workers have ended
            if (command, phase, victim) == ("query", "verify", "collector"):
                continue  # over in milliseconds: no fault comes in time
            if fault in ("cut", "blink") and victim == "collector" and phase == "compact":
                continue
            found.append(Place(target, command, phase, victim, fault))
    return found


def cells(seed: int) -> Iterator[Cell]:
    """Yield the cells of a seed without end, spread evenly over victims, faults and targets."""
    groups: dict[tuple[str, str], dict[str, list[Place]]] = {}
    for place in places():
        group = groups.setdefault((place.victim, place.fault), {})
        group.setdefault(place.target, []).append(place)
    turns = []
    for name in sorted(groups):
        rng = Random(f"{seed}/{name}")
        by_target = [rng.sample(group, len(group)) for group in groups[name].values()]
        rng.shuffle(by_target)
        mixed = itertools.chain.from_iterable(itertools.zip_longest(*by_target))
        turns.append(itertools.cycle([place for place in mixed if place]))
    numbers = itertools.count(1)
    for turn in itertools.count():
        for drawn in Random(f"{seed}/{turn}").sample(turns, len(turns)):
            number = next(numbers)
            yield _drawn(seed, number, next(drawn))


_LOADS = {0: (100, 400), 10: (500, 2000), 100: (1000, 5000), 1000: (5000, 20_000)}
"""Batch -> rows/s."""
_UNLIMITED = {"sqlite": 300_000, "postgres": 200_000, "influxdb": 80_000}
"""Rows of about two seconds, without a rate."""


def _drawn(seed: int, number: int, place: Place) -> Cell:
    rng = Random(f"{seed}/{number}/cell")
    workers = rng.choice((1, 2, 3))
    if place.victim == "worker" and place.phase == "barrier":
        workers = max(workers, 2)  # the other one is late
    batch = rng.choice(list(_LOADS))
    rate = rng.randint(*_LOADS[batch])
    timed = place.phase == "insert"
    rows = int(rate * (rng.uniform(4, 6) if timed else rng.uniform(0.5, 1)) / workers)
    if timed and rng.random() < 0.25:
        batch, rate, rows = 100, 0, _UNLIMITED[place.target] // workers
    prefill = rng.choice((0, 2000))
    if place.phase == "prefill":
        prefill = 40_000
    elif place.command == "query":
        prefill = 60_000 if place.target == "sqlite" else 20_000
    elif place.phase == "barrier" and workers == 1:
        prefill = 0  # the only worker is the late one: it would be stopped in the prefill
    elif place.phase == "verify":
        prefill = 200_000 if place.target == "sqlite" else 20_000
    runs = 1 if place.command == "query" else rng.choice((1, 1, 2))
    long = place.fault in ("pause", "blink") and rng.random() < 0.25
    pause_s = rng.uniform(16, 20) if long else rng.uniform(0.3, 6)
    delay_s = rng.uniform(0, _DELAY_S.get(place.phase, _OTHER_DELAY_S))
    return Cell(
        seed=seed,
        number=number,
        place=place,
        workers=workers,
        runs=runs,
        run=1 if place.phase == "start" else rng.randint(1, runs),
        batch=batch,
        rate=rate,
        rows=max(rows, batch, 1),
        prefill=prefill,
        verify="full" if place.phase == "verify" else rng.choice(("full", "counts")),
        before=place.command == "query" or rng.random() < 0.5,
        delay_s=delay_s,
        pause_s=round(pause_s, 2),
        index=0 if place.phase == "barrier" else rng.randrange(workers),
        then=rng.choice(("query", "verify")),
    )
