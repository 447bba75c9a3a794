"""Tables and links of the generated documents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

_SHARED = 2
"""Number of commands or modules from which a shared option is described once."""
Row: TypeAlias = tuple[str, ...]


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = ["| " + " | ".join(headings) + " |", "|" + "---|" * len(headings)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def list_shared(options: Mapping[str, Sequence[Row]]) -> dict[Row, list[str]]:
    """Return the rows that several owners have in common, with the owners' names."""
    owners: dict[Row, list[str]] = {}
    for name, rows in options.items():
        for row in rows:
            owners.setdefault(row, []).append(name)
    return {row: names for row, names in owners.items() if len(names) >= _SHARED}


def link(name: str) -> str:
    """Return a link to the heading of this name."""
    return f"[{name}](#{name})"
