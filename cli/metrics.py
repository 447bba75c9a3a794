"""The numbers of a run, computed from what its workers measured."""

from collections.abc import Sequence
from dataclasses import dataclass

from hdrh.histogram import HdrHistogram
from pydantic import BaseModel, ConfigDict

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.walks import Precision
from simulator.load.meter import merged_histogram
from simulator.protocol.messages import Outcome, QueryTimes, WorkerReport

_VISIBLE, _AFTER_VISIBLE = "visible", "compact"
"""Phases of a run."""


class Latency(BaseModel):
    """Percentiles of the time from the due time of a batch to its acknowledgement, in ms."""

    model_config = ConfigDict(frozen=True)

    sends: int
    min_ms: float = 0.0
    mean_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    p999_ms: float
    max_ms: float


class InsertMetrics(BaseModel):
    """What a run of inserts comes to."""

    model_config = ConfigDict(frozen=True)

    rows: int
    """Acknowledged in the timed part."""
    uncertain_rows: int
    retried: int
    rows_per_s: float
    """The headline: rows / (last acknowledgement - opening of the barrier)."""
    rows_per_s_stored: float | None = None
    """Rows / (the same time + the phase visible); None if that was not reached or not measured."""
    bytes_per_s: float | None = None
    """Payloads, as they were sent; None where the driver makes the bytes."""
    rows_per_s_reference: float
    """The reference document's formula, for comparison with published numbers: rows / mean of the
    workers' durations."""
    client_share: float
    """Part of the workers' time in which they waited neither for the database nor for the schedule,
    0..1: drawing rows, encoding, keeping count."""
    cpu_share: float
    """The workers' CPU time over their time, 0..1 for each worker."""
    throttled_share: float = 0.0
    """Part of the workers' time in which their CPU limit stopped them, 0..1."""
    memory_peak_bytes: int
    """Of the largest worker."""
    bytes_per_row: float | None
    """On disk."""
    bits_per_value: float | None = None
    """On disk; a value is a cell that is not NULL."""
    precision: Precision | None = None
    """How many bits the numbers with a fraction have; None: they are not drawn."""
    latency: Latency


def insert_metrics(outcome: Outcome, stored: Dataset) -> InsertMetrics:
    """Return the numbers of a run; `stored` is what the tables hold after it."""
    reports = outcome.workers
    rows = sum(report.rows for report in reports)
    ends = [report.ended_s for report in reports if report.ended_s]
    window = max(ends) - outcome.released_s if ends and outcome.released_s else 0.0
    busy = sum(report.duration_s for report in reports)
    mean = busy / len(reports) if reports else 0.0
    waited = sum(report.send_s + report.idle_s for report in reports)
    reader, size_bytes = DatasetReader(stored), outcome.size_bytes
    return InsertMetrics(
        rows=rows,
        uncertain_rows=sum(len(item) for report in reports for item in report.uncertain),
        retried=sum(report.retried for report in reports),
        rows_per_s=_ratio(rows, window),
        rows_per_s_stored=_stored_rate(rows, window, outcome),
        bytes_per_s=_bytes_per_s(reports, window),
        rows_per_s_reference=_ratio(rows, mean),
        client_share=_ratio(max(busy - waited, 0.0), busy),
        cpu_share=_ratio(sum(report.cpu_s for report in reports), busy),
        throttled_share=_ratio(sum(report.throttled_s for report in reports), busy),
        memory_peak_bytes=max((report.memory_peak_bytes for report in reports), default=0),
        bytes_per_row=_ratio(size_bytes, stored.rows) if size_bytes else None,
        bits_per_value=_bits_per_value(size_bytes, reader, stored) if size_bytes else None,
        precision=reader.precision,
        latency=latency_of(merged(reports)),
    )


@dataclass(frozen=True, slots=True)
class QueryMetrics:
    """What the runs of query types by all workers come to."""

    first_ms: float
    """Mean wait of the workers' first runs."""
    wait: Latency
    """Of the other runs: from the request to the last byte of the answer."""
    queries_per_s: float
    client_share: float
    """Part of the time of the queries in which the client decoded and folded answers, 0..1."""


def query_metrics(*types: Sequence[QueryTimes]) -> QueryMetrics:
    """Return the numbers of query types, one after the other, each as its workers measured it."""
    elapsed_s = sum(max(each.elapsed_s for each in times) for times in types)
    times = [each for of_type in types for each in of_type]
    waited, client = sum(each.wait_s for each in times), sum(each.client_s for each in times)
    runs = sum(each.runs for each in times)
    wait = latency_of(merged_histogram([each.waits for each in times]))
    return QueryMetrics(
        first_ms=1000 * sum(each.first_s for each in times) / len(times),
        wait=wait.model_copy(update={"mean_ms": 1000 * _ratio(waited, runs)}),
        queries_per_s=_ratio(runs, elapsed_s),
        client_share=_ratio(client, waited + client),
    )


def _stored_rate(rows: int, window_s: float, outcome: Outcome) -> float | None:
    """Return the rate until every row was queryable, if that moment was reached."""
    reached = _AFTER_VISIBLE in outcome.phases_s
    return _ratio(rows, window_s + outcome.phases_s.get(_VISIBLE, 0.0)) if reached else None


def _bytes_per_s(reports: Sequence[WorkerReport], window_s: float) -> float | None:
    sizes = [report.payload_bytes for report in reports]
    known = [size for size in sizes if size is not None]
    return _ratio(sum(known), window_s) if known and len(known) == len(sizes) else None


def _bits_per_value(size_bytes: int, reader: DatasetReader, stored: Dataset) -> float | None:
    values = reader.values(stored.ranges)
    return None if values is None else _ratio(8 * size_bytes, values)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def merged(reports: tuple[WorkerReport, ...]) -> HdrHistogram:
    """Return the histogram of all workers' sends."""
    return merged_histogram([report.latency for report in reports])


def latency_of(histogram: HdrHistogram) -> Latency:
    """Return a histogram's percentiles."""
    sends = histogram.get_total_count()

    def at(percentile: float) -> float:
        return histogram.get_value_at_percentile(percentile) / 1000 if sends else 0.0

    return Latency(
        sends=sends,
        min_ms=histogram.get_min_value() / 1000 if sends else 0.0,
        mean_ms=histogram.get_mean_value() / 1000 if sends else 0.0,
        p50_ms=at(50),
        p95_ms=at(95),
        p99_ms=at(99),
        p999_ms=at(99.9),
        max_ms=histogram.get_max_value() / 1000 if sends else 0.0,
    )
