"""`mixed`: inserts and queries at the same time on one target, both timed, both verified."""

import functools
from pathlib import Path

import click

from cli.compare.thresholds import Scope
from cli.input.quantities import Mix
from cli.live.outputs import Outputs
from cli.options.basic import (
    COUNT,
    DURATION_S,
    MIX,
    NUMBER,
    VERIFICATION,
    Command,
    align_option,
    batch_option,
    dataset_option,
    option,
    resources_option,
    retry_option,
    types_option,
)
from cli.options.choice import Choice, common_options
from cli.options.gates import Gates, gate_options
from cli.options.live import live_options
from cli.planning.mixed_plan import MixedOptions, option_problems
from cli.running.launch import conclude
from cli.running.stored import inserted
from cli.running.sweeps import mixed_sweep
from simulator.errors import ConfigError
from simulator.protocol.verdict import VerifyMode

_EXAMPLES = """\b
Examples:
  python run.py mixed --target sqlite --duration 30s
  python run.py mixed -t postgresql --insert-workers 4 --batch 1000 --insert-rate 50k \\
      --query-workers 2 --query-rate 20 --types '*-host-1-hr'
  python run.py mixed -t timescaledb --mix insert=80,query=20 --rate 100 --batch 1000
"""

_load = functools.partial(option, group="Load")
_inserts = functools.partial(option, group="Inserts")
_queries = functools.partial(option, group="Queries")


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@gate_options
@live_options
@_load(
    "--duration",
    type=DURATION_S,
    default=60.0,
    help="For how long rows are inserted and queries asked.  [default: 60s]",
)
@_load(
    "--warmup",
    type=DURATION_S,
    default=0.0,
    show_default=True,
    help="Insert and ask for this time before --duration begins. Rows and answers are verified, and"
    " left out of every figure.",
)
@_load(
    "--runs",
    "-r",
    type=COUNT,
    default=1,
    show_default=True,
    help="How often to repeat this; each run asks about all rows that were stored before it, and"
    " adds others.",
)
@_load(
    "--rate",
    type=NUMBER,
    default=0.0,
    help="Operations/s of all workers together, divided by --mix: batches (rows with --batch 0) and"
    " queries.",
)
@_load(
    "--mix",
    type=MIX,
    default=None,
    help="Shares of inserts and queries in --rate, such as insert=80,query=20.",
)
@dataset_option(group="Load")
@resources_option(group="Load")
@_inserts(
    "--insert-workers",
    type=COUNT,
    default=1,
    show_default=True,
    help="Workers that insert rows.",
)
@batch_option(group="Inserts")
@_inserts(
    "--insert-rate",
    type=NUMBER,
    default=0.0,
    show_default=True,
    help="Rows/s of all workers that insert; latency counts from the scheduled time. 0: no limit.",
)
@retry_option(group="Inserts")
@_inserts(
    "--verify",
    type=VERIFICATION,
    default=VerifyMode.COUNTS.value,
    show_default=True,
    help="How the stored rows are verified, as with insert; answers are always.",
)
@_queries(
    "--query-workers",
    type=COUNT,
    default=1,
    show_default=True,
    help="Workers that ask queries.",
)
@_queries(
    "--query-rate",
    type=NUMBER,
    default=0.0,
    show_default=True,
    help="Queries/s of all workers that ask; the wait counts from the scheduled time. 0: no limit.",
)
@types_option(group="Queries")
@align_option(group="Queries")
def mixed(  # noqa: PLR0913
    *,
    choice: Choice,
    gates: Gates,
    outputs: Outputs,
    output: Path,
    timeout: float,
    form: str,
    quiet: bool,
    force: bool,
    dry_run: bool,
    duration: float,
    warmup: float,
    runs: int,
    rate: float,
    mix: Mix | None,
    dataset: Path | None,
    resources: bool,
    insert_workers: int,
    batch: int,
    insert_rate: float,
    retry_for: float,
    verify: str,
    query_workers: int,
    query_rate: float,
    queries: tuple[str, ...] | None,
    align: bool,
) -> None:
    """Insert rows and ask queries at the same time.

    Run `insert` first, and leave rows to insert: with a workload that has an end, by --limit. Some
    workers add the rows that follow, also in time; others ask the workload's queries in turn, each
    once before the clock starts. Every query ends where the new rows begin, so its answer does not
    change while rows are added, and is compared with the truth. Afterwards the stored rows are
    verified as after an insert; `insert --no-clean` and `mixed` continue them.

    With --runs, each run continues the rows of the one before.

    Types that a database cannot ask with an end of time are left out, with the reason.
    """
    problems: list[str] = []
    found = choice.resolve(choice.extra_options(problems), problems)
    options = MixedOptions(
        insert_workers=insert_workers,
        query_workers=query_workers,
        batch=batch,
        duration_s=duration,
        insert_rate=insert_rate,
        query_rate=query_rate,
        rate=rate,
        mix=mix,
        queries=queries or (),
        aligned=align,
        verify=VerifyMode(verify),
        timeout_s=timeout,
        warmup_s=warmup,
        runs=runs,
        retry_for_s=retry_for,
    )
    problems += option_problems(options)
    gates.parsed(Scope({"load"}, workers=()), problems)
    outputs.check(problems)
    if problems or not found:
        raise ConfigError(problems)
    stored = inserted(output, found, choice, dataset, quiet=quiet, dry=dry_run)
    sweep, planned = mixed_sweep(found, output, options, stored, force=force, quiet=quiet)
    conclude(
        sweep, planned, choice,
        form=form, quiet=quiet, dry=dry_run, measured=resources, gates=gates,
        outputs=outputs,
    )  # fmt: skip
