"""Sweeps as they go: their planned runs, and the moments of samples."""

from iotbench.output.terminal.course import Course
from simulator.protocol.events import PhaseEvent, SampleEvent
from simulator.protocol.spec import Work
from tests.unit.output.terminal.made import outcome, result, worker
from tests.unit.output.terminal.test_progress import planned

RESULT = result([])


def sample(at_s=1000.0, **changes):
    fields = {"phase": "insert", "rows": 50, "rows_per_s": 9.5, "p50_ms": 1.0, "p99_ms": 4.0}
    return SampleEvent(at_s=at_s, **(fields | changes))


def asked(at_s=1000.0, **changes):
    fields = {"phase": "query", "query": "newest", "runs": 3, "queries_per_s": 2.0, "p99_ms": 4.0}
    return SampleEvent(at_s=at_s, **(fields | changes))


def moments(samples_of_runs, work=Work.INSERT):
    """Return the moments of runs with these samples each, from the first phase to the outcome."""
    runs = [planned(1, 100, number=number, work=work) for number in range(len(samples_of_runs))]
    course = Course(runs)
    found = []
    for run, samples in zip(runs, samples_of_runs, strict=True):
        events = [PhaseEvent(phase="init"), *samples, outcome(worker(0))]
        found += [course.follow(run, event) for event in events]
    return found
