"""Query plans of InfluxDB 1 and 2: EXPLAIN of InfluxQL, and the query profiler of Flux."""

import csv
import json
import re
from collections.abc import Iterable, Iterator

from simulator.modules.shared import shapes
from simulator.modules.shared.influx.influxql import QueryFailed

EXPLAIN = "EXPLAIN"
PROFILED = 'import "profiler"\noption profiler.enabledProfilers = ["query"]\n'
"""Before a statement in Flux; then its answer has a table about it."""
_PLAN = "flux/query-plan"
"""A column of that table."""
_STAMPS = re.compile(r"_(\d+)\b")
"""Flux numbers the nodes of a plan."""


def of_influxql(lines: Iterable[str]) -> str:
    """Return the plan in the answer to EXPLAIN, which is JSON."""
    return "\n".join(_explain(lines))


def _explain(lines: Iterable[str]) -> Iterator[str]:
    for line in filter(None, map(str.strip, lines)):
        for result in json.loads(line).get("results", ()):
            if "error" in result:
                raise QueryFailed(result["error"])
            for series in result.get("series", ()):
                yield from (str(text) for (text,) in series["values"])


def of_flux(lines: Iterable[str]) -> str:
    """Return the plan in the answer to a profiled statement, which is CSV."""
    names: list[str] = []
    for row in csv.reader(lines):
        if not row or row[0].startswith("#"):
            names = []
        elif not names:
            names = row
            if names[1:3] == ["error", "reference"]:
                continue
        elif names[1:3] == ["error", "reference"]:
            raise QueryFailed(row[1])
        elif _PLAN in names:
            return row[names.index(_PLAN)]
    raise QueryFailed("the answer has no table of the profiler")


def shape_of_influxql(statement: str) -> str:
    """Return the shape of a plan: the statement, as EXPLAIN only adds how much each part reads.

    Of many parts it leaves out one or another, which is no change of the plan.
    """
    return shapes.without_values(statement)


def shape_of_flux(text: str) -> str:
    """Return the shape of a plan with numbered nodes."""
    return shapes.of_text(text, lambda line: _STAMPS.sub("", line))
