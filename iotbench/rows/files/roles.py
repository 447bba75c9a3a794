"""The role of each column of the user's file. Pure. All problems are reported at once."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import pyarrow as pa

from iotbench.rows.files.cells import CellType, present, trim
from iotbench.rows.files.request import FilesRequest
from iotbench.rows.files.source import FileSource
from iotbench.rows.files.times import FormattedTime, unit_of
from iotbench.rows.files.zones import NAMED
from simulator.data.block import Array
from simulator.data.schema import FLOATS, ID, INTEGERS, Column, PrimaryKey, Role, Type
from simulator.errors import ConfigError, nearest

_SAMPLE_ROWS = 1000
_MAX_FORMATS = 4
_ISO = "timestamps are like 2024-05-01T10:00:00; --time-format describes others"


def columns_of(
    request: FilesRequest, time: str, source: FileSource, cell_types: Sequence[CellType]
) -> tuple[Column, ...]:
    """Return the columns with types and roles; ConfigError with everything that is wrong.

    `time`: the column with the time; empty: the only timestamp.
    """
    names = source.names
    wrong = _name_problems(names, request.primary_key)
    types: dict[str, Type] = {}
    for name, cell_type in zip(names, cell_types, strict=True):
        if cell_type.type is None:
            wrong.append(
                f"column {name!r}: {cell_type.shown} cannot be stored; leave it out with"
                f" --drop-columns {shlex.quote(name)}, or convert it"
            )
        else:
            types[name] = cell_type.type
    problems = [f"--data: {request.name}: {problem}" for problem in wrong]
    dates = _find_dates(source, types, request.reading.time_column)
    counts = [
        name
        for name, cells in zip(names, source.first.columns, strict=True)
        if types.get(name) in FLOATS | INTEGERS and unit_of(cells)
    ]
    found = _find_time(names, types, time or None, dates, counts, problems)
    tags = request.reading.tags
    _check_tags(names, types, tags, found, problems)
    if problems:
        raise ConfigError(problems)
    return tuple(_make_column(name, kind, found, tags) for name, kind in types.items())


def _make_column(name: str, kind: Type, time: str | None, tags: Sequence[str]) -> Column:
    if name == time:
        return Column(name, Type.TIMESTAMP, Role.TIME)
    if name in tags:
        return Column(name, Type.TEXT, Role.TAG)
    return Column(name, kind, Role.FIELD)


def _name_problems(names: Sequence[str], primary_key: PrimaryKey) -> list[str]:
    problems = [
        f"column {number}: has no name that can be stored; give it another one"
        for number, name in enumerate(names, 1)
        if "\0" in name
    ]
    # Not every database distinguishes upper and lower case in a name.
    counts = Counter(name.lower() for name in names if name.strip())
    problems += [
        f"column {name!r}: there are {count} columns of that name; rename all but one, or leave"
        " them out with --drop-columns"
        for name, count in counts.items()
        if count > 1
    ]
    if primary_key is not PrimaryKey.NONE and ID.name in counts:
        problems.append(
            f"column {ID.name!r}: the primary key needs that name; rename the column, or use"
            " --primary-key none"
        )
    return problems


def _find_dates(source: FileSource, types: Mapping[str, Type], wanted: str) -> dict[str, str]:
    """Return text column that looks like dates -> advice on how to read it."""
    found = {}
    for name, column in zip(source.names, source.first.columns, strict=True):
        if types.get(name) is not Type.TEXT:
            continue
        cells = trim(column.slice(0, _SAMPLE_ROWS))
        rows, texts = source.first.rows[: len(cells)][present(cells)], cells.drop_null().to_pylist()
        formats = suggest(texts)
        if formats is not None:
            how = _advise(formats) if formats else _name_misfit(texts, rows, source, wanted or name)
            found[name] = f"column {name!r} looks like dates ({texts[0]!r}); {how}"
    return found


def _advise(formats: Sequence[str]) -> str:
    shown = [f"--time-format '{each}'" for each in formats[:_MAX_FORMATS]]
    if len(shown) > 1:
        return f"the order of day and month is not known: use {' or '.join(shown)}"
    zone = re.search("[A-Z]{2,}$", formats[0])
    named = f", and --time-zone with what {zone[0]} means, such as America/Chicago" if zone else ""
    return f"use {shown[0]}{named}"


def _name_misfit(texts: Sequence[str], rows: Array, source: FileSource, column: str) -> str:
    """Return a text with the cell that differs in form from the other cells, and the fix."""
    first = _WRITTEN.fullmatch(texts[0])
    masks = {each: _find_misfits(texts, each) for each in _list_formats(first)} if first else {}
    likely = min(masks, key=lambda each: int(masks[each].sum()))
    at = int(masks[likely].argmax())
    wrong = f"{source.place(int(rows[at]))}: {texts[at]!r} is not a time in the format {likely}"
    if masks[likely].all():
        return f"{wrong}; correct it, or name another order of its parts with --time-format"
    return (
        f"{wrong}, and no format reads all; write all in one form, or leave the rows of others"
        f" out: --time-column {shlex.quote(column)} --time-format '{likely}' --on-error skip"
    )


def _find_time(  # noqa: PLR0913, PLR0917
    names: Sequence[str],
    types: Mapping[str, Type],
    wanted: str | None,
    dates: Mapping[str, str],
    counts: Sequence[str],
    problems: list[str],
) -> str | None:
    """Return the column with the row's time: the named column, or the only timestamp."""
    instants = [name for name, kind in types.items() if kind is Type.TIMESTAMP]
    integers = [name for name, kind in types.items() if kind in INTEGERS]
    if wanted is None and len(instants) == 1:
        return instants[0]
    if wanted is None and dates and not instants:
        problems += [f"--time-column: no column is a timestamp; {hint}" for hint in dates.values()]
    elif wanted is None:
        found = f"several ({', '.join(instants)})" if instants else "none"
        problems.append(
            f"--time-column: expected one timestamp column, found {found}; name the column with the"
            f" time: {_candidates(instants or counts, types)}"
            + ("" if instants or counts else f" ({_ISO})")
            + ("; is it the only column? --delimiter names the separator" * (len(names) == 1))
        )
    elif wanted not in names:
        problems.append(f"--time-column: no column {wanted!r} ({nearest(wanted, names)})")
    elif wanted in dates:
        problems.append(f"--time-column: {dates[wanted]}")
    elif types.get(wanted) in FLOATS | INTEGERS:
        problems.append(
            f"--time-column: the numbers of {wanted!r} are not times from 1973 to 2099 in any unit;"
            " name what they count from 1970 with --time-format s, ms, us or ns"
        )
    elif wanted in types and wanted not in instants:
        problems.append(
            f"--time-column: {wanted!r} is {types[wanted]}; expected timestamps or numbers that"
            f" count from 1970: {_candidates((*instants, *integers), types)}, or describe it with"
            " --time-format"
        )
    return wanted


def _check_tags(
    names: Sequence[str],
    types: Mapping[str, Type],
    tags: Sequence[str],
    time: str | None,
    problems: list[str],
) -> None:
    usable = [name for name, kind in types.items() if kind is not Type.TIMESTAMP and name != time]
    for tag in dict.fromkeys(tags):
        if tag not in names:
            problems.append(f"--tags: no column {tag!r} ({nearest(tag, names)})")
        elif tag in types and tag not in usable:
            reason = "the time column" if tag == time else types[tag].value
            columns = _candidates(usable, types)
            problems.append(f"--tags: {tag!r} is {reason}; expected text or numbers: {columns}")
    problems += [f"--tags: {tag!r} is named twice" for tag, n in Counter(tags).items() if n > 1]


def _candidates(names: Sequence[str], types: Mapping[str, Type]) -> str:
    """Return the names of the usable columns, or a text with the types of all columns."""
    others = ", ".join(f"{name} is {kind}" for name, kind in types.items())
    return ", ".join(names) or f"the file has none ({others})"


_WRITTEN = re.compile(
    r"(?P<a>\d{1,4})(?P<separator>[-./ ])(?P<b>\d{1,2}|[A-Za-z]{3,9})(?P=separator)(?P<c>\d{2,4})"
    r"(?:(?P<gap>[T ]|, ?)(?P<clock>[\d:.]+)(?P<half> ?[AaPp][Mm])?"
    r"(?P<zone> ?([A-Za-z]{1,5}|[+-][\d:]+))?)?"
)
_CLOCKS = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f")


def suggest(texts: Sequence[str]) -> list[str] | None:
    """Return the formats that all texts have; None if the texts do not look like dates."""
    first = _WRITTEN.fullmatch(texts[0]) if texts else None
    return (
        [each for each in _list_formats(first) if not _find_misfits(texts, each).any()]
        if first
        else None
    )


def _find_misfits(texts: Sequence[str], time_format: str) -> Array:
    """Return the mask of the texts that do not have the format."""
    return FormattedTime(time_format).wrong(pa.array(texts, pa.string()))


def _list_formats(first: re.Match[str]) -> Iterator[str]:
    """Yield the formats that the first date could have."""
    year = "%Y" if len(first["c"]) == 4 else "%y"
    month = ("%b" if len(first["b"]) == 3 else "%B") if first["b"].isalpha() else "%m"
    orders = [("%Y", month, "%d")] if len(first["a"]) == 4 else []
    orders.append(("%d", month, year))
    if not first["b"].isalpha():
        orders.append(("%m", "%d", year))
    clocks = [_format_clock(first, clock) for clock in _CLOCKS] if first["clock"] else [""]
    for order, clock in product(orders, clocks):
        yield first["separator"].join(order) + clock


def _format_clock(first: re.Match[str], clock: str) -> str:
    half, zone = first["half"] or "", (first["zone"] or "").strip()
    if half:
        clock = clock.replace("%H", "%I") + half[:-2] + "%p"
    if zone == "Z" or zone.startswith(("+", "-")):
        zone = "%z"
    elif zone in NAMED:
        zone = "%Z"
    return first["gap"] + clock + " " * (first["zone"] or "").startswith(" ") + zone
