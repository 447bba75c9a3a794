"""Finds the rows that an insert left in a target, from its result file or from the database."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from iotbench.config.options.choice import Reach, RunOptions
from iotbench.config.targets.config import Target
from iotbench.execution.collector import read_marks
from iotbench.machine.program import command_line
from iotbench.machine.streams import say
from iotbench.measurements import writing_kinds
from iotbench.measurements.insert.plan import continue_dataset
from iotbench.results import result_files
from iotbench.results.agreement import list_differences
from iotbench.results.result import Manifest
from iotbench.rows.files.prepare import reopen
from simulator.data.dataset import Dataset
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError
from simulator.protocol.mark import State


def find_inserted(run: RunOptions, target: Target, reach: Reach, file: Path | None) -> Manifest:
    """Return the rows of the insert in the result `file`, or of the last insert of the target.

    If no result file exists, the marks in the database describe the rows; ConfigError if no marks
    exist.
    """
    if file:
        manifest = result_files.read(file).manifest
        if manifest is None:
            raise ConfigError(f"--dataset: {file} is not the result of an insert that wrote rows")
        return manifest
    found = last_insert(run, target, reach)
    if found is None:
        first = command_line(["insert", "--target", target.word])
        raise ConfigError(
            f"no insert of {target.name} in {run.output}, and no mark of one in the database: run"
            f" `{first}` first, or name its result file with --dataset"
        )
    return found


@contextmanager
def open_stored(stored: Manifest, run: RunOptions) -> Iterator[Manifest]:
    """Make stored rows available again: rows from a file are read, and generated rows are drawn."""
    with reopen(stored.dataset, quiet=run.quiet) as dataset:
        yield Manifest.of(dataset, complete=stored.complete)


def find_continued(
    empty: Dataset, run: RunOptions, target: Target, reach: Reach, *, starts: bool
) -> Manifest:
    """Return the rows that the last insert left in the tables of a dataset, if any.

    `starts` is True if the user has set the start of the dataset. Otherwise, the dataset gets the
    start of the last insert.
    """
    last = last_insert(run, target, reach, [table.name for table in DatasetReader(empty).tables])
    if last is None:
        return Manifest.of(empty, complete=True)
    continued = continue_dataset(last.dataset, empty, starts=starts)
    return Manifest.of(continued, complete=last.complete)


def last_insert(
    run: RunOptions, target: Target, reach: Reach, tables: Collection[str] = ()
) -> Manifest | None:
    """Return the rows of the target's last insert.

    If `tables` is given, only marks of these tables count.
    """
    last = result_files.find_last_written(run.output, target.name, writing_kinds())
    if last:
        return last[1]
    if run.dry_run or not target.open().capabilities.stores:
        return None
    marks = read_marks(target, reach.cluster)
    marks = tuple(each for each in marks if not tables or {*tables} & {*each.tables})
    if not marks:
        return None
    if not run.quiet:
        say(
            f"no insert of {target.name} in {run.output}; from the mark in the database:"
            f" {marks[0].describe()}",
            err=True,
        )
    return Manifest.of(marks[0].dataset, complete=marks[0].state is State.COMPLETE)


def expect_same_rows(stored: Mapping[str, Manifest], option: str) -> None:
    """Raise ConfigError unless all targets contain the same rows.

    `option` is the name of the option that selected the targets.
    """
    (first, expected), *others = stored.items()
    problems = [
        f"{option}: {first} and {name} do not hold the same rows: {', '.join(found)};"
        " insert with the same options into both"
        for name, known in others
        if (found := list_differences(expected.dataset, known.dataset))
    ]
    if problems:
        raise ConfigError(problems)
