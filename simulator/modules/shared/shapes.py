"""Shapes of query plans: what stays the same when the same plan is carried out again.

Literals and figures become a question mark. Of equal neighbours one is left, as their number
depends on how much is stored: partitions, chunks, shards, segments, workers.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_QUOTED = re.compile(r"'(?:[^'\\]|\\.|'')*'")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\w.:]*(?:[-+]\d[\w.:]*)*")
"""A number, also with a unit, or a date."""
_SEVERAL = re.compile(r"\?(?:,\s*\?)+")
_DRAWN = str.maketrans(dict.fromkeys("│├└─╴", " "))
"""Characters with which servers draw trees."""
_STEP = "  "


def without_values(text: str) -> str:
    """Return a text with a question mark for each literal, number, and list of them."""
    return _SEVERAL.sub("?", _NUMBER.sub("?", _QUOTED.sub("?", text)))


def of_text(text: str, said: Callable[[str], str] = str) -> str:
    """Return the shape of a text with lines that form a tree by their indentation.

    `said` returns the part of a line that belongs to the shape, or nothing.
    """
    lines = []
    for line in text.splitlines():
        bare = line.translate(_DRAWN)
        if found := said(bare.strip()):
            depth = len(bare) - len(bare.lstrip())
            lines.append((depth, without_values(" ".join(found.split()))))
    return "\n".join(_format(_tree(lines)))


def of_json(value: Any, left_out: re.Pattern[str], literals: Collection[str] = ()) -> str:
    """Return the shape of decoded JSON without the keys `left_out`, as a tree of keys and values.

    Below the keys `literals` all texts are literals, except names of fields, which begin with $.
    """
    return "\n".join(_format(_nodes("", value, left_out, literals, literal=False)))


def format_json(value: Any, depth: int = 0) -> str:
    """Return decoded JSON as text; a value without further parts takes one line."""
    parts = value.values() if isinstance(value, Mapping) else value
    is_flat = not isinstance(value, Mapping | list) or not any(
        isinstance(part, Mapping | list) and part for part in parts
    )
    if is_flat:
        return json.dumps(value, ensure_ascii=False, default=str)
    begin, end = "\n" + " " * (depth + 1), "\n" + " " * depth
    if isinstance(value, list):
        items = [format_json(each, depth + 1) for each in value]
        return f"[{begin}{f',{begin}'.join(items)}{end}]"
    items = [f"{json.dumps(key)}: {format_json(each, depth + 1)}" for key, each in value.items()]
    return f"{{{begin}{f',{begin}'.join(items)}{end}}}"


@dataclass(frozen=True, slots=True)
class _Node:
    """A line, and the lines below it."""

    text: str
    below: list["_Node"] = field(default_factory=list)


def _tree(lines: Iterable[tuple[int, str]]) -> list[_Node]:
    root = _Node("")
    path = [(-1, root)]
    """The last node of each depth, after the nodes above it."""
    for depth, text in lines:
        while path[-1][0] >= depth:
            path.pop()
        node = _Node(text)
        path[-1][1].below.append(node)
        path.append((depth, node))
    return root.below


def _nodes(
    key: str, value: Any, left_out: re.Pattern[str], literals: Collection[str], *, literal: bool
) -> Iterator[_Node]:
    if isinstance(value, list):
        for each in value:
            yield from _nodes(key, each, left_out, literals, literal=literal)
    elif isinstance(value, Mapping):
        below = [
            node
            for name, part in sorted(value.items(), key=_order)
            if not left_out.fullmatch(name)
            for node in _nodes(name, part, left_out, literals, literal=literal or name in literals)
        ]
        if key:
            yield _Node(key, below)
        else:
            yield from below
    else:
        yield _Node(f"{key}: {_value(value, literal=literal)}")


def _order(item: tuple[str, Any]) -> tuple[bool, str]:
    """Return the sort key of an item: values before parts, because some servers shuffle keys."""
    name, part = item
    return isinstance(part, Mapping | list), name


def _value(value: Any, *, literal: bool) -> str:
    if isinstance(value, bool) or value is None:
        return json.dumps(value)
    if not isinstance(value, str) or (literal and not value.startswith("$")):
        return "?"
    return without_values(" ".join(value.split()))


def _format(nodes: Iterable[_Node], depth: int = 0) -> Iterator[str]:
    before: list[str] = []
    for node in nodes:
        lines = [_STEP * depth + node.text, *_format(node.below, depth + 1)]
        if lines != before:
            yield from lines
        before = lines
