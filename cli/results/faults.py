"""Faults in results: when they were, and what they did to the acknowledgements. Pure."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from simulator.protocol.events import Outcome
from simulator.protocol.messages import WorkerReport
from simulator.protocol.sketch import BUCKETS, quantile_ms

RECOVERED = 0.95
"""Part of the rate before a fault that is reached again."""
_OVER_S = 3
"""Seconds over which a rate is compared with that before."""
_Interval = tuple[float, float]


class Injected(BaseModel):
    """A fault, by the collector's clock."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fault: str
    began_s: float
    undone_s: float
    """When a paused database went on, or the command that starts it again had ended."""
    problem: str = ""
    """Why it could not be made, or undone."""


class Outage(BaseModel):
    """A fault, and what it did. Instants are in seconds since the common start."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    fault: str
    began_s: float
    undone_s: float
    silent_s: float
    """The longest time without any acknowledgement that overlaps with it or follows it."""
    first_after_s: float
    """From its end to the first acknowledgement after that."""
    recovery_s: float | None
    """From its beginning until 95 % of the rate before was reached again, over 3 s or what is left
    of the run; None: not within the run."""
    rows_per_s_before: float
    p99_inside_ms: float | None
    """Of the batches that were due from its beginning until the rate was back."""
    p99_outside_ms: float | None
    """Of all batches of the measured part that were due in no such time."""


def outages_of(outcome: Outcome, injected: Sequence[Injected]) -> tuple[Outage, ...]:
    """Return what each fault did to the inserts of a run."""
    workers = [each for each in outcome.workers if each.rows]
    start_s = outcome.released_s
    if start_s is None or not workers or not injected:
        return ()
    rates = _rates(workers)
    silent = [(began - start_s, ended - start_s) for began, ended in _silences(workers)]
    begins = [each.began_s - start_s for each in injected]
    measured_s = min(each.started_s or start_s for each in workers) - start_s
    from_s = [measured_s, *begins]
    ended_s = max(each.ended_s or start_s for each in workers) - start_s
    until_s = [*begins[1:], ended_s]
    spans = [
        _recovery(rates, silent, before_s, began_s, end_s)
        for before_s, began_s, end_s in zip(from_s, begins, until_s, strict=False)
    ]
    inside = [(int(begins[n]), int(ended)) for n, (ended, _, _) in enumerate(spans)]
    sketches = _Sketches(workers, int(measured_s))
    outside_ms = sketches.p99_outside_ms(inside)
    found = []
    for each, span, within, limit_s in zip(injected, spans, inside, until_s, strict=True):
        began_s, undone_s = each.began_s - start_s, each.undone_s - start_s
        ended_s, before, is_back = span
        mine = [gap for gap in silent if gap[1] > began_s and gap[0] < limit_s]
        after = (end - undone_s for begin, end in mine if begin <= undone_s < end)
        found.append(
            Outage(
                fault=each.fault,
                began_s=began_s,
                undone_s=undone_s,
                silent_s=max((end - begin for begin, end in mine), default=0.0),
                first_after_s=next(after, 0.0),
                recovery_s=ended_s - began_s if is_back else None,
                rows_per_s_before=before,
                p99_inside_ms=sketches.p99_inside_ms(within),
                p99_outside_ms=outside_ms,
            )
        )
    return tuple(found)


def _recovery(
    rates: NDArray[np.int64],
    silent: Sequence[_Interval],
    from_s: float,
    began_s: float,
    until_s: float,
) -> tuple[float, float, bool]:
    """Return when the rate is back, the rate before, and whether it is back in this time."""
    before = rates[int(np.ceil(from_s)) : int(began_s)]
    rate = float(before.mean()) if len(before) else 0.0
    quiet_until_s = max(
        (end for begin, end in silent if begin < until_s and end > began_s), default=began_s
    )
    last = int(until_s)  # what follows is no whole second
    for second in range(int(np.ceil(quiet_until_s)), last):
        if rates[second : min(second + _OVER_S, last)].mean() >= RECOVERED * rate:
            return float(second), rate, True
    return until_s, rate, False


def _rates(workers: Sequence[WorkerReport]) -> NDArray[np.int64]:
    """Return the rows that all workers had acknowledged in each second since the common start."""
    total = np.zeros(max(len(each.rows_by_second) for each in workers), np.int64)
    for each in workers:
        total[: len(each.rows_by_second)] += np.asarray(each.rows_by_second, np.int64)
    return total


def _silences(workers: Sequence[WorkerReport]) -> list[_Interval]:
    """Return when no worker had an acknowledgement, of the longest such times of each."""
    found: list[_Interval] = [(silence.began_s, silence.ended_s) for silence in workers[0].silences]
    for worker in workers[1:]:
        mine = [(each.began_s, each.ended_s) for each in worker.silences]
        found = [*_common(found, mine)]
    return found


def _common(ones: Sequence[_Interval], others: Sequence[_Interval]) -> Iterator[_Interval]:
    for begin, end in ones:
        for other_begin, other_end in others:
            both = max(begin, other_begin), min(end, other_end)
            if both[0] < both[1]:
                yield both


class _Sketches:
    """How long batches took, by the second in which they were due."""

    def __init__(self, workers: Sequence[WorkerReport], first: int) -> None:
        """Leave the seconds before the `first` out, which are those of the warm-up."""
        last = max((s for each in workers for s, _, _ in each.waits_by_second), default=0)
        self._counts = np.zeros((last + 1, BUCKETS), np.int64)
        for worker in workers:
            for second, bucket, count in worker.waits_by_second:
                self._counts[second, bucket] += count
        self._counts[:first] = 0

    def p99_inside_ms(self, span: tuple[int, int]) -> float | None:
        """Return that of the seconds from the first one to the last one, which is left out."""
        return quantile_ms(self._counts[span[0] : max(span[1], span[0] + 1)].sum(axis=0), 0.99)

    def p99_outside_ms(self, spans: Sequence[tuple[int, int]]) -> float | None:
        """Return that of all other seconds."""
        kept = np.ones(len(self._counts), np.bool_)
        for begin, end in spans:
            kept[begin : max(end, begin + 1)] = False
        return quantile_ms(self._counts[kept].sum(axis=0), 0.99)
