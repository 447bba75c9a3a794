"""A list of results as text: a table that fits its width, JSON or CSV."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from iotbench.figures.numbers import significant
from iotbench.figures.rows import describe_verdict
from iotbench.machine.cleaning import csv_text
from iotbench.store.entry import Head, ResultEntry

_BLANKS = "  "
_AGES = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    write: Callable[[ResultEntry, datetime], str]
    drop: int = 0
    """The order in which columns are dropped where the table is too wide; 0: never."""


_COLUMNS = (
    _Column("ID", lambda entry, _: entry.id),
    _Column("Age", lambda entry, now: age_of(entry.created, now), drop=3),
    _Column("Target", lambda entry, _: entry.target),
    _Column("What", lambda entry, _: f"{entry.kind} {entry.what}", drop=2),
    _Column("Headline", lambda entry, _: headline_text(entry.headline)),
    _Column("Verdict", lambda entry, _: describe_verdict(entry.verdict, entry.verify)),
    _Column("Tags", lambda entry, _: ",".join(entry.tags) or "-", drop=1),
)


def format_list(found: Sequence[ResultEntry], form: str, now: datetime, width: int | None) -> str:
    """Return a list of results as a table, JSON or CSV; a width of None is unlimited."""
    if form == "json":
        return json.dumps([_record(entry) for entry in found], indent=1) + "\n"
    if form == "csv":
        return _as_csv(found)
    return _table(found, now, width)


def age_of(created: datetime, now: datetime) -> str:
    """Return how long ago something was, in its largest unit: 3d, 5h, 20m, 1s."""
    seconds = max((now - created).total_seconds(), 0)
    size, unit = next((each for each in _AGES if seconds >= each[0]), _AGES[-1])
    return f"{int(seconds // size)}{unit}"


def headline_text(head: Head | None) -> str:
    """Return a headline with its basis."""
    if head is None:
        return "-"
    spread = "" if head.spread is None else f", spread {head.spread:.1%}"
    return f"{significant(head.value)} {head.unit}, {head.at}, n={head.n:,}{spread}"


def _table(found: Sequence[ResultEntry], now: datetime, width: int | None) -> str:
    columns = list(_COLUMNS)
    if not any(entry.tags for entry in found):
        columns = [column for column in columns if column.title != "Tags"]
    shown = {
        column.title: [column.title, *(column.write(entry, now) for entry in found)]
        for column in columns
    }
    widths = {title: max(map(len, cells)) for title, cells in shown.items()}
    hidden = []
    for column in sorted((each for each in columns if each.drop), key=lambda each: each.drop):
        if width is None or sum(widths.values()) + len(_BLANKS) * (len(widths) - 1) <= width:
            break
        del widths[column.title]
        hidden.append(column.title)
    lines = zip(*(_pad(shown[title], size) for title, size in widths.items()), strict=True)
    text = "".join(f"{_BLANKS.join(cells).rstrip()}\n" for cells in lines)
    if hidden:
        text += f"not shown in {width} columns: {', '.join(hidden)} (--format csv has them)\n"
    return text


def _pad(cells: Sequence[str], width: int) -> list[str]:
    return [cell.ljust(width) for cell in cells]


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
