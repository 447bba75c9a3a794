"""`insert`: insert rows with several worker counts and measure the rate."""

import functools
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from cli.compare.thresholds import Scope
from cli.files.prepare import prepared
from cli.files.request import DELIMITERS, Request, conflicts
from cli.input.parameters import is_end, option_of
from cli.live.outputs import Outputs
from cli.options.basic import (
    COUNT,
    COUNTS,
    DURATION_S,
    NUMBER,
    STAGES,
    TABLES,
    VERIFICATION,
    Command,
    batch_option,
    before_run_option,
    drop_caches_option,
    generator_options,
    option,
    resources_option,
    retry_option,
)
from cli.options.choice import Choice, common_options, given_options
from cli.options.gates import Gates, gate_options
from cli.options.live import live_options
from cli.options.names import replace_table_option, table_prefix_option
from cli.planning import insert_options, plan
from cli.planning.continuation import continued
from cli.planning.distribution import Split
from cli.planning.stages import counts_of, stage_conflicts
from cli.records.request import Request as RecordsRequest
from cli.records.request import conflicts as record_conflicts
from cli.records.request import place_problems
from cli.results import result_files
from cli.running.launch import conclude
from cli.running.records import insert_records
from cli.running.stored import Stored, last_insert
from cli.running.sweeps import insert_sweep
from simulator.data.dataset import DatasetReader, PartsBy
from simulator.data.records import RecordFormat
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.base import Params
from simulator.data.workloads.file import File, OnError
from simulator.errors import ConfigError
from simulator.protocol.spec import LoadStage
from simulator.protocol.verdict import VerifyMode

_EXAMPLES = """\b
Examples:
  python run.py insert --target sqlite --workers 1,2 --batch 1000
  python run.py insert -t postgresql -w 16 --num-inserts 3125000 --batch 1000 --steps 10
  python run.py insert -t postgresql --stages 1:1m,8:5m --batch 1000
"""

_load = functools.partial(option, group="Load")
_tables = functools.partial(option, group="Tables")
_file = functools.partial(option, group="Rows from a file")
_verification = functools.partial(option, group="Verification")


@click.command(cls=Command, epilog=_EXAMPLES)
@common_options
@gate_options
@live_options
@_load(
    "--workers",
    "-w",
    type=COUNTS,
    default="1,4,8,12,16",
    show_default=True,
    help="Worker counts to try, in order.",
)
@_load(
    "--runs",
    "-r",
    type=COUNT,
    default=None,
    help="How often to repeat each worker count.  [default: 5; with --steps or --stages 1]",
)
@_tables(
    "--primary-key",
    type=click.Choice([key.value for key in PrimaryKey]),
    default=None,
    help="How the primary key is generated: db (SERIAL), sql (IDENTITY), client (from the row),"
    " uuid (by the database), none (no primary key).  [default: that of the workload, or db, or the"
    " first that the target supports]",
)
@_tables(
    "--tables",
    type=TABLES,
    default="single",
    show_default=True,
    help="Write to one table, or spread the rows across this many; single: 1, multiple: 4.",
)
@_tables(
    "--tables-by",
    type=click.Choice([by.value for by in PartsBy]),
    default=PartsBy.ROW.value,
    show_default=True,
    help="Spread the rows of each worker across all tables, or have each worker write to one.",
)
@_load(
    "--num-inserts",
    type=COUNT,
    default=None,
    help="Rows that each worker inserts, of a workload without an end.  [default: 10000, or as many"
    " as it can within --duration]",
)
@_load("--limit", type=COUNT, default=None, help="Rows that all workers insert together, at most.")
@_load(
    "--duration",
    type=DURATION_S,
    default=0.0,
    show_default=True,
    help="End each run after this time, such as 30s or 10m; 0: when all rows are inserted.",
)
@_load(
    "--warmup",
    type=DURATION_S,
    default=0.0,
    show_default=True,
    help="Insert for this time before --duration begins. These rows are stored and verified, and"
    " left out of every figure.",
)
@_load(
    "--stages",
    type=STAGES,
    default=None,
    help="Parts of one run, each with so many active workers and figures of its own, such as"
    " 1:1m,8:5m. All workers are started before the first part.",
)
@_load(
    "--split",
    type=click.Choice([split.value for split in Split]),
    default=Split.BATCH.value,
    show_default=True,
    help="How the workers share the rows of a workload with an end: batch by batch in the order of"
    " time, or each its own series.",
)
@batch_option(group="Load")
@_load(
    "--import",
    "imports",
    is_flag=True,
    help="Have the database import the rows by its own bulk load, a file for each worker and table,"
    " which is written before the clock starts.",
)
@_load(
    "--prefill",
    type=COUNT,
    default=0,
    show_default=True,
    help="Rows to insert, in batches, before the timed part.",
)
@_load(
    "--steps",
    type=COUNT,
    default=0,
    show_default=True,
    help="Fill-level test: number of timed inserts in a row, without emptying the tables between.",
)
@_tables(
    "--clean/--no-clean",
    default=True,
    show_default=True,
    help="Drop and create the tables before each run, or append to the last insert.",
)
@table_prefix_option(group="Tables")
@replace_table_option(group="Tables")
@_file(
    "--data",
    type=click.Path(path_type=Path),
    default=None,
    metavar="FILE",
    help="Insert the rows of this file (CSV, TSV, either with .gz, or Parquet) instead of a"
    " workload's. On Kubernetes: a file with --data-format in a volume claim, claim:NAME/PATH.",
)
@_file(
    "--data-format",
    type=click.Choice([form.value for form in RecordFormat]),
    default=None,
    help="Send the records of --data (a file of `generate`, or - for standard input) as they are"
    " written in this format, without decoding them. Tables that exist are refused unless --clean"
    " is given. With --target null this measures the client alone.",
)
@_file(
    "--manifest",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="What the file of --data-format holds, here or in its volume claim; without it --workload"
    " and its options say which tables, and only the number of rows is verified.  [default:"
    " FILE.json beside --data]",
)
@_file(
    "--time-column",
    default=None,
    help="Column of --data with the time of a row.  [default: the only timestamp]",
)
@_file(
    "--time-format",
    default="",
    metavar="FORMAT",
    help="Format of the times in --data, such as '%d/%m/%Y %H:%M:%S'; or s, ms, us or ns for"
    " integers that count from 1970.  [default: ISO 8601]",
)
@_file(
    "--tags",
    default="",
    metavar="A,B",
    help="Columns of --data that identify the series of a row, stored as text.  [default: none]",
)
@_file(
    "--delimiter",
    default="",
    metavar="CHARACTER",
    help="What separates the cells of --data: a character, or comma, semicolon, tab, pipe."
    "  [default: detected]",
)
@_file(
    "--on-error",
    type=click.Choice([action.value for action in OnError]),
    default=OnError.STOP.value,
    show_default=True,
    help="What to do with a cell of --data that does not have its column's type: stop, store the"
    " column as text, store the cell as NULL, or skip the row.",
)
@generator_options
@_load(
    "--rate",
    type=NUMBER,
    default=0.0,
    show_default=True,
    help="Rows/s of all workers together; latency counts from the scheduled time. 0: no limit.",
)
@retry_option(group="Load")
@before_run_option(group="Load")
@drop_caches_option(group="Load")
@resources_option(group="Load")
@_verification(
    "--verify",
    type=VERIFICATION,
    default=None,
    help="none; counts: rows, sums, minima, maxima, distinct keys; full: every row as well."
    "  [default: counts]",
)
def insert(  # noqa: PLR0913
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
    primary_key: str | None,
    tables: int,
    tables_by: str,
    num_inserts: int | None,
    limit: int | None,
    duration: float,
    warmup: float,
    stages: tuple[LoadStage, ...] | None,
    split: str,
    batch: int,
    imports: bool,
    prefill: int,
    steps: int,
    clean: bool,
    table_prefix: str,
    replace_tables: tuple[str, ...],
    data: Path | None,
    data_format: str | None,
    manifest: Path | None,
    time_column: str | None,
    time_format: str,
    tags: str,
    delimiter: str,
    on_error: str,
    workload: str,
    seed: int,
    start_time: datetime | None,
    rate: float,
    retry_for: float,
    before_run: str | None,
    drop_caches: bool,
    resources: bool,
    verify: str | None,
    **parameters: Any,
) -> None:
    """Insert rows and measure how fast they are acknowledged.

    Each worker count runs --runs times, each time on empty tables. After every run the stored rows
    are compared with the rows that were sent. The same --seed and --start-time give the same rows
    on every target. With --data the rows come from a file: each is inserted once, and the workers
    share them.

    Numbers may be written 1000, 1_000, 1e3, 10k or 2.5M; durations 30s, 5m or 1h30m; worker counts
    1,4,8 or 1-4.
    """
    known = given_options()
    problems: list[str] = record_conflicts(known) if data_format else conflicts(known)
    problems += stage_conflicts(stages, known)
    found = choice.resolve(choice.extra_options(problems), problems)
    database = found.open() if found else None
    workload = File.name if data and not data_format else workload
    key = insert_options.default_key(workload, database.capabilities if database else None)
    given = {name: value for name, value in parameters.items() if value is not None}
    if not clean and not start_time:
        problems += _without_ends(given)
    begin = start_time or result_files.now_utc()
    options = insert_options.InsertOptions(
        workers=counts_of(stages, workers),
        runs=runs,
        primary_key=PrimaryKey(primary_key) if primary_key else key,
        tables=tables,
        tables_by=PartsBy(tables_by),
        num_inserts=num_inserts,
        batch=batch,
        prefill=prefill,
        steps=steps,
        clean=clean,
        timeout_s=timeout,
        workload=workload,
        seed=seed,
        start_ms=int(begin.timestamp() * 1000),
        params=given,
        rate=rate,
        limit=limit,
        duration_s=duration,
        split=Split(split),
        verify=VerifyMode(verify) if verify else None,
        imports=imports,
        warmup_s=warmup,
        retry_for_s=retry_for,
        stages=stages or (),
        table_prefix=table_prefix,
        replace_tables=replace_tables,
    )
    problems += insert_options.option_problems(options)
    gates.parsed(Scope({options.subject}, workers=options.active, queries=()), problems)
    outputs.check(problems)
    if found and database:
        problems += insert_options.target_problems(options, found, force=force)
        if data:
            problems += place_problems(data, manifest, data_format, found.runner)
    if data and data_format:
        asked = RecordsRequest(
            data, RecordFormat(data_format), manifest, skip=on_error == OnError.SKIP.value
        )
        insert_records(
            asked, options, known, problems, found,
            choice=choice, output=output, form=form, quiet=quiet, dry=dry_run, measured=resources,
            dropped=drop_caches, gates=gates, outputs=outputs,
        )  # fmt: skip
        return
    request = None
    if data:
        names = tuple(name for name in tags.split(",") if name)
        request = Request(
            file=data,
            time_column=time_column,
            tags=names,
            primary_key=options.primary_key,
            delimiter=DELIMITERS.get(delimiter, delimiter),
            time_format=time_format,
            on_error=OnError(on_error),
        )
    rows = None
    try:
        rows = _rows(options, request, quiet=quiet)
    except ConfigError as error:
        problems += error.problems
    if problems or not found or not database or not rows:
        raise ConfigError(problems)
    plan.verification(options, database)  # before a large file is read
    with rows as params:
        empty = plan.empty_dataset(options, params)
        before = Stored(empty, complete=True)
        if not clean:
            written = [table.name for table in DatasetReader(empty).tables]
            last = last_insert(output, found, choice, written, quiet=quiet, dry=dry_run)
            if last:
                dataset = continued(last.dataset, empty, starts=start_time is not None)
                before = Stored(dataset, last.complete)
                options = replace(options, start_ms=dataset.start_ms)
        sweep, planned = insert_sweep(found, output, options, params, before)
        sweep = sweep.with_caches(dropped=drop_caches)
        sweep = sweep.with_command(before_run, choice.environment)
        conclude(
            sweep, planned, choice,
            form=form, quiet=quiet, dry=dry_run, measured=resources, gates=gates,
            outputs=outputs,
        )  # fmt: skip


def _without_ends(given: dict[str, Any]) -> list[str]:
    """Remove the parameters that count from a start which was not given; return a problem each."""
    ends = [name for name in given if is_end(name)]
    for name in ends:
        del given[name]
    return [
        f"{option_of(name)}: give --start-time as well, that of the insert which --no-clean"
        " continues"
        for name in ends
    ]


def _rows(
    options: insert_options.InsertOptions, request: Request | None, *, quiet: bool
) -> AbstractContextManager[Params]:
    """Return a context in which the rows are available."""
    if request is None:
        return nullcontext(insert_options.generator_params(options))
    request.check()
    return prepared(request, quiet=quiet)
