"""Pictures of queries: waits by query type, client times, and ramps."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from iotbench.figures.numbers import significant
from iotbench.figures.pictures import Ranges
from iotbench.figures.rows import Row
from iotbench.output.page import charts
from iotbench.output.page.charts import Axis, Bar, ChartPoint, ChartSeries
from iotbench.output.page.content import PageTable, Picture
from iotbench.output.page.measured import PageResult
from iotbench.output.page.pictures import chunks, figure_text, picture_ranges, spread_text
from iotbench.output.page.style import SeriesStyle
from simulator.errors import counted
from simulator.protocol.events import QueryRamp, RampStep

_MOST_TYPES = 24
"""Maximum number of query types in a picture."""


def _select_rows(each: PageResult, workers: int) -> list[Row]:
    return [row for row in each.summary.rows if row.figures and row.place.workers == workers]


def _is_whole(row: Row) -> bool:
    """Return whether a row describes a whole run, not a stage."""
    return bool(row.figures) and row.place.stage is None


def draw_waits(group: Sequence[PageResult]) -> Iterator[Picture]:
    """Yield pictures of the waits by query type, for each worker count."""
    places = (row.place for each in group for row in each.summary.rows if row.figures)
    for workers in sorted({place.workers or 0 for place in places}):
        some = [(each, rows) for each in group if (rows := _select_rows(each, workers))]
        types = [*dict.fromkeys(row.place.name for _, rows in some for row in rows)]
        means = " Means of the repeats." * any(each.is_repeated for each in group)
        drawn = Ranges(
            "p50_ms", "p99_ms", f"Wait by query type, {counted(workers, 'worker')}",
            f"Marker: median; end of the line: 99th percentile.{means}",
            ("first_ms", "p95_ms", "max_ms", "queries_per_s", "client_share"),
        )  # fmt: skip
        for start in range(0, len(types), _MOST_TYPES):
            wanted = types[start : start + _MOST_TYPES]
            shown = [(each, [r for r in rows if r.place.name in wanted]) for each, rows in some]
            yield from (picture_ranges(drawn, few) for few in chunks(shown))


def draw_client_times(group: Sequence[PageResult]) -> Iterator[Picture]:
    """Yield pictures of mean wait and mean client time by query type, for each result."""
    for each in group:
        workers = min(row.place.workers or 0 for row in each.summary.rows if _is_whole(row))
        found = [row for row in _select_rows(each, workers) if _is_whole(row)]
        for start in range(0, len(found), _MOST_TYPES):
            some = found[start : start + _MOST_TYPES]
            times = [_compute_times(row) for row in some]
            bars = [
                Bar(row.place.name, SeriesStyle(each.style.colour), pair)
                for row, pair in zip(some, times, strict=True)
            ]
            title = f"{each.label}: wait and client time, {counted(workers, 'worker')}"
            svg = charts.draw_bars(title, Axis("ms on average"), bars, ("wait", "client"))
            rows = [
                {
                    "Query": row.place.name,
                    "Wait ms": significant(wait),
                    "Client ms": significant(client),
                    "Client": figure_text(row, "client_share"),
                    "n": f"{row.figures['client_share'].n:,}",
                    "Spread": spread_text(row.figures["client_share"]),
                    "Verdict": row.verdict,
                }
                for row, (wait, client) in zip(some, times, strict=True)
            ]
            note = "Client time is the time after the wait to decode and fold an answer."
            yield Picture(title, svg, PageTable(rows), note)


def _compute_times(row: Row) -> tuple[float, float]:
    """Return the mean wait and the mean client time of a query, in ms."""
    wait, share = row.figures["avg_ms"].value, row.figures["client_share"].value
    return wait, wait * share / (1 - share) if share < 1 else 0.0


def _list_ramps(each: PageResult) -> list[QueryRamp]:
    return [ramp for run in each.done for ramp in run.outcome.ramps]


def draw_ramps(group: Sequence[PageResult]) -> Iterator[Picture]:
    """Yield a picture of the ramps of each query type."""
    for query in dict.fromkeys(r.query for g in group for r in _list_ramps(g)):
        for start in range(0, len(group), charts.MOST_SERIES):
            some = group[start : start + charts.MOST_SERIES]
            yield _draw_ramp(query, some)


def _draw_ramp(query: str, group: Sequence[PageResult]) -> Picture:
    series, rows = [], []
    limits: set[float] = set()
    for each in group:
        verdicts = {row.place.name: row.verdict for row in each.summary.rows}
        limit_ms = 1000 * float(each.result.configuration.get("ramp_limit_s") or 0.0)
        limits.add(limit_ms)
        places: dict[int, list[RampStep]] = defaultdict(list)
        for step in (s for ramp in _list_ramps(each) if ramp.query == query for s in ramp.steps):
            places[step.workers].append(step)
        points = []
        for workers, steps in sorted(places.items()):
            waits = [s.wait_ms_avg for s in steps if s.wait_ms_avg is not None]
            wait = sum(waits) / len(waits) if waits else None
            if wait is not None:
                ends = (min(waits), max(waits)) if waits[1:] else ()
                points.append(ChartPoint(workers, wait, *ends))
            rows.append({
                "Result": each.label,
                "Workers": f"{workers}",
                "Wait ms": "-" if wait is None else significant(wait),
                "Queries/s": significant(sum(s.queries_per_s for s in steps) / len(steps)),
                "n": f"{len(steps) if each.is_repeated else steps[0].runs:,}",
                "Verdict": verdicts.get(query, "-"),
            })  # fmt: skip
        if points:
            series.append(ChartSeries(each.label, each.style, points))
    title = f"Ramp of {query}"
    limit = max(limits) if len(limits) == 1 else None
    x, y = Axis("workers", counts=True), Axis("mean wait, ms")
    svg = charts.draw_lines(title, x, y, series, limit=limit)
    within = ", ".join(f"{each:,g} ms" for each in sorted(limits))
    return Picture(title, svg, PageTable(rows), f"Response limit: {within}.")
