"""Which column of the user's file is what: pure, and every problem told at once."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cli.files.request import Request
from cli.files.types import refusal, type_of
from simulator.data.schema import ID, INTEGERS, Column, PrimaryKey, Role, Type
from simulator.errors import ConfigError, nearest

_MAX_NAME = 40


def table_name(path: Path) -> str:
    """Return the file's name as an identifier that needs no quotes anywhere."""
    stem = path.name.partition(".")[0].lower()
    name = re.sub(r"[^a-z0-9]+", "_", stem).strip("_")[:_MAX_NAME] or "data"
    return name if name[0].isalpha() else f"t_{name}"


def columns_of(
    request: Request, names: Sequence[str], arrow_types: Sequence[Any]
) -> tuple[Column, ...]:
    """Return the file's columns with their types and roles; ConfigError if there is no way."""
    wrong = _name_problems(names, request.primary_key)
    types: dict[str, Type] = {}
    for name, arrow_type in zip(names, arrow_types, strict=True):
        found = type_of(arrow_type)
        if found is None:
            wrong.append(f"column {name!r}: {refusal(arrow_type)}")
        else:
            types[name] = found
    problems = [f"--data: {request.file}: {problem}" for problem in wrong]
    time = _time(names, types, request.time_column, problems)
    _check_tags(names, types, request.tags, problems)
    if problems:
        raise ConfigError(problems)
    return tuple(_column(name, kind, time, request.tags) for name, kind in types.items())


def _column(name: str, kind: Type, time: str | None, tags: Sequence[str]) -> Column:
    if name == time:
        return Column(name, kind if kind is Type.TIMESTAMP else Type.INT64, Role.TIME)
    return Column(name, kind, Role.TAG if name in tags else Role.FIELD)


def _name_problems(names: Sequence[str], primary_key: PrimaryKey) -> list[str]:
    problems = [
        f"column {number}: has no name; give every column one"
        for number, name in enumerate(names, 1)
        if not name.strip() or "\0" in name
    ]
    # Not every database tells upper from lower case in a name.
    counts = Counter(name.lower() for name in names if name.strip())
    problems += [
        f"column {name!r}: there are {count} columns of that name; rename all but one"
        for name, count in counts.items()
        if count > 1
    ]
    if primary_key is not PrimaryKey.NONE and ID.name in counts:
        problems.append(
            f"column {ID.name!r}: the primary key needs that name; rename the column, or use"
            " --primary-key none"
        )
    return problems


def _time(
    names: Sequence[str], types: Mapping[str, Type], wanted: str | None, problems: list[str]
) -> str | None:
    """Return the column that tells a row's time: the one named, or the only timestamp."""
    instants = [name for name, kind in types.items() if kind is Type.TIMESTAMP]
    integers = [name for name, kind in types.items() if kind in INTEGERS]
    if wanted is None and len(instants) == 1:
        return instants[0]
    if wanted is None:
        found = f"several ({', '.join(instants)})" if instants else "none"
        problems.append(
            f"--time-column: expected one timestamp column, found {found}; name the column that"
            f" tells the time: {_could(instants or integers, types)}"
            + ("" if instants else " (timestamps are ISO 8601 in a CSV; integers will do)")
        )
    elif wanted not in names:
        problems.append(f"--time-column: no column {wanted!r} ({nearest(wanted, names)})")
    elif wanted in types and wanted not in (*instants, *integers):
        problems.append(
            f"--time-column: {wanted!r} is {types[wanted]}; expected timestamps or integers:"
            f" {_could((*instants, *integers), types)}"
        )
    return wanted


def _check_tags(
    names: Sequence[str], types: Mapping[str, Type], tags: Sequence[str], problems: list[str]
) -> None:
    texts = [name for name, kind in types.items() if kind is Type.TEXT]
    for tag in dict.fromkeys(tags):
        if tag not in names:
            problems.append(f"--tags: no column {tag!r} ({nearest(tag, names)})")
        elif tag in types and tag not in texts:
            could = _could(texts, types)
            problems.append(f"--tags: {tag!r} is {types[tag]}; expected text: {could}")
    problems += [f"--tags: {tag!r} is named twice" for tag, n in Counter(tags).items() if n > 1]


def _could(names: Sequence[str], types: Mapping[str, Type]) -> str:
    """Return the columns that would do, or that there is none."""
    others = ", ".join(f"{name} is {kind}" for name, kind in types.items())
    return ", ".join(names) or f"the file has none ({others})"
