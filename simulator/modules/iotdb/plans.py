"""Query plans of IoTDB."""

import re

from simulator.modules.shared import shapes

ANALYZE = "EXPLAIN ANALYZE"
_NODE = re.compile(r"\[PlanNodeId \S+\]: (\w+)|^([A-Z]\w+)-\d+")
"""A line that begins a node; the lines below it are figures of the run."""


def shape_of(text: str) -> str:
    """Return the nodes of a plan."""
    return shapes.of_text(text, _node)


def _node(line: str) -> str:
    found = _NODE.search(line)
    return next(filter(None, found.groups())) if found else ""
