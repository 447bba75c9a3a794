"""Prepares a sweep, runs it, and prints its result."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import click

from iotbench.comparison.thresholds import Scope
from iotbench.config.input.options import Options
from iotbench.config.options.choice import Reach, RunOptions, TargetRun
from iotbench.config.options.given import build_given_command
from iotbench.config.targets.config import Target
from iotbench.config.targets.packages import package_versions
from iotbench.execution.faults import injector_of
from iotbench.execution.runners import bystanders_for, meter_for, render_manifests, runner_for
from iotbench.execution.shell import Shell
from iotbench.execution.sweep import Sweep, run_sweep
from iotbench.machine.disk import drop_caches
from iotbench.machine.interrupts import Interrupts, catch_interrupts
from iotbench.machine.listener import elsewhere
from iotbench.machine.machine import this_machine
from iotbench.machine.owner import user_at_host
from iotbench.machine.resources import ResourceMeter
from iotbench.machine.streams import has_room, print_out, say, width_of
from iotbench.measurements import kind_of, subject_of
from iotbench.measurements.insert.kind import Rows
from iotbench.measurements.shared.kind import Kind
from iotbench.measurements.shared.options import ResourceOptions
from iotbench.measurements.shared.plan import PlannedRun, Wanted
from iotbench.output.live.outputs import LiveOutput, Outputs
from iotbench.output.terminal import tables
from iotbench.output.terminal.course import Course
from iotbench.output.terminal.plans import plan_text
from iotbench.output.terminal.progress import ProgressDisplay
from iotbench.plans.gates import Gates
from iotbench.results import result_files
from iotbench.results.result import Manifest, Result
from iotbench.results.result_files import ResultFile
from simulator import __version__
from simulator.modules import database_class
from simulator.protocol.events import Event


def sweep_of(  # noqa: PLR0913
    kind: Kind[Any],
    target: Target,
    run: RunOptions,
    options: Options,
    stored: Manifest,
    *,
    rows: Rows | None = None,
    sweep_id: str = "",
    quiet: bool = True,
) -> Sweep:
    """Return a sweep on the rows of `stored`; ConfigError if the target cannot run the sweep.

    The caller has checked the options with `kind.problems`. The sweep gets a new ID unless an ID is
    given. Unless `quiet`, the queries that the sweep leaves out are printed.
    """
    created = result_files.now_utc()
    sweep_id = sweep_id or result_files.new_id(created)
    planned = kind.plan(
        Wanted(
            sweep_id, target, options, stored,
            by=user_at_host(), force=run.force, timeout_s=run.timeout_s, rows=rows,
        )
    )  # fmt: skip
    for name, problem in planned.left_out.items() if not quiet else ():
        say(f"query {name} is left out: {problem}", err=True)
    ranges = stored.dataset.ranges if kind.needs_rows else ()
    is_local = target.runner == "local"
    result = Result(
        program_version=__version__,
        sweep_id=sweep_id,
        created=created,
        kind=kind.name,
        target=target.name,
        module=target.module,
        runner=target.runner,
        configuration={**planned.configuration, "timeout_s": run.timeout_s},
        target_options=target.options.public(),
        packages=package_versions(database_class(target.module)) if is_local else {},
        machine=this_machine(),
        dataset=stored.dataset.model_copy(update={"ranges": ranges}),
    )
    file = ResultFile(result_files.path_of(run.output, result))
    sweep = Sweep(target, options, planned.runs, result, file)
    result.configuration |= sweep.describe()
    return sweep


@contextmanager
def carry_out(  # noqa: PLR0913
    sweep: Sweep,
    reach: Reach,
    interrupts: Interrupts,
    *,
    quiet: bool,
    as_json: bool = False,
    meter: ResourceMeter | None = None,
    outputs: Sequence[LiveOutput] = (),
) -> Iterator[None]:
    """Run a sweep; in the context, the result is complete and the database is still locked.

    `as_json` prints progress as JSON, `meter` measures the resources of each run, and `outputs`
    show the progress in addition to the terminal.
    """
    target, file, cluster = sweep.target, sweep.file.path, reach.cluster
    assert file
    with runner_for(target, sweep.result.sweep_id, cluster, interrupts, sweep.largest) as runner:
        if result_files.prepare_folder(file.parent) and not quiet:
            say(f"created folder {file.parent}", err=True)
        for text in runner.cluster_warnings if not (quiet or as_json) else ():
            say(f"warning: {text}", err=True)
        with (
            ProgressDisplay(quiet=quiet, as_json=as_json) as follower,
            meter or nullcontext(),
            ExitStack() as stack,
        ):
            course = Course(sweep.runs)
            log = file.with_suffix(".log")
            shell = Shell([target], log, reach.environment, cluster, interrupts, stack=stack)
            machine, failing = sweep.machine, sweep.failing
            command = machine.before_run or ""
            before = partial(shell.before_run, command, quiet=quiet or as_json)

            drop = None
            if machine.drop_caches:
                is_local = target.runner == "local"
                where = elsewhere(target.open()) if is_local else "the server is on another host"
                drop = partial(drop_caches, where)

            def watch(run: PlannedRun, event: Event) -> None:
                moment = course.follow(run, event)
                for output in (follower, *outputs):
                    output.take(moment)

            run_sweep(
                sweep,
                runner,
                watch,
                interrupts,
                bystanders=bystanders_for(target),
                meter=meter,
                before=before if command else None,
                drop_caches=drop,
                faults=injector_of(failing, target, shell, cluster, stack) if failing else None,
            )
        yield


def conclude(sweep: Sweep, reach: Reach, run: TargetRun, gates: Gates, outputs: Outputs) -> None:
    """Run a sweep, print its result, and exit with the exit code of the sweep.

    `gates` are conditions that make the command fail; `outputs` show the progress.
    """
    target, result = sweep.target, sweep.result
    result.tags = list(dict.fromkeys(run.result_tags))
    result.command = build_given_command(target.options)
    kind = kind_of(result)
    scope = Scope(
        (subject_of(result),),
        workers=kind.worker_counts(sweep.runs),
        queries=tuple(kind.row_names(sweep.first)),
    )
    thresholds = gates.expect(scope)
    if run.dry_run:
        print_out(dry_run_text(sweep, reach))
        return
    measured = isinstance(sweep.options, ResourceOptions) and sweep.options.resources
    meter = meter_for(target, result.sweep_id, reach.cluster) if measured else None
    with (
        catch_interrupts() as interrupts,
        outputs.open_all(result, len(sweep.runs)) as opened,
        carry_out(
            sweep, reach, interrupts,
            quiet=run.quiet, as_json=run.form == "json", meter=meter, outputs=opened,
        ),
    ):  # fmt: skip
        kept = _print(sweep, run)
    failed = gates.conclude(result, thresholds)
    code = result.exit_code
    if failed and result.is_unchecked:
        code = failed
    click.get_current_context().exit(code or (failed if kept else 1))


def dry_run_text(sweep: Sweep, reach: Reach) -> str:
    """Return the manifests of the first run if it uses pods, or else the plan of the runs."""
    target, file, kind = sweep.target, sweep.file, kind_of(sweep.result)
    if target.runner == "kubernetes":
        return render_manifests(target, sweep.result.sweep_id, reach.cluster, sweep.first)
    folder = file.path.parent if file.path else Path()
    batch = sweep.result.configuration.get("batch")
    earlier = (result for _, result in result_files.inserts(folder, target.name))
    last = next((r for r in earlier if r.configuration.get("batch") == batch), None)
    command = sweep.machine.before_run
    lines = [f"before each run: {command}"] if command else []
    if sweep.failing:
        lines += sweep.failing.outline(sweep.first.clocking.duration_s)
    more = "".join(f"{target.options.redact_command(line)}\n" for line in lines)
    return plan_text(kind, sweep.runs, target.runner, last, width_of(sys.stdout)) + more


def _print(sweep: Sweep, run: TargetRun) -> bool:
    """Print the result of a sweep; return whether it was printed and stored."""
    result, file = sweep.result, sweep.file
    text = tables.format_record(
        result, file.path, run.form,
        plotted=run.verbose and has_room(sys.stdout), timings=run.timings, brief=not run.verbose,
    )  # fmt: skip
    if result.cause and (run.quiet or run.form != "table"):
        say(f"{result.kind} {result.status}: {result.cause}", err=True)
    return file.print(result, text)
