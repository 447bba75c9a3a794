"""`query`: run the workload's queries, time them, and verify the answers."""

import functools
from pathlib import Path

import click

from cli.compare.thresholds import Scope
from cli.experiment.query_file import read_own
from cli.files.prepare import reopened
from cli.live.outputs import Outputs
from cli.options.basic import (
    COUNT,
    COUNTS,
    DURATION_S,
    STAGES,
    Command,
    align_option,
    before_run_option,
    dataset_option,
    drop_caches_option,
    option,
    resources_option,
    types_option,
)
from cli.options.choice import Choice, common_options, given_options
from cli.options.gates import Gates, gate_options
from cli.options.live import live_options
from cli.options.own_queries import queries_option
from cli.planning.query_plan import QueryOptions
from cli.planning.stages import counts_of, stage_conflicts
from cli.running.launch import conclude
from cli.running.stored import Stored, inserted
from cli.running.sweeps import query_sweep
from simulator.errors import ConfigError
from simulator.protocol.spec import LoadStage

_EXAMPLES = """\b
Examples:
  python run.py query --target sqlite
  python run.py query -t postgresql -w 4 -r 5 --types count-events,newest-per-device
  python run.py query -t influxdb -w 1,2,4 --types '*-host-1-hr' --count 1000 --burn-in 10
  python run.py query -t sqlite --queries queries.yaml
  python run.py query -t postgresql --types newest-per-device --stages 1:1m,8:5m
  python run.py query -t timescaledb -w 64 --types 1-host-1-hr --ramp --response-limit 50ms
"""


_load = functools.partial(option, group="Queries")
_ramp = functools.partial(option, group="Ramp")


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@gate_options
@live_options
@_load(
    "--workers",
    "-w",
    type=COUNTS,
    default="1",
    show_default=True,
    help="Workers that run the queries concurrently: 1,2,4 or 1-4; one run for each count.",
)
@_load(
    "--runs",
    "-r",
    type=COUNT,
    default=None,
    help="How often each worker runs each query, after a first time.  [default: 3, without --count"
    " and --duration]",
)
@_load("--count", type=COUNT, default=None, help="How often all workers together run each query.")
@_load(
    "--duration",
    type=DURATION_S,
    default=0.0,
    help="For how long the workers run each query.",
)
@_load(
    "--warmup",
    type=DURATION_S,
    default=0.0,
    help="For how long each worker runs each query, after the first run, before runs are timed."
    " These answers are checked.",
)
@_load(
    "--stages",
    type=STAGES,
    default=None,
    help="Parts of the time of each query, each with so many active workers and figures of its own,"
    " such as 1:1m,8:5m. First runs and warm-ups come before the first part.",
)
@_load(
    "--burn-in",
    type=COUNT,
    default=0,
    help="A warm-up counted in runs of each query by each worker. With --warmup both are reached.",
)
@types_option(group="Queries")
@queries_option(group="Queries")
@before_run_option(group="Queries")
@drop_caches_option(group="Queries")
@align_option(group="Queries")
@_load(
    "--print-answers",
    type=COUNT,
    default=0,
    help="Print so many answers to each query, 20 rows of each, and keep them in the result.",
)
@_load(
    "--print-interval",
    type=COUNT,
    default=0,
    help="Print a line of progress after each N timed runs of a query, at most twice a second; with"
    " --format json, a line of JSON.",
)
@resources_option(group="Queries")
@_ramp(
    "--ramp",
    is_flag=True,
    help="Start each query with one worker and let in more, until answers take longer than"
    " --response-limit; report with how many.",
)
@_ramp(
    "--response-limit",
    type=DURATION_S,
    default=None,
    help="Longest response time on average that the ramp accepts; at three times as much it ends"
    " at once.",
)
@_ramp(
    "--ramp-step", type=COUNT, default=None, help="Workers that are let in together.  [default: 1]"
)
@_ramp(
    "--ramp-interval",
    type=DURATION_S,
    default=None,
    help="Time until more workers are let in.  [default: 30s]",
)
@_ramp(
    "--moving-average",
    type=DURATION_S,
    default=None,
    help="Time over which the response time is averaged.  [default: 30s]",
)
@dataset_option(group="Queries")
@_load(
    "--seed",
    type=COUNT,
    default=None,
    help="Fail unless the rows were inserted with this seed.  [default: any]",
)
def query(  # noqa: PLR0913
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
    workers: tuple[int, ...],
    runs: int | None,
    count: int | None,
    duration: float,
    warmup: float,
    stages: tuple[LoadStage, ...] | None,
    burn_in: int,
    queries: tuple[str, ...] | None,
    queries_file: Path | None,
    align: bool,
    before_run: str | None,
    drop_caches: bool,
    print_answers: int,
    print_interval: int,
    resources: bool,
    ramp: bool,
    response_limit: float | None,
    ramp_step: int | None,
    ramp_interval: float | None,
    moving_average: float | None,
    dataset: Path | None,
    seed: int | None,
) -> None:
    """Time the workload's queries and verify every answer.

    Run `insert` first: it writes the rows. Each worker runs each query once, which is timed apart
    as the first answer, and then --runs times. Timed is the wait for the database until every row
    of the answer is there; what this program does with the answer is shown as the client's share.
    Queries with random parameters (hosts, windows of time) ask something else in each run; the same
    seed asks the same. Afterwards each answer is compared with the truth, which is computed from
    the rows themselves.

    With --ramp a growing number of workers asks each query, up to --workers: how many can the
    database answer within the response limit?
    """
    problems: list[str] = []
    extra = choice.extra_options(problems)
    more = extra.pop("queries", "")
    found = choice.resolve(extra, problems)
    own = read_own(queries_file, problems)
    problems += stage_conflicts(stages, given_options())
    workers = counts_of(stages, workers)
    active = tuple(stage.workers for stage in stages or ()) or workers
    gates.parsed(Scope({"query"}, workers=active), problems)
    outputs.check(problems)
    if problems or not found:
        raise ConfigError(problems)
    stored = inserted(output, found, choice, dataset, quiet=quiet, dry=dry_run)
    if seed is not None and seed != stored.dataset.seed:
        raise ConfigError(
            f"--seed: the data was inserted with seed {stored.dataset.seed}, got {seed}"
        )
    options = QueryOptions(
        workers=workers,
        runs=runs,
        count=count,
        duration_s=duration,
        queries=queries or tuple(filter(None, more.split(","))),
        aligned=align,
        shown_answers=print_answers,
        timeout_s=timeout,
        burn_in=burn_in,
        warmup_s=warmup,
        print_interval=print_interval,
        ramp=ramp,
        ramp_step=ramp_step,
        ramp_interval_s=ramp_interval,
        moving_average_s=moving_average,
        response_limit_s=response_limit,
        own=own,
        stages=stages or (),
    )
    with reopened(stored.dataset, quiet=quiet) as asked:
        sweep, planned = query_sweep(
            found, output, options, Stored(asked, stored.complete), force=force, quiet=quiet
        )
        sweep = sweep.with_caches(dropped=drop_caches)
        sweep = sweep.with_command(before_run, choice.environment)
        conclude(
            sweep, planned, choice,
            form=form, quiet=quiet, dry=dry_run, measured=resources, gates=gates,
            outputs=outputs,
        )  # fmt: skip
