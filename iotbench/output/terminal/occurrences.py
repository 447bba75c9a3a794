"""Finds events in the timed part of a run, other than batches."""

from collections import Counter
from collections.abc import Sequence

from iotbench.results.result import RunRecord
from simulator.protocol.events import Occurrence, Outcome

_MOST_SECONDS = 6


def occurrences_of(outcome: Outcome) -> list[Occurrence]:
    """Return the server's own work and all failures in chronological order.

    A failure in the report of a worker is placed in the middle of its second.
    """
    failures: Counter[tuple[int, str]] = Counter()
    for worker in outcome.workers:
        for each in worker.failures:
            failures[each.second, each.what.value] += each.count
    of_workers = [
        Occurrence(at_s=second + 0.5, what=what, count=count, is_failure=True)
        for (second, what), count in failures.items()
    ]
    return sorted([*outcome.occurrences, *of_workers], key=lambda each: each.at_s)


def marks_of(run: RunRecord) -> list[Occurrence]:
    """Return the occurrences of a run, including faults and changes of stored rows."""
    outcome = run.outcome
    began_s = outcome.released_s or 0.0
    ends = [
        Occurrence(at_s=at_s - began_s, what=f"{each.name} {what}")
        for worker in outcome.workers
        for each in worker.changes
        for at_s, what in ((each.started_s, "began"), (each.ended_s, "ended"))
    ]
    for each in run.outages:
        ends.append(Occurrence(at_s=each.began_s, what=each.fault, is_failure=True))
        ends.append(Occurrence(at_s=each.undone_s, what=f"{each.fault}: undone"))
        if each.recovery_s is not None:
            at_s = each.began_s + each.recovery_s
            ends.append(Occurrence(at_s=at_s, what=f"{each.fault}: rate restored"))
    return sorted([*occurrences_of(outcome), *ends], key=lambda each: each.at_s)


def format_seconds(found: Sequence[Occurrence]) -> str:
    """Return the times of occurrences, such as `at 3, 9 s`; of many, only the first and last."""
    seconds = [*dict.fromkeys(f"{each.at_s:.0f}" for each in found)]
    if len(seconds) <= _MOST_SECONDS:
        return f"at {', '.join(seconds)} s"
    return f"in {len(seconds)} seconds from {seconds[0]} s to {seconds[-1]} s"
