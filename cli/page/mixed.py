"""Pictures of mixed loads: the latency of inserts beside the waits of the queries, and rates."""

from collections.abc import Sequence

from cli.page.content import Section
from cli.page.measured import Measured
from cli.page.pictures import Over, Ranges, chunks, overs, ranges

_LATENCIES = Ranges(
    "p50_ms", "p99_ms", "Latency of inserts, wait of queries",
    "Marker: median; end of the line: 99th percentile.",
    ("p95_ms", "max_ms", "rows_per_s", "queries_per_s"),
)  # fmt: skip
_RATE = Over("rows_per_s", "Rows per second beside queries")


def section(name: str, group: Sequence[Measured]) -> Section:
    """Return what equal mixed loads show side by side."""
    title = f"Inserts beside queries, workload {group[0].result.dataset.workload}"
    shown = [(each, [row for row in each.summary.rows if row.figures]) for each in group]
    inserts = [(each, [row for row in rows if row.place.load]) for each, rows in shown]
    pictures = [ranges(_LATENCIES, some) for some in chunks(shown)] + [*overs(_RATE, inserts)]
    return Section(name, title, (), pictures)
