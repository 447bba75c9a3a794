"""The worst of the verdicts of runs, and of a result."""

from collections.abc import Iterable, Sequence

from iotbench.results.result import Result, RunRecord
from simulator.protocol.verdict import WORST_FIRST, Status, Verdict, VerifyMode


def verdict_of(result: Result) -> str:
    """Return the worst verdict of a result's runs; its status if it is not done."""
    done = result.status == "done" and result.runs
    return worst(result.runs).value if done else result.status


def worst(runs: Sequence[RunRecord]) -> Status:
    """Return the worst verdict of runs."""
    verdicts: list[Verdict | None] = [run.outcome.verdict for run in runs]
    return worst_status(verdict.status if verdict else Status.UNKNOWN for verdict in verdicts)


def level_of(runs: Iterable[RunRecord]) -> VerifyMode | None:
    """Return how much of the stored rows was compared in each of these runs; None: unknown."""
    verdicts = [run.outcome.rows_verdict or run.outcome.verdict for run in runs]
    levels = [verdict.level for verdict in verdicts if verdict]
    return next((level for level in VerifyMode if level in levels), None)


def worst_status(statuses: Iterable[Status]) -> Status:
    """Return the worst of at least one status."""
    found = {*statuses}
    return next(status for status in WORST_FIRST if status in found)
