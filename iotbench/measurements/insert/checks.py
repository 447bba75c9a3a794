"""Checks of the options of an insert. Each check returns all problems at once. Pure."""

from collections.abc import Iterator

from pydantic import ValidationError

from iotbench.config.input.parameters import instant, is_end, option_of, parameters
from iotbench.config.input.validation import problems_of
from iotbench.config.targets.config import Target
from iotbench.machine.disk import unfillable
from iotbench.machine.listener import elsewhere
from iotbench.machine.machine import too_many
from iotbench.measurements.insert.options import DEFAULT_ROWS, TABLES, InsertOptions
from iotbench.measurements.insert.workload_file import is_file, read_workload
from iotbench.measurements.shared.distribution import YEAR_10000_MS, Split
from iotbench.measurements.shared.faults import Fault, Faults
from iotbench.measurements.shared.options import LARGEST_BATCH_ROWS, MOST_RUNS
from iotbench.measurements.shared.stages import rate_problems, stage_problems
from simulator.data.dataset import PartsBy
from simulator.data.ranges import LANE_ROWS
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import workload_class
from simulator.data.workloads.base import Params, Workload
from simulator.data.workloads.declared import Declared
from simulator.errors import ConfigError, counted
from simulator.modules.contract import IMPORT, explain_unrelayed

SHORTEST_STEADY_S = 15.0
"""Shortest time in which a rate can be recognised as steady."""
MOST_STARTS = 100_000
"""Maximum number of workers that the runs of a sweep start in total."""


def option_problems(options: InsertOptions) -> list[str]:
    """Return a sentence for each option that cannot work on any target."""
    problems = options.problems()
    if not options.workers:
        problems.append("--workers: expected at least one number, got none")
    others = {
        "--duration": options.duration_s,
        "--num-inserts": options.num_inserts is not None,
        "--steps": options.steps,
        "--import": options.imports,
    }
    problems += stage_problems(options.stages, others)
    problems += options.fault_problems(options.duration_s)
    if options.tables == 1 and options.tables_by is PartsBy.WORKER:
        problems.append("--tables-by worker: needs several tables; use --tables N, or leave it out")
    problems += rate_problems({"--rate": options.rate})
    if options.replace_tables and not options.clean:
        problems.append(
            "--replace-table: --no-clean adds to the tables of the last insert and replaces none;"
            " leave out one of them"
        )
    if options.imports:
        alone = {
            "--batch": options.batch,
            "--rate": options.rate,
            "--duration": options.duration_s,
            "--warmup": options.warmup_s,
            "--warmup-until-steady": options.warmup_until_steady_s,
        }
        problems += [
            f"{name}: with --import a worker's rows are one statement; leave it out"
            for name, given in alone.items()
            if given
        ]
    problems += _steady_problems(options)
    sizes = [] if problems else _size_problems(options)
    return [*problems, *sizes, *_step_problems(options)]


def _steady_problems(options: InsertOptions) -> list[str]:
    name, most_s = "--warmup-until-steady", options.warmup_until_steady_s
    problems = []
    if 0 < most_s < SHORTEST_STEADY_S:
        problems.append(
            f"{name}: in less than {SHORTEST_STEADY_S:g}s no rate is seen to be steady, got"
            f" {most_s:g}s; use {SHORTEST_STEADY_S:g}s or more, or --warmup"
        )
    if most_s and options.warmup_s:
        problems.append(f"--warmup, {name}: both set the length of the warm-up; use one of them")
    if most_s and options.stages:
        problems.append(f"{name}: --stages begin at a fixed time; use --warmup")
    return problems


def _size_problems(options: InsertOptions) -> list[str]:
    problems, repeats = [], options.repeats
    runs, starts = len(options.workers) * repeats, sum(options.workers) * repeats
    if runs > MOST_RUNS or starts > MOST_STARTS:
        problems.append(
            f"--workers, --runs, --steps: a sweep has at most {MOST_RUNS:,} runs, which start at"
            f" most {MOST_STARTS:,} workers; got {counted(runs, 'run')} with"
            f" {counted(starts, 'worker')}"
        )
    most = options.least_rows_each
    if most > LANE_ROWS:
        problems.append(
            f"--num-inserts, --prefill: a worker can insert {LANE_ROWS:,} rows, got {most:,}"
        )
    held = options.batch_rows * (options.tables if options.tables_by is PartsBy.ROW else 1)
    if held > LARGEST_BATCH_ROWS * TABLES["multiple"]:
        problems.append(
            f"--tables, --batch: each worker holds a batch for every table, {held:,} rows; use a"
            " smaller batch, fewer tables, or --tables-by worker"
        )
    return problems


def _step_problems(options: InsertOptions) -> list[str]:
    problems = []
    if (options.setup or options.teardown) and (options.steps or not options.clean):
        problems.append(
            "--setup, --teardown: are for tables that each run creates; leave"
            f" {'--steps' if options.steps else '--no-clean'} out"
        )
    if options.steps:
        if len(options.workers) != 1:
            counts = ",".join(map(str, options.workers))
            problems.append(f"--steps: needs exactly one worker count, got --workers {counts}")
        if options.runs not in (None, 1):
            problems.append(f"--steps: takes one run, got --runs {options.runs}; leave it out")
        if options.duration_s:
            problems.append("--steps: counts rows; leave --duration out, or use --runs")
        if options.warm_s:
            name = "--warmup" if options.warmup_s else "--warmup-until-steady"
            problems.append(f"--steps: counts rows; leave {name} out, or use --prefill and --runs")
        if options.prefill:
            problems.append("--steps: fills the tables by itself; leave --prefill out")
    elif options.timed_s and not options.clean and options.repeats != 1:
        name = "--stages" if options.stages else "--duration"
        problems.append(f"{name}: with --no-clean it takes one run; use --runs 1")
    return problems


def target_problems(options: InsertOptions, target: Target, *, force: bool) -> list[str]:
    """Return a sentence for each option that this target or this machine cannot take."""
    database = target.open()
    found = database.problems(options.key, options.tables, options.mode, options.batch_rows)
    found = [*map(target.explain, found)]
    can = database.capabilities
    if options.imports and IMPORT not in can.modes:
        found.append(f"--import: {target.module}: {can.no_import}; leave it out")
    elif options.imports and target.runner != "local":
        found.append("--import: writes files, for which pods have no room; use --runner local")
    elif options.imports and options.fault is Fault.WORKER:
        found.append(f"--fault {Fault.WORKER}: kills what sends batches; leave --import out")
    found += failing_problems(options, target)
    if options.imports and database.options.sends_by:
        found.append("--import: the database reads files, and no driver sends rows; use client=own")
    for name, own in (("--setup", options.setup), ("--teardown", options.teardown)):
        if own and database.no_statements:
            found.append(f"{name}: {target.module}: {database.no_statements}; leave it out")
    workers = max(options.workers, default=0)
    return found + worker_problems(
        workers, options.batch_rows, target, force=force, connections=options.connections
    )


def failing_problems(options: Faults, target: Target) -> Iterator[str]:
    """Yield why the fault cannot be caused on this target."""
    if not options.fault:
        return
    fault, can = options.fault, target.open().capabilities
    yield from options.list_unrestarted(target.restart_with)
    if fault is Fault.WORKER and can.stores:
        return  # even if the database runs in the workers
    if can.embedded or not can.stores:
        what = "is part of the workers" if can.stores else "stores nothing"
        yield f"--fault: {target.module} {what}, so nothing can fail by itself; leave it out"
    elif fault.is_of_workers:
        if reason := explain_unrelayed(target.options):
            yield f"--fault {fault}: {reason}"
    elif fault is Fault.KILL and target.runner == "kubernetes":
        return  # its pods are deleted
    elif fault.is_here and (reason := elsewhere(target.open())):
        what = "a disk can be filled" if fault is Fault.FILL else "processes can be stopped"
        yield (
            f"--fault {fault}: {reason}, and {what} on this machine only; use --fault"
            f" {Fault.RESTART} or {Fault.CRASH} with commands that do it there"
        )
    elif fault is Fault.FILL and options.disk and (reason := unfillable(options.disk)):
        yield f"--disk: {reason}"


def worker_problems(  # noqa: PLR0913
    workers: int,
    batch_rows: int,
    target: Target,
    *,
    force: bool,
    connections: int = 1,
    option: str = "--workers",
) -> list[str]:
    """Return why the database, or this machine with the local runner, cannot take the workers.

    `option` is the name of the option with the number of workers.
    """
    most = target.open().capabilities.max_workers
    if most is not None and workers > most:
        remedy = f"use --workers {most}" if option == "--workers" else "this takes another database"
        return [f"{option}: {target.module} takes at most {most}, got {workers}; {remedy}"]
    if target.runner != "local" or force:
        return []
    return too_many(workers, batch_rows, option, connections)


def generator_params(options: InsertOptions) -> Params:
    """Return the parameters of the workload that draws the rows; ConfigError if they are wrong."""
    if is_file(options.workload):
        return _read_declared_params(options)
    cls = workload_class(options.workload)
    fields = cls.params_model.model_fields
    values = {  # an end counts from the start
        name: value - options.begin_ms if is_end(name) else value
        for name, value in options.params.items()
    }
    problems = [
        f"{option_of(name)}: is an option of workload {', '.join(parameters()[name][1])}; leave it"
        f" out with --workload {cls.name}"
        for name in values
        if name not in fields
    ]
    try:
        params = cls.params_model(**{name: v for name, v in values.items() if name in fields})
        workload = cls(params, options.seed, options.begin_ms)
    except ValidationError as error:
        found = problems_of(error, fields, values)
        problems += [_describe_problem(key, sentence, options) for _, key, sentence in found]
        raise ConfigError(problems) from error
    problems += _workload_problems(options, workload)
    if problems:
        raise ConfigError(problems)
    return params


def _read_declared_params(options: InsertOptions) -> Params:
    """Return the parameters that a file declares; ConfigError names everything that is wrong."""
    problems = [
        f"{option_of(name)}: is an option of other workloads; {options.workload} declares all of it"
        for name in options.params
    ]
    try:
        params = read_workload(options.workload)
    except ConfigError as error:
        raise ConfigError([*problems, *error.problems]) from error
    problems += _workload_problems(options, Declared(params, options.seed, options.begin_ms))
    if problems:
        raise ConfigError(problems)
    return params


def _describe_problem(field: str, sentence: str, options: InsertOptions) -> str:
    """Return a problem with the option in front; an empty field means all parameters together."""
    if not field:
        return f"--workload {options.workload}: {sentence}"
    if is_end(field):
        start, got = instant(options.begin_ms), instant(options.params[field])
        sentence = f"must be after --start-time, {start}, got {got}"
    return f"{option_of(field)}: {sentence}"


def _workload_problems(options: InsertOptions, workload: Workload) -> list[str]:
    """Return a sentence for each option that this workload rules out."""
    problems = []
    rows = options.least_rows_each
    has_end = workload.has_end
    if rows <= LANE_ROWS and workload.last_ms(rows) >= YEAR_10000_MS:
        ends = [option_of(name) for name in type(workload.params).model_fields if is_end(name)]
        until = ", ".join(["--start-time", *(ends if has_end else ["--num-inserts"])])
        less = "end or begin earlier" if has_end else "insert fewer rows or begin earlier"
        problems.append(f"{until}: the last rows would be after the year 9999; {less}")
    if options.key is PrimaryKey.CLIENT and not all(t.key for t in workload.tables):
        problems.append(
            f"--primary-key client: is made of columns that identify a row, and workload"
            f" {workload.name} has none; use another primary key"
        )
    if has_end and options.num_inserts is not None:
        problems.append(
            f"--num-inserts: the rows of workload {workload.name} have an end and are shared by the"
            " workers; use --limit"
        )
    if options.warm_s and not (has_end or options.timed_s or options.num_inserts):
        name = "--warmup" if options.warmup_s else "--warmup-until-steady"
        problems.append(
            f"{name}: it may last longer than the default of {DEFAULT_ROWS:,} rows for each"
            " worker; add --duration or --num-inserts"
        )
    if options.split is Split.SERIES:
        problems += _series_problems(options, workload)
    if options.tables_by is PartsBy.WORKER and has_end:
        problems.append(
            f"--tables-by worker: the workers of workload {workload.name} share its rows; leave it"
            " out"
        )
    return problems


def _series_problems(options: InsertOptions, workload: Workload) -> list[str]:
    """Return why workers cannot write separate series."""
    problems = []
    if options.out_of_order:
        problems.append(
            "--split series: rows out of order are shared batch by batch; leave one of the two out"
        )
    if not workload.has_end:
        problems.append(
            f"--split series: the workers of workload {workload.name} write separate series"
            " anyway; leave it out"
        )
    elif not all(workload.series(table) for table in workload.tables):
        problems.append(
            f"--split series: the series of workload {workload.name} do not take turns; use"
            " --split batch"
        )
    elif any(workload.series(table) % max(options.tables, 1) for table in workload.tables):
        problems.append(
            f"--split series: {options.tables} tables cannot share the series evenly;"
            " use another --scale, or --tables single"
        )
    return problems
