"""Freshness of rows: the time until a query has seen them, while others insert."""

from collections.abc import Iterator, Sequence
from statistics import median

from iotbench.figures.numbers import significant
from iotbench.figures.rows import INSERTS
from iotbench.output.page import charts
from iotbench.output.page.charts import Axis, ChartPoint, ChartSeries
from iotbench.output.page.content import PageTable, Picture
from iotbench.output.page.measured import PageResult
from iotbench.output.page.style import SeriesStyle
from iotbench.output.site.entries import RATE, Entry
from iotbench.output.site.question import Cell, Line, Question, Topic, list_values, make_cell
from simulator.modules import MODULES, database_class

TOPIC = Topic(
    "How soon is a row seen?",
    "freshness.html",
    "freshness",
    "From the acknowledgement of a row to the first answer with it",
    "A database that shows rows at once takes the time between two answers, so compare with the"
    " answers per second. Unseen: rows that no answer had by the end.",
    lambda ms: f"{significant(ms)} ms",
)
_MEDIAN, _LATE = "freshness_p50_ms", "freshness_p99_ms"
_COLUMN, _COLUMN_OF_LATE = "Median, ms", "99th percentile, ms"


def ask(entries: Sequence[Entry]) -> Question | None:
    """Return how soon databases show a row, if mixed loads asked about fresh rows."""
    return TOPIC.answer(
        (line for entry in entries for each in entry.results for line in _list(entry, each)),
        _draw,
        lambda _, ends: f"Half of the rows are seen within: {ends}",
    )


def _list(entry: Entry, each: PageResult) -> Iterator[Line]:
    """Yield the row of each fresh query."""
    if each.result.kind != "mixed":
        return
    queries = [row.place.name for row in each.summary.rows if row.value(_MEDIAN) is not None]
    for query in queries:
        middle, late = (list_values(each, figure, query) for figure in (_MEDIAN, _LATE))
        per_s = list_values(each, "queries_per_s", query)
        cells: dict[str, Cell] = {"Query": (query, each.link)} if queries[1:] else {}
        cells |= {
            _COLUMN: make_cell(middle, each.link, significant),
            _COLUMN_OF_LATE: make_cell(late, each.link, significant),
            "Rows/s": make_cell(list_values(each, RATE, INSERTS), each.link, "{:,.0f}".format),
            "Answers/s": make_cell(per_s, each.link, significant),
            "Unseen": (_count_unseen(each, query), each.link),
            "Rows are visible": (_describe_promise(each), entry.page),
        }
        yield Line(entry, [each], cells, middle, median(late) if late else None)


def _count_unseen(each: PageResult, query: str) -> str:
    found = [one for run in each.done for one in run.outcome.freshness if one.query == query]
    unseen = sum(one.unseen_rows for one in found)
    return f"{unseen:,} of {unseen + sum(one.rows for one in found):,}"


def _describe_promise(each: PageResult) -> str:
    module = each.result.module
    if module not in MODULES:  # never import the module that a stranger's result names
        return "-"
    return "later" if database_class(module).capabilities.late else "at once"


def _draw(lines: Sequence[Line]) -> Iterator[Picture]:
    for start in range(0, len(lines), charts.MOST_BARS):
        some = lines[start : start + charts.MOST_BARS]
        points = [
            ChartPoint(row, median(each.values), high=each.end) for row, each in enumerate(some)
        ]
        title = "Freshness"
        svg = charts.draw_ranges(
            title, Axis("ms", log=True), [each.name for each in some],
            [ChartSeries("", SeriesStyle(), points)],
        )  # fmt: skip
        columns = (_COLUMN, _COLUMN_OF_LATE)
        rows = [
            {"Database": each.name, **{name: each.cells[name][0] for name in columns}}
            for each in some
        ]
        note = "Marker: median; end of the line: 99th percentile. Medians of the repeats."
        yield Picture(title, svg, PageTable(rows), note)
