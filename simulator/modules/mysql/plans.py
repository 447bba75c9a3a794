"""Query plans of MySQL, which are trees, and of MariaDB, which are JSON."""

import re

from simulator.modules.shared import shapes

ANALYZE, ANALYZE_JSON = "EXPLAIN ANALYZE", "ANALYZE FORMAT=JSON"
"""The statements that ask MySQL and MariaDB for a plan."""
_FIGURES = re.compile(r"\s*\((?:cost=|rows=|actual |never executed)[^()]*\)")
"""Behind each node of a tree."""
_KEY = re.compile(r'"(\w+)": ?(.*)')
_OF_A_RUN = re.compile(
    r"r_.*|pages_.*|.*cost.*|rows|filtered|loops|select_id|possible_keys|key_length|buffer_size"
    r"|query_optimization|subqueries_cache.*|expression_cache.*"
)
"""Keys of JSON that are no part of the plan itself."""


def shape_of(text: str) -> str:
    """Return the shape of either kind of plan."""
    return shapes.of_text(text, _key if text.startswith("{") else _node)


def _node(line: str) -> str:
    return _FIGURES.sub("", line)


def _key(line: str) -> str:
    """Return a line of JSON. It is not parsed: MariaDB does not escape quotes within texts."""
    found = _KEY.match(line)
    if not found or _OF_A_RUN.fullmatch(found[1]):
        return ""
    return f"{found[1]}: {found[2].strip(',{[ ')}"
