"""Comparison of the query plans of two sides."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from iotbench.comparison.sides import Side
from simulator.errors import counted

_END = "nothing more"
"""Text that represents the end of a query plan."""


@dataclass(frozen=True, slots=True)
class PlanChange:
    """A query with a changed plan: the first lines that differ, without figures and literals."""

    query: str
    base: str
    other: str


@dataclass(frozen=True, slots=True)
class PlanComparison:
    """The queries, grouped by the change of their plans."""

    equal: tuple[str, ...]
    changed: tuple[PlanChange, ...]
    unknown: tuple[str, ...]
    """Queries that have a plan on only one side."""

    @property
    def lines(self) -> Iterator[str]:
        """Yield a description of the changes; yield nothing if no side has plans."""
        for change in self.changed:
            yield f"query plan of {change.query} changed: {change.base} -> {change.other}"
        if self.equal:
            same = "the same query plan" if len(self.equal) == 1 else "the same query plans"
            yield f"{same}: {counted(len(self.equal), 'query')}"
        if self.unknown:
            yield f"query plan of one side only: {', '.join(self.unknown)}"


def compare_plans(base: Side, other: Side) -> PlanComparison:
    """Compare the plans of each query."""
    before, after = _list_shapes(base), _list_shapes(other)
    both = [query for query in before if query in after]
    changes = [
        PlanChange(query, *difference)
        for query in both
        if (difference := _find_difference(before[query], after[query]))
    ]
    changed = {change.query for change in changes}
    return PlanComparison(
        tuple(query for query in both if query not in changed),
        tuple(changes),
        tuple(query for query in {**before, **after} if query not in both),
    )


def _list_shapes(side: Side) -> Mapping[str, list[str]]:
    """Return query -> the lines of the shapes of its plans."""
    found = {
        query: [line for plan in plans.statements for line in plan.shape.splitlines()]
        for _, result in side.results
        for query, plans in result.query_plans.items()
    }
    return {query: lines for query, lines in found.items() if lines}


def _find_difference(before: list[str], after: list[str]) -> tuple[str, str] | None:
    """Return the first pair of lines that differ; keep the indentation if nothing else differs."""
    pairs = zip_longest(before, after, fillvalue=_END)
    one, two = next((pair for pair in pairs if pair[0] != pair[1]), ("", ""))
    if one.strip() != two.strip():
        return one.strip(), two.strip()
    return (one, two) if one != two else None
