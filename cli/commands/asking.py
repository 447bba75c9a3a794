"""What commands that ask queries share: the sweep of a target, planned and not yet started."""

from pathlib import Path

from cli.commands.common import Sweep, start
from cli.commands.stored import Stored
from cli.config import Target
from cli.host.streams import say
from cli.plan import PlannedRun
from cli.query_plan import QueryOptions, left_out, query_runs
from simulator.data.dataset import Dataset
from simulator.protocol.spec import Kind


def query_sweep(  # noqa: PLR0913
    target: Target,
    stored: Stored,
    asked: Dataset,
    options: QueryOptions,
    output: Path,
    *,
    force: bool,
    quiet: bool,
) -> tuple[Sweep, list[PlannedRun]]:
    """Return a sweep that asks about the rows of an insert; ConfigError if it is impossible.

    `asked` is the stored dataset, with its file if that is what it was made from.
    """
    sweep = start(Kind.QUERY, target, output, asked)
    planned = query_runs(
        sweep.result.sweep_id, target, asked, options, complete=stored.complete, force=force
    )
    for name, problem in left_out(asked, options).items() if not quiet else ():
        say(f"query {name} is left out: {problem}", err=True)
    sweep.result.configuration = {
        **options.configuration(),
        "queries": list(planned[0].spec.load.queries),
        "rows": asked.rows,
        "workload": asked.workload,
        "seed": asked.seed,
    }
    return sweep, planned
