"""A sweep: the runs of a plan in order; the result file is written after each."""

from collections.abc import Callable, Iterable

from cli.host.interrupts import Interrupts
from cli.metrics import insert_metrics
from cli.plan import PlannedRun
from cli.report.warnings import warnings_of
from cli.results import Manifest, Result, ResultFile, RunRecord
from cli.runners.base import Runner
from simulator.errors import BenchError, Interrupted
from simulator.protocol.messages import Event, Outcome
from simulator.protocol.spec import Kind
from simulator.protocol.verdict import Status

_RESOLVED = (Status.VERIFIED, Status.MISMATCH)
"""Verdicts that say of each uncertain row whether it is stored."""

Watch = Callable[[PlannedRun, Event], None]
Redact = Callable[[str], str]


def run_sweep(  # noqa: PLR0913
    runs: Iterable[PlannedRun],
    runner: Runner,
    redact: Redact,
    *,
    result: Result,
    file: ResultFile,
    watch: Watch,
    interrupts: Interrupts,
) -> None:
    """Run the plan until it is done or a run fails, filling in and writing `result`.

    `redact` removes credentials from messages, since a driver may repeat one.
    """
    try:
        for planned in runs:
            if interrupts.requested:
                result.status, result.cause = "interrupted", "stopped by the user between two runs"
                return
            outcome = _run(planned, runner, redact, watch)
            result.ran_on = runner.facts()
            logs = {name: redact(log) for name, log in runner.logs().items()}
            _record(result, planned, outcome, logs)
            if outcome.status != "done":
                result.status, result.cause = outcome.status, outcome.cause
                return
            file.write(result)
        result.status = "done"
    finally:
        if result.status == "running":
            result.status, result.cause = "interrupted", "stopped at once by the user"
            result.manifest = _incomplete(result.manifest)
        result.warnings = warnings_of(result)
        file.write(result)


def _run(planned: PlannedRun, runner: Runner, redact: Redact, watch: Watch) -> Outcome:
    outcome = Outcome(status="failed", cause="the run ended without an outcome", exit_code=1)
    try:
        for event in runner.run(planned.spec):
            if isinstance(event, Outcome):
                outcome = _redacted(event, redact)
            else:
                watch(planned, event)
    except Interrupted:
        raise
    except (BenchError, OSError) as error:  # the run could not be started
        code = error.exit_code if isinstance(error, BenchError) else BenchError.exit_code
        outcome = Outcome(status="failed", cause=redact(str(error)), exit_code=code, touched=False)
    watch(planned, outcome)
    return outcome


def _redacted(outcome: Outcome, redact: Redact) -> Outcome:
    workers = [
        worker.model_copy(
            update={
                "error": worker.error and redact(worker.error),
                "uncertain_cause": redact(worker.uncertain_cause),
            }
        )
        for worker in outcome.workers
    ]
    return outcome.model_copy(update={"cause": redact(outcome.cause), "workers": tuple(workers)})


def _record(result: Result, planned: PlannedRun, outcome: Outcome, logs: dict[str, str]) -> None:
    spec = planned.spec
    metrics = None
    if spec.kind is Kind.INSERT:
        metrics = insert_metrics(outcome, spec.after.rows)
        if outcome.touched:
            result.manifest = Manifest(
                dataset=spec.after, rows=spec.after.rows, complete=_complete(outcome)
            )
    result.runs.append(
        RunRecord(
            run_id=spec.run_id,
            workers=len(spec.workers),
            run=planned.run,
            level=planned.level,
            outcome=outcome,
            metrics=metrics,
            logs=logs if outcome.status == "failed" else {},
        )
    )


def _complete(outcome: Outcome) -> bool:
    """Whether every row is known to be stored, or was acknowledged."""
    if outcome.status != "done":
        return False
    if not any(worker.uncertain for worker in outcome.workers):
        return True
    verdict = outcome.verdict
    return verdict is not None and not verdict.uncertain_absent and verdict.status in _RESOLVED


def _incomplete(manifest: Manifest | None) -> Manifest | None:
    return manifest and manifest.model_copy(update={"complete": False})
