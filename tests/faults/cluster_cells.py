"""Cells on the test cluster: what happens to which pod, node or connection, and when."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

LIMIT_S = 20.0
NODE_LIMIT_S = 60.0
"""A lost node is known after two missed renewals of its lease; then workers have 10 s to report
what they wrote, and pods 12 s to end."""
API_LIMIT_S = 90.0
"""A command line gives up an API server that has not answered for a minute."""
ROWS, RATE, PREFILL = 10_000, 1000, 40_000
PHASES = {"start": 1.0, "init": 0.3, "insert": 5.0, "verify": 0.5}
"""Phase -> the longest delay of a fault from its beginning."""
_ONLY = {"worker": ("start", "init", "insert")}
"""A worker ends after the timed part."""
FAULTS = {
    "collector": ("delete", "kill", "kill-process", "crash"),
    "worker": ("delete", "kill", "crash"),
    "database": ("delete",),
    "command": ("kill", "pause"),
    "api": ("cut", "blink"),
}
"""delete: the pod. kill: its container, or the command line. kill-process: what works in the
container, and not what watches over it. crash: its node. pause: SIGSTOP, then SIGCONT. cut: the
command line does not reach the API server any more. blink: the same for some seconds."""
HARMLESS = ("blink", "pause", "kill-process")


@dataclass(frozen=True)
class ClusterCell:
    """One cell on the cluster."""

    seed: int
    number: int
    victim: str
    fault: str
    phase: str
    delay_s: float
    pause_s: float
    then: str
    """The command after the fault, before the next insert."""

    def __str__(self) -> str:
        return f"{self.number} cluster/{self.victim}/{self.fault}/{self.phase}"

    @property
    def limit_s(self) -> float:
        """How soon after the fault the command must have ended."""
        if self.fault in HARMLESS:
            return LIMIT_S + self.pause_s + ROWS / RATE
        return {"crash": NODE_LIMIT_S, "cut": API_LIMIT_S}.get(self.fault, LIMIT_S)

    @property
    def may_survive(self) -> bool:
        """True if the run may be whole after the fault."""
        just_before = self.phase == "verify"  # the last answer may have come just before
        restarted = self.victim == "database"  # workers connect again, if it is back soon
        return self.fault in HARMLESS or just_before or restarted


def cells(seed: int) -> Iterator[ClusterCell]:
    """Yield the cells of a seed without end, every kind of fault in turn."""
    kinds = [(victim, fault) for victim, faults in FAULTS.items() for fault in faults]
    turns = {}
    for kind in kinds:
        phases = _ONLY.get(kind[0], tuple(PHASES))
        turns[kind] = itertools.cycle(Random(f"{seed}/{kind}").sample(phases, len(phases)))
    numbers = itertools.count(1)
    for turn in itertools.count():
        for victim, fault in Random(f"{seed}/{turn}").sample(kinds, len(kinds)):
            number = next(numbers)
            rng = Random(f"{seed}/{number}/cell")
            phase = next(turns[victim, fault])
            yield ClusterCell(
                seed=seed,
                number=number,
                victim=victim,
                fault=fault,
                phase=phase,
                delay_s=rng.uniform(0, PHASES[phase]),
                pause_s=rng.uniform(2, 8),
                then=rng.choice(("query", "verify")),
            )
