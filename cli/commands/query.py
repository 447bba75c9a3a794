"""`query`: ask the workload's questions, time the answers, and check them."""

from pathlib import Path

import click

from cli import plan
from cli.commands.common import Choice, Command, common_options, conclude, option, start
from cli.commands.stored import inserted
from cli.files.prepare import reopened
from simulator.errors import ConfigError
from simulator.protocol.spec import Kind

_EXAMPLES = """\b
Examples:
  python run.py query --target sqlite
  python run.py query -t postgresql -w 4 -r 5 --queries count-events,newest-per-device
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@option("--workers", "-w", type=int, default=1, show_default=True, help="Workers that ask at once.")
@option(
    "--runs", "-r", type=int, default=3, show_default=True, help="How often each asks each query."
)
@option("--queries", default="", metavar="A,B", help="Only these queries.  [default: all]")
@option(
    "--dataset",
    type=click.Path(path_type=Path),
    default=None,
    help="Result file of the insert that wrote the data.  [default: the target's last in --output]",
)
@option(
    "--seed",
    type=int,
    default=None,
    help="Expect the data to be of this seed.  [default: whatever the insert used]",
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
    workers: int,
    runs: int,
    queries: str,
    dataset: Path | None,
    seed: int | None,
) -> None:
    """Ask a target's data the workload's queries, and check every answer.

    The data must be there: run `insert` first. Each worker asks each query --runs times and fetches
    every row inside the timed part; after the clock stops each answer is compared with the truth,
    which is computed from the rows themselves.
    """
    problems: list[str] = []
    extra = choice.extra_options(problems)
    extra_queries = extra.pop("queries", "")
    found = choice.resolve(extra, problems)
    if problems or not found:
        raise ConfigError(problems)
    stored = inserted(output, found.name, dataset)
    if seed is not None and seed != stored.seed:
        raise ConfigError(f"--seed: the data was inserted with seed {stored.seed}, got {seed}")
    with reopened(stored, quiet=quiet) as asked:
        sweep = start(Kind.QUERY, found, output, asked)
        names = [name for name in (queries or extra_queries).split(",") if name]
        planned = plan.query_run(
            sweep.result.sweep_id,
            found,
            asked,
            workers=workers,
            runs=runs,
            timeout_s=timeout,
            names=names,
            force=force,
        )
        sweep.result.configuration = {
            "workers": workers,
            "runs": runs,
            "queries": list(planned.spec.queries),
            "rows": asked.rows,
            "workload": asked.workload,
            "seed": asked.seed,
            "timeout_s": timeout,
            **found.options.public(),
        }
        conclude(sweep, [planned], choice, form=form, quiet=quiet, dry=dry_run)
