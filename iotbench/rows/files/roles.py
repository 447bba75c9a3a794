"""The role of each column of the user's file: pure; all problems are reported at once."""

import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import product

from iotbench.rows.files.cells import CellType
from iotbench.rows.files.epochs import unit_of
from iotbench.rows.files.request import FilesRequest
from iotbench.rows.files.source import Portion
from simulator.data.schema import FLOATS, ID, INTEGERS, Column, PrimaryKey, Role, Type
from simulator.errors import ConfigError, nearest

_SAMPLE_ROWS = 1000
_MAX_FORMATS = 4
_ISO = "timestamps are like 2024-05-01T10:00:00; --time-format describes others"


def columns_of(
    request: FilesRequest,
    time: str,
    names: Sequence[str],
    cell_types: Sequence[CellType],
    first: Portion,
) -> tuple[Column, ...]:
    """Return the columns with types and roles; ConfigError with everything that is wrong.

    `time`: the column with the time; empty: the only timestamp.
    """
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
    dates = _dates(names, types, first)
    counts = [
        name
        for name, cells in zip(names, first.columns, strict=True)
        if types.get(name) in FLOATS | INTEGERS and unit_of(cells)
    ]
    found = _find_time(names, types, time or None, dates, counts, problems)
    tags = request.reading.tags
    _check_tags(names, types, tags, found, problems)
    if problems:
        raise ConfigError(problems)
    return tuple(_column(name, kind, found, tags) for name, kind in types.items())


def _column(name: str, kind: Type, time: str | None, tags: Sequence[str]) -> Column:
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


def _dates(names: Sequence[str], types: Mapping[str, Type], first: Portion) -> dict[str, str]:
    """Return the text columns that look like dates -> how to read them."""
    found = {}
    for name, cells in zip(names, first.columns, strict=True):
        if types.get(name) is not Type.TEXT:
            continue
        texts = [text for text in cells.slice(0, _SAMPLE_ROWS).to_pylist() if text]
        formats = suggest(texts)
        if formats is not None:
            found[name] = f"column {name!r} looks like dates ({texts[0]!r}); {_advice(formats)}"
    return found


def _advice(formats: Sequence[str]) -> str:
    shown = [f"--time-format '{each}'" for each in formats[:_MAX_FORMATS]]
    if len(shown) > 1:
        return f"the order of day and month is not known: use {' or '.join(shown)}"
    return f"use {shown[0]}" if shown else "describe them with --time-format, as for strptime"


def _find_time(  # noqa: PLR0913, PLR0917
    names: Sequence[str],
    types: Mapping[str, Type],
    wanted: str | None,
    dates: Mapping[str, str],
    counts: Sequence[str],
    problems: list[str],
) -> str | None:
    """Return the column with the row's time: the named one, or the only timestamp."""
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
            + ("; is it the only column? --delimiter says what separates them" * (len(names) == 1))
        )
    elif wanted not in names:
        problems.append(f"--time-column: no column {wanted!r} ({nearest(wanted, names)})")
    elif wanted in dates:
        problems.append(f"--time-column: {dates[wanted]}")
    elif types.get(wanted) in FLOATS | INTEGERS:
        problems.append(
            f"--time-column: the numbers of {wanted!r} are no times from 1973 to 2099 in any unit;"
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
    """Return the columns that can be used, or that there is none."""
    others = ", ".join(f"{name} is {kind}" for name, kind in types.items())
    return ", ".join(names) or f"the file has none ({others})"


_WRITTEN = re.compile(
    r"(?P<a>\d{1,4})(?P<separator>[-./ ])(?P<b>\d{1,2}|[A-Za-z]{3,9})(?P=separator)(?P<c>\d{2,4})"
    r"(?:(?P<gap>[T ]|, ?)(?P<clock>[\d:.]+)(?P<half> ?[AaPp][Mm])?(?P<zone> ?([Zz]|[+-][\d:]+))?)?"
)
_CLOCKS = ("%H:%M:%S", "%H:%M", "%H:%M:%S.%f")


def suggest(texts: Sequence[str]) -> list[str] | None:
    """Return the formats that all these texts have, or None if they do not look like dates."""
    first = _WRITTEN.fullmatch(texts[0].strip()) if texts else None
    if not first:
        return None
    return [each for each in _formats(first) if all(_has(text.strip(), each) for text in texts)]


def _formats(first: re.Match[str]) -> Iterator[str]:
    """Yield the formats that a first date could have."""
    year = "%Y" if len(first["c"]) == 4 else "%y"
    months = ("%b", "%B") if first["b"].isalpha() else ("%m",)
    orders = [("%Y", month, "%d") for month in months] if len(first["a"]) == 4 else []
    orders += [("%d", month, year) for month in months]
    if not first["b"].isalpha():
        orders.append(("%m", "%d", year))
    clocks = [_clock(first, clock) for clock in _CLOCKS] if first["clock"] else [""]
    for order, clock in product(orders, clocks):
        yield first["separator"].join(order) + clock


def _clock(first: re.Match[str], clock: str) -> str:
    half, zone = first["half"] or "", first["zone"] or ""
    if half:
        clock = clock.replace("%H", "%I") + half[:-2] + "%p"
    return first["gap"] + clock + (" " * zone.startswith(" ") + "%z" if zone else "")


def _has(text: str, time_format: str) -> bool:
    try:
        datetime.strptime(text, time_format)  # noqa: DTZ007 - only whether it fits
    except ValueError:
        return False
    return True
