"""`reproduce`: run the experiment of a reference document, and print our figures beside its own."""

import functools
import hashlib
import sys
from pathlib import Path
from typing import Literal

import click

from cli import config as configuration
from cli import results
from cli.cluster.options import ClusterOptions
from cli.commands.common import several_targets
from cli.commands.measure import Measuring
from cli.commands.options import NAMES, Command, option
from cli.commands.roster import Roster, candidates_of, roster_of
from cli.experiment.engine import Measured, measured
from cli.experiment.items import Item, items_of
from cli.experiment.plan import Plan
from cli.host.interrupts import caught_interrupts
from cli.host.machine import this_machine
from cli.host.streams import print_out, say
from cli.host.terminal import width_of
from cli.reproduce import documents
from cli.reproduce.documents import Document, Size, measured_by, plan_of, read_document
from cli.reproduce.evaluate import Experiment
from cli.reproduce.record import Reproduction
from cli.reproduce.tables import printed
from simulator import __version__
from simulator.errors import ConfigError

_EXAMPLES = """\b
Examples:
  python run.py reproduce iot --targets sqlite
  python run.py reproduce nosql --targets mysql_innodb,mysql_myisam,postgresql --runner local
"""

_experiment = functools.partial(option, group="Experiment")


@click.command(cls=Command, epilog=_EXAMPLES)
@click.argument("document", type=click.Choice(documents.NAMES))
@_experiment(
    "--size",
    type=click.Choice([size.value for size in Size]),
    default=Size.DEMO.value,
    show_default=True,
    help="demo: minutes on one machine; document: as the document describes it.",
)
@_experiment(
    "--targets",
    type=NAMES,
    default=None,
    help="Targets to measure.  [default: those of the configuration that answer]",
)
@several_targets("table", "json")
def reproduce(  # noqa: PLR0913
    *,
    document: str,
    size: str,
    targets: tuple[str, ...] | None,
    config: Path | None,
    runner: str | None,
    output: Path,
    timeout: float,
    form: str,
    quiet: bool,
    force: bool,
    cluster: ClusterOptions,
) -> None:
    """Repeat a published benchmark, beside its own figures.

    Each setting of the document is measured several times on each target, in alternating order. The
    published figures stand beside ours, and the document's claims are compared with the repeats:
    seen, not seen, or within the spread. What could not be measured is listed as "not had", with
    the reason.

    After an interruption, the same command goes on where it stopped: results in --output that are
    complete are not measured again. Another --output measures everything again.
    """
    if problems := cluster.problems():
        raise ConfigError(problems)
    plan = plan_of(document, Size(size))
    read = measured_by(read_document(document), plan)
    loaded = configuration.load(config)
    candidates = candidates_of(loaded, targets)
    results.prepare_folder(output)  # before embedded databases make their files in it
    roster = roster_of(plan, candidates, loaded, runner, cluster, force=force, quiet=quiet)
    with caught_interrupts() as interrupts:
        measuring = Measuring(output, interrupts, cluster, timeout, force, quiet)
        record, path = reproduced(document, size, read, plan, roster, measuring)
    if form == "json":
        print_out(record.model_dump_json(indent=1) + "\n")
    else:
        print_out(printed(record, str(path), width_of(sys.stdout)))
    click.get_current_context().exit(record.exit_code)


def reproduced(  # noqa: PLR0913, PLR0917
    name: str, size: str, document: Document, plan: Plan, roster: Roster, measuring: Measuring
) -> tuple[Reproduction, Path]:
    """Measure what has no complete result yet; return the record of all, and its file."""
    items = items_of(plan, roster.pairs)
    found, status = _measured(items, measuring)
    experiment = Experiment(document, roster.candidates, roster.refused, found)
    created = sorted(result.created for _, each in found for _, result in each.results)
    record = Reproduction(
        program_version=__version__,
        document=name,
        number=document.number,
        size=size,
        title=document.title,
        measured_on=document.measured_on,
        machine=this_machine(),
        status=status,
        first=created[0] if created else None,
        last=created[-1] if created else None,
        items=experiment.items(),
        lines=experiment.lines(),
        claims=experiment.claims(),
        not_had=experiment.not_had(),
        refused=experiment.refusals(),
    )
    digest = hashlib.sha256(" ".join(item.id for item in items).encode()).hexdigest()[:8]
    path = measuring.output / f"reproduce-{name}-{size}-{digest}.json"
    results.write(path, record)
    return record, path


def _measured(
    items: list[Item], measuring: Measuring
) -> tuple[list[tuple[Item, Measured]], Literal["done", "interrupted"]]:
    """Measure what has no result yet; after an interruption, return what there is."""
    found: list[tuple[Item, Measured]] = []

    def announced(item: Item) -> Measured:
        _say(measuring, f"[{len(found) + 1}/{len(items)}] {item.name}")
        return measuring.measure(item)

    for item, each, is_new in measured(items, measuring.output, announced):
        if each.is_interrupted:
            return found, "interrupted"
        found.append((item, each))
        if not is_new:
            _say(measuring, f"[{len(found)}/{len(items)}] {item.name}: measured before")
        if measuring.interrupts.requested and len(found) < len(items):
            return found, "interrupted"
    return found, "done"


def _say(measuring: Measuring, text: str) -> None:
    if not measuring.quiet:
        say(text, err=True)
