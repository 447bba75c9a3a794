"""Runs a sweep, and writes its result file before, during and after each run."""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from iotbench.config.input.options import Options
from iotbench.config.targets.config import Target
from iotbench.execution.faults import Injector, OfWorkers
from iotbench.execution.runners import Runner
from iotbench.machine.bystanders import Bystanders, OtherWork
from iotbench.machine.interrupts import Interrupts
from iotbench.machine.resources import AFTER, BEFORE, ResourceMeter, Resources
from iotbench.measurements.shared.faults import Faults
from iotbench.measurements.shared.options import MachineOptions
from iotbench.measurements.shared.plan import PlannedRun
from iotbench.measurements.warnings import warnings_of
from iotbench.results.faults import Outage, accounts_of, outages_of
from iotbench.results.metrics import add_outages, insert_metrics
from iotbench.results.result import Manifest, Progress, Result, RunRecord
from iotbench.results.result_files import ResultFile, now_utc
from iotbench.results.thinning import thin_report, thin_resources
from simulator.errors import BenchError, ConfigError, Interrupted
from simulator.modules import database_class
from simulator.protocol.events import Event, Outcome, PhaseEvent, ProgressEvent
from simulator.protocol.spec import InsertTask, RunSpec
from simulator.protocol.verdict import Verdict

_WRITE_EVERY_S = 5.0
_WRITE_SHARE = 0.01
"""Maximum share of time for writing progress, because writing competes with the database for
CPU."""

Watch = Callable[[PlannedRun, Event], None]
Redact = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that is about to start."""

    target: Target
    options: Options
    runs: Sequence[PlannedRun]
    result: Result
    file: ResultFile

    @property
    def first(self) -> RunSpec:
        """The specification of the first run."""
        return self.runs[0].spec

    @property
    def largest(self) -> RunSpec:
        """The specification of the run with the most workers."""
        return max((run.spec for run in self.runs), key=lambda spec: len(spec.workers))

    @property
    def machine(self) -> MachineOptions:
        """Preparation of this machine before each run."""
        return self.options if isinstance(self.options, MachineOptions) else MachineOptions()

    @property
    def failing(self) -> Faults | None:
        """Faults of the database in each run; None if the options have none."""
        options = self.options
        if not isinstance(options, Faults) or not options.fault:
            return None
        return options.add_restart(self.target.restart_with)

    def describe(self) -> dict[str, Any]:
        """Return the options for commands and caches, as the result shows them."""
        commands = {"before_run": self.machine.before_run}
        commands |= self.failing.commands if self.failing else {}
        redact = self.target.options.redact_command
        found: dict[str, Any] = {name: redact(each) for name, each in commands.items() if each}
        return {**found, **({"drop_caches": True} if self.machine.drop_caches else {})}


def run_sweep(  # noqa: PLR0913
    sweep: Sweep,
    runner: Runner,
    watch: Watch,
    interrupts: Interrupts,
    *,
    bystanders: Bystanders | None = None,
    meter: ResourceMeter | None = None,
    before: Callable[[], str] | None = None,
    drop_caches: Callable[[], str] | None = None,
    faults: Injector | OfWorkers | None = None,
) -> None:
    """Carry out the runs until one fails; complete and write the result.

    Credentials are redacted in messages, since a message of a driver may contain one. `bystanders`
    measures other work of this machine during each run, unless `faults` is given. `meter` measures
    the resources of each run, and of the machine at rest before and after the run. Each run is
    preceded by `before`, which ends the sweep if it returns a cause, and then by `drop_caches`.
    `faults` makes the database fail in each run.
    """
    result, file = sweep.result, sweep.file
    result.cluster_warnings = runner.cluster_warnings
    try:
        file.write(result)
        for planned in _plan_runs(sweep.runs, result):
            if not _prepare(result, interrupts, before):
                return
            if drop_caches:
                result.caches = drop_caches()
            record = _Record(sweep, planned, meter, faults)
            if meter:
                meter.rest(BEFORE, lambda: interrupts.requested)
            with _measure_other_work(None if faults else bystanders, record):
                outcome = _run(planned, runner, sweep.target.options.redact, watch, record)
            if meter:
                if outcome.status == "done":
                    meter.rest(AFTER, lambda: interrupts.requested)
                record.add(resources=thin_resources(meter.take_samples()))
            result.ran_on = runner.facts()
            if outcome.status != "done":
                result.status, result.cause = outcome.status, sweep.target.explain(outcome.cause)
                return
            file.write(result)
        if result.status == "running":
            result.status = "done"
    finally:
        if result.status == "running":
            result.status, result.cause = "interrupted", "stopped at once by the user"
        result.warnings = warnings_of(result)
        file.write(result)


def _prepare(result: Result, interrupts: Interrupts, before: Callable[[], str] | None) -> bool:
    """Prepare a run; if it cannot start, set the cause in the result and return False."""
    if interrupts.requested:
        cause = "stopped by the user between two runs"
    else:
        cause = before() if before else ""
    if cause:
        result.status = "interrupted" if interrupts.requested else "failed"
        result.cause = cause
    return not cause


@contextmanager
def _measure_other_work(bystanders: Bystanders | None, record: "_Record") -> Iterator[None]:
    if bystanders:
        bystanders.begin()
    yield
    if bystanders:
        record.add(other_work=bystanders.work())


def _plan_runs(runs: Iterable[PlannedRun], result: Result) -> Iterator[PlannedRun]:
    """Yield the runs in order.

    A run that continues another run is planned again for the rows that are then stored. If the run
    cannot continue, the sweep fails.
    """
    for planned in runs:
        left = result.manifest
        if planned.again is None or left is None:
            yield planned
            continue
        try:
            yield planned.again(left)
        except ConfigError as error:
            result.status = "failed"
            result.cause = f"run {planned.run}: {'; '.join(error.problems)}"
            return


class _Record:
    """Keeps the result file up to date before, during and after one run."""

    def __init__(
        self,
        sweep: Sweep,
        planned: PlannedRun,
        meter: ResourceMeter | None,
        faults: Injector | OfWorkers | None,
    ) -> None:
        self._result = result = sweep.result
        self._meter = meter
        self._faults = faults
        self.fault_problem = ""
        """Reason why a fault could not be caused or undone."""
        self._file = sweep.file
        self._planned = planned
        self._manifest_before = result.manifest
        self._written_s = 0.0
        self._pause_s = _WRITE_EVERY_S
        spec = planned.spec
        result.in_progress = Progress(
            run_id=spec.run_id,
            workers=len(spec.workers),
            run=planned.run,
            level=planned.level,
            at=now_utc(),
        )
        if spec.work.writes:
            result.manifest = Manifest.of(spec.after, complete=False)
        self._write()

    def _write(self) -> None:
        began_s = time.monotonic()
        self._file.write(self._result)
        self._written_s = time.monotonic()
        self._pause_s = max(_WRITE_EVERY_S, (self._written_s - began_s) / _WRITE_SHARE)

    def follow(self, event: Event) -> None:
        """Record the progress; write the file at each new phase, and every few seconds."""
        if self._meter:
            self._meter.follow(event)
        if self._faults:
            self._faults.follow(self._planned.spec, event)
        known = self._result.in_progress
        assert known
        noted: dict[str, object] = {"at": now_utc()}
        match event:
            case PhaseEvent(phase=phase):
                noted["phase"] = phase
            case ProgressEvent(phase="prefill", rows=rows):
                noted |= {"phase": "prefill", "prefill_rows": rows}
            case ProgressEvent(phase=phase, rows=rows):
                noted |= {"phase": phase, "rows": rows}
            case _:
                return
        self._result.in_progress = known.model_copy(update=noted)
        entered = noted["phase"] != known.phase
        if entered or time.monotonic() - self._written_s >= self._pause_s:
            self._write()

    def add(self, **measured: Resources | OtherWork | None) -> None:
        """Add a measurement that was made during the ended run."""
        self._result.runs[-1] = self._result.runs[-1].model_copy(update=measured)

    def finish(self, outcome: Outcome, logs: dict[str, str], took_s: float) -> None:
        """Record the outcome of the run."""
        spec, result = self._planned.spec, self._result
        outages = self._find_outages(outcome)
        progress, result.in_progress = result.in_progress, None
        reported = outcome.workers or outcome.status == "done"
        inserts, embedded = spec.work.writes, database_class(spec.module).capabilities.embedded
        stored = spec.find_stored(outcome.workers) if outcome.status == "done" else spec.after
        if inserts and outcome.touched:
            result.manifest = Manifest.of(stored, complete=outcome.complete)
        else:
            result.manifest = self._manifest_before
        result.runs.append(
            RunRecord(
                run_id=spec.run_id,
                workers=len(spec.workers),
                run=self._planned.run,
                level=self._planned.level,
                stages=spec.clocking.stages,
                outcome=outcome.model_copy(
                    update={"workers": tuple(map(thin_report, outcome.workers))}
                ),
                metrics=add_outages(
                    insert_metrics(_keep_inserts(outcome, spec), stored, embedded=embedded),
                    outages,
                    accounts_of(outcome),
                )
                if inserts
                else None,
                outages=outages,
                progress=None if reported else progress,
                logs=logs if outcome.status == "failed" else {},
                took_s=took_s,
            )
        )

    def _find_outages(self, outcome: Outcome) -> tuple[Outage, ...]:
        """End the faults of the run, and return the outages that the faults caused."""
        if not self._faults:
            return ()
        injected = self._faults.collect_injected(outcome)
        self.fault_problem = next((each.problem for each in injected if each.problem), "")
        if not injected and outcome.status == "done":
            self.fault_problem = (
                "--fault: the measured part ended before it; use a longer --duration"
            )
        return outages_of(_keep_inserts(outcome, self._planned.spec), injected)


def _keep_inserts(outcome: Outcome, spec: RunSpec) -> Outcome:
    """Return the outcome with only the reports of workers that write rows."""
    writers = [each for each in outcome.workers if isinstance(spec.workers[each.index], InsertTask)]
    return outcome.model_copy(update={"workers": tuple(writers)})


def _run(
    planned: PlannedRun, runner: Runner, redact: Redact, watch: Watch, record: _Record
) -> Outcome:
    outcome = Outcome(status="failed", cause="the run ended without an outcome", exit_code=1)
    began_s = time.monotonic()
    try:
        for event in runner.run(planned.spec):
            if isinstance(event, Outcome):
                outcome = _redact(event, redact)
            else:
                record.follow(event)
                watch(planned, event)
    except Interrupted:
        raise
    except (BenchError, OSError) as error:  # the run could not be started
        code = error.exit_code if isinstance(error, BenchError) else BenchError.exit_code
        outcome = Outcome(status="failed", cause=redact(str(error)), exit_code=code, touched=False)
    took_s = time.monotonic() - began_s
    record.finish(outcome, {name: redact(log) for name, log in runner.logs().items()}, took_s)
    if record.fault_problem and outcome.status == "done":
        failed = {"status": "failed", "cause": redact(record.fault_problem)}
        outcome = outcome.model_copy(update=failed)
    watch(planned, outcome)
    return outcome


def _redact(outcome: Outcome, redact: Redact) -> Outcome:
    workers = [
        worker.model_copy(
            update={
                "error": worker.error and redact(worker.error),
                "uncertain_cause": redact(worker.uncertain_cause),
            }
        )
        for worker in outcome.workers
    ]
    queries = [
        query.model_copy(update={"verdict": _redact_verdict(query.verdict, redact)})
        for query in outcome.queries
    ]
    server = outcome.server
    if server:
        server = replace(
            server,
            version=redact(server.version),
            durability=redact(server.durability),
            settings={name: redact(value) for name, value in server.settings.items()},
        )
    return outcome.model_copy(
        update={
            "cause": redact(outcome.cause),
            "workers": tuple(workers),
            "server": server,
            "verdict": outcome.verdict and _redact_verdict(outcome.verdict, redact),
            "rows_verdict": outcome.rows_verdict and _redact_verdict(outcome.rows_verdict, redact),
            "queries": tuple(queries),
        }
    )


def _redact_verdict(verdict: Verdict, redact: Redact) -> Verdict:
    not_compared = tuple(map(redact, verdict.not_compared))
    return verdict.model_copy(
        update={"reason": redact(verdict.reason), "not_compared": not_compared}
    )
