"""The search for the capacity of a target: the choice of the next rate, and the record.

The search measures the rates of the curve first, then bisects above the highest rate that holds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from statistics import fmean
from typing import Any, Literal

from iotbench.figures.figures import spread_of
from iotbench.figures.numbers import significant
from iotbench.machine.machine import Machine
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.results.command import GivenCommand
from iotbench.results.result import FileBeside
from simulator.frozen import Frozen

CURVE = (0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
"""Rates to measure first, as shares of the rate without a schedule."""
KEPT_UP = 0.97
"""Minimum share of the rate that a repeat must reach to keep the schedule."""
_STEP_UP, _STEPS_UP = 1.25, 4
_STEP_DOWN = 0.25
_KNEE = 2.0


class Bound(StrEnum):
    """The bound that a failing rate reached first."""

    DATABASE = "database"
    """Batches waited for the database, so the schedule was not kept."""
    CLIENT = "client"
    """The workers were busy drawing and encoding, so the schedule was not kept."""
    OBJECTIVE = "objective"
    """The schedule was kept, but the objective was not met."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One repeat at one rate."""

    per_s: float
    """Acknowledged rows/s, or answers/s."""
    p50_ms: float
    p99_ms: float
    client_share: float
    met: bool
    """True if the objective was met."""
    sends: int = 0
    unsent: int = 0
    """Number of batches or queries that were due but did not begin before the end."""


class RateRecord(Frozen):
    """A rate, and the outcome of repeats at this rate."""

    rate_per_s: float
    holds: bool
    """True if most repeats held."""
    held: int
    """Number of repeats that kept the schedule and met the objective."""
    repeats: int
    reached: Bound | None
    """Bound that most of the failing repeats reached; None if the rate holds."""
    per_s: tuple[float, ...]
    """Acknowledged rows/s, or answers/s, of each repeat."""
    p50_ms: tuple[float, ...]
    p99_ms: tuple[float, ...]
    client_share: tuple[float, ...]
    sends: int
    """Number of batches in the shortest repeat."""
    unsent: tuple[int, ...] = ()
    """Number of batches or queries in each repeat that were due but did not begin before the end;
    empty in older results.
    """

    @property
    def mean_p99_ms(self) -> float:
        """Mean p99 of the repeats, in ms."""
        return fmean(self.p99_ms)


def _find_bound(rate_per_s: float, trial: Trial) -> Bound | None:
    """Return the bound that a repeat reached; None if the repeat held."""
    if trial.per_s < KEPT_UP * rate_per_s:
        return Bound.CLIENT if trial.client_share > 0.5 else Bound.DATABASE
    return None if trial.met else Bound.OBJECTIVE


def rate_record(rate_per_s: float, trials: Sequence[Trial]) -> RateRecord:
    """Return the record of a rate with its repeats."""
    bounds = [_find_bound(rate_per_s, trial) for trial in trials]
    held = bounds.count(None)
    holds = 2 * held > len(trials)
    return RateRecord(
        rate_per_s=rate_per_s,
        holds=holds,
        held=held,
        repeats=len(trials),
        reached=None if holds else max(Bound, key=bounds.count),
        per_s=tuple(trial.per_s for trial in trials),
        p50_ms=tuple(trial.p50_ms for trial in trials),
        p99_ms=tuple(trial.p99_ms for trial in trials),
        client_share=tuple(trial.client_share for trial in trials),
        sends=min(trial.sends for trial in trials),
        unsent=tuple(trial.unsent for trial in trials),
    )


@dataclass(frozen=True, slots=True)
class Bracket:
    """The highest rate that holds, and the next higher rate, which does not hold."""

    holds: RateRecord | None
    fails: RateRecord | None


def bracket_of(rates: Sequence[RateRecord]) -> Bracket:
    """Return the bracket; failures below the highest rate that holds count as chance."""
    holding = [rate for rate in rates if rate.holds]
    best = max(holding, key=lambda rate: rate.rate_per_s, default=None)
    least = best.rate_per_s if best else 0.0
    above = [rate for rate in rates if not rate.holds and rate.rate_per_s > least]
    return Bracket(best, min(above, key=lambda rate: rate.rate_per_s, default=None))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The limits and the precision of the search for a capacity."""

    ceiling_per_s: float
    """Rate reached without a schedule."""
    lowest_per_s: float
    """Minimum rate with enough batches for a percentile."""
    tolerance: float
    """Maximum width of the bracket, as a share of the upper rate, from 0 to 1."""


def next_rate(bounds: Bounds, rates: Sequence[RateRecord]) -> float | None:
    """Return the next rate to measure; None once the bracket is narrow enough."""
    tried = {rate.rate_per_s for rate in rates}
    lowest = _round(bounds.lowest_per_s)
    for share in CURVE:
        rate = max(_round(share * bounds.ceiling_per_s), lowest)
        if rate not in tried:
            return rate
    bracket = bracket_of(rates)
    if bracket.holds is None:
        lower = max(_round(min(tried) * _STEP_DOWN), lowest)
        return lower if lower not in tried else None
    low = bracket.holds.rate_per_s
    if bracket.fails is None:
        beyond = sum(rate > _round(bounds.ceiling_per_s) for rate in tried)
        return _round(low * _STEP_UP) if beyond < _STEPS_UP else None
    high = bracket.fails.rate_per_s
    middle = _round((low + high) / 2)
    narrow = high - low <= bounds.tolerance * high or middle in tried
    return None if narrow else middle


def knee_of(rates: Sequence[RateRecord]) -> RateRecord | None:
    """Return the highest rate with a p99 of at most twice the p99 at the lowest rate."""
    ordered = sorted(rates, key=lambda rate: rate.rate_per_s)
    found = None
    for rate in ordered:
        is_slow = rate.mean_p99_ms > _KNEE * ordered[0].mean_p99_ms
        if is_slow or rate.reached not in {None, Bound.OBJECTIVE}:
            break
        found = rate
    return found


def _round(rate: float) -> float:
    """Return a rate with three significant digits, at least 1."""
    return max(float(f"{rate:.3g}"), 1.0)


class Of(StrEnum):
    """The operations that a rate counts."""

    INSERTS = "inserts"
    QUERIES = "queries"

    @property
    def unit(self) -> str:
        """The unit of a rate."""
        return "rows/s" if self is Of.INSERTS else "queries/s"


class Capacity(Frozen):
    """The curve of a target, and the rates between which the capacity lies."""

    kind: Literal["capacity"] = "capacity"
    format_version: Literal[2] = 2
    program_version: str
    sweep_id: str
    """Beginning of the IDs of the sweeps."""
    created: datetime
    status: Literal["done", "failed", "interrupted"]
    cause: str = ""
    target: str
    module: str
    of: Of = Of.INSERTS
    objective: tuple[str, ...]
    """Conditions, all of which a rate must meet."""
    configuration: dict[str, Any]
    command: GivenCommand | tuple[str, ...] = ()
    """Command, in the form that results of sweeps have."""
    machine: Machine
    unscheduled_per_s: tuple[float, ...] = ()
    """Rate without a schedule, of each repeat."""
    rates: tuple[RateRecord, ...] = ()
    """Rates in the order of their measurement."""
    holds_per_s: float | None = None
    """The capacity, which is the highest rate that holds; None: no rate holds."""
    fails_per_s: float | None = None
    """Lowest rate above the capacity that does not hold; None: no rate was too high."""
    knee_per_s: float | None = None
    """Highest rate with a p99 of at most twice the p99 at the lowest rate."""
    bound: Bound | None = None
    """Bound that the rate above the capacity reached."""
    verdict: str = ""
    """Worst verdict of all runs."""
    files: tuple[FileBeside, ...] = ()
    """The result files of the rates."""
    exit_code: int


def findings(rates: Sequence[RateRecord]) -> dict[str, Any]:
    """Return the conclusions from all rates, as fields of the record."""
    bracket, knee = bracket_of(rates), knee_of(rates)
    return {
        "rates": tuple(rates),
        "holds_per_s": bracket.holds and bracket.holds.rate_per_s,
        "fails_per_s": bracket.fails and bracket.fails.rate_per_s,
        "knee_per_s": knee and knee.rate_per_s,
        "bound": bracket.fails and bracket.fails.reached,
    }


_FEW_SENDS = 100
_REMEDIES = {
    Bound.DATABASE: "the database: the schedule was not kept, because due work waited for it; more"
    " --workers may reach more, if they waited for answers",
    Bound.CLIENT: "the client: the workers were busy drawing and encoding; use more --workers, or"
    " more machines",
    Bound.OBJECTIVE: "the objective: the schedule was kept, and answers took longer than that",
}


def format_record(record: Capacity, path: str, width: int) -> str:
    """Return a record as text that fits a width."""
    curve: list[TextTable | str] = [_draw_curve(record), ""] if record.rates else []
    return draw([*curve, *_list_findings(record, path)], width)


def _draw_curve(record: Capacity) -> TextTable:
    table = TextTable()
    unit = record.of.unit
    ranked = {f"Rate\n{unit}": 0, f"Reached\n{unit}": 0, "p50\nms": 1, "p99\nms": 4}
    ranked |= {"Unsent": 3, "Client": 2, "Held": 0}
    for title, drop in ranked.items():
        table.add_column(title, drop=drop)
    table.add_column("Reached first", CellKind.TEXT)
    for rate in sorted(record.rates, key=lambda rate: rate.rate_per_s):
        table.add_row(
            f"{rate.rate_per_s:,.0f}",
            f"{fmean(rate.per_s):,.0f}",
            significant(fmean(rate.p50_ms)),
            significant(fmean(rate.p99_ms)),
            f"{sum(rate.unsent):,}" if rate.unsent else "-",
            f"{fmean(rate.client_share):.1%}",
            f"{rate.held} of {rate.repeats}",
            rate.reached.value if rate.reached else "-",
        )
    return table


def _list_findings(record: Capacity, path: str) -> Iterator[str]:
    objective = " and ".join(record.objective)
    if record.status != "done":
        yield f"capacity {record.status}: {record.cause}"
    elif record.holds_per_s is None:
        yield f"no rate was found at which {record.target} keeps {objective}"
    else:
        unit = record.of.unit
        yield f"capacity of {record.target}: {record.holds_per_s:,.0f} {unit} keep {objective}"
        if record.fails_per_s is None or record.bound is None:
            yield "no rate above it was too high; the true capacity lies higher"
        else:
            failing = f"{record.fails_per_s:,.0f} {unit} do not hold"
            yield f"{failing}; bound by {_REMEDIES[record.bound]}"
    if record.knee_per_s is not None:
        yield (
            f"knee: up to {record.knee_per_s:,.0f} {record.of.unit}, p99 is at most twice that of"
            " the lowest rate"
        )
    if record.unscheduled_per_s:
        rates = record.unscheduled_per_s
        spread = spread_of(rates)
        known = "one run" if spread is None else f"spread {spread:.1%} of {len(rates)} runs"
        yield f"without a schedule: {fmean(rates):,.0f} {record.of.unit} ({known})"
    few = min((rate.sends for rate in record.rates), default=_FEW_SENDS)
    if few < _FEW_SENDS:
        what = "batches" if record.of is Of.INSERTS else "answers"
        yield (
            f"note: the shortest repeat has {few} {what}, so p99 is its slowest one;"
            " use a longer --duration, or smaller batches"
        )
    if record.verdict:
        runs = len(record.unscheduled_per_s) + sum(rate.repeats for rate in record.rates)
        yield f"verdict: {record.verdict}, the worst of {runs} runs"
    yield f"result file: {path}"
