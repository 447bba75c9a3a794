"""`insert`: insert rows with several worker counts and measure the rate."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import click

from iotbench.comparison.thresholds import Scope
from iotbench.config.input.parameters import is_end, option_of
from iotbench.config.options.basic import Command
from iotbench.config.options.choice import Choice, TargetRun, writing_options
from iotbench.config.options.declared import options_of
from iotbench.config.targets.config import Target
from iotbench.execution.generated import as_generated, as_promised
from iotbench.execution.launch import conclude
from iotbench.execution.records import insert_records
from iotbench.execution.stored import last_insert
from iotbench.execution.sweeps import sweep_of
from iotbench.execution.volumes import find_prepared_in_volume
from iotbench.measurements import kind_named
from iotbench.measurements.insert import checks as insert_options
from iotbench.measurements.shared import plan
from iotbench.measurements.shared.continuation import continue_dataset
from iotbench.measurements.shared.options import InsertOptions
from iotbench.measurements.shared.plan import Stored
from iotbench.measurements.shared.stages import stage_conflicts
from iotbench.output.live.outputs import Outputs
from iotbench.plans.gates import Gates
from iotbench.results import result_files
from iotbench.rows.files.prepare import kept, prepared
from iotbench.rows.files.request import FileRows, conflicts
from iotbench.rows.recorded.request import Request as RecordsRequest
from iotbench.rows.recorded.request import conflicts as record_conflicts
from iotbench.rows.recorded.request import place_problems
from iotbench.rows.recorded.volume import in_volume, volume_file
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.workloads.base import Params
from simulator.data.workloads.file import File, OnError
from simulator.errors import ConfigError
from simulator.records.prepared import is_prepared

_EXAMPLES = """\b
Examples:
  python run.py insert --target sqlite --workers 1,2 --batch 1000
  python run.py insert -t postgresql -w 16 --num-inserts 3125000 --batch 1000 --steps 10
  python run.py insert -t postgresql --stages 1:1m,8:5m --batch 1000
"""


@click.command(cls=Command, epilog=_EXAMPLES)
@writing_options
@options_of(Gates, "gates")
@options_of(Outputs, "outputs")
@options_of(InsertOptions)
@options_of(FileRows, "file")
def insert(  # noqa: PLR0913
    *,
    choice: Choice,
    run: TargetRun,
    gates: Gates,
    outputs: Outputs,
    options: InsertOptions,
    file: FileRows,
) -> None:
    """Insert rows and measure how fast they are acknowledged.

    Each worker count runs --runs times, each time on empty tables. After every run the stored rows
    are compared with the rows that were sent. The same --seed and --start-time give the same rows
    on every target. With --data the rows come from a file: each is inserted once, and the workers
    share them.

    Numbers may be written 1000, 1_000, 1e3, 10k or 2.5M; durations 30s, 5m or 1h30m; worker counts
    1,4,8 or 1-4.
    """
    given = {**options.given, **file.given}
    file = as_generated(file)
    problems = (
        record_conflicts(given)
        if file.data_format
        else conflicts(given, prepared=_is_prepared(file.place))
    )
    problems += _several_problems(file)
    problems += stage_conflicts(options.stages, given)
    target = choice.resolve(choice.extra_options(problems), problems)
    database = target.open() if target else None
    starts, params = options.start_ms is not None, {**options.params}
    if not options.clean and not starts:
        problems += _without_ends(params)
    options = options.decide(
        database.capabilities if database else None,
        result_files.now_ms(),
        run.timeout_s,
        workload=File.name if file.data and not file.data_format else options.workload,
        params=params,
    )
    kind = kind_named("insert")
    problems += kind.problems(options)
    subject = kind.subject(dict(options))
    gates.parsed(Scope((subject,), workers=options.active, queries=()), problems)
    outputs.check(problems)
    if target and database:
        problems += _list_refusals(target, options, file, force=run.force)
    if records := _records(file):
        insert_records(
            records, options, given, problems, target,
            choice=choice, run=run, gates=gates, outputs=outputs,
        )  # fmt: skip
        return
    rows = _rows(options, file, target, problems, choice=choice, run=run)
    if problems or not target or not database or not rows:
        raise ConfigError(problems)
    plan.verification(options, database)  # before a large file is read
    with rows as drawn:
        if drawn is None:
            return
        before = Stored(plan.empty_dataset(options, drawn), complete=True)
        if not options.clean:
            before = _find_earlier_rows(before.dataset, run, target, choice, starts=starts)
            options = options.model_copy(update={"start_ms": before.dataset.start_ms})
        sweep, planned = sweep_of(kind, target, run.output, options, before, params=drawn)
        conclude(
            sweep.on(options, choice.environment), planned, choice, run,
            measured=options.resources, gates=gates, outputs=outputs,
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


def _is_prepared(data: Path | None) -> bool:
    return data is not None and (in_volume(data) or is_prepared(data))


def _several_problems(file: FileRows) -> Iterator[str]:
    """Yield why several files cannot be inserted together."""
    if len(file.data) < 2:
        return
    if file.data_format:
        yield "--data: --data-format takes one file; join them, or insert them apart"
    for place in file.data:
        if in_volume(place) or is_prepared(place):
            yield f"--data: {place}: is prepared, and inserted alone; leave the others out"


def _records(file: FileRows) -> RecordsRequest | None:
    """Return the file with records that are sent unchanged; None: rows are encoded."""
    if not (file.place and file.data_format):
        return None
    skips = file.on_error is OnError.SKIP
    return RecordsRequest(file.place, file.data_format, file.manifest, skip=skips)


def _rows(  # noqa: PLR0913
    options: InsertOptions,
    file: FileRows,
    target: Target | None,
    problems: list[str],
    *,
    choice: Choice,
    run: TargetRun,
) -> AbstractContextManager[Params | None] | None:
    """Return a context in which the rows are available; None with what is wrong in `problems`."""
    try:
        if not file.data:
            return nullcontext(insert_options.generator_params(options))
        if file.place and in_volume(file.place):
            volume = volume_file(file.place, "--data")
            if not target:
                return None
            return find_prepared_in_volume(
                volume, target, options, choice, quiet=run.quiet, dry=run.dry_run
            )
        if file.place and is_prepared(file.place):
            return nullcontext(kept(file.place, options.key))
        request = as_promised(file.request(file.data, options.key))
        request.check()
        return prepared(request, quiet=run.quiet)
    except ConfigError as error:
        problems += [each for each in error.problems if each not in problems]
        return None


def _list_refusals(
    target: Target, options: InsertOptions, file: FileRows, *, force: bool
) -> Iterator[str]:
    """Yield what the target cannot take."""
    yield from insert_options.target_problems(options, target, force=force)
    for place in file.data:
        yield from place_problems(place, file.manifest, file.data_format, target.runner)


def _find_earlier_rows(
    empty: Dataset, run: TargetRun, target: Target, choice: Choice, *, starts: bool
) -> Stored:
    """Return the rows that the earlier insert has left in the tables of a dataset, if any."""
    written = [table.name for table in DatasetReader(empty).tables]
    last = last_insert(run, target, choice, written)
    if last is None:
        return Stored(empty, complete=True)
    return Stored(continue_dataset(last.dataset, empty, starts=starts), last.complete)
