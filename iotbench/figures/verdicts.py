"""The worst verdict of runs or results."""

from collections.abc import Iterable, Sequence

from iotbench.figures.rows import describe_verdict
from iotbench.results.result import Result, RunRecord
from simulator.protocol.verdict import Status, Verdict, VerifyMode

_CONSEQUENCES = (
    "mismatch: stored data or answers are wrong; do not publish these figures",
    "failed: not every sweep ended; see the results below",
    "interrupted: not every sweep ended; see the results below",
    "running: not every sweep ended; see the results below",
    "incomplete: rows are missing, of unknown outcome or lost as the server announces",
    "unknown: not everything could be verified",
    "not checked: the answers to own queries have no known truth",
    "not verified: verification was switched off",
    "verified",
)
"""Verdicts with their consequences, the worst first."""


def verdict_of(result: Result) -> str:
    """Return the worst verdict of a result's runs, or the result's status if it is not done."""
    done = result.status == "done" and result.runs
    return worst(result.runs).value if done else result.status


def describe_result(result: Result) -> str:
    """Return the worst verdict for display; `verified` includes what was compared."""
    return describe_verdict(verdict_of(result), level_of(result.runs))


def describe_run(run: RunRecord) -> str:
    """Return the verdict of one run for display."""
    found = run.outcome.verdict
    return describe_verdict(found.status, found.level) if found else Status.UNKNOWN.value


def worst(runs: Sequence[RunRecord]) -> Status:
    """Return the worst verdict of runs."""
    verdicts: list[Verdict | None] = [run.outcome.verdict for run in runs]
    return worst_status(verdict.status if verdict else Status.UNKNOWN for verdict in verdicts)


def level_of(runs: Iterable[RunRecord]) -> VerifyMode | None:
    """Return the lowest verification level of the runs; None if it is unknown."""
    verdicts = [run.outcome.rows_verdict or run.outcome.verdict for run in runs]
    return least_of(verdict.level for verdict in verdicts if verdict)


def least_of(levels: Iterable[VerifyMode | None]) -> VerifyMode | None:
    """Return the level with the least extensive comparison; None if no level is known."""
    found = {*levels}
    return next((level for level in VerifyMode if level in found), None)


def worst_status(statuses: Iterable[Status]) -> Status:
    """Return the worst of several statuses; at least one is expected."""
    found = {*statuses}
    return next(status for status in Status if status in found)


def describe_worst(verdicts: Sequence[str], results: Sequence[Result] = ()) -> str:
    """Return the worst verdict and its consequence; `verified` includes what was compared."""
    worst = next((text for text in _CONSEQUENCES if text.partition(":")[0] in verdicts), "unknown")
    if worst != Status.VERIFIED:
        return worst
    level = level_of(run for each in results for run in each.runs)
    clauses = [level.depth.means] if level else []
    clauses += ["every answer is right"] * any(
        run.outcome.queries for each in results for run in each.runs
    )
    return f"{worst}: {'; '.join(clauses)}" if clauses else worst
