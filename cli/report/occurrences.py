"""What happened in the timed part of a run besides its batches, by second."""

from collections import Counter
from collections.abc import Sequence

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


def marks_of(outcome: Outcome) -> list[Occurrence]:
    """Return the same, and when rows that were stored before were changed."""
    began_s = outcome.released_s or 0.0
    ends = [
        Occurrence(at_s=at_s - began_s, what=f"{each.name} {what}")
        for worker in outcome.workers
        for each in worker.changes
        for at_s, what in ((each.started_s, "began"), (each.ended_s, "ended"))
    ]
    return sorted([*occurrences_of(outcome), *ends], key=lambda each: each.at_s)


def unlisted_failures(outcome: Outcome) -> int:
    """Return how many failures came after those that the workers list."""
    return sum(worker.more_failures for worker in outcome.workers)


def seconds_text(found: Sequence[Occurrence]) -> str:
    """Return the seconds of occurrences: `at 3, 9 s`; of many the first and the last one."""
    seconds = [*dict.fromkeys(f"{each.at_s:.0f}" for each in found)]
    if len(seconds) <= _MOST_SECONDS:
        return f"at {', '.join(seconds)} s"
    return f"in {len(seconds)} seconds from {seconds[0]} s to {seconds[-1]} s"
