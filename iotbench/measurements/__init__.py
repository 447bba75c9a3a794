"""The measurements, one folder per kind.

`kind.py` in a folder defines KIND; results/kinds.py lists the names of all kinds.
"""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from iotbench.results.kinds import NAMES, check_known

if TYPE_CHECKING:
    from iotbench.figures.summary import Subject, Summary
    from iotbench.measurements.shared.kind import Kind
    from iotbench.results.result import Result


def kind_named(name: str) -> "Kind[Any]":
    """Return the kind with a name."""
    kind: Kind[Any] = import_module(f"{__name__}.{check_known(name)}.kind").KIND
    return kind


def every_kind() -> "Iterator[Kind[Any]]":
    """Yield all kinds."""
    return map(kind_named, NAMES)


def writing_kinds() -> tuple[str, ...]:
    """Return the names of the kinds that leave rows in the tables."""
    return tuple(kind.name for kind in every_kind() if kind.writes)


def kind_of(result: "Result") -> "Kind[Any]":
    """Return the kind of a result."""
    return kind_named(result.kind)


def subject_of(result: "Result") -> "Subject":
    """Return the subject of a result's rows."""
    return kind_of(result).subject(result.configuration)


def summary_of(result: "Result") -> "Summary":
    """Return the summary of a result."""
    return kind_of(result).summary(result)
