"""`calibrate`: measure how much equal sweeps differ on this machine, for `compare`."""

import json
from typing import Annotated, ClassVar

import click

from iotbench.comparison.calibration import (
    LEAST_SWEEPS,
    Calibration,
    calibration_from,
    calibrations_file,
    keep,
)
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.quantities import format_time
from iotbench.config.input.values import Count, Seconds
from iotbench.config.options.basic import Command
from iotbench.config.options.declared import options_of
from iotbench.execution.experiment import forecast_of, measure_all
from iotbench.execution.measure import ItemMeasuring
from iotbench.execution.roster import Roster, roster_of
from iotbench.machine.interrupts import catch_interrupts
from iotbench.machine.streams import print_out, say
from iotbench.measurements.insert.options import Insert
from iotbench.measurements.shared.options import Workers
from iotbench.plans.items import Found
from iotbench.plans.options import PlanOptions, PlanRun, plan_options
from iotbench.plans.plan import Plan
from iotbench.plans.settings import Setting
from iotbench.plans.tables import absences
from iotbench.results.result import much_other_work
from iotbench.results.result_files import now_utc
from simulator.errors import ConfigError, Interrupted, RunError

_RUNS = 3
"""Number of runs of a sweep."""
_EXAMPLES = """\b
Examples:
  python run.py calibrate --targets sqlite
  python run.py calibrate --targets sqlite,postgresql --workers 1,4 --sweeps 20
"""


class _Calibration(Options):
    """Options of the measurements of a calibration."""

    GROUP: ClassVar[str] = "Calibration"

    workers: Workers = (1,)
    """Worker counts; `compare` uses a calibration for rows with its number of workers."""
    sweeps: Annotated[Count, Opt(least=LEAST_SWEEPS, most=100)] = 10
    """Number of equal sweeps, of three runs each, one after the other."""
    duration_s: Annotated[Seconds, Opt(least=0.5, most=3600)] = 3.0
    """Timed part of each run."""


@click.command(cls=Command, epilog=_EXAMPLES)
@plan_options("Targets", "those of the configuration that answer")
@options_of(_Calibration, "wanted")
def calibrate(*, options: PlanOptions, run: PlanRun, wanted: _Calibration) -> None:
    """Measure how much equal sweeps differ on this machine.

    Equal sweeps differ by more than the runs of one sweep. For each target, `calibrate` inserts
    rows of `iot` in equal sweeps, and keeps how much their rates differ, with the machine's
    processor, cores and memory, in the user's state folder. `compare` needs it to judge results
    that were not measured in turns. Calibrate each module on a machine that does nothing else, and
    again once the machine changes.
    """
    if problems := wanted.problems():
        raise ConfigError(problems)
    plan = options.apply_to(_plan(wanted))
    roster = roster_of(plan, options.targets, options.reach, run)
    if run.dry_run:
        print_out(forecast_of(plan.name, plan, roster, run))
        return
    for line in absences(roster.left_out):
        say(line, err=True)
    if not roster.pairs:
        raise ConfigError("no target can be calibrated")
    if far := {p.target.name for p in roster.pairs if p.target.runner != "local"}:
        raise ConfigError(
            f"{', '.join(sorted(far))}: runs on Kubernetes, and `calibrate` measures this machine;"
            " use --runner local, or measure both sides in turns by a plan"
        )
    if not run.quiet:
        say(_describe(plan, roster, wanted), err=True)
    with catch_interrupts() as interrupts:
        measuring, found = ItemMeasuring.of(run, options, interrupts), []
        for pair in roster.pairs:
            items, status, _ = measure_all(plan, Roster((), (pair,), {}), measuring)
            if status == "interrupted":
                raise Interrupted("interrupted; nothing of this calibration is kept")
            found.append(_calibrate(items))
    keep(found)
    if run.form == "json":
        print_out(json.dumps([each.model_dump(mode="json") for each in found], indent=1) + "\n")
        return
    print_out("".join(f"{each}\n" for each in found) + f"kept in {calibrations_file()}\n")


def _plan(wanted: _Calibration) -> Plan:
    """Return a plan with one setting for each number of workers."""
    settings = [
        Setting(
            name=f"workers-{count}",
            insert=Insert(
                workload="iot", workers=(count,), batch=1000, duration_s=wanted.duration_s,
            ),
        )
        for count in wanted.workers
    ]  # fmt: skip
    name = f"calibrate-{now_utc():%Y%m%d-%H%M%S}"  # earlier results do not count
    return Plan(name=name, repeats=_RUNS * wanted.sweeps, settings=tuple(settings))


def _describe(plan: Plan, roster: Roster, wanted: _Calibration) -> str:
    """Return what is measured, and how long it takes at least."""
    names = ", ".join(dict.fromkeys(pair.target.name for pair in roster.pairs))
    counts = ", ".join(map(str, wanted.workers))
    least = format_time(len(roster.pairs) * plan.repeats * wanted.duration_s)
    return (
        f"calibration of {names}, workers {counts}: {wanted.sweeps} sweeps of {_RUNS} runs of"
        f" {wanted.duration_s:g} s, at least {least} in all; --targets, --sweeps and --duration"
        " make it shorter"
    )


def _calibrate(found: Found) -> Calibration:
    """Return how much the sweeps of a target differ; RunError if a sweep failed."""
    item, _ = found[0]
    what = f"{item.target.name}, {item.setting.name}"
    results = [each.results[0][1] for _, each in found if each.is_complete and each.results]
    causes = [each.failure for _, each in found if each.failure]
    if causes or any(each.exit_code for each in results):
        why = causes[0] if causes else "its rows were not verified; `show` its results"
        raise RunError(f"{what}: not calibrated: {why}")
    if work := much_other_work(*results):
        say(
            f"warning: {what}: other work took a tenth of the cores or more ({work}), so equal"
            " sweeps differ by more than on a quiet machine; stop it, and calibrate again",
            err=True,
        )
    return calibration_from(results, _RUNS)
