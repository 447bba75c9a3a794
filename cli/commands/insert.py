"""`insert`: write the workload's rows with several worker counts and measure."""

from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from cli import plan, results
from cli.commands.common import (
    INTEGERS,
    Choice,
    Command,
    common_options,
    conclude,
    describe_options,
    given_options,
    option,
    start,
)
from cli.files.prepare import prepared
from cli.files.request import Request, conflicts, described
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import GENERATORS
from simulator.data.workloads.base import Params
from simulator.data.workloads.file import File
from simulator.errors import ConfigError
from simulator.protocol.spec import Kind
from simulator.protocol.verdict import VerifyMode

_EXAMPLES = """\b
Examples:
  python run.py insert --target sqlite --workers 1,2 --batch 1000
  python run.py insert -t postgresql -w 16 --num-inserts 3125000 --batch 1000 --steps 10
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@option(
    "--workers",
    "-w",
    type=INTEGERS,
    default="1,4,8,12,16",
    show_default=True,
    help="Worker counts to try, in order.",
)
@option(
    "--runs",
    "-r",
    type=int,
    default=None,
    help="How often to repeat each worker count.  [default: 3; with --steps 1]",
)
@option(
    "--primary-key",
    type=click.Choice([key.value for key in PrimaryKey]),
    default=None,
    help="Who makes the primary key: db (SERIAL), sql (IDENTITY), client (from the row), uuid"
    " (drawn by the database), none (there is no primary key).  [default: db, or the first that the"
    " target has]",
)
@option(
    "--tables",
    type=click.Choice(list(plan.PARTS)),
    default="single",
    show_default=True,
    help="Write to one table, or deal the rows to four.",
)
@option("--num-inserts", type=int, default=10_000, show_default=True, help="Rows of each worker.")
@option(
    "--batch",
    type=int,
    default=0,
    show_default=True,
    help="Rows of each send; 0: one row at a time, each acknowledged on its own.",
)
@option(
    "--prefill",
    type=int,
    default=0,
    show_default=True,
    help="Rows to put into the tables, in batches, before the timed part.",
)
@option(
    "--steps",
    type=int,
    default=0,
    show_default=True,
    help="Fill-level test: so many timed inserts one after the other, without cleaning between.",
)
@option(
    "--clean/--no-clean",
    default=True,
    show_default=True,
    help="Drop and create the tables before each run, or add to what the last insert left.",
)
@option(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    metavar="FILE",
    help="Insert the rows of this file (CSV or Parquet) instead of a workload's.",
)
@option(
    "--time-column",
    default=None,
    help="Column of --data with the time of a row.  [default: the only timestamp]",
)
@option(
    "--tags",
    default="",
    metavar="A,B",
    help="Text columns of --data that tell which series a row belongs to.  [default: none]",
)
@option(
    "--workload",
    type=click.Choice(list(GENERATORS)),
    default="iot",
    show_default=True,
    help="What the rows are.",
)
@option("--seed", type=int, default=1, show_default=True, help="Seed of the rows' values.")
@option(
    "--start-time",
    type=click.DateTime(["%Y-%m-%dT%H:%M:%S"]),
    default=None,
    help="Instant of the first row, in UTC.  [default: now]",
)
@option("--devices", type=int, default=1, show_default=True, help="Devices of each worker.")
@option(
    "--tick-ms",
    type=int,
    default=60,
    show_default=True,
    help="A worker's events follow each other in 5 to 10 times this; 1000 puts them on whole"
    " seconds, for databases that count no finer.",
)
@option(
    "--rate",
    type=float,
    default=0.0,
    show_default=True,
    help="Rows/s over all workers, sent on schedule and measured from it; 0: as fast as possible.",
)
@option(
    "--verify",
    type=click.Choice([level.value for level in VerifyMode]),
    default=None,
    help="none; counts: rows, sums, minima, maxima, distinct keys; full: every row as well."
    "  [default: counts]",
)
def insert(  # noqa: PLR0913
    *,
    choice: Choice,
    output: Path,
    timeout: float,
    form: str,
    quiet: bool,
    force: bool,
    dry_run: bool,
    workers: tuple[int, ...],
    runs: int | None,
    primary_key: str | None,
    tables: str,
    num_inserts: int,
    batch: int,
    prefill: int,
    steps: int,
    clean: bool,
    data: Path | None,
    time_column: str | None,
    tags: str,
    workload: str,
    seed: int,
    start_time: datetime | None,
    devices: int,
    tick_ms: int,
    rate: float,
    verify: str | None,
) -> None:
    """Write rows into a target and measure how fast they are acknowledged.

    Every worker count is tried --runs times on empty tables; what is stored is then compared with
    what was sent. The rows are the same for the same --seed and --start-time, whatever the target;
    with --data they are those of a file, each written once, divided among the workers.
    """
    problems: list[str] = conflicts(given_options())
    found = choice.resolve(choice.extra_options(problems), problems)
    database = found.open() if found else None
    key = database.capabilities.default_key if database else PrimaryKey.DB
    begin = start_time.replace(tzinfo=UTC) if start_time else results.now_utc()
    options = plan.InsertOptions(
        workers=workers,
        runs=runs,
        primary_key=PrimaryKey(primary_key) if primary_key else key,
        tables=tables,
        num_inserts=num_inserts,
        batch=batch,
        prefill=prefill,
        steps=steps,
        clean=clean,
        timeout_s=timeout,
        workload=File.name if data else workload,
        seed=seed,
        start_ms=int(begin.timestamp() * 1000),
        devices=devices,
        tick_ms=tick_ms,
        rate=rate,
        verify=VerifyMode(verify) if verify else None,
    )
    problems += plan.option_problems(options)
    if found and database:
        problems += plan.target_problems(options, found, force=force)
        if data and found.runner != "local":
            problems.append("--data: pods cannot read a file of this machine; use --runner local")
    request = None
    if data:
        names = tuple(name for name in tags.split(",") if name)
        request = Request(data, time_column, names, options.primary_key)
    rows = None
    try:
        rows = _rows(options, request, quiet=quiet)
    except ConfigError as error:
        problems += error.problems
    if problems or not found or not database or not rows:
        raise ConfigError(problems)
    level = plan.verification(options, database)
    with rows as params:
        empty = plan.empty_dataset(options, params)
        stored = empty if clean else _stored(output, found.name, empty)
        sweep = start(Kind.INSERT, found, output, stored.model_copy(update={"ranges": ()}))
        sweep.result.configuration = {
            **described(describe_options(options), params),
            "runs": options.runs or (1 if steps else plan.DEFAULT_RUNS),
            "verify": level.value,
            **found.options.public(),
        }
        planned = list(plan.insert_runs(sweep.result.sweep_id, found, options, stored, level))
        conclude(sweep, planned, choice, form=form, quiet=quiet, dry=dry_run)


def _rows(
    options: plan.InsertOptions, request: Request | None, *, quiet: bool
) -> AbstractContextManager[Params]:
    """Return what makes the rows available for as long as the sweep takes."""
    if request is None:
        return nullcontext(plan.generator_params(options))
    request.check()
    return prepared(request, quiet=quiet)


def _stored(output: Path, target: str, empty: Any) -> Any:
    """Return what the tables hold for --no-clean: what the last insert left, or nothing."""
    last = results.last_insert(output, target)
    if last is None:
        return empty
    path, manifest = last
    if not manifest.complete:
        raise ConfigError(
            f"--no-clean: the last insert of {target} ({path}) did not finish or not all of its"
            " rows are stored, so the contents of the tables are not known; use --clean"
        )
    return plan.continued(manifest.dataset, empty)
