"""The metrics of a sample, as lines of OpenMetrics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cli.report.course import Moment
from cli.report.openmetrics import END, PREFIX, labels_of
from cli.results.result import Result
from cli.summary.queries import ALL_QUERIES
from simulator.protocol.events import AskedSample, SampleEvent


class _Family(NamedTuple):
    type: str
    meaning: str


FAMILIES: Mapping[str, _Family] = {
    "rows": _Family("counter", "Rows acknowledged in this phase of the run."),
    "rows_per_second": _Family("gauge", "Rows acknowledged per second, now."),
    "queries": _Family("counter", "Timed runs of the query that is asked now; all of a mixed run."),
    "queries_per_second": _Family("gauge", "Timed runs of queries per second, now."),
    "latency_p50_seconds": _Family(
        "gauge", "Median latency of batches, or wait for answers, in the last 5 s, within 3 %."
    ),
    "latency_p99_seconds": _Family("gauge", "99th percentile of the same."),
    "errors": _Family("counter", "Batches that failed, each as often as it did."),
    "retried": _Family("counter", "Batches that were sent again."),
    "uncertain_rows": _Family("gauge", "Rows of unknown outcome."),
    "active_workers": _Family("gauge", "Workers that work in the present stage."),
    "sweep_left_seconds": _Family("gauge", "Time until the sweep ends, as it is estimated."),
}
"""Name without the prefix -> what it is."""


@dataclass(frozen=True, slots=True)
class Line:
    """One value of one series at one time."""

    series: str
    """Its name with its labels."""
    value: float
    at_s: float

    def __str__(self) -> str:
        return f"{self.series} {self.value!r} {self.at_s:.3f}"

    @property
    def now(self) -> str:
        """The line without its time."""
        return f"{self.series} {self.value!r}"


def lines_of(moment: Moment, result: Result) -> list[Line]:
    """Return what a moment has measured; nothing unless its event is a sample."""
    sample = moment.event
    if not isinstance(sample, SampleEvent):
        return []
    common = {
        "target": result.target,
        "sweep": result.sweep_id,
        "run": str(moment.number),
        "workers": str(moment.workers),
        "phase": sample.phase,
    }
    parts: list[tuple[str, Iterable[tuple[str, float]]]] = [(sample.query, _values(sample))]
    if sample.asked:
        parts.append((ALL_QUERIES, _asked(sample.asked)))
    if sample.active is not None:
        parts.append((sample.query, [("active_workers", sample.active)]))
    if moment.sweep_left_s is not None:
        parts.append((sample.query, [("sweep_left_seconds", round(moment.sweep_left_s, 1))]))
    return [
        Line(f"{PREFIX}_{name}{labels_of({**common, **named})}", value, sample.at_s)
        for query, values in parts
        for named in [{"query": query} if query else {}]
        for name, value in values
    ]


def _values(sample: SampleEvent) -> Iterator[tuple[str, float]]:
    """Yield what the workers do that write, or that ask a query."""
    if sample.query:
        yield from _asked(sample)
        return
    yield "rows_total", sample.rows
    yield "rows_per_second", sample.rows_per_s
    yield "errors_total", sample.errors
    yield "retried_total", sample.retried
    yield "uncertain_rows", sample.uncertain_rows
    yield from _latencies(sample)


def _asked(sample: SampleEvent | AskedSample) -> Iterator[tuple[str, float]]:
    yield "queries_total", sample.runs
    yield "queries_per_second", sample.queries_per_s
    yield from _latencies(sample)


def _latencies(sample: SampleEvent | AskedSample) -> Iterator[tuple[str, float]]:
    for name, wait_ms in (("p50", sample.p50_ms), ("p99", sample.p99_ms)):
        if wait_ms is not None:
            yield f"latency_{name}_seconds", wait_ms / 1000


def exposition(lines: Sequence[str]) -> str:
    """Return lines in the order of OpenMetrics: by metric and labels, then in that of their time.

    A file that grows in the order of time is not in that order while it has several metrics.
    """
    found: dict[str, dict[str, list[str]]] = {name: {} for name in FAMILIES}
    for line in lines:
        name, _, rest = line.partition("{")
        family = name.removeprefix(f"{PREFIX}_").removesuffix("_total")
        labels = rest.rpartition("}")[0]
        found[family].setdefault(labels, []).append(line)
    texts = []
    for name, series in found.items():
        if series:
            about = FAMILIES[name]
            texts.append(f"# TYPE {PREFIX}_{name} {about.type}")
            if name.endswith("_seconds"):
                texts.append(f"# UNIT {PREFIX}_{name} seconds")
            texts.append(f"# HELP {PREFIX}_{name} {about.meaning}")
            texts += [line for own in series.values() for line in own]
    return "\n".join([*texts, END]) + "\n"
