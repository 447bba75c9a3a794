"""`capacity`: find the highest rate of inserts at which a target keeps an objective."""

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Annotated, ClassVar

import click

from cli.capacity.record import Capacity, findings
from cli.capacity.search import Bounds, Level, Trial, next_rate
from cli.capacity.tables import printed
from cli.compare.thresholds import EXIT_CODE, Scope, Threshold, parsed
from cli.host.interrupts import Interrupts, caught_interrupts
from cli.host.machine import this_machine
from cli.host.streams import print_out, say
from cli.host.terminal import width_of
from cli.input.options import Opt, Options
from cli.input.values import Count, Number, Seconds
from cli.kinds import kind_named, summary_of
from cli.options.basic import Command
from cli.options.choice import Choice, TargetRun, writing_options
from cli.options.declared import options_of
from cli.options.given import command_words
from cli.planning import insert_options, plan
from cli.planning.options import (
    InsertOptions,
    Naming,
    Replacing,
    Rows,
    Sending,
    Verification,
)
from cli.planning.plan import Stored
from cli.results import result_files
from cli.results.result import Result
from cli.running.launch import carried_out
from cli.running.sweeps import sweep_of
from cli.summary.rows import Row
from cli.summary.subjects import WORKERS
from cli.summary.verdicts import worst
from cli.targets.config import Target
from simulator import __version__
from simulator.data.workloads.base import Params
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py capacity --target postgresql --slo 'p99_ms < 50' --workers 8 --batch 1000
  python run.py capacity -t sqlite --slo 'p99_ms < 20' --duration 5s --repeats 3
"""
_FEWEST_BATCHES = 20
"""Of each worker and repeat, at the lowest rate."""


class _Search(Options):
    """What is searched, and how exactly."""

    GROUP: ClassVar[str] = "Search"

    slo: Annotated[tuple[str, ...], Opt(metavar="THRESHOLD")]
    """What every repeat must keep, such as 'p99_ms < 50': the time from when a batch is due until
    it is acknowledged, or another figure of --fail-if; may be given several times.
    """
    duration_s: Seconds = 10.0
    """Duration of each repeat."""
    repeats: Count = 3
    """How often to measure each rate; it holds if most of the repeats do."""
    tolerance: Annotated[Number, Opt(least=0.005, most=0.5)] = 0.05
    """End when the rates between which the capacity lies differ by this part."""


class _Options(Verification, Rows, Replacing, Naming, Sending, _Search):
    """The options of `capacity`."""

    GROUP: ClassVar[str] = "Load"

    workers: Annotated[Count, Opt("-w")] = 4
    """Number of workers."""
    batch: Count = 1000

    def insert(self) -> InsertOptions:
        """Return the options of the inserts that measure a rate."""
        inner = ("workers", "slo", "repeats", "tolerance")
        same = {
            field: getattr(self, field) for field in type(self).model_fields if field not in inner
        }
        return InsertOptions(workers=(self.workers,), runs=self.repeats, **same)


@click.command(cls=Command, epilog=_EXAMPLES)
@writing_options
@options_of(_Options)
def capacity(*, choice: Choice, run: TargetRun, options: _Options) -> None:
    """Find the highest rate of inserts that keeps an objective.

    First the target is filled as fast as it takes rows. Then rates below that are measured, each on
    a schedule that does not wait for the database: latency counts from the time at which a batch is
    due. At last the rates between the highest one that holds and the next one are halved. Every run
    is verified. Printed are the curve of rate against latency, the capacity, and what bounds it:
    the database, the client, or the objective.
    """
    problems: list[str] = []
    wanted = parsed(options.slo, Scope((WORKERS,), workers=(options.workers,)), problems, "--slo")
    target = choice.resolve(choice.extra_options(problems), problems)
    capabilities = target.open().capabilities if target else None
    insert = options.insert().decided(capabilities, result_files.now_ms(), run.timeout_s)
    problems += _problems(options, insert)
    if target:
        problems += insert_options.target_problems(insert, target, force=run.force)
    params = None
    try:
        params = insert_options.generator_params(insert)
    except ConfigError as error:
        problems += error.problems
    if problems or not target or not params:
        raise ConfigError(problems)
    task = _Task(target, insert, params, wanted, run.output, choice, run.quiet)
    if run.dry_run:
        print_out(f"{task.about()}\n")
        return
    result_files.prepare_folder(run.output)
    with caught_interrupts() as interrupts:
        found = _searched(task, options.tolerance, interrupts)
    path = run.output / f"capacity-{target.name}-{found.sweep_id}.json"
    result_files.write(path, found)
    is_json = run.form == "json"
    text = found.model_dump_json(indent=1) + "\n" if is_json else None
    print_out(text or printed(found, str(path), width_of(sys.stdout)))
    click.get_current_context().exit(found.exit_code)


def _problems(options: _Options, insert: InsertOptions) -> list[str]:
    problems = [*dict.fromkeys([*options.problems(), *insert_options.option_problems(insert)])]
    if not options.duration_s:
        problems.append("--duration: each repeat must end; expected a time such as 10s, got 0")
    return problems


@dataclass(frozen=True, slots=True)
class _Task:
    """What every rate is measured with."""

    target: Target
    options: InsertOptions
    params: Params
    objectives: tuple[Threshold, ...]
    """A repeat keeps one whose limit it reaches."""
    output: Path
    choice: Choice
    quiet: bool

    @property
    def lowest_rows_per_s(self) -> float:
        """The rate at which a repeat has just enough batches for a percentile."""
        batches = _FEWEST_BATCHES * self.options.workers[0]
        return batches * max(self.options.batch, 1) / self.options.duration_s

    def about(self) -> str:
        """Return what will be measured, in a sentence."""
        options, bounds = self.options, " and ".join(each.text for each in self.objectives)
        return (
            f"capacity of {self.target.name}: {bounds}; each rate {options.runs} times for"
            f" {options.duration_s:g} s, first without a schedule, then 6 to 14 rates"
        )

    def insert(self, rate: float, sweep_id: str, interrupts: Interrupts) -> tuple[Path, Result]:
        """Measure one rate; 0: without a schedule."""
        options = self.options.model_copy(update={"rate": rate})
        before = Stored(plan.empty_dataset(options, self.params), complete=True)
        sweep, planned = sweep_of(
            kind_named("insert"), self.target, self.output, options, before,
            params=self.params, sweep_id=sweep_id,
        )  # fmt: skip
        with carried_out(sweep, planned, self.choice.cluster, interrupts, quiet=self.quiet):
            return sweep.file.path or self.output, sweep.result


def _searched(task: _Task, tolerance: float, interrupts: Interrupts) -> Capacity:
    """Measure rate after rate until the capacity is known, or a run fails."""
    created = result_files.now_utc()
    sweep_id = result_files.new_id(created)
    found: list[tuple[Path, Result]] = []
    levels: list[Level] = []
    unscheduled: tuple[float, ...] = ()
    rate: float | None = 0.0
    while rate is not None:
        if not task.quiet:
            say(f"[{len(found)}] {f'{rate:,.0f} rows/s' if rate else 'no schedule'}", err=True)
        path, result = task.insert(rate, f"{sweep_id}-{len(found)}", interrupts)
        found.append((path, result))
        if result.status != "done" or result.exit_code:
            break
        if rate:
            levels.append(Level(rate, tuple(_trials(result, task.objectives))))
        else:
            unscheduled = tuple(run.metrics.rows_per_s for run in result.runs if run.metrics)
        rate = next_rate(Bounds(fmean(unscheduled), task.lowest_rows_per_s, tolerance), levels)
    last, said = found[-1][1], findings(levels)
    verdict = worst([run for _, result in found for run in result.runs])
    status, cause = last.status, last.cause
    if status == "done" and last.exit_code:
        status, cause = "failed", f"the rows of a run are not as they should be: {verdict.value}"
    return Capacity(
        program_version=__version__,
        sweep_id=sweep_id,
        created=created,
        status="failed" if status == "running" else status,
        cause=cause,
        target=task.target.name,
        module=task.target.module,
        objective=tuple(each.text for each in task.objectives),
        configuration={**last.configuration, "rate": None, "tolerance": tolerance},
        command=command_words(task.target.options),
        machine=this_machine(),
        unscheduled_rows_per_s=unscheduled,
        **said,
        verdict=verdict.value,
        files=tuple(path.name for path, _ in found),
        exit_code=last.exit_code or (0 if said["holds_rows_per_s"] else EXIT_CODE),
    )


def _keeps(objective: Threshold, row: Row) -> bool:
    value = row.value(objective.figure)
    return value is not None and objective.is_reached(value)


def _trials(result: Result, objectives: tuple[Threshold, ...]) -> list[Trial]:
    trials = []
    for run in result.runs:
        assert run.metrics
        latency = run.metrics.latency
        (row,) = summary_of(result.model_copy(update={"runs": [run]})).rows
        trials.append(
            Trial(
                rows_per_s=run.metrics.rows_per_s,
                p50_ms=latency.p50_ms,
                p99_ms=latency.p99_ms,
                client_share=run.metrics.client_share,
                met=all(_keeps(objective, row) for objective in objectives),
                sends=latency.sends,
            )
        )
    return trials
