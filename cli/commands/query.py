"""`query`: run the workload's queries, time them, and verify the answers."""

import functools
from pathlib import Path

import click

from cli import plan
from cli.commands.common import Choice, common_options, conclude, start
from cli.commands.options import COUNT, COUNTS, NAMES, Command, dataset_option, option
from cli.commands.stored import inserted
from cli.files.prepare import reopened
from simulator.errors import ConfigError
from simulator.protocol.spec import Kind

_EXAMPLES = """\b
Examples:
  python run.py query --target sqlite
  python run.py query -t postgresql -w 4 -r 5 --queries count-events,newest-per-device
"""


_load = functools.partial(option, group="Queries")


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@_load(
    "--workers",
    "-w",
    type=COUNTS,
    default="1",
    show_default=True,
    help="Workers that run the queries concurrently; one count.",
)
@_load(
    "--runs",
    "-r",
    type=COUNT,
    default=3,
    show_default=True,
    help="How often each worker runs each query.",
)
@_load("--queries", type=NAMES, default=None, help="Queries to run.  [default: all]")
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
    output: Path,
    timeout: float,
    form: str,
    quiet: bool,
    force: bool,
    dry_run: bool,
    workers: tuple[int, ...],
    runs: int,
    queries: tuple[str, ...] | None,
    dataset: Path | None,
    seed: int | None,
) -> None:
    """Time the workload's queries and verify every answer.

    Run `insert` first: it writes the rows. Each worker runs each query --runs times and fetches
    every row of the answer inside the timed part. Afterwards each answer is compared with the
    truth, which is computed from the rows themselves.
    """
    problems: list[str] = []
    extra = choice.extra_options(problems)
    more = extra.pop("queries", "")
    if len(workers or ()) != 1:
        counts = ",".join(map(str, workers or ()))
        problems.append(
            f"--workers: query takes one worker count, got {counts}; run it once for each count"
        )
    found = choice.resolve(extra, problems)
    if problems or not found:
        raise ConfigError(problems)
    stored = inserted(output, found, choice, dataset, quiet=quiet, dry=dry_run)
    if seed is not None and seed != stored.dataset.seed:
        raise ConfigError(
            f"--seed: the data was inserted with seed {stored.dataset.seed}, got {seed}"
        )
    with reopened(stored.dataset, quiet=quiet) as asked:
        sweep = start(Kind.QUERY, found, output, asked)
        planned = plan.query_run(
            sweep.result.sweep_id,
            found,
            asked,
            complete=stored.complete,
            workers=workers[0],
            runs=runs,
            timeout_s=timeout,
            names=queries or tuple(filter(None, more.split(","))),
            force=force,
        )
        sweep.result.configuration = {
            "workers": workers[0],
            "runs": runs,
            "queries": list(planned.spec.queries),
            "rows": asked.rows,
            "workload": asked.workload,
            "seed": asked.seed,
            "timeout_s": timeout,
        }
        conclude(sweep, [planned], choice, form=form, quiet=quiet, dry=dry_run)
