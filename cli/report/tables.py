"""A result's summary as a table that fits its width, and the lines below it."""

import io
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from cli.host.terminal import width_of
from cli.report.answers import answers_of
from cli.report.notes import notes_of
from cli.report.numbers import significant, written
from cli.report.plots import plot_of
from cli.report.ramps import ramps_of
from cli.report.records import as_csv, as_json
from cli.results.result import Result
from cli.summary.build import summary_of
from cli.summary.figures import Row, Summary, Unit
from simulator.protocol.spec import Kind

FORMATS = ("table", "json", "csv")

_FLEXIBLE_WIDTH = 24
"""A longer verdict is wrapped before a column is dropped."""
_UNBOUNDED = 1000
"""Wider than any table."""
_NAME_WIDTH = 40
"""A longer name of a query is wrapped."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table: its title (two lines), and how to write its value of a row."""

    title: str
    value: Callable[[Row], Any]
    write: Callable[[Any], str]
    drop: int = 0
    """The order in which columns are dropped where the table is too wide, equal ones together; 0:
    never."""
    text: bool = False


_rate = partial(written, unit=Unit.ROWS_PER_S)
_megabytes = partial(written, unit=Unit.BYTES_PER_S)
_percent = partial(written, unit=Unit.SHARE)
_rows = partial(written, unit=Unit.ROWS)


def _figure(name: str) -> Callable[[Row], float | None]:
    return lambda row: row.figures[name].value if name in row.figures else None


def _spread(row: Row) -> float | None:
    """Return the spread of the row's rate, of rows or of queries."""
    names = ("rows_per_s_avg", "rows_per_s", "queries_per_s")
    return next((row.figures[name].spread for name in names if name in row.figures), None)


def _subject(title: str, *, text: bool = False) -> Column:
    return Column(title, lambda row: row.name, str, text=text)


_WORKERS, _SECONDS, _SPREAD = "Workers", "Seconds", "Spread"
_NAMES = ("Query", "Load")
"""Columns of names, which stay on one line if they are short."""
_LATENCIES = (
    Column("p50\nms", _figure("latency_p50_ms"), significant, drop=3),
    Column("p99\nms", _figure("latency_p99_ms"), significant, drop=5),
    Column("Max\nms", _figure("latency_max_ms"), significant, drop=2),
)
_VERDICT = Column("Verdict", lambda row: row.verdict, str, text=True)
_SENDS = (*_LATENCIES, Column("Client", _figure("client_share"), _percent, drop=6), _VERDICT)
COLUMNS = {
    "workers": (
        _subject(_WORKERS),
        Column("Min\nrows/s", _figure("rows_per_s_min"), _rate, drop=1),
        Column("Max\nrows/s", _figure("rows_per_s_max"), _rate, drop=1),
        Column("Avg\nrows/s", _figure("rows_per_s_avg"), _rate),
        Column("Stored\nrows/s", _figure("rows_per_s_stored_avg"), _rate, drop=7),
        Column("MB/s", _figure("bytes_per_s_avg"), _megabytes),
        Column(_SPREAD, _spread, _percent, drop=4),
        *_SENDS,
    ),
    "level": (
        _subject("Level"),
        Column("Inserts/s", _figure("rows_per_s"), _rate),
        Column("Stored/s", _figure("rows_per_s_stored"), _rate, drop=7),
        Column("MB/s", _figure("bytes_per_s"), _megabytes),
        *_SENDS,
    ),
    "stage": (
        _subject("Stage"),
        Column(_WORKERS, lambda row: row.workers, str),
        Column(_SECONDS, _figure("seconds"), significant, drop=1),
        Column("Rows", _figure("rows"), _rows, drop=4),
        Column("Rows/s", _figure("rows_per_s"), _rate),
        *_LATENCIES,
        _VERDICT,
    ),
    "query": (
        _subject("Query", text=True),
        Column(_WORKERS, lambda row: row.workers, str),
        Column(_SECONDS, _figure("seconds"), significant, drop=1),
        Column("First\nms", _figure("first_ms_avg"), significant, drop=1),
        Column("Min\nms", _figure("wait_ms_min"), significant, drop=4),
        Column("Avg\nms", _figure("wait_ms_avg"), significant),
        Column("p50\nms", _figure("wait_ms_p50"), significant, drop=6),
        Column("p95\nms", _figure("wait_ms_p95"), significant, drop=7),
        Column("p99\nms", _figure("wait_ms_p99"), significant, drop=5),
        Column("Max\nms", _figure("wait_ms_max"), significant, drop=3),
        Column("Queries\n/s", _figure("queries_per_s"), significant, drop=8),
        Column("Client", _figure("client_share"), _percent, drop=2),
        _VERDICT,
    ),
    "load": (
        _subject("Load", text=True),
        Column(_WORKERS, lambda row: row.workers, str, drop=1),
        Column("Rows/s", _figure("rows_per_s"), _rate),
        Column("Queries\n/s", _figure("queries_per_s"), significant),
        Column(_SPREAD, _spread, _percent, drop=6),
        Column("Avg\nms", _figure("avg_ms"), significant, drop=3),
        Column("p50\nms", _figure("p50_ms"), significant),
        Column("p95\nms", _figure("p95_ms"), significant, drop=4),
        Column("p99\nms", _figure("p99_ms"), significant, drop=7),
        Column("Max\nms", _figure("max_ms"), significant, drop=2),
        Column("Client", _figure("client_share"), _percent, drop=5),
        _VERDICT,
    ),
    "check": (
        _subject("Check", text=True),
        Column("Expected", lambda row: row.expected, str, text=True),
        Column("Found", lambda row: row.found, str, text=True),
        _VERDICT,
    ),
}


def printed(result: Result, path: Path | None, form: str, *, plotted: bool = False) -> str:
    """Return a result as text in one of FORMATS; a table fits the width of standard output.

    `plotted`: below the table stands a picture of it.
    """
    if form == "json":
        return as_json(result, path)
    if form == "csv":
        return as_csv(result)
    return _table(result, path, width_of(sys.stdout), plotted=plotted)


def _step_rows(result: Result) -> int:
    """Return how many rows a step inserts, of tables with an end by the first one."""
    if "num_inserts" in result.configuration:
        each, workers = result.configuration["num_inserts"], result.configuration["workers"]
        return int(each) * int(workers[0])
    return next((run.metrics.rows for run in result.runs if run.metrics), 0)


def _table(result: Result, path: Path | None, width: int, *, plotted: bool) -> str:
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False, color_system=None)
    if result.kind is Kind.INSERT and result.configuration.get("steps"):
        console.print(f"Stepsize: {_step_rows(result)}")
    summary = summary_of(result)
    columns, dropped = _fitting(console, summary)
    console.print(_drawn(summary, columns))
    console.print()
    if dropped:
        titles = ", ".join(column.title.replace("\n", " ") for column in dropped)
        console.print(
            f"not shown in {width} columns: {titles} (see them with --format json or csv)",
            soft_wrap=True,
        )
    for line in plot_of(summary, width) if plotted else ():
        console.print(line, soft_wrap=True)
    for line in (*answers_of(result), *ramps_of(result), *notes_of(result, path)):
        console.print(line, soft_wrap=True)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _fitting(console: Console, summary: Summary) -> tuple[list[Column], list[Column]]:
    """Return the columns that fit the console, and those that were dropped for that."""
    every = list(COLUMNS[summary.subject])
    needless: list[str] = []
    if summary.subject == "query":
        several = len({row.workers for row in summary.rows}) > 1
        staged = any("seconds" in row.figures for row in summary.rows)
        needless = [_WORKERS] * (not several) + [_SECONDS] * (not staged)
    if summary.subject == "load" and all(row.runs < 2 for row in summary.rows):
        needless = [_SPREAD]
    every = [column for column in every if column.title not in needless]
    columns = every
    for least in sorted({column.drop for column in every if column.drop}):
        table = _drawn(summary, columns, flexible_width=_FLEXIBLE_WIDTH)
        unbounded = console.options.update(width=_UNBOUNDED)
        if Measurement.get(console, unbounded, table).maximum <= console.width:
            break
        columns = [column for column in columns if column.drop != least]
    return columns, [column for column in every if column not in columns]


def _drawn(summary: Summary, columns: Sequence[Column], flexible_width: int | None = None) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    shown = (*summary.rows, *summary.totals)
    longest = max((len(str(row.name)) for row in shown), default=0)
    for column in columns:
        table.add_column(
            column.title,
            justify="left" if column.text else "right",
            vertical="bottom",
            overflow="fold",
            no_wrap=not column.text,
            min_width=min(longest, _NAME_WIDTH) if column.title in _NAMES else None,
            max_width=flexible_width if column.title == "Verdict" else None,
        )
    for rows in (summary.rows, summary.totals):
        for row in rows:
            values = ((column, column.value(row)) for column in columns)
            table.add_row(*("-" if value is None else c.write(value) for c, value in values))
        table.add_section()
    return table
