"""The record of a search for the capacity of a target."""

from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from iotbench.machine.machine import Machine
from iotbench.plans.capacity.search import Bound, Level, bracket_of, knee_of
from iotbench.results.command import GivenCommand
from iotbench.results.result import FileBeside
from simulator.frozen import Frozen

FORMAT_VERSION: Literal[2] = 2


class Of(StrEnum):
    """The operations that a rate counts."""

    INSERTS = "inserts"
    QUERIES = "queries"

    @property
    def unit(self) -> str:
        """The unit of a rate."""
        return "rows/s" if self is Of.INSERTS else "queries/s"


class RateRecord(Frozen):
    """A rate, and what its repeats came to."""

    rate_per_s: float
    holds: bool
    held: int
    """Repeats that kept the schedule and met the objective."""
    repeats: int
    reached: Bound | None
    """Bound that most of the other repeats reached; None if the rate holds."""
    per_s: tuple[float, ...]
    """Acknowledged rows, or answers, of each repeat."""
    p50_ms: tuple[float, ...]
    p99_ms: tuple[float, ...]
    client_share: tuple[float, ...]
    sends: int
    """Batches of the shortest repeat."""


class Capacity(Frozen):
    """The curve of a target, and the rates between which its capacity lies."""

    kind: Literal["capacity"] = "capacity"
    format_version: Literal[2] = FORMAT_VERSION
    program_version: str
    sweep_id: str
    """The sweeps of its rates have ids that begin so."""
    created: datetime
    status: Literal["done", "failed", "interrupted"]
    cause: str = ""
    target: str
    module: str
    of: Of = Of.INSERTS
    objective: tuple[str, ...]
    """Conditions that a rate must meet, all of them."""
    configuration: dict[str, Any]
    command: GivenCommand | tuple[str, ...] = ()
    """Command, as in the result of a sweep."""
    machine: Machine
    unscheduled_per_s: tuple[float, ...] = ()
    """The same without a schedule, of each repeat."""
    rates: tuple[RateRecord, ...] = ()
    """Rates in the order of their measurement."""
    holds_per_s: float | None = None
    """The capacity: the highest rate that holds; None: none does."""
    fails_per_s: float | None = None
    """The lowest rate above it that does not hold; None: no rate was too high."""
    knee_per_s: float | None = None
    """Highest rate with a p99 of at most twice the p99 at the lowest rate."""
    bound: Bound | None = None
    """Bound that the rate above the capacity reached."""
    verdict: str = ""
    """The worst of all runs."""
    files: tuple[FileBeside, ...] = ()
    """The result files of the rates."""
    exit_code: int


def rate_record(level: Level) -> RateRecord:
    """Return the record of a rate."""
    trials = level.trials
    return RateRecord(
        rate_per_s=level.rate_per_s,
        holds=level.holds,
        held=level.held,
        repeats=len(trials),
        reached=level.reached,
        per_s=tuple(trial.per_s for trial in trials),
        p50_ms=tuple(trial.p50_ms for trial in trials),
        p99_ms=tuple(trial.p99_ms for trial in trials),
        client_share=tuple(trial.client_share for trial in trials),
        sends=min(trial.sends for trial in trials),
    )


def findings(levels: list[Level]) -> dict[str, Any]:
    """Return the conclusions from all rates, as fields of the record."""
    bracket, knee = bracket_of(levels), knee_of(levels)
    return {
        "rates": tuple(map(rate_record, levels)),
        "holds_per_s": bracket.holds and bracket.holds.rate_per_s,
        "fails_per_s": bracket.fails and bracket.fails.rate_per_s,
        "knee_per_s": knee and knee.rate_per_s,
        "bound": bracket.fails and bracket.fails.reached,
    }
