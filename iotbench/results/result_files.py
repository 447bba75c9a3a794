"""Result files: a JSON file for each sweep, written before the first run and during the sweep."""

import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from iotbench.machine.outfile import whole
from iotbench.machine.owner import Owner
from iotbench.machine.program import command_line, state_folder, temporary_folders
from iotbench.machine.streams import OutputError, print_out, say, width_of
from iotbench.results import packed
from iotbench.results.metrics import InsertMetrics, shares_of
from iotbench.results.names import id_of
from iotbench.results.result import Manifest, Result, RunRecord
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError
from simulator.modules import MODULES, database_class

_Kept = TypeVar("_Kept", bound=BaseModel)
_NEW = ".tmp"
"""Suffix of a file that is being written."""
_LONGEST_REASON = 200


def new_id(now: datetime) -> str:
    """Return an ID that sorts by time and is a valid part of a Kubernetes name."""
    return f"{now:%Y%m%d-%H%M%S}-{os.urandom(2).hex()}"


def now_utc() -> datetime:
    """Return the current time."""
    return datetime.now(UTC)


def now_ms() -> int:
    """Return the current time in ms since 1970."""
    return int(now_utc().timestamp() * 1000)


def prepare_folder(folder: Path) -> bool:
    """Check that results can be written to a folder; return True if the folder was created."""
    try:
        is_new = not folder.exists()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return is_new
    except OSError as error:
        raise ConfigError(
            f"--output: results cannot be written to {folder}: {error.strerror or error}"
        ) from error


def path_of(folder: Path, result: Result) -> Path:
    """Return the file of a result; names sort by time."""
    stamp = f"{result.created:%Y%m%dT%H%M%S}{result.created.microsecond // 1000:03d}Z"
    return folder / f"{stamp}-{result.kind}-{result.target}-{result.sweep_id[-4:]}.json"


def find_id(result: Result) -> str:
    """Return the ID of a result in lists; a repeated item of a plan has another one each time."""
    return id_of(path_of(Path(), result)) or result.sweep_id


def write(path: Path, result: BaseModel) -> None:
    """Replace a result file atomically."""
    text = result.model_dump_json(indent=1)
    with (
        whole(path) as handle,
        os.fdopen(handle, "w", encoding="utf-8", closefd=False) as file,
    ):
        file.write(text)


def find_unfinished(folder: Path) -> Iterator[Path]:
    """Yield the paths of the unfinished files that killed commands left in a folder of results."""
    for path in folder.glob(f".*.json.*{_NEW}"):
        owner = Owner.parse(path.name.partition(".json.")[2].partition("-")[0])
        if owner and not owner.alive:
            yield path


class ResultFile:
    """The file of a sweep's result, or a file in another place if the first cannot be written."""

    def __init__(self, path: Path) -> None:
        self.path: Path | None = path
        """Path of the file; None if the result could not be written anywhere."""
        self.trouble = ""
        """Reason why the result is in another place."""

    def write(self, result: BaseModel) -> None:
        """Write the result to its file.

        If that fails, use the user's state folder, and at last a temporary folder.
        """
        if self.path is None:
            return
        name = self.path.name
        for folder in (self.path.parent, state_folder() / "results", *temporary_folders()):
            try:
                if self.trouble:
                    folder.mkdir(parents=True, exist_ok=True)
                write(folder / name, result)
            except OSError as error:
                failed = f"{folder / name} cannot be written: {error.strerror or error}"
                self.trouble = f"{self.trouble}; {failed}" if self.trouble else failed
            else:
                self.path = folder / name
                return
        self.path = None

    def show(self, record: _Kept, form: str, write: Callable[[_Kept, str, int], str]) -> bool:
        """Print a record as JSON, or as the text that `write` returns; see `print`."""
        if form == "json":
            return self.print(record, record.model_dump_json(indent=1) + "\n")
        return self.print(record, write(record, str(self.path), width_of(sys.stdout)))

    def print(self, result: BaseModel, text: str) -> bool:
        """Print a text about the result, and the path if the result is in another place.

        Return whether the result is in its file and the text was printed.
        """
        if self.trouble:
            say(f"error: {self.trouble}", err=True)
            where = f"is in {self.path}" if self.path else "follows on standard output"
            say(f"the result {where}", err=True)
        try:
            print_out(text if text.strip() else "")
            if self.path is None:
                print_out(result.model_dump_json(indent=1) + "\n")
        except OutputError as error:
            say(f"error: {error}", err=True)
            if self.path:
                again = command_line(["show", str(self.path)])
                say(f"`{again}` prints the tables again", err=True)
            return False
        return not self.trouble


def read(path: Path) -> Result:
    """Read a result file; ConfigError if the file is not a result.

    In files of earlier versions, the driver's part is added to the client's share of inserts.
    """
    result = parse(path, packed.read(path), Result)
    result.runs = [_add_driver(run, result.module) for run in result.runs]
    return result


def _add_driver(run: RunRecord, module: str) -> RunRecord:
    found = run.metrics
    if not found or found.cpu_share <= found.client_share or _may_be_embedded(found, module):
        return run
    shares = shares_of(found.client_share, found.cpu_share)
    return run.model_copy(update={"metrics": found.model_copy(update=shares)})


def _may_be_embedded(metrics: InsertMetrics, module: str) -> bool:
    """Return whether the reported CPU time may include the CPU time of the database.

    Users' modules are not imported, and count as modules of embedded databases.
    """
    if metrics.client_ns_per_row is not None:
        return False
    return module not in MODULES or database_class(module).capabilities.embedded


def parse(path: Path, content: bytes, kind: type[_Kept]) -> _Kept:
    """Return the content of a result file; ConfigError if its kind or format is different."""
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        version = kind.model_fields["format_version"].default
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"]) or "the whole file"
        raise ConfigError(
            f"{path}: is not a result file of format {version}: {place}:"
            f" {first['msg'].removeprefix('Value error, ')}"
        ) from error


def inserts(folder: Path, target: str) -> Iterator[tuple[Path, Result]]:
    """Yield the results of a target's inserts in a folder, the newest first."""
    return _find_of_target(folder, target, ["insert"])


def _find_of_target(
    folder: Path, target: str, kinds: Iterable[str]
) -> Iterator[tuple[Path, Result]]:
    patterns = [f"*-{kind}-{target}-????.json" for kind in kinds]
    for path, result in _read_newest_first(folder, *patterns):
        if result.target == target:
            yield path, result


def of_sweep(folder: Path, kind: str, target: str, sweep_id: str) -> Iterator[tuple[Path, Result]]:
    """Yield the results of a sweep in a folder; a repeated sweep has several results."""
    for path, result in _read_newest_first(folder, f"*-{kind}-{target}-{sweep_id[-4:]}.json"):
        if result.sweep_id == sweep_id:
            yield path, result


def find_tables_left(
    folder: Path, kinds: Iterable[str]
) -> dict[tuple[str, str], tuple[Path, Manifest]]:
    """Return (target, table) -> the newest result in a folder that wrote to the table."""
    left: dict[tuple[str, str], tuple[Path, Manifest]] = {}
    for path, result in _read_newest_first(folder, *(f"*-{kind}-*.json" for kind in kinds)):
        with suppress(ConfigError):  # a workload of another version
            for table in DatasetReader(result.dataset).tables if result.manifest else ():
                assert result.manifest
                left.setdefault((result.target, table.name), (path, result.manifest))
    return left


def _read_newest_first(folder: Path, *patterns: str) -> Iterator[tuple[Path, Result]]:
    """Yield the results in a folder; a warning names each file that cannot be read."""
    paths = {path for pattern in patterns for path in packed.find_files(folder, pattern)}
    for path in sorted(paths, reverse=True):
        try:
            result = read(path)
        except ConfigError as error:
            _warn(f"warning: {error}; this file is not used")
        else:
            yield path, result


@cache
def _warn(text: str) -> None:
    """Print a warning once, even if the folder is read several times."""
    say(text, err=True)


def find_last_written(
    folder: Path, target: str, kinds: Iterable[str]
) -> tuple[Path, Manifest] | None:
    """Return the newest manifest of a target in a folder of results; None if there is none."""
    for path, result in _find_of_target(folder, target, kinds):
        if result.manifest:
            return path, result.manifest
    return None


@contextmanager
def expect_whole(path: Path | str) -> Iterator[None]:
    """Return a context in which errors of a damaged result become a ConfigError."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"{type(error).__name__}: {error}"[:_LONGEST_REASON]
        raise ConfigError(f"{path}: is damaged, so it cannot be shown: {reason}") from error
