"""The result files of a bundle, and the reasons against their publication."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from iotbench.figures.verdicts import verdict_of
from iotbench.measurements import kind_of
from iotbench.results import result_files
from iotbench.results.names import id_of
from iotbench.results.result import Result, title_of
from iotbench.results.result_files import expect_whole
from iotbench.store.gathered import Gathered, find_gathered
from iotbench.store.lookup import paths_of
from simulator.errors import ConfigError
from simulator.protocol.mark import same_rows
from simulator.protocol.verdict import Status


@dataclass(frozen=True)
class BundledResults:
    """The results of a bundle, each with its file."""

    sweeps: Sequence[tuple[Path, Result]]
    """Sweeps in chronological order."""
    records: Sequence[tuple[Path, Gathered, Any]]
    """Records of plans, reproductions and capacities; `sweeps` includes the sweeps of these
    records."""

    @property
    def paths(self) -> list[Path]:
        """Paths of all files."""
        return [path for path, _ in self.sweeps] + [path for path, _, _ in self.records]

    @property
    def parts(self) -> Sequence[tuple[Path, Result]]:
        """The results that belong to a record."""
        return [each for each in self.sweeps if each[0].name in self._of_records]

    @property
    def singles(self) -> Sequence[tuple[Path, Result]]:
        """The results that belong to no record."""
        return [each for each in self.sweeps if each[0].name not in self._of_records]

    @cached_property
    def _of_records(self) -> set[str]:
        return {name for _, kind, record in self.records for name in kind.files(record)}

    @property
    def title(self) -> str:
        """Title of the measurement."""
        return title_of([result for _, result in self.sweeps])


def gather(folder: Path, names: Sequence[str]) -> BundledResults:
    """Return the named results; a ConfigError lists the reasons against publication.

    The results include the inserts of queried rows, if the folder contains these inserts.
    """
    sweeps: dict[Path, Result] = {}
    records = []
    for path in paths_of(folder, names):
        kind = find_gathered(path)
        if kind:
            record = kind.read(path)
            records.append((path, kind, record))
            files = [path.parent / file for file in kind.files(record)]
        else:
            files = [path]
        sweeps |= {file: result_files.read(file) for file in files}
    for path, result in [*sweeps.items()]:
        sweeps |= _find_insert(path, result)
    ordered = sorted(sweeps.items(), key=lambda each: (each[1].created, each[0].name))
    found = BundledResults(ordered, records)
    if problems := [*_find_problems(found)]:
        raise ConfigError(problems)
    return found


def _find_insert(path: Path, result: Result) -> dict[Path, Result]:
    """Return the insert that wrote the queried rows, if it is in the folder of the result."""
    if not kind_of(result).needs_rows:
        return {}
    for file, insert in result_files.inserts(path.parent, result.target):
        if insert.manifest and same_rows(insert.manifest.dataset, result.dataset):
            return {file: insert}
    return {}


def _find_problems(found: BundledResults) -> Iterator[str]:
    for path, result in found.sweeps:
        with expect_whole(path):
            verdict = verdict_of(result)
        if result.status != "done" or not result.runs:
            cause = result.cause or (result.status if result.status != "done" else "it has no run")
            yield f"{path}: is not complete: {cause}"
        elif verdict == Status.MISMATCH:
            yield f"{path}: has the verdict mismatch: stored data or answers are wrong"
    names = [path.name for path in found.paths]
    for path in found.paths:
        if id_of(path) is None:
            yield f"{path}: is not named as a result file is"
        elif names.count(path.name) > 1:
            yield f"{path}: another file has the same name"
    if not found.sweeps:
        yield "no result of a sweep is among them"
