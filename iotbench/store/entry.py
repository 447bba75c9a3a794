"""One line of a list of results: what a result file holds, in a few words and one figure."""

from contextlib import suppress
from datetime import UTC, datetime
from math import isfinite

from iotbench.figures.figures import FIGURES
from iotbench.figures.verdicts import level_of, verdict_of
from iotbench.measurements import kind_of, summary_of
from iotbench.results import packed, result_files
from iotbench.results.names import ResultName
from iotbench.results.result import Result
from iotbench.store.gathered import GATHERED
from simulator.data.dataset import DatasetReader
from simulator.errors import ConfigError
from simulator.frozen import Frozen
from simulator.protocol.verdict import VerifyMode

_LONGEST_PROBLEM = 300


class Head(Frozen):
    """The figure by which a result is listed, and its basis."""

    value: float
    unit: str
    n: int
    spread: float | None
    at: str
    """Place of the measurement, such as 4 workers or level 100,000."""


class ResultEntry(Frozen):
    """A result, as a list shows it."""

    id: str
    file: str
    created: datetime
    kind: str
    target: str
    what: str
    """Workload, workers and batch, or the queries that were asked."""
    headline: Head | None = None
    verdict: str = ""
    verify: VerifyMode | None = None
    """Extent of the comparison of stored rows; None: unknown."""
    tags: tuple[str, ...] = ()
    tables: tuple[str, ...] | None = ()
    """That its insert wrote; None: not known, as of a workload of another version."""
    problem: str = ""
    """Reason why the file cannot be read."""


def entry_of(name: ResultName) -> ResultEntry:
    """Read a result file, and return its entry."""
    try:
        with result_files.expect_whole(name.path):
            return _sweep(name) if name.is_sweep else _gather(name)
    except ConfigError as error:
        problem = str(error)
    created = name.created or datetime.fromtimestamp(0, UTC)
    fields = {"id": name.id, "file": name.path.name, "kind": name.kind, "target": name.target}
    return ResultEntry(**fields, created=created, what="", problem=problem[:_LONGEST_PROBLEM])


def _sweep(name: ResultName) -> ResultEntry:
    result = result_files.read(name.path)
    summary = summary_of(result)
    row, listed_by, head = summary.headline, summary.subject.listed_by, None
    if row and isfinite(row.figures[listed_by].value):
        head = Head(
            value=row.figures[listed_by].value,
            unit=FIGURES[listed_by].unit.value,
            n=row.figures[listed_by].n,
            spread=row.figures[listed_by].spread,
            at=str(row.place),
        )
    return ResultEntry(
        id=name.id,
        file=name.path.name,
        created=result.created,
        kind=result.kind,
        target=result.target,
        what=what_of(result),
        headline=head,
        verdict=verdict_of(result),
        verify=level_of(result.runs),
        tags=tuple(result.tags),
        tables=_tables(result),
    )


def what_of(result: Result) -> str:
    """Return what was measured in a few words."""
    return " ".join([result.dataset.workload, *kind_of(result).describe_measured(result)])


def _tables(result: Result) -> tuple[str, ...] | None:
    if not kind_of(result).writes or not result.manifest:
        return ()
    with suppress(ConfigError):  # a workload of another version
        return tuple(table.name for table in DatasetReader(result.manifest.dataset).tables)
    return None


def _gather(name: ResultName) -> ResultEntry:
    kind = GATHERED[name.kind]
    outline = kind.outline(kind.read(name.path))
    changed_s = packed.file_of(name.path).stat().st_mtime
    return ResultEntry(
        id=name.id,
        file=name.path.name,
        created=outline.created or datetime.fromtimestamp(changed_s, UTC),
        kind=name.kind,
        target=",".join(outline.targets),
        what=outline.what,
        verdict=outline.verdict,
        verify=outline.verify,
    )
