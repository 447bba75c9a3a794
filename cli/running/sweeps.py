"""Sweeps, ready to run: for `insert`, `query`, `mixed`, and plans of many of them."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cli.files.request import shown_options
from cli.host.owner import user_at_host
from cli.host.streams import say
from cli.input.parameters import instant
from cli.planning import plan
from cli.planning.mixed_plan import mixed_runs
from cli.planning.options import InsertOptions
from cli.planning.plan import PlannedRun
from cli.planning.query_options import EVERY, MixedOptions, QueryOptions
from cli.planning.query_plan import impossible_of, left_out, query_runs
from cli.running.launch import Sweep, start
from cli.running.stored import Stored
from cli.targets.config import Target
from simulator.data.dataset import Dataset, DatasetReader
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
        **shown_options(options.described(has_end=reader.sizes is not None), params),
        "mixes_tables": plan.mixes_tables(database, reader, options.batch),
        "runs": 1 if options.steps else options.repeats,
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
    plan.expect_needed(options.replace_tables, nothing, database)
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
    if not quiet:
        _say_left_out(left_out(asked, options))
    sweep.result.configuration = {**options.configuration(), **_asked_about(asked, planned)}
    return sweep, planned


def mixed_sweep(  # noqa: PLR0913
    target: Target,
    output: Path,
    options: MixedOptions,
    stored: Stored,
    *,
    force: bool,
    sweep_id: str = "",
    quiet: bool = False,
) -> tuple[Sweep, list[PlannedRun]]:
    """Return inserts after the rows of `stored`, and queries about these rows meanwhile.

    Say which queries are left out, unless `quiet`.
    """
    asked = stored.dataset
    sweep = start(Kind.MIXED, target, output, asked, sweep_id)
    planned = mixed_runs(
        sweep.result.sweep_id,
        target,
        asked,
        options,
        complete=stored.complete,
        by=user_at_host(),
        force=force,
    )
    plan.expect_storable(planned, target)
    load = planned[0].spec.load
    assert load.until_ms is not None
    types = DatasetReader(asked).query_types(aligned=options.aligned, until_ms=load.until_ms)
    if not quiet:
        _say_left_out(impossible_of(options.types or EVERY, types))
    sweep.result.configuration = {
        **options.configuration(),
        "until": instant(load.until_ms),
        **_asked_about(asked, planned),
    }
    return sweep, planned


def _say_left_out(problems: Mapping[str, str]) -> None:
    for name, problem in problems.items():
        say(f"query {name} is left out: {problem}", err=True)


def _asked_about(asked: Dataset, planned: Sequence[PlannedRun]) -> dict[str, Any]:
    """Return which queries are asked, and about which rows."""
    return {
        "queries": list(planned[0].spec.load.queries),
        "rows": asked.rows,
        "workload": asked.workload,
        "seed": asked.seed,
    }
