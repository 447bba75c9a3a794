"""Repeats of a measurement joined to one: means and spreads over the repeats."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace

from iotbench.figures.figures import join_figures
from iotbench.figures.rows import Place, Row
from iotbench.figures.summary import Summary
from iotbench.results.result import Result, RunRecord
from simulator.protocol.verdict import WORST_FIRST, Status

_WORST_ENDS = ("failed", "interrupted", "running", "done")


def join_result(results: Sequence[Result]) -> Result:
    """Return the first result with the runs of all results, numbered consecutively."""
    first = results[0]
    if len(results) == 1:
        return first
    ends = [result.status for result in results]
    status = min(ends, key=_WORST_ENDS.index)
    return first.model_copy(
        update={
            "status": status,
            "cause": next((result.cause for result in results if result.status == status), ""),
            "runs": _number(run for result in results for run in result.runs),
        }
    )


def _number(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Return runs with the numbers 1, 2, ... of each worker count and level."""
    numbers: Counter[tuple[int, int]] = Counter()
    found = []
    for run in runs:
        place = run.workers, run.level
        numbers[place] += 1
        found.append(run.model_copy(update={"run": numbers[place]}))
    return found


def join_summary(summaries: Sequence[Summary]) -> Summary:
    """Return one row for each place, with means over the summaries that have it."""
    if len(summaries) == 1:
        return summaries[0]
    rows = _join_rows([summary.rows for summary in summaries])
    totals = _join_rows([summary.totals for summary in summaries])
    return replace(summaries[0], rows=rows, totals=totals)


def _join_rows(repeats: Iterable[Sequence[Row]]) -> tuple[Row, ...]:
    """Join the rows about the same place, in the order of the repeats.

    For a ramp, the number of workers may differ; then the lowest counts.
    """
    places: dict[tuple[Place, int], list[Row]] = defaultdict(list)
    for rows in repeats:
        seen: Counter[Place] = Counter()
        for row in rows:
            place = (
                row.place if row.place.dimensions.keys() == {"workers"} else row.place.any_workers
            )
            places[place, seen[place]].append(row)
            seen[place] += 1
    return tuple(map(_join_row, places.values()))


def _join_row(rows: Sequence[Row]) -> Row:
    worst = min(rows, key=_rank)
    return replace(
        worst,
        place=min((row.place for row in rows), key=lambda place: place.workers or 0),
        runs=sum(row.runs for row in rows),
        figures=join_figures([row.figures for row in rows]),
    )


def _rank(row: Row) -> int:
    """Return the rank of a row's verdict, 0 for the worst; text without a status is unknown."""
    found = [rank for rank, status in enumerate(WORST_FIRST) if row.verdict.startswith(status)]
    return found[0] if found else WORST_FIRST.index(Status.UNKNOWN)
