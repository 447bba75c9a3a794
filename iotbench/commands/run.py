"""`run`: carry out a plan: targets x settings x repeats, in alternating order, with one report."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import click

from iotbench.config.input.options import Options
from iotbench.config.options.basic import Command
from iotbench.config.options.declared import options_of
from iotbench.execution.experiment import forecast_of, measure_all, plan_record
from iotbench.execution.installing import Installing
from iotbench.execution.measure import ItemMeasuring
from iotbench.execution.roster import Roster, roster_of
from iotbench.machine import outfile
from iotbench.machine.interrupts import catch_interrupts
from iotbench.machine.streams import print_out
from iotbench.output.live.outputs import MetricsOutput
from iotbench.plans.gates import Gates
from iotbench.plans.installing import (
    Installation,
    format_shown,
    installations_of,
)
from iotbench.plans.items import digest_of
from iotbench.plans.options import PlanOptions, PlanRun, plan_options
from iotbench.plans.plan import Plan, expect_trust, list_risks, read_plan
from iotbench.plans.record import OWN
from iotbench.plans.tables import format_record
from iotbench.results.result_files import ResultFile
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py run plan.yaml --dry-run
  python run.py run plan.yaml --targets sqlite,postgresql
"""


class _Consent(Options):
    """The consent to more than measurements."""

    GROUP: ClassVar[str] = "Plan"

    trust: bool = False
    """Trust the plan: let it run commands on this machine, and set options and addresses of
    targets, statements, files and faults. --dry-run lists them.
    """


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("plan", type=click.Path(path_type=Path))
@plan_options("Plan", "those of the plan, or of the configuration that answer")
@options_of(_Consent, "consent")
@options_of(MetricsOutput, "output")
@options_of(Gates, "gates")
def run(  # noqa: PLR0913
    *,
    plan: Path,
    consent: _Consent,
    options: PlanOptions,
    run: PlanRun,
    gates: Gates,
    output: MetricsOutput,
) -> None:
    """Carry out a PLAN: measure its settings on several targets, several times.

    Every other repeat runs in reverse order, so that drift of the machine affects all items alike.
    Each item is an ordinary insert, optionally with queries on its rows; it is verified, and has
    its own result files. After an interruption, the same command continues where it stopped:
    complete results in --output are not measured again. Another --output measures everything again.

    A plan may come from a stranger: a plan with more than measurements is refused without --trust.

    A target that the plan installs is installed before its first item and removed after its last
    item, whatever happens. All repeats of the target are measured together, so that only one such
    database runs at a time.
    """
    output.expect()
    reach = options.reach
    written = read_plan(plan)
    if not (consent.trust or run.dry_run):
        expect_trust(plan, written)
    read = options.apply_to(written)
    if read.until_settled is not None:
        raise ConfigError(f"{plan}: until_settled: only the claims of `reproduce` can be settled")
    installations = installations_of(read)
    thresholds = gates.beside(read.thresholds).expect(read.scope)
    names = options.targets or read.target_names or None
    roster = roster_of(read, names, reach, run, installations)
    if run.dry_run:
        installs = format_shown(_redact(installations, roster).values())
        needs = "".join(f"needs --trust: {each}\n" for each in list_risks(written))
        print_out(forecast_of(read.name, read, roster, run) + needs + installs)
        return
    stem = f"plan-{read.name}-{digest_of(read, roster.pairs)}"
    path = run.output / f"{stem}.json"
    outfile.expect_own(path, OWN)
    with catch_interrupts() as interrupts, output.open_metrics() as outputs_of:
        measuring = ItemMeasuring.of(run, options, interrupts, outputs_of)
        installing = Installing(
            installations,
            run.output,
            stem,
            interrupts,
            reach.cluster,
            reach.environment,
            run.quiet,
        )
        measured = measure_all(read, roster, measuring, installing=installing)
    described = _describe(read, _redact(installations, roster), roster)
    done = tuple(installing.records)
    record = plan_record(read, roster, measured, written=described, installs=done)
    file = ResultFile(path)
    file.write(record)
    kept = file.show(record, run.form, format_record)
    name = f"plan.{read.name}"
    failed = gates.conclude_items(name, record.status, record.items, run.output, thresholds)
    click.get_current_context().exit(record.exit_code or int(not kept) or failed)


def _redact(installations: Mapping[str, Installation], roster: Roster) -> dict[str, Installation]:
    """Return the installations of the targets that can be measured, without credentials."""
    targets = {name: [p.target for p in roster.pairs if p.target.name == name]
               for name in installations}  # fmt: skip
    return {name: installations[name].redact(own) for name, own in targets.items() if own}


def _describe(
    plan: Plan, installations: Mapping[str, Installation], roster: Roster
) -> dict[str, Any]:
    """Return the plan for its record, without the credentials in commands."""
    record = plan.model_dump(mode="json", by_alias=True)
    for setting in record["settings"]:
        for each in filter(None, (setting["insert"], setting["query"])):
            for pair in roster.pairs if each["before_run"] else ():
                each["before_run"] = pair.target.options.redact_command(each["before_run"])
    for each in record["targets"]:
        found = installations.get(each["name"])
        if isinstance(each["install"], list):
            each["install"] = list(found.install) if found else []
            each["remove"] = list(found.remove) if found else []
    return record
