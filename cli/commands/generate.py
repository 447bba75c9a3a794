"""`generate`: write the rows of a workload as a file that databases and their tools read."""

import functools
import sys
import time
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from cli.host.streams import say
from cli.options.basic import COUNT, Command, generator_options, option
from cli.planning import insert_options
from cli.planning.distribution import Split
from cli.planning.plan import empty_dataset
from cli.records.manifest import beside, read
from cli.records.output import Written, to_file, to_standard_output
from cli.records.processes import encoded
from cli.results import result_files
from simulator.data.dataset import Dataset, DatasetReader, PartsBy
from simulator.data.ranges import LANE_ROWS, distributed, lane_range
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import GENERATORS
from simulator.errors import ConfigError, counted
from simulator.protocol.records import FileManifest
from simulator.records.formats import FORMATS, Format, format_named

_EXAMPLES = """\b
Examples:
  python run.py generate --workload devops --scale 100 --format influx -o fleet.lp
  python run.py generate --format csv --num-inserts 1M | gzip > events.csv.gz
"""
_MOST_GROUPS = 10_000
_MOST_WORKERS = 256

_drawn = functools.partial(option, group="Generated rows")
_file = functools.partial(option, group="File")


@click.command(cls=Command, epilog=_EXAMPLES)
@_file(
    "--format",
    "form",
    required=True,
    metavar="FORMAT",
    help="; ".join(f"{each.name}: {each.about}" for each in FORMATS.values()) + ".",
)
@_file(
    "--output",
    "-o",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="File to write.  [default: standard output]",
)
@_file(
    "--manifest",
    type=click.Path(path_type=Path, dir_okay=False),
    default=None,
    metavar="FILE",
    help="Where to write what the file holds, and its SHA-256.  [default: FILE.json of --output;"
    " none for standard output]",
)
@_file(
    "--table",
    default=None,
    metavar="NAME",
    help="Write the rows of this table only; needed for a workload with several tables and a"
    " format whose records do not name their table.",
)
@_file(
    "--groups",
    type=COUNT,
    default=1,
    show_default=True,
    help="Divide the rows among this many files, row by row in turn, so that several processes can"
    " write one dataset; of a workload without an end, each group has the rows of a worker.",
)
@_file(
    "--group",
    type=COUNT,
    default=0,
    show_default=True,
    help="Which of the groups to write, from 0 on.",
)
@_file(
    "--workers",
    type=COUNT,
    default=1,
    show_default=True,
    help="Processes that draw and encode the rows; the file is the same with any number.",
)
@_file("--quiet", "-q", is_flag=True, help="Do not print how much was written.")
@generator_options
@_drawn(
    "--num-inserts",
    type=COUNT,
    default=None,
    help="Rows of the group, of a workload without an end.  [default: 10000]",
)
def generate(  # noqa: PLR0913
    *,
    form: str,
    output: Path | None,
    manifest: Path | None,
    table: str | None,
    groups: int,
    group: int,
    workers: int,
    quiet: bool,
    workload: str,
    seed: int,
    start_time: datetime | None,
    num_inserts: int | None,
    **parameters: Any,
) -> None:
    """Write generated rows in the format of a database.

    The same options give the same bytes. `insert --data FILE --format F` inserts a file as it is
    and verifies it by its manifest; databases' own tools read it, too.
    """
    problems: list[str] = []
    if num_inserts is not None and GENERATORS[workload].has_end:
        problems.append(f"--num-inserts: workload {workload} has an end; leave it out")
        num_inserts = None
    options = _options(workload, seed, start_time, num_inserts, parameters)
    problems += insert_options.option_problems(options)
    problems += insert_options.outside(
        ("--groups", groups, 1, _MOST_GROUPS), ("--workers", workers, 1, _MOST_WORKERS)
    )
    if not 0 <= group < max(groups, 1):
        problems.append(f"--group: must be 0 to {groups - 1} with --groups {groups}, got {group}")
    dataset = found = None
    try:
        found = format_named(form)
        if not output and not found.is_text and sys.stdout.isatty():
            problems.append(f"--format {form}: is binary; use --output, or redirect it")
        if workers > 1 and not found.divisible:
            problems.append(f"--workers: format {form} is written by one process; leave it out")
    except ConfigError as error:
        problems += error.problems
    try:
        empty = empty_dataset(options, insert_options.generator_params(options))
        dataset = _of_group(empty, options.rows_each, table, group, groups)
        if found:
            _expect_one_file(DatasetReader(empty), found, table)
    except ConfigError as error:
        problems += error.problems
    problems += _in_the_way(output, manifest)
    if problems or not dataset or not found:
        raise ConfigError(problems)
    _write(dataset, found, output, manifest, workers, quiet=quiet)


def _in_the_way(output: Path | None, manifest: Path | None) -> list[str]:
    """Return which files are not those of an earlier `generate`, by its manifest."""
    known = manifest or (beside(output) if output else None)
    has_manifest = known is not None and known.is_file()
    wrong = ""
    if known and has_manifest:
        try:
            read(known)
        except ConfigError:
            wrong = f"{known}: exists and is not a manifest of this program"
    elif output and output.is_file() and output.stat().st_size:
        wrong = f"--output: {output}: exists and has no manifest of this program"
    return [f"{wrong}; remove it, or use another name"] if wrong else []


def _options(
    workload: str,
    seed: int,
    start_time: datetime | None,
    num_inserts: int | None,
    parameters: dict[str, Any],
) -> insert_options.InsertOptions:
    """Return the options of an insert of the same rows, which are checked alike."""
    begin = start_time or result_files.now_utc()
    return insert_options.InsertOptions(
        workers=(1,),
        runs=1,
        primary_key=PrimaryKey.NONE,
        tables=1,
        tables_by=PartsBy.ROW,
        num_inserts=num_inserts,
        batch=0,
        prefill=0,
        steps=0,
        clean=True,
        timeout_s=0.0,
        workload=workload,
        seed=seed,
        start_ms=int(begin.timestamp() * 1000),
        params={name: value for name, value in parameters.items() if value is not None},
        rate=0.0,
        limit=None,
        duration_s=0.0,
        split=Split.BATCH,
        verify=None,
    )


def _of_group(empty: Dataset, rows: int, only: str | None, group: int, groups: int) -> Dataset:
    """Return the rows of one group: every so manieth of each table, or those of a lane."""
    reader = DatasetReader(empty)
    names = [table.name for table in reader.tables]
    if only is not None and only not in names:
        raise ConfigError(
            f"--table: workload {empty.workload} has no table {only!r}; it has: {', '.join(names)}"
        )
    places = [place for place, name in enumerate(names) if only in (None, name)]
    if reader.sizes is None:
        if rows > min(reader.lane_rows, LANE_ROWS):
            raise ConfigError(
                f"--num-inserts: with these options a group has {reader.lane_rows:,} rows, got"
                f" {rows:,}"
            )
        return empty.with_ranges([lane_range(group, 0, rows)])
    ranges = (distributed(0, reader.sizes[p], [1] * groups, p)[group] for p in places)
    return empty.with_ranges(ranges)


def _expect_one_file(reader: DatasetReader, form: Format, table: str | None) -> None:
    """Raise ConfigError if the tables cannot be in one file of this format."""
    if table or len(reader.tables) == 1 or (form.names_tables and reader.one_group):
        return
    names = ", ".join(each.name for each in reader.tables)
    raise ConfigError(
        f"--table: a file of format {form.name} has the rows of one table; name one of {names}"
    )


def _write(  # noqa: PLR0913
    dataset: Dataset,
    form: Format,
    output: Path | None,
    manifest: Path | None,
    workers: int,
    *,
    quiet: bool,
) -> None:
    began_s = time.perf_counter()
    with closing(encoded(dataset, form, workers)) as stream:
        written = to_file(stream, output) if output else to_standard_output(stream)
    took_s = time.perf_counter() - began_s
    known = FileManifest(
        format=form.name,
        dataset=dataset,
        rows=dataset.rows,
        size_bytes=written.size_bytes,
        sha256=written.sha256,
    )
    if output and not manifest and (output.is_file() or not output.exists()):
        manifest = beside(output)
    if manifest:
        to_file([known.text().encode()], manifest)
    if not quiet:
        say(_summary(dataset, written, took_s), err=True)


def _summary(dataset: Dataset, written: Written, took_s: float) -> str:
    rate, speed = dataset.rows / took_s, written.size_bytes / took_s / 1e6
    return (
        f"{counted(dataset.rows, 'row')}, {counted(written.size_bytes, 'byte')} in {took_s:.1f} s:"
        f" {rate:,.0f} rows/s, {speed:,.1f} MB/s"
    )
