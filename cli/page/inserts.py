"""Pictures of inserts: rate, latency, client share and size, of several results side by side."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from hdrh.histogram import HdrHistogram

from cli.page import charts
from cli.page.charts import Axis, Bar, Point, Series
from cli.page.content import VERDICT, Picture, Section, Table, number, words
from cli.page.measured import Measured, figure_text, range_of, spread_text
from cli.report.numbers import significant, written
from cli.results.metrics import latency_of, merged, percentiles_ms
from cli.summary.build import on_disk_of
from cli.summary.figures import OnDisk, Row, spread_of
from simulator.load.meter import merged_histogram
from simulator.protocol.spec import Kind

_PER_DECADE = 12
"""Points of a distribution for each further nine."""
_PLACES = {
    "workers": ("workers", "Workers"),
    "level": ("rows in the tables before", "Rows before"),
    "stage": ("stages", "Stage"),
}
_OVER = {"workers": "over workers", "level": "over fill level", "stage": "by stage"}
_LAST = {"workers": "most workers", "level": "most rows in the tables", "stage": "last stage"}
_RATES = {"workers": "rows_per_s_avg", "level": "rows_per_s", "stage": "rows_per_s"}


def sections_of(found: Sequence[Measured]) -> Iterator[Section]:
    """Yield a section for each workload, and each kind of sweep."""
    groups: dict[tuple[str, ...], list[Measured]] = defaultdict(list)
    for each in found:
        if each.result.kind is Kind.INSERT and any(row.figures for row in each.summary.rows):
            groups[each.group].append(each)
    for index, group in enumerate(groups.values()):
        subject, workload = group[0].summary.subject, group[0].result.dataset.workload
        yield Section(
            id=f"insert-{index}",
            title=f"Inserts {_OVER[subject]}, workload {workload}",
            notes=_notes(group),
            pictures=[*_pictures(f"insert-{index}", subject, group)],
        )


def _notes(group: Sequence[Measured]) -> list[str]:
    notes = []
    if len({each.durability for each in group}) > 1:
        notes.append(
            "The durability of acknowledged rows differs between these results; compare only those"
            " of equal durability."
        )
    if len({each.result.machine.model_copy(update={"load_average": 0}) for each in group}) > 1:
        notes.append("These results were measured from different machines.")
    if any(len(each.done) for each in group) and all(
        row.runs < 2 for each in group for row in each.summary.rows
    ):
        notes.append("Each value is of one run, so nothing says how far two runs differ.")
    return notes


def _pictures(prefix: str, subject: str, group: Sequence[Measured]) -> Iterator[Picture]:
    place, title = _PLACES[subject]
    rate = _RATES[subject]
    for part, series in _parts(group, f"{prefix}-rate"):
        yield _figure_picture(part, f"Rate over {place}", Axis("rows/s"), title, series, rate)
    for name, text in (
        ("latency_p50_ms", "Median latency"),
        ("latency_p99_ms", "Latency, 99th percentile"),
    ):
        for part, some in _parts(group, f"{prefix}-{name}"):
            yield _figure_picture(part, text, Axis("ms", log=True), title, some, name)
    for part, some in _parts(group, f"{prefix}-distribution"):
        yield _distribution(part, subject, some)
    shared = [each for each in group if "client_share" in each.summary.rows[0].figures]
    for part, some in _parts(shared, f"{prefix}-client"):
        yield _figure_picture(
            part, "Client share of the time", Axis("", share=True), title, some, "client_share"
        )
    sized = [each for each in group if any(map(on_disk_of, each.results))]
    for part, some in _parts(sized, f"{prefix}-size"):
        yield _sizes(part, some)


def _parts(group: Sequence[Measured], name: str) -> Iterator[tuple[str, Sequence[Measured]]]:
    """Yield a name and as many results as a picture has room for."""
    for start in range(0, len(group), charts.MOST_SERIES):
        yield f"{name}-{start}", group[start : start + charts.MOST_SERIES]


def _figure_picture(  # noqa: PLR0913, PLR0917
    name: str,
    title: str,
    y: Axis,
    place: str,
    group: Sequence[Measured],
    figure: str,
) -> Picture:
    """Return a picture of one figure of each row: lines, or bars where each result has one row."""
    series = [_series(each, figure) for each in group]
    if any(len(each.points) > 1 for each in series):
        x = Axis(place.lower(), counts=place in ("Workers", "Stage"))
        svg = charts.lines(name, title, x, y, series)
    else:
        found = [
            Bar(each.label, each.style, (p.y,), p.low, p.high)
            for each in series
            for p in each.points
        ]
        svg = charts.bars(name, title, y, found)
    ranged = any(p.low is not None for each in series for p in each.points)
    return Picture(title, svg, _table(place, group, figure, ranged=ranged), _note(group, ranged))


def _note(group: Sequence[Measured], ranged: bool) -> str:  # noqa: FBT001
    of = "repeat" if any(each.is_repeated for each in group) else "run"
    return f"The lines at a value reach from its lowest to its highest {of}." if ranged else ""


def _series(each: Measured, figure: str) -> Series:
    points = [
        Point(float(row.name), row.figures[figure].value, *range_of(row, figure))
        for row in each.summary.rows
        if figure in row.figures
    ]
    return Series(each.label, each.style, points)


def _table(place: str, group: Sequence[Measured], figure: str, *, ranged: bool) -> Table:
    titles = ["Value", *["Lowest", "Highest"] * ranged, "n", "Spread"]
    columns = [words("Result"), number(place), *map(number, titles), words("Durability"), VERDICT]
    rows = []
    for each in group:
        for row in each.summary.rows:
            found = row.figures.get(figure)
            rows.append([
                each.label,
                f"{row.name:,}",
                figure_text(row, figure),
                *_ends(row, figure) * ranged,
                f"{found.n:,}" if found else "-",
                spread_text(found),
                each.durability,
                row.verdict,
            ])  # fmt: skip
    return Table(columns, rows)


def _ends(row: Row, figure: str) -> tuple[str, ...]:
    """Return the lowest and the highest value behind a mean, as texts."""
    found = row.figures.get(figure)
    ends = range_of(row, figure) if found else (None, None)
    return tuple("-" if v is None or not found else written(v, found.unit) for v in ends)


def _latencies(each: Measured, row: Row) -> HdrHistogram:
    """Return the latencies of the batches behind a row."""
    if each.summary.subject == "stage":
        reports = [worker for run in each.done for worker in run.outcome.workers]
        stages = [stage for report in reports for stage in report.stages]
        return merged_histogram([s.latency for s in stages if s.stage + 1 == row.name])
    place = each.summary.subject
    runs = [run for run in each.done if getattr(run, place) == row.name]
    return merged(tuple(worker for run in runs for worker in run.outcome.workers))


def _distribution(name: str, subject: str, group: Sequence[Measured]) -> Picture:
    """Return the latency at each percentile, of each result's last row."""
    series, rows = [], []
    for each in group:
        for row in each.summary.rows:
            histogram = _latencies(each, row)
            found = latency_of(histogram)
            values = (found.p50_ms, found.p95_ms, found.p99_ms, found.p999_ms, found.max_ms)
            shown = map(significant, values)
            rows.append([each.label, f"{row.name:,}", *shown, f"{found.sends:,}", row.verdict])
        if found.sends:
            points = percentiles_of(histogram)
            series.append(Series(each.label, each.style, points))
    svg = charts.lines(
        name, "Latency distribution",
        Axis("of the batches were acknowledged within", percentiles=True),
        Axis("ms", log=True), series, marked=False,
    )  # fmt: skip
    titles = ("p50 ms", "p95 ms", "p99 ms", "p99.9 ms", "Max ms", "n (batches)")
    columns = [words("Result"), number(_PLACES[subject][1]), *map(number, titles), VERDICT]
    return Picture(
        "Latency distribution",
        svg,
        Table(columns, rows),
        f"{'In' if subject == 'stage' else 'With'} the {_LAST[subject]}, all runs together.",
    )


def percentiles_of(histogram: HdrHistogram) -> list[Point]:
    """Return the values at percentiles up to the last one that the number of values can show."""
    total = histogram.get_total_count()
    nines = len(str(total)) - 1
    steps = [step / _PER_DECADE for step in range(nines * _PER_DECADE + 1)]
    values = percentiles_ms(histogram, [100 * (1 - 10**-nine) for nine in steps])
    return [Point(nine, max(value, 0.001)) for nine, value in zip(steps, values, strict=True)]


def _sizes(name: str, group: Sequence[Measured]) -> Picture:
    bars, rows = [], []
    for each in group:
        repeats = [on_disk for result in each.results if (on_disk := on_disk_of(result))]
        sizes = [on_disk.bytes_per_row for on_disk in repeats]
        mean, ends = sum(sizes) / len(sizes), (min(sizes), max(sizes)) if sizes[1:] else ()
        bars.append(Bar(each.label, each.style, (mean,), *ends))
        rows.append([each.label, *_size_cells(repeats), each.summary.rows[-1].verdict])
    titles = ("Bytes", "Bytes/row", "Bits/value", "n", "Spread")
    columns = [words("Result"), *map(number, titles), words("Precision"), VERDICT]
    svg = charts.bars(name, "Size on disk", Axis("bytes/row"), bars)
    of = "of each repeat" if any(each.is_repeated for each in group) else ""
    note = f"After compaction of the last run {of}".strip()
    return Picture("Size on disk", svg, Table(columns, rows), f"{note}.")


def _size_cells(repeats: Sequence[OnDisk]) -> list[str]:
    sizes = [on_disk.bytes_per_row for on_disk in repeats]
    bits = [on_disk.bits_per_value for on_disk in repeats if on_disk.bits_per_value is not None]
    spread, precision = spread_of(sizes), repeats[-1].precision
    return [
        f"{sum(on_disk.size_bytes for on_disk in repeats) / len(repeats):,.0f}",
        f"{sum(sizes) / len(sizes):.1f}",
        f"{sum(bits) / len(bits):.1f}" if bits else "-",
        f"{len(sizes)}",
        "-" if spread is None else f"{spread:.1%}",
        precision.value if precision else "-",
    ]
