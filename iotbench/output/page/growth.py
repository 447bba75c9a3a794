"""Pictures of rate, memory and queries for newest rows by number of series."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean

from iotbench.figures.numbers import significant
from iotbench.figures.resources import server_in
from iotbench.output.page import charts
from iotbench.output.page.charts import Axis, ChartPoint, ChartSeries
from iotbench.output.page.content import PageTable, Picture
from iotbench.output.page.measured import PageResult
from iotbench.output.page.style import SeriesStyle
from iotbench.results.result import Result
from simulator.data.reader import DatasetReader
from simulator.protocol.spec import Work

_FEWEST = 3
"""Minimum number of points of a line."""
_ONE = ("single-lastpoint", "single-last-loc")
"""Names of queries for the newest row of one series."""
_EACH = ("lastpoint", "newest-per-series", "newest-per-device")
"""Endings of the names of queries for the newest row of each series; a name may begin with a
table."""
_Value = Callable[[PageResult], float | None]


def draw_growth(group: Sequence[PageResult]) -> Iterator[Picture]:
    """Yield the pictures of targets that have results for at least three numbers of series."""
    counts = {each.index: series_of(each.result) for each in group}
    of_target: dict[str, set[int]] = defaultdict(set)
    for each in group:
        of_target[each.result.target].add(counts[each.index])
    grown = {target for target, found in of_target.items() if len(found - {0}) >= _FEWEST}
    some = [each for each in group if each.result.target in grown and counts[each.index]]
    if not some:
        return
    one_ms = partial(_compute_median_ms, is_wanted=_ONE.__contains__)
    each_ms = partial(
        _compute_median_ms, is_wanted=lambda query: query.endswith(_EACH) and query not in _ONE
    )
    yield from _draw("Rate over the number of series", "rows/s", some, counts, _find_rate)
    yield from _draw("Memory of the server", "MiB", some, counts, find_memory_mib)
    yield from _draw("Newest row of one series, median", "ms", some, counts, one_ms)
    yield from _draw("Newest row of each series, median", "ms", some, counts, each_ms)


def series_of(result: Result) -> int:
    """Return the number of series in all tables of a result; 0 if unknown."""
    reader = DatasetReader(result.dataset)
    if reader.sizes is None:
        return 0
    return sum(reader.series(place) for place in range(len(reader.tables)))


def _find_rate(each: PageResult) -> float | None:
    return max((row.value("rows_per_s") or 0 for row in each.summary.rows), default=0) or None


def list_newest_of_one(each: PageResult) -> list[str]:
    """Return the names of the queries for the newest row of one series."""
    return [query for row in each.summary.rows if (query := row.place.query) in _ONE and query]


def list_memories_mib(each: PageResult) -> list[float]:
    """Return the highest memory of the server during the inserts of each repeat, if measured."""
    found = []
    for part in each.results:
        measured = [run.resources for run in part.runs if run.resources]
        used = [one for resources in measured if (one := server_in(resources, Work.INSERT))]
        found += [max(one.memory_bytes for one in used) / 2**20] if used else []
    return found


def find_memory_mib(each: PageResult) -> float | None:
    """Return the lowest memory: a server may keep what inserts of other repeats took."""
    return min(list_memories_mib(each), default=None)


def _compute_median_ms(each: PageResult, is_wanted: Callable[[str], bool]) -> float | None:
    found = [
        value
        for row in each.summary.rows
        if row.place.query and is_wanted(row.place.query)
        if (value := row.value("p50_ms")) is not None
    ]
    return fmean(found) if found else None


def _draw(
    title: str, unit: str, group: Sequence[PageResult], counts: Mapping[int, int], value: _Value
) -> Iterator[Picture]:
    points: dict[str, list[ChartPoint]] = defaultdict(list)
    styles: dict[str, SeriesStyle] = {}
    rows: list[dict[str, str]] = []
    for each in sorted(group, key=lambda one: counts[one.index]):
        if (found := value(each)) is None:
            continue
        target = each.result.target
        styles.setdefault(target, each.style)
        points[target].append(ChartPoint(counts[each.index], found))
        verdict = each.summary.rows[-1].judged
        rows.append({
            "Result": each.label, "Series": f"{counts[each.index]:,}", unit: significant(found),
            "Verdict": verdict,
        })  # fmt: skip
    names = [name for name, each in points.items() if len(each) >= _FEWEST]
    for start in range(0, len(names), charts.MOST_SERIES):
        series = [
            ChartSeries(n, styles[n], points[n]) for n in names[start : start + charts.MOST_SERIES]
        ]
        is_log = unit == "ms"
        svg = charts.draw_lines(title, Axis("series", counts=True), Axis(unit, log=is_log), series)
        yield Picture(title, svg, PageTable(rows), "Series of all tables together.")
