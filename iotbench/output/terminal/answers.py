"""The answers that `query --print-answers` shows: statement, columns, rows and verdict."""

from collections.abc import Iterator

from iotbench.results.result import Result
from simulator.errors import counted
from simulator.protocol.events import ShownAnswer


def answers_of(result: Result) -> Iterator[str]:
    """Yield the lines of all shown answers, from the first run that has any."""
    runs = [run for run in result.runs if any(query.shown for query in run.outcome.queries)]
    for query in runs[0].outcome.queries if runs else ():
        for each in query.shown:
            yield from _lines(query.name, each)


def _lines(name: str, shown: ShownAnswer) -> Iterator[str]:
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
