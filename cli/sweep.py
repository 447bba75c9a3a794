"""A sweep: the runs of a plan one after the other, the result file written after each."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from cli import results
from cli.interrupts import Interrupts
from cli.metrics import insert_metrics
from cli.plan import PlannedRun
from cli.results import Manifest, Result, RunRecord
from cli.runners.base import Runner
from cli.warnings import warnings_of
from simulator.protocol import Event, Outcome
from simulator.spec import Kind

_SHORTEST_SECRET = 4  # blotting out less would blot out half of the message

Watch = Callable[[PlannedRun, Event], None]


def run_sweep(  # noqa: PLR0913
    runs: Iterable[PlannedRun],
    runner: Runner,
    secrets: Mapping[str, str],
    *,
    result: Result,
    path: Path,
    watch: Watch,
    interrupts: Interrupts,
) -> None:
    """Run the plan until it is done or a run fails, filling in and writing `result`."""
    try:
        for planned in runs:
            if interrupts.requested:
                result.status, result.cause = "interrupted", "stopped by the user between two runs"
                return
            outcome = _run(planned, runner, secrets, watch)
            logs = {name: _without(secrets, log) for name, log in runner.logs().items()}
            _record(result, planned, outcome, logs)
            if outcome.status != "done":
                result.status, result.cause = outcome.status, outcome.cause
                return
            results.write(path, result)
        result.status = "done"
    finally:
        if result.status == "running":
            result.status, result.cause = "interrupted", "stopped at once by the user"
            result.manifest = _incomplete(result.manifest)
        result.warnings = warnings_of(result)
        results.write(path, result)


def _run(planned: PlannedRun, runner: Runner, secrets: Mapping[str, str], watch: Watch) -> Outcome:
    outcome = Outcome(status="failed", cause="the run ended without an outcome", exit_code=1)
    for event in runner.run(planned.spec, secrets):
        if isinstance(event, Outcome):
            outcome = _scrubbed(secrets, event)
            watch(planned, outcome)
        else:
            watch(planned, event)
    return outcome


def _scrubbed(secrets: Mapping[str, str], outcome: Outcome) -> Outcome:
    """Return an outcome whose messages hold no credentials, should a driver have repeated one."""
    workers = [
        worker.model_copy(update={"error": worker.error and _without(secrets, worker.error)})
        for worker in outcome.workers
    ]
    cause = _without(secrets, outcome.cause)
    return outcome.model_copy(update={"cause": cause, "workers": tuple(workers)})


def _record(result: Result, planned: PlannedRun, outcome: Outcome, logs: Mapping[str, str]) -> None:
    spec = planned.spec
    metrics = None
    if spec.kind is Kind.INSERT:
        metrics = insert_metrics(outcome, spec.after.rows)
        if outcome.touched:
            done = outcome.status == "done"
            result.manifest = Manifest(dataset=spec.after, rows=spec.after.rows, complete=done)
    result.runs.append(
        RunRecord(
            run_id=spec.run_id,
            workers=len(spec.workers),
            run=planned.run,
            level=planned.level,
            outcome=outcome,
            metrics=metrics,
            logs=dict(logs) if outcome.status == "failed" else {},
        )
    )


def _incomplete(manifest: Manifest | None) -> Manifest | None:
    return manifest and manifest.model_copy(update={"complete": False})


def _without(secrets: Mapping[str, str], text: str) -> str:
    """Return the text with every credential blotted out."""
    for secret in secrets.values():
        if len(secret) >= _SHORTEST_SECRET:
            text = text.replace(secret, "***")
    return text
