"""The kinds of measurements: each file here defines one, as KIND, and is named below."""

from collections.abc import Iterator
from importlib import import_module
from typing import TYPE_CHECKING, Any

from simulator.errors import ConfigError

if TYPE_CHECKING:
    from cli.kinds.kind import Kind
    from cli.results.result import Result
    from cli.summary.subjects import Subject
    from cli.summary.summary import Summary

NAMES = ("insert", "query", "mixed", "verify")
"""In the order in which they are listed and shown."""


def kind_named(name: str) -> "Kind[Any]":
    """Return a kind; ConfigError if there is none of this name."""
    if name not in NAMES:
        raise ConfigError(
            f"this version has no measurement {name!r}; it has {', '.join(NAMES)}: a later version"
            " has made this result"
        )
    kind: Kind[Any] = import_module(f"{__name__}.{name}").KIND
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
    """Return what the rows of a result are about."""
    return kind_of(result).subject(result.configuration)


def summary_of(result: "Result") -> "Summary":
    """Return the summary of a result."""
    return kind_of(result).summary(result)
