"""Pictures of queries: waits by type, client time, queries per second, ramps."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cli.page import charts
from cli.page.charts import Axis, Bar, Point, Series
from cli.page.content import VERDICT, Picture, Section, Table, number, words
from cli.page.measured import Measured, figure_text, range_of, spread_text
from cli.page.style import Style
from cli.report.numbers import significant
from cli.summary.figures import Row
from simulator.errors import counted
from simulator.protocol.events import QueryRamp, RampStep
from simulator.protocol.spec import Kind

_RATE = "queries_per_s"
_MOST_TYPES = 24
"""More query types are drawn in several pictures."""


def sections_of(found: Sequence[Measured]) -> Iterator[Section]:
    """Yield a section for each workload that was queried."""
    groups: dict[tuple[str, ...], list[Measured]] = defaultdict(list)
    for each in found:
        if each.result.kind is Kind.QUERY and any(row.figures for row in each.summary.rows):
            groups[each.group].append(each)
    for index, group in enumerate(groups.values()):
        prefix, workload = f"query-{index}", group[0].result.dataset.workload
        if any(_ramps(each) for each in group):
            title, pictures = f"Query ramps, workload {workload}", [*_all_ramps(prefix, group)]
        else:
            title = f"Queries, workload {workload}"
            pictures = [*_waits(prefix, group), *_rates(prefix, group), *_clients(prefix, group)]
        yield Section(prefix, title, (), pictures)


def _rows(each: Measured, workers: int) -> list[Row]:
    return [row for row in each.summary.rows if row.figures and row.workers == workers]


def _is_whole(row: Row) -> bool:
    """Whether a row is of a whole run, and not of one of its stages."""
    return "client_share" in row.figures


def _waits(prefix: str, group: Sequence[Measured]) -> Iterator[Picture]:
    """Yield the wait by query type, a picture for each worker count."""
    counts = sorted({row.workers for each in group for row in each.summary.rows if row.figures})
    for workers in counts:
        some = [each for each in group if _rows(each, workers)]
        types = [*dict.fromkeys(str(row.name) for each in some for row in _rows(each, workers))]
        for start in range(0, len(types), _MOST_TYPES):
            shown = types[start : start + _MOST_TYPES]
            for first in range(0, len(some), charts.MOST_SERIES):
                name = f"{prefix}-waits-{workers}-{start}-{first}"
                yield _wait(name, workers, shown, some[first : first + charts.MOST_SERIES])


def _wait(name: str, workers: int, types: Sequence[str], group: Sequence[Measured]) -> Picture:
    series, rows = [], []
    for each in group:
        found = [row for row in _rows(each, workers) if row.name in types]
        points = [
            Point(
                types.index(str(row.name)),
                row.figures["wait_ms_p50"].value,
                high=row.figures["wait_ms_p99"].value,
            )
            for row in found
        ]
        series.append(Series(each.label, each.style, points))
        rows += [_wait_cells(each, row) for row in found]
    title = f"Wait by query type, {counted(workers, 'worker')}"
    svg = charts.ranges(name, title, Axis("ms", log=True), types, series)
    titles = (
        "First ms", "p50 ms", "p95 ms", "p99 ms", "Max ms", "Queries/s", "Client", "n", "Spread",
    )  # fmt: skip
    columns = [words("Result"), words("Query"), *map(number, titles), VERDICT]
    means = " Means of the repeats; the spread is that of p50." * any(e.is_repeated for e in group)
    note = f"Marker: median; end of the line: 99th percentile.{means}"
    return Picture(title, svg, Table(columns, rows), note)


def _wait_cells(each: Measured, row: Row) -> list[str]:
    names = (
        "wait_ms_p50",
        "wait_ms_p95",
        "wait_ms_p99",
        "wait_ms_max",
        "queries_per_s",
        "client_share",
    )
    return [
        each.label,
        str(row.name),
        figure_text(row, "first_ms_avg"),
        *(figure_text(row, name) for name in names),
        f"{row.figures['wait_ms_p50'].n:,}",
        spread_text(row.figures["wait_ms_p50"]),
        row.verdict,
    ]


def _rates(prefix: str, group: Sequence[Measured]) -> Iterator[Picture]:
    """Yield the queries per second over workers: of all queries, or of the only one."""
    asked = [(each, each.summary.totals or each.summary.rows) for each in group]
    for start in range(0, len(asked), charts.MOST_SERIES):
        series, rows, bars = [], [], []
        for each, of in asked[start : start + charts.MOST_SERIES]:
            found = [row for row in of if _is_whole(row)]
            points = [
                Point(row.workers, row.figures[_RATE].value, *range_of(row, _RATE)) for row in found
            ]
            series.append(Series(each.label, each.style, points))
            bars += [Bar(each.label, each.style, (p.y,), p.low, p.high) for p in points]
            rows += [
                [each.label, str(row.name), f"{row.workers}", figure_text(row, _RATE),
                 f"{row.figures[_RATE].n:,}",
                 spread_text(row.figures[_RATE]), row.verdict]
                for row in found
            ]  # fmt: skip
        title, name, axis = "Queries per second", f"{prefix}-rate-{start}", Axis("queries/s")
        if any(len(each.points) > 1 for each in series):
            svg = charts.lines(name, title, Axis("workers", counts=True), axis, series)
        else:
            svg = charts.bars(name, title, axis, bars)
        columns = [
            words("Result"),
            words("Query"),
            *map(number, ("Workers", "Queries/s", "n", "Spread")),
            VERDICT,
        ]
        yield Picture(title, svg, Table(columns, rows))


def _clients(prefix: str, group: Sequence[Measured]) -> Iterator[Picture]:
    """Yield mean wait and mean client time of each query type, a picture for each result."""
    for each in group:
        workers = min(row.workers for row in each.summary.rows if _is_whole(row))
        found = [row for row in _rows(each, workers) if _is_whole(row)]
        for start in range(0, len(found), _MOST_TYPES):
            some = found[start : start + _MOST_TYPES]
            times = [_times(row) for row in some]
            bars = [
                Bar(str(row.name), Style(each.style.colour), pair)
                for row, pair in zip(some, times, strict=True)
            ]
            title = f"{each.label}: wait and client time, {counted(workers, 'worker')}"
            name = f"{prefix}-client-{each.index}-{start}"
            svg = charts.bars(name, title, Axis("ms on average"), bars, ("wait", "client"))
            rows = [
                [str(row.name), significant(wait), significant(client),
                 figure_text(row, "client_share"), f"{row.figures['client_share'].n:,}",
                 spread_text(row.figures["client_share"]), row.verdict]
                for row, (wait, client) in zip(some, times, strict=True)
            ]  # fmt: skip
            titles = ("Wait ms", "Client ms", "Client", "n", "Spread")
            table = Table([words("Query"), *map(number, titles), VERDICT], rows)
            note = "Client time is what decoding and folding an answer takes after the wait."
            yield Picture(title, svg, table, note)


def _times(row: Row) -> tuple[float, float]:
    """Return the mean wait and the mean client time of a query, in ms."""
    wait, share = row.figures["wait_ms_avg"].value, row.figures["client_share"].value
    return wait, wait * share / (1 - share) if share < 1 else 0.0


def _ramps(each: Measured) -> list[QueryRamp]:
    return [ramp for run in each.done for ramp in run.outcome.ramps]


def _all_ramps(prefix: str, group: Sequence[Measured]) -> Iterator[Picture]:
    """Yield a ramp curve for each query type."""
    for number_of_type, query in enumerate(
        dict.fromkeys(r.query for g in group for r in _ramps(g))
    ):
        for start in range(0, len(group), charts.MOST_SERIES):
            some = group[start : start + charts.MOST_SERIES]
            name = f"{prefix}-ramp-{number_of_type}-{start}"
            yield _ramp(name, query, some)


def _ramp(name: str, query: str, group: Sequence[Measured]) -> Picture:
    series, rows = [], []
    limits: set[float] = set()
    for each in group:
        verdicts = {str(row.name): row.verdict for row in each.summary.rows}
        limit_ms = 1000 * float(each.result.configuration.get("ramp_limit_s") or 0.0)
        limits.add(limit_ms)
        places: dict[int, list[RampStep]] = defaultdict(list)
        for step in (s for ramp in _ramps(each) if ramp.query == query for s in ramp.steps):
            places[step.workers].append(step)
        points = []
        for workers, steps in sorted(places.items()):
            waits = [s.wait_ms_avg for s in steps if s.wait_ms_avg is not None]
            wait = sum(waits) / len(waits) if waits else None
            if wait is not None:
                ends = (min(waits), max(waits)) if waits[1:] else ()
                points.append(Point(workers, wait, *ends))
            rows.append([
                each.label,
                f"{workers}",
                "-" if wait is None else significant(wait),
                significant(sum(s.queries_per_s for s in steps) / len(steps)),
                f"{len(steps) if each.is_repeated else steps[0].runs:,}",
                verdicts.get(query, "-"),
            ])  # fmt: skip
        if points:
            series.append(Series(each.label, each.style, points))
    title = f"Ramp of {query}"
    limit = max(limits) if len(limits) == 1 else None
    x, y = Axis("workers", counts=True), Axis("mean wait, ms")
    svg = charts.lines(name, title, x, y, series, limit=limit)
    within = ", ".join(f"{each:,g} ms" for each in sorted(limits))
    titles = ("Workers", "Wait ms", "Queries/s", "n")
    columns = [words("Result"), *map(number, titles), VERDICT]
    return Picture(title, svg, Table(columns, rows), f"Response limit: {within}.")
