"""The output of `query --plans` about how the database answers each query."""

from collections.abc import Iterator

from iotbench.results.result import Result
from simulator.errors import counted
from simulator.protocol.events import QueryPlans

_SHOWN_LINES = 20
"""Lines of each plan in a terminal; results and pages have all."""
_MORE = "and more statements, whose plans were not asked for"


def plans_in(result: Result) -> dict[str, QueryPlans]:
    """Return the plans of each query of a result."""
    return {plans.query: plans for run in result.runs for plans in run.outcome.plans}


def plans_of(result: Result) -> Iterator[str]:
    """Yield the lines about all query plans, the beginning of each."""
    for name, plans in plans_in(result).items():
        yield f"{name}: query plan"
        lines = plan_text(plans).splitlines()
        yield from (f"  {line}" for line in lines[:_SHOWN_LINES])
        if len(lines) > _SHOWN_LINES:
            left = counted(len(lines) - _SHOWN_LINES, "more line")
            yield f"  and {left}, which the result and its page have"
        yield ""


def plan_text(plans: QueryPlans) -> str:
    """Return the plans of a query; several statements have theirs below each."""
    if plans.problem:
        return f"none: {plans.problem}"
    if len(plans.statements) == 1 and not plans.more:
        return plans.statements[0].text
    parts = [f"{each.statement}\n\n{each.text}" for each in plans.statements]
    return "\n\n".join([*parts, *[_MORE] * plans.more])
