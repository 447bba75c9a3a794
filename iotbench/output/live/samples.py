"""The metrics of a running sweep: their names, and their values in a sample."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from iotbench.figures.figures import FIGURES
from iotbench.figures.rows import ALL_QUERIES
from iotbench.output.terminal.course import SweepMoment
from iotbench.results.result import Result
from iotbench.results.result_files import find_id
from iotbench.store.openmetrics import PREFIX, labels_of, metric_of
from simulator.protocol.events import AskedSample, SampleEvent


class Family(NamedTuple):
    """Type and meaning of a metric."""

    type: str
    meaning: str


_NOW = [name for name in FIGURES if name in SampleEvent.model_fields and name != "rows"]
"""Names of figures known during a run: current rates, and latencies of the last 5 s."""
FAMILIES: Mapping[str, Family] = {
    "rows": Family("counter", "Rows acknowledged in this phase of the run."),
    "queries": Family("counter", "Timed runs of the query that is asked now; all of a mixed run."),
    **{metric_of(name)[0]: Family("gauge", f"Now: {FIGURES[name].meaning}") for name in _NOW},
    "errors": Family("counter", "Failed attempts to send batches."),
    "retried": Family("counter", "Batches that were sent again."),
    "uncertain_rows": Family("gauge", "Rows of unknown outcome."),
    "active_workers": Family("gauge", "Workers that work in the present stage."),
    "sweep_left_seconds": Family("gauge", "Estimated time until the sweep ends."),
}
"""Name of a metric without the prefix -> family of the metric."""


@dataclass(frozen=True, slots=True)
class SeriesValue:
    """A value of a series at one time."""

    metric: str
    """Name of the metric in the text format of Prometheus."""
    labels: Mapping[str, str]
    value: float
    at_s: float
    since_s: float
    """Time before which a counter was 0: the start of the sweep."""

    def __str__(self) -> str:
        return f"{self.now} {self.at_s:.3f}"

    @property
    def now(self) -> str:
        """Line for the value, without the timestamp."""
        return f"{self.metric}{labels_of(self.labels)} {self.value!r}"


def family_of(metric: str) -> str:
    """Return the name of a metric in FAMILIES."""
    return metric.removeprefix(f"{PREFIX}_").removesuffix("_total")


def values_of(moment: SweepMoment, result: Result) -> list[SeriesValue]:
    """Return the metrics of a moment; empty if the event of the moment is not a sample."""
    sample = moment.event
    if not isinstance(sample, SampleEvent):
        return []
    common = {
        "target": result.target,
        "sweep": find_id(result),
        "run": str(moment.number),
        "workers": str(moment.workers),
        "phase": sample.phase,
    }
    since_s = min(result.created.timestamp(), sample.at_s)
    parts: list[tuple[str, Iterable[tuple[str, float]]]] = [(sample.query, _list_values(sample))]
    if sample.asked:
        parts.append((ALL_QUERIES, _list_asked(sample.asked)))
    if sample.active is not None:
        parts.append((sample.query, [("active_workers", sample.active)]))
    if moment.sweep_left_s is not None:
        parts.append((sample.query, [("sweep_left_seconds", round(moment.sweep_left_s, 1))]))
    return [
        SeriesValue(f"{PREFIX}_{name}", {**common, **named}, value, sample.at_s, since_s)
        for query, values in parts
        for named in [{"query": query} if query else {}]
        for name, value in values
    ]


def _list_values(sample: SampleEvent) -> Iterator[tuple[str, float]]:
    """Yield the values of the workers that write, or of the workers that run the current query."""
    if sample.query:
        yield from _list_asked(sample)
        return
    yield "rows_total", sample.rows
    yield "errors_total", sample.errors
    yield "retried_total", sample.retried
    yield "uncertain_rows", sample.uncertain_rows
    yield from _list_now(sample, without="queries_per_s")


def _list_asked(sample: SampleEvent | AskedSample) -> Iterator[tuple[str, float]]:
    yield "queries_total", sample.runs
    yield from _list_now(sample, without="rows_per_s")


def _list_now(sample: SampleEvent | AskedSample, *, without: str) -> Iterator[tuple[str, float]]:
    """Yield the known figures of a sample, except the rate named in `without`."""
    for name in _NOW:
        value = getattr(sample, name, None)
        if value is not None and name != without:
            metric, factor = metric_of(name)
            yield metric, value * factor
