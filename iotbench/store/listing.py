"""Lists results, with an entry for each file: as a table that fits a width, JSON or CSV."""

import json
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path

from iotbench.figures.figures import FIGURES
from iotbench.figures.numbers import significant
from iotbench.figures.rows import describe_verdict
from iotbench.figures.verdicts import level_of, verdict_of
from iotbench.machine.cleaning import csv_text
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.measurements import kind_of, summary_of
from iotbench.results import packed, result_files
from iotbench.results.names import ResultName
from iotbench.results.places import find_place
from iotbench.results.result import Result
from iotbench.store.gathered import GATHERED
from simulator.data.reader import DatasetReader
from simulator.errors import ConfigError
from simulator.frozen import Frozen
from simulator.protocol.verdict import VerifyMode

_LONGEST_PROBLEM = 300
_AGES = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


class Head(Frozen):
    """The figure of a result in a list, and the basis of this figure."""

    value: float
    unit: str
    n: int
    spread: float | None
    at: str
    """Place of the measurement, such as 4 workers or level 100,000."""


class ResultEntry(Frozen):
    """The entry of a result in a list."""

    id: str
    file: str
    created: datetime
    kind: str
    target: str
    what: str
    """Workload, workers and batch, or the names of the queries."""
    headline: Head | None = None
    verdict: str = ""
    verify: VerifyMode | None = None
    """Extent of the comparison of stored rows; None if unknown."""
    tags: tuple[str, ...] = ()
    tables: tuple[str, ...] | None = ()
    """Names of the tables that the insert wrote; None if unknown, as for another workload
    version."""
    problem: str = ""
    """Reason why the file cannot be read."""


def entry_of(name: ResultName) -> ResultEntry:
    """Read a result file, and return its entry."""
    try:
        with result_files.expect_whole(name.path):
            return _read_sweep(name) if name.is_sweep else _read_gathered(name)
    except ConfigError as error:
        problem = str(error)
    created = name.created or datetime.fromtimestamp(0, UTC)
    fields = {"id": name.id, "file": name.path.name, "kind": name.kind, "target": name.target}
    return ResultEntry(**fields, created=created, what="", problem=problem[:_LONGEST_PROBLEM])


def _read_sweep(name: ResultName) -> ResultEntry:
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
    """Describe the measurement in a few words."""
    return " ".join([result.dataset.workload, *kind_of(result).describe_measured(result)])


def _tables(result: Result) -> tuple[str, ...] | None:
    if not kind_of(result).writes or not result.manifest:
        return ()
    with suppress(ConfigError):  # a workload of another version
        return tuple(table.name for table in DatasetReader(result.manifest.dataset).tables)
    return None


def _read_gathered(name: ResultName) -> ResultEntry:
    kind = GATHERED[name.kind]
    outline = kind.outline(kind.read(name.path))
    return ResultEntry(
        id=name.id,
        file=name.path.name,
        created=outline.created or _find_change(name.path),
        kind=name.kind,
        target=",".join(outline.targets),
        what=outline.what,
        verdict=outline.verdict,
        verify=outline.verify,
    )


def _find_change(path: Path) -> datetime:
    """Return when a file was changed; 1970 for a file at a URL."""
    changed_s = 0.0 if find_place(path) else packed.file_of(path).stat().st_mtime
    return datetime.fromtimestamp(changed_s, UTC)


def format_list(found: Sequence[ResultEntry], form: str, now: datetime, width: int | None) -> str:
    """Return a list of results as a table, JSON or CSV; a width of None means unlimited."""
    if form == "json":
        return json.dumps([_record(entry) for entry in found], indent=1) + "\n"
    if form == "csv":
        return _as_csv(found)
    return _format_table(found, now, width)


def age_of(created: datetime, now: datetime) -> str:
    """Return the time since a moment in its largest unit, such as 3d, 5h, 20m or 1s."""
    seconds = max((now - created).total_seconds(), 0)
    size, unit = next((each for each in _AGES if seconds >= each[0]), _AGES[-1])
    return f"{int(seconds // size)}{unit}"


def _format_headline(head: Head | None) -> str:
    if head is None:
        return "-"
    spread = "" if head.spread is None else f", spread {head.spread:.1%}"
    return f"{significant(head.value)} {head.unit}, {head.at}, n={head.n:,}{spread}"


def _format_table(found: Sequence[ResultEntry], now: datetime, width: int | None) -> str:
    table, is_tagged = TextTable(), any(entry.tags for entry in found)
    table.add_column("ID", CellKind.ID)
    table.add_column("Age", CellKind.ID, drop=3)
    table.add_column("Target", CellKind.NAME)
    table.add_column("What", CellKind.TEXT, drop=2)
    table.add_column("Headline", CellKind.TEXT)
    table.add_column("Verdict", CellKind.TEXT)
    if is_tagged:
        table.add_column("Tags", CellKind.TEXT, drop=1)
    for entry in found:
        table.add_row(
            entry.id,
            age_of(entry.created, now),
            entry.target,
            f"{entry.kind} {entry.what}",
            _format_headline(entry.headline),
            describe_verdict(entry.verdict, entry.verify),
            *[", ".join(entry.tags) or "-"] * is_tagged,
        )
    return draw([table], width)


def _record(entry: ResultEntry) -> dict[str, object]:
    return entry.model_dump(mode="json", exclude={"tables", "problem"})


def _as_csv(found: Sequence[ResultEntry]) -> str:
    records = [
        {
            **_record(entry),
            "tags": ",".join(entry.tags),
            **(entry.headline.model_dump() if entry.headline else {}),
        }
        for entry in found
    ]
    names = (*ResultEntry.model_fields, *Head.model_fields)
    return csv_text(records, [n for n in names if n not in ("tables", "problem", "headline")])
