"""`generate`: write the rows of a workload as a file that databases and their tools read."""

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Annotated, ClassVar

import click
from pydantic import Field

from iotbench.config.input.options import Opt, Options
from iotbench.config.input.values import Count
from iotbench.config.options.basic import Command
from iotbench.config.options.declared import options_of
from iotbench.machine.streams import say
from iotbench.measurements.insert import checks as insert_options
from iotbench.measurements.insert.options import InsertOptions, RowOptions
from iotbench.measurements.insert.plan import empty_dataset
from iotbench.measurements.insert.workload_file import class_of
from iotbench.results import result_files
from iotbench.rows.recorded.output import (
    COMPRESSIONS,
    encode_file,
    to_file,
    to_standard_output,
)
from iotbench.rows.recorded.request import beside, describes, read
from simulator.data.dataset import Dataset
from simulator.data.ranges import LANE_ROWS, distribute, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.errors import ConfigError, counted
from simulator.protocol.records import FileManifest
from simulator.records.formats import FORMATS, FileFormat, format_named

_EXAMPLES = """\b
Examples:
  python run.py generate --workload devops --scale 100 --format influx -o fleet.lp
  python run.py generate --format csv --num-inserts 1M --output events.csv.gz
"""


class _File(Options):
    """The file to write, and its format."""

    GROUP: ClassVar[str] = "File"

    format: Annotated[str, Opt(metavar="FORMAT")] = Field(
        description="; ".join(f"{each.name}: {each.about}" for each in FORMATS.values()) + "."
    )
    output: Annotated[Path | None, Opt("-o", metavar="FILE")] = None
    """File to write, compressed if it ends in .gz, .zst, .bz2, .xz, .lz4 or .zip.
    [default: standard output]
    """
    manifest: Annotated[Path | None, Opt(metavar="FILE")] = None
    """File for a description of the contents, with SHA-256.  [default: FILE.json of --output; none
    for standard output]
    """
    table: Annotated[str | None, Opt(metavar="NAME")] = None
    """Write the rows of this table only; required for a workload with several tables if the format
    does not name the table in each record.
    """
    groups: Annotated[Count, Opt(least=1, most=10_000)] = 1
    """Divide the rows among this many files, row by row in turn, so that several processes can
    write one dataset; if the workload has no end, each group holds the rows of one worker.
    """
    group: Count = 0
    """Group to write, from 0."""
    workers: Annotated[Count, Opt(least=1, most=256)] = 1
    """Processes that draw and encode the rows; the file is the same with any number."""
    quiet: Annotated[bool, Opt("-q")] = False
    """Do not print how much was written."""

    @property
    def earlier_manifest(self) -> Path | None:
        """Path of the manifest, which an earlier command may have written; None: no manifest."""
        return self.manifest or (beside(self.output) if self.output else None)


class _Options(RowOptions, _File):
    """The options of `generate`."""

    GROUP: ClassVar[str] = "Generated rows"

    num_inserts: Count | None = None
    """Rows of the group, if the workload has no end.  [default: 10000]"""

    def insert(self) -> InsertOptions:
        """Return the options of an insert of the same rows; the checks of inserts apply to them."""
        same = {field: getattr(self, field) for field in RowOptions.model_fields}
        found = InsertOptions(workers=(1,), runs=1, num_inserts=self.num_inserts, **same)
        return found.decide(None, result_files.now_ms(), primary_key=PrimaryKey.NONE)


@click.command(cls=Command, epilog=_EXAMPLES)
@options_of(_Options)
def generate(*, options: _Options) -> None:
    """Write generated rows in the format of a database.

    With --start-time, the same options give the same bytes. `insert --data FILE --data-format F`
    inserts a file as it is and verifies it by its manifest; the databases' own tools can read it
    too.
    """
    problems = options.problems()
    if options.num_inserts is not None and class_of(options.workload).has_end:
        problems.append(f"--num-inserts: workload {options.workload} has an end; leave it out")
        options = options.model_copy(update={"num_inserts": None})
    insert = options.insert()
    problems += insert_options.option_problems(insert)
    group, groups = options.group, options.groups
    is_known = 0 <= group < groups
    if not is_known:
        problems.append(f"--group: must be 0 to {groups - 1} with --groups {groups}, got {group}")
    dataset = form = None
    try:
        form = format_named(options.format)
        if not options.output and not form.is_text and sys.stdout.isatty():
            problems.append(f"--format {form.name}: is binary; use --output, or redirect it")
        if options.workers > 1 and not form.divisible:
            problems.append(
                f"--workers: format {form.name} is written by one process; leave it out"
            )
        suffix = options.output.suffix.lower() if options.output else ""
        if suffix in COMPRESSIONS and form.is_compressed:
            problems.append(
                f"--output: {options.output}: Parquet is compressed inside; leave {suffix} out"
            )
    except ConfigError as error:
        problems += error.problems
    try:
        empty = empty_dataset(insert, insert_options.generator_params(insert))
        place = (group, groups) if is_known else (0, 1)
        dataset = _select_group(empty, insert.rows_each, options.table, *place)
        if form:
            _expect_one_file(DatasetReader(empty), form, options.table)
    except ConfigError as error:
        problems += error.problems
    problems += _find_obstacles(options)
    if problems or not dataset or not form:
        raise ConfigError(problems)
    _write(dataset, form, options)


def _find_obstacles(options: _File) -> list[str]:
    """Return a problem for an existing file that `generate` did not write and must not replace."""
    known, output, manifest, wrong = options.earlier_manifest, options.output, None, ""
    if known and known.is_file():
        try:
            manifest = read(known)
        except ConfigError:
            wrong = f"{known}: exists and is not a manifest of this program"
    if not wrong and output and output.is_file() and output.stat().st_size:
        if manifest is None:
            wrong = f"--output: {output}: exists and has no manifest of this program"
        elif not describes(manifest, output):
            wrong = f"--output: {output}: exists and is not the file that {known} describes"
    return [f"{wrong}; remove it, or use another name"] if wrong else []


def _select_group(empty: Dataset, rows: int, only: str | None, group: int, groups: int) -> Dataset:
    """Return the rows of one group: every `groups`-th row of each table, or one lane."""
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
    ranges = (distribute(0, reader.sizes[p], [1] * groups, p)[group] for p in places)
    return empty.with_ranges(ranges)


def _expect_one_file(reader: DatasetReader, form: FileFormat, table: str | None) -> None:
    """Raise ConfigError if the tables cannot be in one file of this format."""
    if table or len(reader.tables) == 1 or (form.names_tables and reader.one_group):
        return
    names = ", ".join(each.name for each in reader.tables)
    raise ConfigError(
        f"--table: a file of format {form.name} has the rows of one table; name one of {names}"
    )


def _write(dataset: Dataset, form: FileFormat, options: _File) -> None:
    output, manifest = options.output, options.manifest
    began_s = time.perf_counter()
    with closing(encode_file(dataset, form, options.workers)) as stream:
        written = to_file(stream, output) if output else to_standard_output(stream)
    took_s = time.perf_counter() - began_s
    known = FileManifest(
        format=form.name,
        dataset=dataset,
        rows=dataset.rows,
        size_bytes=written.size_bytes,
        sha256=written.sha256,
    )
    if output and output.is_file():  # a pipe or device has no manifest next to it
        manifest = manifest or beside(output)
    if manifest:
        to_file([known.text().encode()], manifest)
    if not options.quiet:
        rate, speed = dataset.rows / took_s, written.size_bytes / took_s / 1e6
        say(
            f"{counted(dataset.rows, 'row')}, {counted(written.size_bytes, 'byte')} in"
            f" {took_s:.1f} s: {rate:,.0f} rows/s, {speed:,.1f} MB/s",
            err=True,
        )
