"""VictoriaMetrics' account of how it answered an expression (`trace=1`)."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from simulator.modules.shared import shapes

_EVALUATED = re.compile(
    r"[\d.]+ ms: ((?:eval|aggregate|transform|(?:instant )?rollup|subquery)\b.*)"
)
"""Steps of the expression; how the server finds its series depends on what is in caches."""


def format_shown(trace: Mapping[str, Any]) -> str:
    """Return a trace as a text."""
    return "\n".join(_lines(trace, 0))


def shape_of(text: str) -> str:
    """Return the steps of the expression in a trace."""
    return shapes.of_text(text, lambda line: found[1] if (found := _EVALUATED.match(line)) else "")


def _lines(trace: Mapping[str, Any], depth: int) -> Iterator[str]:
    yield f"{'  ' * depth}{trace['duration_msec']:g} ms: {trace['message']}"
    for each in trace.get("children") or ():
        yield from _lines(each, depth + 1)
