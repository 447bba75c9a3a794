"""Lines about the queries of a result: shown answers, the database's plans, and ramps."""

from collections.abc import Iterator

from iotbench.figures.numbers import significant
from iotbench.results.result import Result
from simulator.errors import counted
from simulator.protocol.events import QueryPlans, QueryRamp, RampEnd, ShownAnswer

_PLAN_LINES = 20
"""Most lines of a plan in a terminal; results and pages have all."""
_MORE = "and more statements, whose plans were not asked for"


def answers_of(result: Result) -> Iterator[str]:
    """Yield the lines of all shown answers, from the first run that has any."""
    runs = [run for run in result.runs if any(query.shown for query in run.outcome.queries)]
    for query in runs[0].outcome.queries if runs else ():
        for each in query.shown:
            yield from _format_answer(query.name, each)


def _format_answer(name: str, shown: ShownAnswer) -> Iterator[str]:
    verdict = "equal to the truth" if shown.ok else "not equal to the truth"
    verdict = "not checked" if shown.ok is None else verdict
    yield f"{name}, answer {shown.instance}: {counted(shown.all_rows, 'row')}, {verdict}"
    yield from (f"    {line}" for line in shown.statement.splitlines())
    yield f"  {' | '.join(shown.columns)}"
    if shown.skipped:
        yield f"  after {counted(shown.skipped, 'row')} equal to the truth"
    for row in shown.rows:
        yield f"  {' | '.join('NULL' if value is None else str(value) for value in row)}"
    left = shown.all_rows - shown.skipped - len(shown.rows)
    if left:
        yield f"  and {counted(left, 'more row')}"
    yield ""


def plans_of(result: Result) -> Iterator[str]:
    """Yield the first lines of each query plan."""
    for name, plans in result.query_plans.items():
        yield f"{name}: query plan"
        lines = plan_text(plans).splitlines()
        yield from (f"  {line}" for line in lines[:_PLAN_LINES])
        if len(lines) > _PLAN_LINES:
            left = counted(len(lines) - _PLAN_LINES, "more line")
            yield f"  and {left}, which the result and its page have"
        yield ""


def plan_text(plans: QueryPlans) -> str:
    """Return the plans of a query, each below its statement if there are several."""
    if plans.problem:
        return f"none: {plans.problem}"
    if len(plans.statements) == 1 and not plans.more:
        return plans.statements[0].text
    parts = [f"{each.statement}\n\n{each.text}" for each in plans.statements]
    return "\n\n".join([*parts, *[_MORE] * plans.more])


def ramps_of(result: Result) -> Iterator[str]:
    """Yield a line for each query and run."""
    limit_ms = 1000 * float(result.configuration.get("ramp_limit_s") or 0.0)
    for run in result.runs:
        for ramp in run.outcome.ramps:
            yield f"ramp {ramp.query}: {_describe_ramp(ramp, limit_ms)}"


def _describe_ramp(ramp: QueryRamp, limit_ms: float) -> str:
    average = f"{significant(ramp.wait_ms_avg)} ms on average"
    workers = counted(ramp.workers, "worker")
    match ramp.end:
        case RampEnd.LIMIT:
            return f"answers passed {limit_ms:,g} ms with {workers}: {average}"
        case RampEnd.ABORT:
            return f"answers passed three times {limit_ms:,g} ms with {workers}: {average}"
        case RampEnd.ALL:
            return f"answers stayed within {limit_ms:,g} ms with all {workers}: {average}"
