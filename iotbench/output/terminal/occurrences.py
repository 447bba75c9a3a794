"""Events in the timed part of a run other than batches, by second."""

from collections import Counter
from collections.abc import Iterator, Sequence

from iotbench.results.faults import Outage
from iotbench.results.result import RunRecord
from simulator.protocol.events import Occurrence, Outcome

_MOST_SECONDS = 6


def occurrences_of(outcome: Outcome) -> list[Occurrence]:
    """Return the server's own work and every failure in the order of time.

    A failure that workers report is in the middle of its second.
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
    """Return the occurrences of a run, with its faults and the changes of stored rows."""
    outcome = run.outcome
    began_s = outcome.released_s or 0.0
    ends = [
        Occurrence(at_s=at_s - began_s, what=f"{each.name} {what}")
        for worker in outcome.workers
        for each in worker.changes
        for at_s, what in ((each.started_s, "began"), (each.ended_s, "ended"))
    ]
    every = [*occurrences_of(outcome), *faults_of(run.outages), *ends]
    return sorted(every, key=lambda each: each.at_s)


def faults_of(outages: Sequence[Outage]) -> Iterator[Occurrence]:
    """Yield the beginning and end of faults, and the recovery of the rate."""
    for each in outages:
        yield Occurrence(at_s=each.began_s, what=each.fault, is_failure=True)
        yield Occurrence(at_s=each.undone_s, what=f"{each.fault}: undone")
        if each.recovery_s is not None:
            at_s = each.began_s + each.recovery_s
            yield Occurrence(at_s=at_s, what=f"{each.fault}: rate restored")


def seconds_text(found: Sequence[Occurrence]) -> str:
    """Return the seconds of occurrences, such as `at 3, 9 s`; of many, the first and the last."""
    seconds = [*dict.fromkeys(f"{each.at_s:.0f}" for each in found)]
    if len(seconds) <= _MOST_SECONDS:
        return f"at {', '.join(seconds)} s"
    return f"in {len(seconds)} seconds from {seconds[0]} s to {seconds[-1]} s"
