"""Checks of stored rows: expected and found values, and whether they agree."""

from collections.abc import Iterator, Sequence
from typing import Any

from simulator.data.schema import Table
from simulator.modules.contract import Database
from simulator.protocol.verdict import Check

MOST_SHOWN = 5


def compare_types(database: Database, tables: Sequence[Table]) -> Iterator[Check]:
    """Yield a failed check for each column with another type than the insert created."""
    for table in tables:
        for column, before, kind in database.find_altered(table):
            yield Check(name=f"{column}: type", expected=before, found=kind, ok=False)


def list_gone(database: Database, tables: Sequence[Table]) -> list[Check]:
    """Return a failed check for each object of the tables that no longer exists."""
    names = [name for table in tables for name in database.objects(table)]
    try:
        found = database.find_existing(names)
    except Exception:  # noqa: BLE001 - of any driver: the caller reports an earlier error
        return []
    made, none = "what the insert created", "nothing: it was dropped or renamed"
    gone = [name for name in names if name not in found]
    return [Check(name=name, expected=made, found=none, ok=False) for name in gone]


def uncountable(database: Database, error: Exception) -> Check:
    """Return a failed check for stored values that cannot be added up or read."""
    is_odd = isinstance(error, ValueError)
    expected = "values of their columns' types" if is_odd else "values that can be added up"
    found = str(error) if is_odd else database.explain(error)
    return Check(name="stored values", expected=expected, found=found, ok=False)


def compare_value(table: Table, label: str, expected: Any, found: Any, slack: float = 0.0) -> Check:
    """Check an answer of the database; `slack` is the tolerance of a sum."""
    near = bool(slack) and found is not None and abs(found - expected) <= slack
    ok = bool(found == expected) or near
    return Check(name=f"{table.name}: {label}", expected=str(expected), found=str(found), ok=ok)


def outline(checks: Sequence[Check]) -> tuple[str, list[bool | None]]:
    """Return the row count and the outcomes of checks; equal answers may differ in inexact sums."""
    return checks[0].found, [check.ok for check in checks]


def format_rows(items: Sequence[Any]) -> str:
    """Return the number of rows and the first rows, as text."""
    if not items:
        return "0"
    more = ", ..." if len(items) > MOST_SHOWN else ""
    return f"{len(items)} ({', '.join(str(item) for item in items[:MOST_SHOWN])}{more})"
