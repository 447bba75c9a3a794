"""Repeats of a measurement joined to one: means and spreads over the repeats."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cli.results.result import Result, RunRecord
from cli.summary.figures import Figure, Row, Summary, spread_of
from simulator.protocol.verdict import WORST_FIRST, Status

_WORST_ENDS = ("failed", "interrupted", "running", "done")
_EXTREMES = {"_min": min, "_max": max, "max_ms": max}
"""Ending of a figure's name -> which of the repeats' values stands for all."""


@dataclass(frozen=True, slots=True)
class RepeatedFigure(Figure):
    """The mean of the repeats' figures; `n` counts the repeats."""

    low: float = 0.0
    high: float = 0.0
    """The lowest and the highest one."""


def joined_result(results: Sequence[Result]) -> Result:
    """Return the first result with the runs of all of them, numbered on."""
    first = results[0]
    if len(results) == 1:
        return first
    ends = [result.status for result in results]
    status = min(ends, key=_WORST_ENDS.index)
    return first.model_copy(
        update={
            "status": status,
            "cause": next((result.cause for result in results if result.status == status), ""),
            "runs": _numbered(run for result in results for run in result.runs),
        }
    )


def _numbered(runs: Iterable[RunRecord]) -> list[RunRecord]:
    """Return runs with the numbers 1, 2, ... of each worker count and level."""
    numbers: Counter[tuple[int, int]] = Counter()
    found = []
    for run in runs:
        place = run.workers, run.level
        numbers[place] += 1
        found.append(run.model_copy(update={"run": numbers[place]}))
    return found


def joined_summary(summaries: Sequence[Summary]) -> Summary:
    """Return one row for each place, with means over the summaries that have it."""
    if len(summaries) == 1:
        return summaries[0]
    rows = _joined_rows([summary.rows for summary in summaries])
    totals = _joined_rows([summary.totals for summary in summaries])
    return replace(summaries[0], rows=rows, totals=totals)


def _joined_rows(repeats: Iterable[Sequence[Row]]) -> tuple[Row, ...]:
    """Join the rows that have the same name, in the order in which each repeat has them."""
    places: dict[tuple[str | int, int], list[Row]] = defaultdict(list)
    for rows in repeats:
        seen: Counter[str | int] = Counter()
        for row in rows:
            places[row.name, seen[row.name]].append(row)
            seen[row.name] += 1
    return tuple(map(_joined_row, places.values()))


def _joined_row(rows: Sequence[Row]) -> Row:
    figures: dict[str, list[Figure]] = defaultdict(list)
    for row in rows:
        for name, figure in row.figures.items():
            figures[name].append(figure)
    worst = min(rows, key=_rank)
    return replace(
        worst,
        runs=sum(row.runs for row in rows),
        workers=min(row.workers for row in rows),
        figures=_joined_figures(figures),
    )


def _rank(row: Row) -> int:
    """Return how bad a row's verdict is, 0 for the worst; words without a status are unknown."""
    found = [rank for rank, status in enumerate(WORST_FIRST) if row.verdict.startswith(status)]
    return found[0] if found else WORST_FIRST.index(Status.UNKNOWN)


def _joined_figures(figures: Mapping[str, Sequence[Figure]]) -> dict[str, Figure]:
    return {name: _joined_figure(name, found) for name, found in figures.items()}


def _joined_figure(name: str, found: Sequence[Figure]) -> RepeatedFigure:
    values = [figure.value for figure in found]
    extreme = next((of for ending, of in _EXTREMES.items() if name.endswith(ending)), None)
    value = extreme(values) if extreme else sum(values) / len(values)
    spread = None if extreme else spread_of(values)
    return RepeatedFigure(
        value, found[0].unit, len(values), spread, low=min(values), high=max(values)
    )
