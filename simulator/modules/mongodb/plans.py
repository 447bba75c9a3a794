"""Query plans of MongoDB, and of databases that speak its protocol."""

import re
from collections.abc import Mapping
from typing import Any

from simulator.modules.shared import shapes

EXPLAIN, VERBOSITY = "explain", "executionStats"
_PARTS = ("queryPlanner", "executionStats", "stages", "shards")
"""Parts of the answer to keep; the others describe server and command."""
_LEFT_OUT = re.compile(
    r".*(?i:time|millis|cost|rows|loops|width|bytes|memory|estimate).*|n[A-Z]\w*|works|advanced"
    r"|need\w+|saveState|restoreState|isEOF|invalidates|docsExamined|keysExamined|total\w+"
    r"|executionStats|executionStages|allPlansExecution|rejectedPlans|namespace|\w*Hash|\w*Key"
    r"|serverInfo|serverParameters|command|ok|spill\w*|usedDisk|seeks|dupsTested|dupsDropped"
)
"""Keys that are no part of the plan itself."""
_LITERALS = ("parsedQuery", "indexBounds", "filter", "pipeline")
"""Keys below which texts are literals."""


def format_shown(reply: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the parts of an answer that are about the query."""
    return {name: reply[name] for name in _PARTS if name in reply} or reply


def shape_of(reply: Mapping[str, Any]) -> str:
    """Return the shape of an answer."""
    return shapes.of_json(format_shown(reply), _LEFT_OUT, _LITERALS)
