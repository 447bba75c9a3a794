"""Sweeps of inserts and queries, ready to run: for `insert`, `query`, and plans of many of them."""

from pathlib import Path

from cli import insert_options, plan
from cli.commands.common import Sweep, start
from cli.commands.stored import Stored
from cli.config import Target
from cli.files.request import described
from cli.host.owner import user_at_host
from cli.host.streams import say
from cli.insert_options import InsertOptions
from cli.plan import PlannedRun
from cli.query_plan import QueryOptions, left_out, query_runs
from simulator.data.dataset import DatasetReader
from simulator.data.workloads.base import Params
from simulator.protocol.spec import Kind


def insert_sweep(  # noqa: PLR0913
    target: Target,
    output: Path,
    options: InsertOptions,
    params: Params,
    before: Stored,
    *,
    sweep_id: str = "",
) -> tuple[Sweep, list[PlannedRun]]:
    """Return a sweep of inserts after the rows of `before`; ConfigError if it cannot run."""
    database = target.open()
    level = plan.verification(options, database)
    reader = DatasetReader(before.dataset)
    nothing = before.dataset.model_copy(update={"ranges": ()})
    sweep = start(Kind.INSERT, target, output, nothing, sweep_id)
    sweep.result.configuration = {
        **described(insert_options.describe(options, has_end=reader.sizes is not None), params),
        "mixes_tables": plan.mixes_tables(database, reader, options.batch),
        "runs": options.runs or (1 if options.steps else insert_options.DEFAULT_RUNS),
        "verify": level.value,
    }
    planned = list(
        plan.insert_runs(
            sweep.result.sweep_id,
            target,
            options,
            before.dataset,
            level,
            complete=before.complete,
            by=user_at_host(),
        )
    )
    plan.expect_rows(planned)
    plan.expect_storable(planned, target)
    return sweep, planned


def query_sweep(  # noqa: PLR0913
    target: Target,
    output: Path,
    options: QueryOptions,
    stored: Stored,
    *,
    force: bool,
    sweep_id: str = "",
    quiet: bool = False,
) -> tuple[Sweep, list[PlannedRun]]:
    """Return a sweep of queries on the rows of `stored`; ConfigError if it cannot run.

    Say which queries are left out, unless `quiet`.
    """
    asked = stored.dataset
    sweep = start(Kind.QUERY, target, output, asked, sweep_id)
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
