"""The common subject of several results, in a few words."""

from collections.abc import Sequence

from iotbench.results.result import Result

_NAMED = 4
"""Targets that are named; more are counted."""


def title_of(results: Sequence[Result]) -> str:
    """Return as text what was measured on which targets."""
    kinds = dict.fromkeys(result.kind for result in results)
    targets = [*dict.fromkeys(result.target for result in results)]
    named = ", ".join(targets) if len(targets) <= _NAMED else f"{len(targets)} targets"
    return f"{' and '.join(kinds)} on {named}"
