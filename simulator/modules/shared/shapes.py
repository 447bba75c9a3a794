"""Shapes of query plans: the parts that stay the same when the same plan runs again.

Literals and figures become a question mark. Equal neighbours become one, because their number
depends on the stored data: partitions, chunks, shards, segments, workers.
"""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_QUOTED = re.compile(r"'(?:[^'\\]|\\.|'')*'")
_NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\w.:]*(?:[-+]\d[\w.:]*)*")
"""A number, a number with a unit, or a date."""
_SEVERAL = re.compile(r"\?(?:,\s*\?)+")
_DRAWN = str.maketrans(dict.fromkeys("│├└─╴", " "))
"""Characters with which servers draw trees."""
_STEP = "  "


def without_values(text: str) -> str:
    """Return a text in which literals, numbers and lists of them are question marks."""
    return _SEVERAL.sub("?", _NUMBER.sub("?", _QUOTED.sub("?", text)))


def of_text(text: str, keep: Callable[[str], str] = str) -> str:
    """Return the shape of a text with lines that form a tree by their indentation.

    `keep` returns the part of a line that belongs to the shape, or "".
    """
    lines = []
    for line in text.splitlines():
        bare = line.translate(_DRAWN)
        if found := keep(bare.strip()):
            depth = len(bare) - len(bare.lstrip())
            lines.append((depth, without_values(" ".join(found.split()))))
    return "\n".join(_format(_tree(lines)))


def of_json(value: Any, left_out: re.Pattern[str], literals: Collection[str] = ()) -> str:
    """Return the shape of decoded JSON as a tree of keys and values, without the keys `left_out`.

    Texts under the keys `literals` are literals, except names of fields, which begin with $.
    """
    return "\n".join(_format(_nodes("", value, left_out, literals, literal=False)))


def format_json(value: Any, depth: int = 0) -> str:
    """Return decoded JSON as text, with an object or list of plain values on one line."""
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
    """A line of a tree, with its children."""

    text: str
    children: list["_Node"] = field(default_factory=list)


def _tree(lines: Iterable[tuple[int, str]]) -> list[_Node]:
    root = _Node("")
    path = [(-1, root)]
    """The last node and its ancestors, each with its depth."""
    for depth, text in lines:
        while path[-1][0] >= depth:
            path.pop()
        node = _Node(text)
        path[-1][1].children.append(node)
        path.append((depth, node))
    return root.children


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
    """Return an item's sort key, plain values first; the order of some servers' keys varies."""
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
        lines = [_STEP * depth + node.text, *_format(node.children, depth + 1)]
        if lines != before:
            yield from lines
        before = lines
