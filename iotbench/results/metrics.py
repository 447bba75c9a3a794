"""The metrics of a run of inserts, computed from the measurements of its workers."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from iotbench.results.faults import Outage
from iotbench.results.latency import Latency, latency_of, merge
from simulator.data.dataset import Dataset
from simulator.data.reader import DatasetReader
from simulator.data.schema import Role
from simulator.data.walks import Precision
from simulator.protocol.events import Outcome
from simulator.protocol.histogram import merge_histogram
from simulator.protocol.messages import WARMUP, WorkerReport
from simulator.protocol.verdict import Accounts

_VISIBLE, _AFTER_VISIBLE = "visible", "compact"
"""Phases of a run."""


class InsertMetrics(BaseModel):
    """The metrics of a run of inserts."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    rows: int
    """Rows acknowledged in the measured part."""
    warmup_rows: int = 0
    """Rows acknowledged in the warm-up (--warmup), which no other figure includes."""
    uncertain_rows: int
    retried: int
    backoff_s: float = 0.0
    """Pauses of all workers before repeated sends, which latency includes."""
    disconnected_s: float = 0.0
    """Time of all workers without a connection, after one was lost."""
    rows_per_s: float
    """The headline: rows / (last acknowledgement - opening of the barrier, or end of a warm-up)."""
    rows_per_s_stored: float | None = None
    """Rows / (the same time + the phase visible); None if that was not reached or not measured."""
    bytes_per_s: float | None = None
    """Payload bytes sent per second; None if the driver encodes the rows."""
    values_per_s: float | None = None
    """`rows_per_s` x the mean number of fields of a stored row that are not NULL; None: unknown."""
    rows_per_s_reference: float
    """The reference document's formula, for comparison with published numbers: rows / mean of the
    workers' durations."""
    overlap: float | None = None
    """Part of the measured time in which all workers were sending, 0..1; None: there is one
    worker, or stages have different numbers of workers."""
    evenness: float | None = None
    """Rows/s of the slowest worker / rows/s of the fastest, each over its own time, 0..1."""
    client_share: float
    """The client's part of the workers' time, 0..1: the part in which they waited neither for the
    database nor for the schedule, or the part in which they computed, whichever is greater."""
    driver_share: float | None = None
    """The driver's part of the client's share: the workers computed while they waited for the
    database; None: the database is embedded, or an earlier version measured it."""
    cpu_share: float
    """The workers' CPU time over their time, 0..1 for each worker."""
    client_ns_per_row: float | None = None
    """The workers' CPU time over their rows; None: the database is embedded."""
    throttled_share: float = 0.0
    """Part of the workers' time in which their CPU limit stopped them, 0..1."""
    memory_peak_bytes: int
    """Peak memory of the largest worker."""
    connections: int | None = None
    """Number of connections that all workers opened together; None: each worker has one."""
    connect_p50_ms: float | None = None
    """Time to open one of several connections of a worker (--connections)."""
    connect_p99_ms: float | None = None
    bytes_per_row: float | None
    """Bytes of a row on disk."""
    bits_per_value: float | None = None
    """Bits of a value on disk; a value is a cell that is not NULL."""
    silent_s: float | None = None
    """The longest time without an acknowledgement because of a fault; None: there was none."""
    recovery_s: float | None = None
    """The longest time from a fault until the rate was back; None: it was not, or no fault."""
    first_after_s: float | None = None
    """The longest time from the end of a fault to the first acknowledgement after it."""
    settled_s: float | None = None
    """The longest time until the latency was back as well; None: as above."""
    outage_p99_ms: float | None = None
    """Latency of the batches that were due during the worst fault."""
    lost_rows: int | None = None
    """Rows acknowledged and not stored; None: rows were not accounted for."""
    unsent: int = 0
    """Batches that fell due and were not sent before the end (--rate); they count in percentiles
    with the time until then, not in the rate."""
    precision: Precision | None = None
    """Precision of the numbers with a fraction; None: there are none."""
    latency: Latency

    @property
    def timed_s(self) -> float:
        """Length of the measured part."""
        return ratio(self.rows, self.rows_per_s)

    @property
    def stored_s(self) -> float | None:
        """Length of the measured part and the phase visible; None if that was not reached."""
        return ratio(self.rows, self.rows_per_s_stored) if self.rows_per_s_stored else None


def add_outages(
    metrics: InsertMetrics, outages: Sequence[Outage], accounts: Accounts | None
) -> InsertMetrics:
    """Return the metrics of a run, with metrics of its faults."""
    p99s = [each.p99_inside_ms for each in outages if each.p99_inside_ms is not None]
    return metrics.model_copy(
        update={
            "silent_s": max((each.silent_s for each in outages), default=None),
            "first_after_s": max((each.first_after_s for each in outages), default=None),
            "recovery_s": _longest([each.recovery_s for each in outages]),
            "settled_s": _longest([each.settled_s for each in outages]),
            "outage_p99_ms": max(p99s, default=None),
            "lost_rows": accounts.lost if accounts else None,
        }
    )


def _longest(times_s: Sequence[float | None]) -> float | None:
    """Return the longest of some times; None if one has no end, or there is none."""
    known = [each for each in times_s if each is not None]
    return max(known) if known and len(known) == len(times_s) else None


def insert_metrics(outcome: Outcome, stored: Dataset, *, embedded: bool = False) -> InsertMetrics:
    """Return the metrics of a run; `stored` has the rows in the tables after it.

    `embedded`: the database runs in the workers' processes, and shares their CPU time.
    """
    reports = outcome.workers
    rows, window = count_measured_rows(reports), compute_measured_s(outcome)
    busy = sum(report.duration_s for report in reports)
    mean = busy / len(reports) if reports else 0.0
    waited = sum(report.send_s + report.idle_s for report in reports)
    cpu_s = sum(report.cpu_s for report in reports)
    cpu_share = ratio(cpu_s, busy)
    connects = connects_of(reports)
    reader, size_bytes = DatasetReader(stored), outcome.size_bytes
    return InsertMetrics(
        rows=rows,
        warmup_rows=sum(report.warmup_rows for report in reports),
        uncertain_rows=sum(len(item) for report in reports for item in report.uncertain),
        retried=sum(report.retried for report in reports),
        backoff_s=sum(report.backoff_s for report in reports),
        disconnected_s=sum(report.disconnected_s for report in reports),
        rows_per_s=ratio(rows, window),
        rows_per_s_stored=_compute_stored_rate(rows, window, outcome),
        bytes_per_s=_bytes_per_s(reports, window),
        values_per_s=_values_per_s(ratio(rows, window), reader, stored),
        rows_per_s_reference=ratio(rows, mean),
        overlap=_overlap(outcome),
        evenness=_evenness(reports),
        **shares_of(ratio(max(busy - waited, 0.0), busy), None if embedded else cpu_share),
        cpu_share=cpu_share,
        client_ns_per_row=None if embedded else ratio(1e9 * cpu_s, rows) or None,
        throttled_share=ratio(sum(report.throttled_s for report in reports), busy),
        memory_peak_bytes=max((report.memory_peak_bytes for report in reports), default=0),
        **connects,
        bytes_per_row=ratio(size_bytes, stored.rows) if size_bytes else None,
        bits_per_value=_bits_per_value(size_bytes, reader, stored) if size_bytes else None,
        precision=reader.precision,
        latency=latency_of(merge(reports)),
        unsent=sum(report.unsent for report in reports),
    )


def shares_of(own: float, cpu_share: float | None) -> dict[str, Any]:
    """Return the shares of the client and its driver.

    `own`: the part of the time in which the client did not wait. While it waits, only its driver
    computes, unless `cpu_share` is None: then the database does too.
    """
    share = max(own, min(cpu_share or 0.0, 1.0))
    return {"client_share": share, "driver_share": None if cpu_share is None else share - own}


def connects_of(reports: Iterable[WorkerReport]) -> dict[str, Any]:
    """Return the figures of connections; empty if each worker has one."""
    found = merge_histogram([report.connects for report in reports])
    if not found.get_total_count():
        return {}
    times = latency_of(found)
    return {
        "connections": times.sends,
        "connect_p50_ms": times.p50_ms,
        "connect_p99_ms": times.p99_ms,
    }


def list_inserting(outcome: Outcome) -> list[WorkerReport]:
    """Return the reports of the workers that insert rows."""
    return [each for each in outcome.workers if not each.queries and not each.changes]


def count_measured_rows(reports: Iterable[WorkerReport]) -> int:
    """Return how many rows were acknowledged, without the warm-up."""
    return sum(report.rows - report.warmup_rows for report in reports)


def compute_measured_s(outcome: Outcome) -> float:
    """Return the time from the common start, or from the end of the warm-up, to the last row.

    With a rate it lasts at least until the next batch is due, since the rows cover the schedule.
    """
    sends = list_inserting(outcome)
    stages = [stage for report in sends for stage in report.stages]
    last = max((stage.stage for stage in stages), default=0)
    due = [
        each.due_until_s
        for each in [stage for stage in stages if stage.stage == last] or sends
        if each.due_until_s is not None
    ]
    sent_s = _sent_s(outcome)
    return max(sent_s, min(due) - _began_s(outcome)) if due and sent_s else sent_s


def _sent_s(outcome: Outcome) -> float:
    """Return the time from the common start, or from the end of the warm-up, to the last row."""
    ends = [report.ended_s for report in list_inserting(outcome) if report.ended_s]
    return max(ends) - _began_s(outcome) if ends and outcome.released_s else 0.0


def _began_s(outcome: Outcome) -> float:
    """Return the beginning of the measured part, on the collector's clock."""
    return (outcome.released_s or 0.0) + outcome.phases_s.get(WARMUP, 0.0)


def rates_by_second(outcome: Outcome) -> list[float]:
    """Return the rows (or a long run's mean) of each measured second in which all workers sent."""
    ends = [report.ended_s for report in list_inserting(outcome) if report.ended_s]
    if not ends or not outcome.released_s:
        return []
    first, stop = math.ceil(outcome.phases_s.get(WARMUP, 0.0)), int(min(ends) - outcome.released_s)
    totals = np.zeros(max(stop, 0))
    for report in outcome.workers:
        each_s = report.rows_each_s
        rows = np.repeat(np.asarray(report.rows_by_second) / each_s, each_s)[:stop]
        totals[: len(rows)] += rows
    return [float(rate) for rate in totals[first:]]


def in_stages(reports: Iterable[WorkerReport]) -> bool:
    """Return whether the workers report stages, with different numbers of active workers."""
    return any(report.stages for report in reports)


def _overlap(outcome: Outcome) -> float | None:
    times = [(each.started_s, each.ended_s) for each in outcome.workers]
    known = [(start, end) for start, end in times if start and end]
    window_s = _sent_s(outcome)
    if len(times) < 2 or not window_s or in_stages(outcome.workers):
        return None
    if len(known) < len(times):  # some were done before the warm-up was over
        return 0.0
    together_s = min(end for _, end in known) - max(start for start, _ in known)
    return min(max(together_s / window_s, 0.0), 1.0)


def _evenness(reports: Sequence[WorkerReport]) -> float | None:
    if in_stages(reports):
        return None
    rates = [ratio(count_measured_rows([report]), report.duration_s) for report in reports]
    return ratio(min(rates), max(rates)) if len(rates) > 1 else None


def _compute_stored_rate(rows: int, window_s: float, outcome: Outcome) -> float | None:
    """Return the rate over the time until every row was queryable, if that was reached."""
    reached = _AFTER_VISIBLE in outcome.phases_s
    return ratio(rows, window_s + outcome.phases_s.get(_VISIBLE, 0.0)) if reached else None


def _bytes_per_s(reports: Sequence[WorkerReport], window_s: float) -> float | None:
    sizes = [report.payload_bytes for report in reports]
    known = [size for size in sizes if size is not None]
    return ratio(sum(known), window_s) if known and len(known) == len(sizes) else None


def _values_per_s(rows_per_s: float, reader: DatasetReader, stored: Dataset) -> float | None:
    values = reader.values(stored.ranges, (Role.FIELD,))
    return None if values is None else rows_per_s * ratio(values, stored.rows)


def _bits_per_value(size_bytes: int, reader: DatasetReader, stored: Dataset) -> float | None:
    values = reader.values(stored.ranges)
    return None if values is None else ratio(8 * size_bytes, values)


def ratio(part: float, whole: float) -> float:
    """Return a quotient; 0 if the divisor is 0."""
    return part / whole if whole else 0.0
