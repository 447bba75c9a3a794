"""Query plans of PostgreSQL and of the databases that print them as it does."""

import re

from simulator.modules.shared import shapes

_FIGURES = re.compile(r"\s*\((?:cost=|actual |never executed)[^()]*\)")
"""Behind each node of a plan."""
_SAID = re.compile(
    r"(?:InitPlan|SubPlan|CTE) "
    r"|(?!Rows )[\w -]*\b(?:Cond|Condition|Filter|Keys?|Order|Order By|Sets):"
)
"""Lines below a node that are of the plan; all others are of the run, such as buffers."""
_CHUNK = re.compile(r"_hyper_\d+_\d+")
"""TimescaleDB numbers the chunks of a table."""


def shape_of(text: str) -> str:
    """Return the nodes of a plan, with their conditions and keys."""
    return shapes.of_text(text, _said)


def _said(line: str) -> str:
    bare, found = _FIGURES.subn("", line)
    return _CHUNK.sub("_hyper_?_?", bare) if found or _SAID.match(bare) else ""
