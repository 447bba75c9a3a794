"""Shows a result as text: a table with lines below it, JSON, or CSV."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from iotbench.figures.figures import FACETS, FIGURES, Unit, unit_of
from iotbench.figures.numbers import format_value, two_lines
from iotbench.figures.rows import Row
from iotbench.figures.summary import Subject, Summary, on_disk_of
from iotbench.machine.cleaning import csv_text
from iotbench.machine.streams import width_of, wrap
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.measurements import summary_of
from iotbench.output.terminal.notes import (
    answers_of,
    brief_of,
    mismatches_of,
    notes_of,
    plans_of,
    ramps_of,
)
from iotbench.output.terminal.plots import plot_of
from iotbench.results.result import Result, RunRecord
from simulator.errors import counted

_WITH_ENDS = (Unit.ROWS_PER_S, Unit.QUERIES_PER_S)
"""Units of figures with minimum, maximum and spread in the record of several runs."""
_REST = "start,\nend"
"""Title for the time outside all phases: start and end of processes or pods."""


@dataclass(frozen=True, slots=True)
class TerminalColumn:
    """A column of the table: its title, and the text of its value in a row."""

    title: str
    value: Callable[[Row], Any]
    write: Callable[[Any], str] = str
    drop: int = 0
    """Order in which a narrow table drops columns: the lowest rank goes first, all columns of it
    together; 0: never."""
    holds: CellKind = CellKind.FIGURE


def _make_column(name: str, drop: int, title: str) -> TerminalColumn:
    """Return the column of a figure, or of one of the facets of a figure."""
    unit = unit_of(name)
    assert unit
    write = partial(format_value, unit=unit)
    return TerminalColumn(title, lambda row: row.value(name), write, drop)


_WORKERS, _SECONDS, _SPREAD = "Workers", FIGURES["timed_s"].title, "Spread"
_VERDICT = TerminalColumn("Verdict", lambda row: row.judged, holds=CellKind.TEXT)
_OF_CHECKS = (
    TerminalColumn("Expected", lambda row: row.expected, holds=CellKind.TEXT),
    TerminalColumn("Found", lambda row: row.found, holds=CellKind.TEXT),
)
_DROP_WORKERS = {"stage": 0, "query": 0, "load": 1, "change": 1}
"""Subject of a table that shows the number of workers -> `drop` of this column."""
_DROP_SPREAD = {"workers": 4, "load": 6}
"""Subject of a table with several runs per row -> `drop` of the spread."""
_RATE = "rows_per_s"
_TITLES = {("workers", _RATE): "Avg\nrows/s", ("level", _RATE): "Inserts/s"}
"""(subject, figure) -> title of the column as in the published benchmark."""


def columns_of(subject: Subject) -> Iterator[TerminalColumn]:
    """Yield the columns of a table with this subject."""
    name = subject.name
    holds = CellKind.NAME if subject.is_named else CellKind.FIGURE
    yield TerminalColumn(subject.title, lambda row: row.place.name, holds=holds)
    if name in _DROP_WORKERS:
        yield TerminalColumn(_WORKERS, lambda row: row.place.workers, drop=_DROP_WORKERS[name])
    shown = [figure for figure in FIGURES.values() if name in figure.columns]
    rates = [figure for figure in shown if figure.unit.value.endswith("/s")]
    for figure in shown:
        drop, title = (
            figure.columns[name],
            _TITLES.get((name, figure.name)) or two_lines(figure.title),
        )
        if figure.name == _RATE and name == "workers":
            yield _make_column(f"{_RATE}_min", 1, "Min\nrows/s")
            yield _make_column(f"{_RATE}_max", 1, "Max\nrows/s")
        yield _make_column(figure.name, drop, title)
        if figure is rates[-1] and name in _DROP_SPREAD:
            yield TerminalColumn(
                _SPREAD, _find_spread, partial(format_value, unit=Unit.SHARE), _DROP_SPREAD[name]
            )
    yield from _OF_CHECKS if name == "check" else ()
    yield _VERDICT


def _find_spread(row: Row) -> float | None:
    rate = row.figures.get(_RATE) or row.figures.get("queries_per_s")
    return rate.spread if rate else None


def format_record(  # noqa: PLR0913
    result: Result,
    path: Path | None,
    form: str,
    *,
    plotted: bool = False,
    timings: bool = False,
    brief: bool = False,
) -> str:
    """Return a result in one of FORMATS; a table fits the width of standard output.

    `plotted` adds a picture below the table, and `timings` adds the duration of each phase. `brief`
    keeps only a few of the lines below the table.
    """
    if form == "json":
        return _format_json(result, path)
    if form == "csv":
        return csv_text(records_of(result) + totals_of(result))
    width = width_of(sys.stdout)
    notes = brief_of(result, path) if brief else notes_of(result, path)
    parts = _list_parts(result, width, plotted=plotted, timings=timings, brief=brief)
    return draw(chain(parts, wrap(notes, sys.stdout)), width)


def _count_step_rows(result: Result) -> int:
    """Return the number of rows per step; for tables with an end, the number in the first step."""
    if "num_inserts" in result.configuration:
        each, workers = result.configuration["num_inserts"], result.configuration["workers"]
        return int(each) * int(workers[0])
    return next((run.metrics.rows for run in result.runs if run.metrics), 0)


def _list_parts(
    result: Result, width: int, *, plotted: bool, timings: bool, brief: bool
) -> Iterator[TextTable | str]:
    if result.configuration.get("steps"):
        yield f"Stepsize: {_count_step_rows(result)}"
    summary = summary_of(result)
    yield _make_table(summary, quiet=brief)
    yield ""
    yield from plot_of(summary, width) if plotted else ()
    if timings and (table := _draw_timings(result)):
        yield "seconds"
        yield table
        yield ""
    yield from chain(answers_of(result), plans_of(result), ramps_of(result))


def _choose(summary: Summary) -> list[TerminalColumn]:
    """Return the columns that a summary needs."""
    needless: list[str] = []
    if summary.subject.name == "query":
        several = len({row.place.workers for row in summary.rows}) > 1
        staged = any(row.place.stage for row in summary.rows)
        needless = [_WORKERS] * (not several) + [_SECONDS] * (not staged)
    if summary.subject.name == "load" and all(row.runs < 2 for row in summary.rows):
        needless = [_SPREAD]
    return [column for column in columns_of(summary.subject) if column.title not in needless]


def _make_table(summary: Summary, *, quiet: bool) -> TextTable:
    table, columns = TextTable(quiet=quiet), _choose(summary)
    for column in columns:
        table.add_column(column.title, column.holds, drop=column.drop)
    for rows in (summary.rows, summary.totals):
        table.add_section()
        for row in rows:
            values = ((column, column.value(row)) for column in columns)
            table.add_row(*("-" if value is None else c.write(value) for c, value in values))
    return table


def _draw_timings(result: Result) -> TextTable | None:
    runs = [run for run in result.runs if run.took_s is not None]
    if not runs:
        return None
    names = [*dict.fromkeys(name for run in runs for name in run.outcome.phases_s)]
    table, titles = TextTable(), [_REST, *names, "all"]
    totals = [
        sum(each or 0.0 for each in every)
        for every in zip(*(_list_seconds(run, names) for run in runs), strict=True)
    ]
    table.add_column("Run", CellKind.NAME)
    for number, title in enumerate(titles):
        shorter = sum(total < totals[number] for total in totals)
        table.add_column(title, drop=0 if title == titles[-1] else 1 + shorter)
    for run in runs:
        at = f"{counted(run.workers, 'worker')}, {run.run}"
        table.add_row(at, *map(_format_s, _list_seconds(run, names)))
    if len(runs) > 1:
        table.add_section()
        table.add_row("all", *map(_format_s, totals))
    return table


def _list_seconds(run: RunRecord, names: list[str]) -> Iterator[float | None]:
    """Yield the durations in a run: outside the phases, of each phase, and in total."""
    phases, took_s = run.outcome.phases_s, run.took_s or 0.0
    yield max(took_s - sum(phases.values()), 0.0)
    yield from (phases.get(name) for name in names)
    yield took_s


def _format_s(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:,.2f}"


def records_of(result: Result) -> list[dict[str, Any]]:
    """Return a record for each row of the summary."""
    return [*map(_make_record, summary_of(result).rows)]


def totals_of(result: Result) -> list[dict[str, Any]]:
    """Return a record of all queries together, for each run with several queries."""
    return [*map(_make_record, summary_of(result).totals)]


def _make_record(row: Row) -> dict[str, Any]:
    """Return dimensions and figures of a row.

    Rates over several runs also have minimum, maximum and spread.
    """
    record: dict[str, Any] = {**row.place.dimensions}
    record |= {} if row.place.check else {"runs": row.runs}
    for name, found in row.figures.items():
        ends = FIGURES[name].unit in _WITH_ENDS and found.low is not None
        known = FACETS if ends else ("",)
        record |= {f"{name}{facet}": FACETS[facet](found) for facet in known}
    record |= dict.fromkeys(row.withheld)
    if "p50_ms" in row.figures:
        record["timed"] = row.figures["p50_ms"].n
    if row.place.check is not None:
        record |= {"expected": row.expected, "found": row.found}
    return {**record, "verdict": row.verdict} | ({"verify": row.level.value} if row.level else {})


def _format_json(result: Result, path: Path | None) -> str:
    """Return the summary and further facts of a result as JSON."""
    on_disk = on_disk_of(result)
    shown = {
        "kind": result.kind,
        "target": result.target,
        "status": result.status,
        "cause": result.cause,
        "exit_code": result.exit_code,
        "rows": records_of(result),
        "all_queries": totals_of(result),
        "ramps": [
            {"workers_at_most": run.workers, **ramp.model_dump(mode="json")}
            for run in result.runs
            for ramp in run.outcome.ramps
        ],
        "mismatches": mismatches_of(result),
        "warnings": result.warnings,
        "answers": [
            {"query": query.name, "workers": run.workers, **each.model_dump(mode="json")}
            for run in result.runs
            for query in run.outcome.queries
            for each in query.shown
        ],
        "on_disk": asdict(on_disk) if on_disk else None,
        "configuration": result.configuration,
        "target_options": result.target_options,
        "file": str(path) if path else None,
    }
    return json.dumps(shown, indent=1) + "\n"
