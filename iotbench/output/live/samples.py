"""The metrics of a sample, as lines of OpenMetrics."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from iotbench.figures.figures import FIGURES
from iotbench.figures.rows import ALL_QUERIES
from iotbench.output.terminal.course import SweepMoment
from iotbench.results.result import Result
from iotbench.store.openmetrics import END, PREFIX, labels_of, metric_of
from simulator.protocol.events import AskedSample, SampleEvent


class _Family(NamedTuple):
    type: str
    meaning: str


_NOW = [name for name in FIGURES if name in SampleEvent.model_fields and name != "rows"]
"""The figures known during a run: current rates, and latencies of the last 5 s."""
FAMILIES: Mapping[str, _Family] = {
    "rows": _Family("counter", "Rows acknowledged in this phase of the run."),
    "queries": _Family("counter", "Timed runs of the query that is asked now; all of a mixed run."),
    **{metric_of(name)[0]: _Family("gauge", f"Now: {FIGURES[name].meaning}") for name in _NOW},
    "errors": _Family("counter", "Batches that failed, each as often as it did."),
    "retried": _Family("counter", "Batches that were sent again."),
    "uncertain_rows": _Family("gauge", "Rows of unknown outcome."),
    "active_workers": _Family("gauge", "Workers that work in the present stage."),
    "sweep_left_seconds": _Family("gauge", "Time until the sweep ends, as it is estimated."),
}
"""Name without the prefix -> what it is."""


@dataclass(frozen=True, slots=True)
class SeriesValue:
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


def lines_of(moment: SweepMoment, result: Result) -> list[SeriesValue]:
    """Return the metrics of a moment; empty unless its event is a sample."""
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
        parts.append((ALL_QUERIES, _list_asked(sample.asked)))
    if sample.active is not None:
        parts.append((sample.query, [("active_workers", sample.active)]))
    if moment.sweep_left_s is not None:
        parts.append((sample.query, [("sweep_left_seconds", round(moment.sweep_left_s, 1))]))
    return [
        SeriesValue(f"{PREFIX}_{name}{labels_of({**common, **named})}", value, sample.at_s)
        for query, values in parts
        for named in [{"query": query} if query else {}]
        for name, value in values
    ]


def _values(sample: SampleEvent) -> Iterator[tuple[str, float]]:
    """Yield the values of the workers that write, or that ask a query."""
    if sample.query:
        yield from _list_asked(sample)
        return
    yield "rows_total", sample.rows
    yield "errors_total", sample.errors
    yield "retried_total", sample.retried
    yield "uncertain_rows", sample.uncertain_rows
    yield from _now(sample, without="queries_per_s")


def _list_asked(sample: SampleEvent | AskedSample) -> Iterator[tuple[str, float]]:
    yield "queries_total", sample.runs
    yield from _now(sample, without="rows_per_s")


def _now(sample: SampleEvent | AskedSample, *, without: str) -> Iterator[tuple[str, float]]:
    """Yield the figures, except for the rate of the other kind of load."""
    for name in _NOW:
        value = getattr(sample, name, None)
        if value is not None and name != without:
            metric, factor = metric_of(name)
            yield metric, value * factor


def exposition(lines: Sequence[str]) -> str:
    """Return lines in the order of OpenMetrics: by metric and labels, then by time.

    A file written in order of time with several metrics does not have that order.
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
