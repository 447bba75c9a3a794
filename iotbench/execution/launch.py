"""Preparation of a sweep, its execution, and the printing of its result."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from iotbench.comparison.thresholds import Scope
from iotbench.config.input.options import Options
from iotbench.config.options.choice import Choice, ClusterOptions, TargetRun
from iotbench.config.options.given import build_given_command
from iotbench.config.targets.config import Target
from iotbench.config.targets.packages import package_versions
from iotbench.execution.faults import injector_of
from iotbench.execution.runners import bystanders_for, manifests, meter_for, runner_for
from iotbench.execution.shell import Shell
from iotbench.execution.sweep import run_sweep
from iotbench.machine.disk import drop_caches
from iotbench.machine.interrupts import Interrupts, caught_interrupts
from iotbench.machine.listener import elsewhere
from iotbench.machine.machine import this_machine
from iotbench.machine.owner import user_at_host
from iotbench.machine.resources import ResourceMeter
from iotbench.machine.streams import has_room, print_out, say, width_of
from iotbench.measurements import kind_of, subject_of
from iotbench.measurements.insert.kind import Rows
from iotbench.measurements.shared.faults import Faults
from iotbench.measurements.shared.kind import Kind
from iotbench.measurements.shared.options import MachineOptions
from iotbench.measurements.shared.plan import PlannedRun, StoredBefore, Wanted
from iotbench.output.live.outputs import LiveOutput, Outputs
from iotbench.output.terminal import tables
from iotbench.output.terminal.course import Course
from iotbench.output.terminal.plans import plan_text
from iotbench.output.terminal.progress import ProgressDisplay
from iotbench.plans.gates import Gates
from iotbench.results import result_files
from iotbench.results.result import Result
from iotbench.results.result_files import ResultFile
from simulator import __version__
from simulator.data.dataset import Dataset
from simulator.modules import database_class
from simulator.protocol.events import Event


@dataclass(frozen=True, slots=True)
class Sweep:
    """A sweep that is about to start: its target, and where its result goes."""

    target: Target
    result: Result
    file: ResultFile
    drops_caches: bool = False
    before: str = ""
    """Command before each run."""
    failing: Faults | None = None
    """Faults of the database in each run."""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Environment of commands: the command line's, with the variables that hold credentials."""

    def on(self, options: Options, environment: Mapping[str, str]) -> "Sweep":
        """Return the sweep with what its options ask of this machine: before runs, and faults."""
        configuration, redact = self.result.configuration, self.target.options.redact
        found = replace(self, environment=environment)
        if isinstance(options, MachineOptions):
            if options.drop_caches:
                configuration["drop_caches"] = True
                found = replace(found, drops_caches=True)
            if command := options.before_run:
                configuration["before_run"] = redact(command)
                found = replace(found, before=command)
        if isinstance(options, Faults) and options.fault:
            configuration |= {name: redact(each) for name, each in options.commands.items()}
            found = replace(found, failing=options)
        return found


def start(kind: str, target: Target, output: Path, dataset: Dataset, sweep_id: str = "") -> Sweep:
    """Return a new sweep with an empty result, and a new id unless it has one."""
    created = result_files.now_utc()
    is_local = target.runner == "local"
    result = Result(
        program_version=__version__,
        sweep_id=sweep_id or result_files.new_id(created),
        created=created,
        kind=kind,
        target=target.name,
        module=target.module,
        runner=target.runner,
        configuration={},
        target_options=target.options.public(),
        packages=package_versions(database_class(target.module)) if is_local else {},
        machine=this_machine(),
        dataset=dataset,
    )
    return Sweep(target, result, ResultFile(result_files.path_of(output, result)))


@contextmanager
def carry_out(  # noqa: PLR0913
    sweep: Sweep,
    planned: Sequence[PlannedRun],
    cluster: ClusterOptions,
    interrupts: Interrupts,
    *,
    quiet: bool,
    as_json: bool = False,
    meter: ResourceMeter | None = None,
    outputs: Sequence[LiveOutput] = (),
) -> Iterator[None]:
    """Run a sweep; inside the context its result is complete, and the database still locked.

    `as_json`: progress is JSON too; `meter` measures the resources of each run; `outputs` show
    the progress in addition to the terminal.
    """
    target, sweep_id = sweep.target, sweep.result.sweep_id
    assert sweep.file.path
    output = sweep.file.path.parent
    with runner_for(target, sweep_id, cluster, interrupts, planned[0].spec) as runner:
        if result_files.prepare_folder(output) and not quiet:
            say(f"created folder {output}", err=True)
        with (
            ProgressDisplay(quiet=quiet, as_json=as_json) as follower,
            meter or nullcontext(),
            ExitStack() as stack,
        ):
            course = Course(planned)
            log = sweep.file.path.with_suffix(".log")
            shell = Shell([target], log, sweep.environment, cluster, interrupts, stack=stack)
            before = partial(shell.before_run, sweep.before, quiet=quiet or as_json)

            def watch(run: PlannedRun, event: Event) -> None:
                moment = course.follow(run, event)
                for output in (follower, *outputs):
                    output.take(moment)

            run_sweep(
                planned,
                runner,
                target.options.redact,
                result=sweep.result,
                file=sweep.file,
                watch=watch,
                interrupts=interrupts,
                bystanders=bystanders_for(target),
                meter=meter,
                before=before if sweep.before else None,
                drop_caches=_dropping(target) if sweep.drops_caches else None,
                faults=injector_of(sweep.failing, target, shell, cluster, stack)
                if sweep.failing
                else None,
            )
        yield


def conclude(  # noqa: PLR0913
    sweep: Sweep,
    planned: Sequence[PlannedRun],
    choice: Choice,
    run: TargetRun,
    *,
    measured: bool = False,
    gates: Gates | None = None,
    outputs: Outputs | None = None,
) -> None:
    """Run a sweep, print its result, and exit with its exit code.

    `measured`: measure the resources of machine, client and server; `gates`: conditions that make
    the command fail; `outputs` show the progress.
    """
    sweep.result.tags = list(dict.fromkeys(run.result_tags))
    sweep.result.command = build_given_command(sweep.target.options)
    thresholds = gates.expect(_scope(sweep, planned)) if gates else ()
    if run.dry_run:
        print_out(dry_run_text(sweep, planned, choice))
        return
    as_json = run.form == "json"
    target, sweep_id = sweep.target, sweep.result.sweep_id
    meter = meter_for(target, sweep_id, choice.cluster) if measured else None
    with (
        caught_interrupts() as interrupts,
        (outputs or Outputs()).open_all(sweep.result, len(planned)) as opened,
        carry_out(
            sweep, planned, choice.cluster, interrupts,
            quiet=run.quiet, as_json=as_json, meter=meter, outputs=opened,
        ),
    ):  # fmt: skip
        kept = _print(sweep, run)
    failed = gates.conclude(sweep.result, thresholds) if gates else 0
    code = sweep.result.exit_code
    if failed and sweep.result.is_unchecked:
        code = failed
    click.get_current_context().exit(code or (failed if kept else 1))


def _scope(sweep: Sweep, planned: Sequence[PlannedRun]) -> Scope:
    """Return the rows that the result of a sweep will have."""
    kind = kind_of(sweep.result)
    return Scope(
        (subject_of(sweep.result),),
        workers=kind.worker_counts(planned),
        queries=tuple(kind.row_names(planned[0].spec)),
    )


def _dropping(target: Target) -> Callable[[], str]:
    if target.runner != "local":
        return lambda: "the server is on another host"
    embedded = target.open().capabilities.embedded
    return partial(drop_caches, elsewhere(target.options, embedded=embedded))


def dry_run_text(sweep: Sweep, planned: Sequence[PlannedRun], choice: Choice) -> str:
    """Return what would start: the manifests of the first run, or the plan."""
    target, file, kind = sweep.target, sweep.file, kind_of(sweep.result)
    if target.runner == "kubernetes":
        return manifests(target, sweep.result.sweep_id, choice.cluster, planned[0].spec)
    folder = file.path.parent if file.path else Path()
    batch = sweep.result.configuration.get("batch")
    earlier = (result for _, result in result_files.inserts(folder, target.name))
    last = next((r for r in earlier if r.configuration.get("batch") == batch), None)
    lines = [f"before each run: {sweep.before}"] if sweep.before else []
    if sweep.failing:
        lines += sweep.failing.outline(planned[0].spec.clocking.duration_s)
    more = "".join(f"{target.options.redact(line)}\n" for line in lines)
    return plan_text(kind, planned, target.runner, last, width_of(sys.stdout)) + more


def _print(sweep: Sweep, run: TargetRun) -> bool:
    """Print the result; return whether it was printed and stored."""
    result, file = sweep.result, sweep.file
    text = tables.format_record(
        result, file.path, run.form,
        plotted=run.verbose and has_room(sys.stdout), timings=run.timings, brief=not run.verbose,
    )  # fmt: skip
    if result.cause and (run.quiet or run.form != "table"):
        say(f"{result.kind} {result.status}: {result.cause}", err=True)
    return file.print(result, text)


def sweep_of(  # noqa: PLR0913
    kind: Kind[Any],
    target: Target,
    output: Path,
    options: Options,
    stored: StoredBefore,
    *,
    rows: Rows | None = None,
    sweep_id: str = "",
    force: bool = False,
    quiet: bool = True,
) -> tuple[Sweep, list[PlannedRun]]:
    """Return a sweep on the rows of `stored`; ConfigError if it cannot run.

    It prints which queries are left out, unless `quiet`.
    """
    ranges = stored.dataset.ranges if kind.needs_rows else ()
    dataset = stored.dataset.model_copy(update={"ranges": ranges})
    sweep = start(kind.name, target, output, dataset, sweep_id)
    planned = kind.plan(
        Wanted(
            sweep.result.sweep_id, target, options, stored,
            by=user_at_host(), force=force, rows=rows,
        )
    )  # fmt: skip
    for name, problem in planned.left_out.items() if not quiet else ():
        say(f"query {name} is left out: {problem}", err=True)
    sweep.result.configuration = dict(planned.configuration)
    return sweep, planned.runs
