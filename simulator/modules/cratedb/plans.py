"""Query plans of CrateDB, over both protocols."""

import re

from simulator.modules.shared import shapes

EXPLAIN = "EXPLAIN"
_FIGURES = re.compile(r"\s*\(rows=[^)]*\)")


def shape_of(text: str) -> str:
    """Return the operators of a plan, with their conditions and columns."""
    return shapes.of_text(text, lambda line: _FIGURES.sub("", line))
