"""Pictures of mixed loads: the latency of inserts beside the waits of the queries, and rates."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cli.page.content import Section
from cli.page.measured import Measured
from cli.page.pictures import Over, Ranges, chunks, over, ranges
from simulator.protocol.spec import Kind

_LATENCIES = Ranges(
    "p50_ms", "p99_ms", "Latency of inserts, wait of queries",
    "Marker: median; end of the line: 99th percentile.",
    ("p95_ms", "max_ms", "rows_per_s", "queries_per_s"),
)  # fmt: skip
_RATE = Over("rows_per_s", "Rows per second beside queries")


def sections_of(found: Sequence[Measured]) -> Iterator[Section]:
    """Yield a section for each workload that had a mixed load."""
    groups: dict[tuple[str, ...], list[Measured]] = defaultdict(list)
    for each in found:
        if each.result.kind is Kind.MIXED and any(row.figures for row in each.summary.rows):
            groups[each.group].append(each)
    for index, group in enumerate(groups.values()):
        title = f"Inserts beside queries, workload {group[0].result.dataset.workload}"
        shown = [(each, [row for row in each.summary.rows if row.figures]) for each in group]
        pictures = []
        for name, some in chunks(shown, f"mixed-{index}"):
            inserts = [(each, [row for row in rows if row.place.load]) for each, rows in some]
            pictures += [ranges(f"{name}-latency", _LATENCIES, some)]
            pictures += [over(f"{name}-rate", _RATE, inserts)]
        yield Section(f"mixed-{index}", title, (), pictures)
