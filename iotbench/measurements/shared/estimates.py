"""The duration of an insert's runs, from an earlier result of the target. Pure."""

from collections.abc import Sequence

from iotbench.measurements.shared.plan import PlannedRun
from iotbench.results.result import Result, RunRecord
from simulator.protocol.messages import WARMUP
from simulator.protocol.spec import RunSpec

_FIXED_PHASES = ("init", "barrier")
"""Phases of a run with a time that does not depend on the number of rows."""


def estimate_s(planned: Sequence[PlannedRun], last: Result | None) -> float | None:
    """Return how long the runs take at the speed of an earlier result; None if it has no runs."""
    done = [run for run in last.runs if run.metrics and run.metrics.rows] if last else []
    if not done:
        return None
    return sum(_duration_s(each.spec, done) for each in planned)


def _duration_s(spec: RunSpec, done: Sequence[RunRecord]) -> float:
    """Return how long a run takes, by the earlier run with the nearest number of workers."""
    nearest = min(done, key=lambda run: abs(run.workers - len(spec.workers)))
    assert nearest.metrics
    phases = nearest.outcome.phases_s
    fixed = sum(phases.get(name, 0.0) for name in _FIXED_PHASES)
    with_rows = sum(phases.values()) - fixed
    clocking = spec.clocking
    if clocking.duration_s:
        inserted_s = phases.get(WARMUP, 0.0) + phases.get("insert", 0.0)
        return fixed + with_rows - inserted_s + clocking.warmup_s + clocking.duration_s
    written = sum(each.prefill_rows + each.rows for each in nearest.outcome.workers)
    return fixed + with_rows * rows_of(spec) / written


def rows_of(spec: RunSpec) -> int:
    """Return how many rows a run inserts, at most if it ends by time."""
    return count_prefilled(spec) + count_timed(spec)


def count_prefilled(spec: RunSpec) -> int:
    """Return how many rows a run inserts before its timed part."""
    return sum(len(rows) for task in spec.inserts for rows in task.prefill)


def count_timed(spec: RunSpec) -> int:
    """Return how many rows a run inserts in its timed part, at most if it ends by time."""
    return sum(len(rows) for task in spec.inserts for rows in task.timed)
