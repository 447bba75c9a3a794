"""Pictures of mixed loads: the latency of inserts beside the waits of the queries, and rates."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cli.page import charts
from cli.page.charts import Axis, Bar, Point, Series
from cli.page.content import VERDICT, Picture, Section, Table, number, words
from cli.page.measured import Measured, figure_text, range_of, spread_text
from cli.summary.figures import Row
from cli.summary.mixed import INSERTS
from simulator.protocol.spec import Kind

_RATES = ("rows_per_s", "queries_per_s")
_LATENCIES = ("p50_ms", "p95_ms", "p99_ms", "max_ms")


def sections_of(found: Sequence[Measured]) -> Iterator[Section]:
    """Yield a section for each workload that had a mixed load."""
    groups: dict[tuple[str, ...], list[Measured]] = defaultdict(list)
    for each in found:
        if each.result.kind is Kind.MIXED and _rows(each):
            groups[each.group].append(each)
    for index, group in enumerate(groups.values()):
        title = f"Inserts beside queries, workload {group[0].result.dataset.workload}"
        pictures = []
        for start in range(0, len(group), charts.MOST_SERIES):
            some = group[start : start + charts.MOST_SERIES]
            name = f"mixed-{index}-{start}"
            pictures += [_latencies(f"{name}-latency", some), _inserts(f"{name}-rate", some)]
        yield Section(f"mixed-{index}", title, (), pictures)


def _rows(each: Measured) -> list[Row]:
    return [row for row in each.summary.rows if row.figures]


def _latencies(name: str, group: Sequence[Measured]) -> Picture:
    loads = [*dict.fromkeys(str(row.name) for each in group for row in _rows(each))]
    series, cells = [], []
    for each in group:
        points = [
            Point(
                loads.index(str(row.name)),
                row.figures["p50_ms"].value,
                high=row.figures["p99_ms"].value,
            )
            for row in _rows(each)
        ]
        series.append(Series(each.label, each.style, points))
        cells += [_cells(each, row) for row in _rows(each)]
    title = "Latency of inserts, wait of queries"
    svg = charts.ranges(name, title, Axis("ms", log=True), loads, series)
    titles = ("Rows/s", "Queries/s", "p50 ms", "p95 ms", "p99 ms", "Max ms", "n", "Spread")
    columns = [words("Result"), words("Load"), *map(number, titles), VERDICT]
    note = "Marker: median; end of the line: 99th percentile. The spread is that of the rate."
    return Picture(title, svg, Table(columns, cells), note)


def _cells(each: Measured, row: Row) -> list[str]:
    rate = next((row.figures[rate] for rate in _RATES if rate in row.figures), None)
    return [
        each.label,
        str(row.name),
        *(figure_text(row, figure) for figure in (*_RATES, *_LATENCIES)),
        f"{row.figures['p50_ms'].n:,}",
        spread_text(rate),
        row.verdict,
    ]


def _inserts(name: str, group: Sequence[Measured]) -> Picture:
    title, figure = "Rows per second beside queries", "rows_per_s"
    found = [(each, row) for each in group for row in _rows(each) if row.name == INSERTS]
    bars = [
        Bar(each.label, each.style, (row.figures[figure].value,), *range_of(row, figure))
        for each, row in found
    ]
    cells = [
        [
            each.label,
            f"{row.workers}",
            figure_text(row, figure),
            f"{row.figures[figure].n:,}",
            spread_text(row.figures[figure]),
            each.durability,
            row.verdict,
        ]
        for each, row in found
    ]
    titles = ("Workers", "Rows/s", "n (runs)", "Spread")
    columns = [words("Result"), *map(number, titles), words("Durability"), VERDICT]
    return Picture(title, charts.bars(name, title, Axis("rows/s"), bars), Table(columns, cells))
