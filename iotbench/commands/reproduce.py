"""`reproduce`: run the experiment of a reference document, and compare the figures."""

from typing import ClassVar

import click

from iotbench.config.input.options import Options
from iotbench.config.options.basic import Command
from iotbench.config.options.declared import options_of
from iotbench.execution.experiment import forecast_of, measure_all, record_fields
from iotbench.execution.measure import ItemMeasuring
from iotbench.execution.roster import Refused, Roster, roster_of
from iotbench.machine import outfile
from iotbench.machine.interrupts import catch_interrupts
from iotbench.machine.streams import print_out
from iotbench.output.live.outputs import MetricsOutput
from iotbench.plans.gates import Gates
from iotbench.plans.items import Found, digest_of
from iotbench.plans.options import PlanOptions, PlanRun, plan_options
from iotbench.plans.plan import Plan
from iotbench.plans.published import documents
from iotbench.plans.published.documents import (
    Document,
    ExperimentSize,
    keep_measured,
    plan_of,
    read_document,
)
from iotbench.plans.published.evaluate import Experiment
from iotbench.plans.published.measurements import caches, in_memory
from iotbench.plans.published.record import OWN, Reproduction
from iotbench.plans.published.tables import format_record
from iotbench.results.result_files import ResultFile

_EXAMPLES = """\b
Examples:
  python run.py reproduce iot --targets sqlite
  python run.py reproduce nosql --targets mysql_innodb,mysql_myisam,postgresql --runner local
"""


class _Experiment(Options):
    """The size of the experiment."""

    GROUP: ClassVar[str] = "Experiment"

    size: ExperimentSize = ExperimentSize.DEMO
    """demo: minutes on one machine; document: as the document describes it."""


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("document", type=click.Choice(documents.NAMES))
@options_of(_Experiment, "experiment")
@plan_options("Experiment", "those of the configuration that answer")
@options_of(MetricsOutput, "output")
@options_of(Gates, "gates")
def reproduce(  # noqa: PLR0913
    *,
    document: str,
    experiment: _Experiment,
    options: PlanOptions,
    run: PlanRun,
    gates: Gates,
    output: MetricsOutput,
) -> None:
    """Repeat a published benchmark, and compare the figures.

    Each setting of the document is measured several times on each target, in alternating order. The
    output lists the published figures next to ours, and whether each claim of the document shows in
    the repeats: seen, not seen, or within the spread. What could not be measured is listed as "not
    measured", with the reason.

    After an interruption, the same command continues where it stopped: complete results in --output
    are not measured again. Another --output measures everything again.
    """
    output.expect()
    reach, size = options.reach, experiment.size
    plan = options.apply_to(plan_of(document, size))
    thresholds = gates.beside(plan.thresholds).expect(plan.scope)
    read = keep_measured(read_document(document), plan)
    roster = roster_of(plan, options.targets, reach, run)
    if run.dry_run:
        print_out(forecast_of(f"document {read.number}, size {size}", plan, roster, run))
        return
    with catch_interrupts() as interrupts, output.open_metrics() as outputs_of:
        measuring = ItemMeasuring.of(run, options, interrupts, outputs_of)
        record, file = reproduce_document(document, size, read, plan, roster, measuring)
    kept = file.show(record, run.form, format_record)
    name = f"reproduce.{record.document}"
    failed = gates.conclude_items(name, record.status, record.items, run.output, thresholds)
    click.get_current_context().exit(record.exit_code or int(not kept) or failed)


def reproduce_document(  # noqa: PLR0913, PLR0917
    name: str, size: str, document: Document, plan: Plan, roster: Roster, measuring: ItemMeasuring
) -> tuple[Reproduction, ResultFile]:
    """Measure all incomplete items; return the record of all items, and the file of the record."""

    def find_unsettled(found: Found, refused: Refused) -> set[tuple[str, str]]:
        return Experiment(document, roster.candidates, refused, found).find_unsettled()

    digest = digest_of(plan, roster.pairs)
    path = measuring.run.output / f"reproduce-{name}-{size}-{digest}.json"
    outfile.expect_own(path, OWN)
    found, status, refused = measure_all(plan, roster, measuring, find_unsettled)
    experiment = Experiment(document, roster.candidates, refused, found)
    record = Reproduction(
        **record_fields(found, status, refused),
        document=name,
        number=document.number,
        size=size,
        title=document.title,
        measured_on=document.measured_on,
        lines=experiment.lines(),
        claims=experiment.claims(),
        matrix=experiment.matrix(),
        not_had=experiment.not_had(),
        in_memory=in_memory(found) if document.compares_disks else {},
        caches=caches(found),
    )
    file = ResultFile(path)
    file.write(record)
    return record, file
