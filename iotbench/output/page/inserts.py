"""Pictures of inserts: figures, latency distribution and size on disk."""

from collections.abc import Iterator, Sequence

from hdrh.histogram import HdrHistogram

from iotbench.figures.figures import FIGURES, spread_of
from iotbench.figures.numbers import significant
from iotbench.figures.pictures import Over
from iotbench.figures.rows import Row
from iotbench.figures.summary import OnDisk, on_disk_of
from iotbench.output.page import charts
from iotbench.output.page.charts import Axis, Bar, ChartPoint, ChartSeries
from iotbench.output.page.content import PageTable, Picture
from iotbench.output.page.measured import PageResult
from iotbench.output.page.pictures import chunks, picture_over
from iotbench.results.latency import latency_of, merge, percentiles_ms
from simulator.protocol.histogram import merge_histogram

_PER_DECADE = 12
"""Number of points of a distribution per decade, such as from 90 % to 99 %."""
_PERCENTILES = ("p50_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms")


def draw_figures(group: Sequence[PageResult]) -> Iterator[Picture]:
    """Yield the pictures of all figures with a declared picture, by workers, levels or stages."""
    subject = group[0].summary.subject
    for figure in (each for each in FIGURES.values() if each.picture):
        having = [(m, m.summary.rows) for m in group if figure.name in m.summary.rows[0].figures]
        yield from picture_over(
            Over(figure.name, f"{figure.picture} {subject.over}", subject.name), having
        )


def draw_distributions(group: Sequence[PageResult]) -> Iterator[Picture]:
    """Yield pictures of the latency at each percentile, for the last row of each result."""
    for some in chunks([(each, each.summary.rows) for each in group]):
        yield _draw_distribution([each for each, _ in some])


def draw_sizes(group: Sequence[PageResult]) -> Iterator[Picture]:
    """Yield pictures of the bytes per row of all results with a known size on disk."""
    sized = [(each, each.summary.rows) for each in group if any(map(on_disk_of, each.results))]
    for some in chunks(sized, charts.MOST_BARS):
        yield _draw_sizes([each for each, _ in some])


def _merge_latencies(each: PageResult, row: Row) -> HdrHistogram:
    """Return the merged latencies of the batches that a row describes."""
    if row.place.stage is not None:
        reports = [worker for run in each.done for worker in run.outcome.workers]
        stages = [stage for report in reports for stage in report.stages]
        return merge_histogram([s.latency for s in stages if s.stage + 1 == row.place.stage])
    runs = [
        run
        for run in each.done
        if row.place.level in (None, run.level) and row.place.workers == run.workers
    ]
    return merge(tuple(worker for run in runs for worker in run.outcome.workers))


def _draw_distribution(group: Sequence[PageResult]) -> Picture:
    series, rows = [], []
    subject = group[0].summary.subject
    for each in group:
        for row in each.summary.rows:
            histogram = _merge_latencies(each, row)
            found = latency_of(histogram)
            values = {FIGURES[name].title: getattr(found, name) for name in _PERCENTILES}
            rows.append({
                "Result": each.label,
                subject.title: row.place.name,
                **{title: "-" if ms is None else significant(ms) for title, ms in values.items()},
                "n (batches)": f"{found.sends:,}",
                "Verdict": row.judged,
            })  # fmt: skip
        if found.sends:
            points = percentiles_of(histogram)
            series.append(ChartSeries(each.label, each.style, points))
    svg = charts.draw_lines(
        "Latency distribution",
        Axis("of the batches were acknowledged within", percentiles=True),
        Axis("ms", log=True), series, marked=False,
    )  # fmt: skip
    note = f"{subject.last_row}, all runs together."
    return Picture("Latency distribution", svg, PageTable(rows), note)


def percentiles_of(histogram: HdrHistogram) -> list[ChartPoint]:
    """Return the values at percentiles, up to the highest percentile with enough samples."""
    total = histogram.get_total_count()
    nines = len(str(total)) - 1
    steps = [step / _PER_DECADE for step in range(nines * _PER_DECADE + 1)]
    values = percentiles_ms(histogram, [100 * (1 - 10**-nine) for nine in steps])
    return [ChartPoint(nine, max(value, 0.001)) for nine, value in zip(steps, values, strict=True)]


def _draw_sizes(group: Sequence[PageResult]) -> Picture:
    bars, rows = [], []
    for each in group:
        repeats = [on_disk for result in each.results if (on_disk := on_disk_of(result))]
        sizes = [on_disk.bytes_per_row for on_disk in repeats]
        mean, ends = sum(sizes) / len(sizes), (min(sizes), max(sizes)) if sizes[1:] else ()
        bars.append(Bar(each.label, each.style, (mean,), *ends))
        verdict = each.summary.rows[-1].judged
        rows.append({"Result": each.label, **_describe_sizes(repeats), "Verdict": verdict})
    are_many = len(bars) > charts.MOST_SERIES
    if are_many:
        bars.sort(key=lambda bar: bar.parts[0])
    svg = charts.draw_bars("Size on disk", Axis("bytes/row", log=are_many), bars)
    of = "of each repeat" if any(each.is_repeated for each in group) else ""
    note = f"After compaction of the last run {of}".strip()
    return Picture("Size on disk", svg, PageTable(rows), f"{note}.")


def _describe_sizes(repeats: Sequence[OnDisk]) -> dict[str, str]:
    sizes = [on_disk.bytes_per_row for on_disk in repeats]
    bits = [on_disk.bits_per_value for on_disk in repeats if on_disk.bits_per_value is not None]
    spread, precision = spread_of(sizes), repeats[-1].precision
    return {
        "Bytes": f"{sum(on_disk.size_bytes for on_disk in repeats) / len(repeats):,.0f}",
        "Bytes/row": f"{sum(sizes) / len(sizes):.1f}",
        "Bits/value": f"{sum(bits) / len(bits):.1f}" if bits else "-",
        "n": f"{len(sizes)}",
        "Spread": "-" if spread is None else f"{spread:.1%}",
        "Precision": precision.value if precision else "-",
    }
