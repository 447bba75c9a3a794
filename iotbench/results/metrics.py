"""The metrics of a run of inserts, computed from its workers' reports."""

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
"""Names of phases of a run."""


class InsertMetrics(BaseModel):
    """The metrics of a run of inserts."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    rows: int
    """Number of rows acknowledged in the measured part."""
    warmup_rows: int = 0
    """Number of rows acknowledged in the warm-up (--warmup); no other figure includes these
    rows."""
    uncertain_rows: int
    retried: int
    backoff_s: float = 0.0
    """Pauses of all workers before batches are sent again; latency includes the pauses."""
    disconnected_s: float = 0.0
    """Time without a connection after a connection was lost, summed over all workers."""
    rows_per_s: float
    """Headline: rows / time from the common start, or the end of a warm-up, to the last row."""
    rows_per_s_stored: float | None = None
    """Rows / (time of `rows_per_s` + time of the phase "visible").

    None if the phase was not reached or not measured."""
    bytes_per_s: float | None = None
    """Payload bytes sent per second; None if the driver encodes the rows."""
    values_per_s: float | None = None
    """`rows_per_s` times the mean number of non-NULL fields in a stored row; None if unknown."""
    rows_per_s_reference: float
    """Rows / mean duration of the workers.

    This is the formula of the reference document; the figure can be compared with the numbers
    published there."""
    overlap: float | None = None
    """Share of the measured time in which all workers were sending, from 0 to 1.

    None if there is a single worker, or if there are stages."""
    evenness: float | None = None
    """Rows/s of the slowest worker / rows/s of the fastest worker, each over its own time, 0..1."""
    client_share: float
    """The client's share of the workers' time, 0..1.

    It is the greater of two shares: the share without waits for the database or the schedule, and
    the share of CPU time."""
    driver_share: float | None = None
    """The driver's part of `client_share`: CPU time of workers while they waited for the database.

    None if the database is embedded, or if an earlier version measured the run."""
    cpu_share: float
    """The workers' CPU time / the workers' time; each worker adds 0 to 1."""
    client_ns_per_row: float | None = None
    """The workers' CPU time / the workers' rows; None if the database is embedded."""
    throttled_periods_share: float | None = None
    """Share of the periods of the CPU limit (100 ms) in which the limit stopped the workers, 0..1.

    Periods in which a worker did not run are not counted. None without a CPU limit, or if an
    earlier version measured the run."""
    memory_peak_bytes: int
    """Peak memory of the worker that used most memory."""
    connections: int | None = None
    """Number of connections of all workers; None if each worker has one."""
    connect_p50_ms: float | None = None
    """Median time to open one of a worker's several connections (--connections)."""
    connect_p99_ms: float | None = None
    bytes_per_row: float | None
    """Number of bytes of a row on disk."""
    bits_per_value: float | None = None
    """Number of bits of a value on disk; a value is a cell that is not NULL."""
    silent_s: float | None = None
    """Longest time without an acknowledgement because of a fault; None if there was no fault."""
    recovery_s: float | None = None
    """Longest time from a fault until the rate was back; None: not reached, or no fault."""
    first_after_s: float | None = None
    """Longest time from the end of a fault to the next acknowledgement."""
    settled_s: float | None = None
    """Longest time from a fault until rate and latency were back; None: not reached, or no
    fault."""
    outage_p99_ms: float | None = None
    """99th percentile of the latency of the batches that were due during the worst fault."""
    lost_rows: int | None = None
    """Number of rows acknowledged but not stored; None if rows were not accounted for."""
    unsent: int = 0
    """Number of batches that were due but not sent before the end (--rate).

    Percentiles include these batches, with the time until the end; the rate excludes them."""
    precision: Precision | None = None
    """Precision of the numbers with a fraction; None if there are no such numbers."""
    latency: Latency

    @property
    def timed_s(self) -> float:
        """Length of the measured part."""
        return ratio(self.rows, self.rows_per_s)

    @property
    def stored_s(self) -> float | None:
        """Length of the measured part and of the phase "visible"; None if the phase is missing."""
        return ratio(self.rows, self.rows_per_s_stored) if self.rows_per_s_stored else None


def add_outages(
    metrics: InsertMetrics, outages: Sequence[Outage], accounts: Accounts | None
) -> InsertMetrics:
    """Return the metrics of a run, including the metrics of its faults."""
    p99s = [each.p99_inside_ms for each in outages if each.p99_inside_ms is not None]
    return metrics.model_copy(
        update={
            "silent_s": max((each.silent_s for each in outages), default=None),
            "first_after_s": max((each.first_after_s for each in outages), default=None),
            "recovery_s": _find_longest([each.recovery_s for each in outages]),
            "settled_s": _find_longest([each.settled_s for each in outages]),
            "outage_p99_ms": max(p99s, default=None),
            "lost_rows": accounts.lost if accounts else None,
        }
    )


def _find_longest(times_s: Sequence[float | None]) -> float | None:
    """Return the longest time; None if there are no times, or if one of them has no end."""
    known = [each for each in times_s if each is not None]
    return max(known) if known and len(known) == len(times_s) else None


def insert_metrics(outcome: Outcome, stored: Dataset, *, embedded: bool = False) -> InsertMetrics:
    """Return the metrics of a run.

    `stored` contains the rows in the tables after the run; `embedded`: True if the database runs in
    the workers' processes and shares their CPU time.
    """
    reports = outcome.workers
    rows, window = count_measured_rows(reports), compute_measured_s(outcome)
    busy = sum(report.duration_s for report in reports)
    mean = busy / len(reports) if reports else 0.0
    waited = sum(report.send_s + report.idle_s for report in reports)
    cpu_s = sum(report.cpu_s for report in reports)
    cpu_share = ratio(cpu_s, busy)
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
        bytes_per_s=_measure_bytes_per_s(reports, window),
        values_per_s=_measure_values_per_s(ratio(rows, window), reader, stored),
        rows_per_s_reference=ratio(rows, mean),
        overlap=_measure_overlap(outcome),
        evenness=_measure_evenness(reports),
        **shares_of(ratio(max(busy - waited, 0.0), busy), None if embedded else cpu_share),
        cpu_share=cpu_share,
        client_ns_per_row=None if embedded else ratio(1e9 * cpu_s, rows) or None,
        throttled_periods_share=throttled_share_of(reports),
        memory_peak_bytes=max((report.memory_peak_bytes for report in reports), default=0),
        **connects_of(reports),
        bytes_per_row=ratio(size_bytes, stored.rows) if size_bytes else None,
        bits_per_value=_measure_bits_per_value(size_bytes, reader, stored) if size_bytes else None,
        precision=reader.precision,
        latency=latency_of(merge(reports)),
        unsent=sum(report.unsent for report in reports),
    )


def shares_of(own: float, cpu_share: float | None) -> dict[str, Any]:
    """Return the shares of the client and of its driver.

    `own`: share of the time in which the client did not wait. CPU time during waits is attributed
    to the driver. `cpu_share` is None if the database is embedded, because the CPU time then
    includes the database.
    """
    share = max(own, min(cpu_share or 0.0, 1.0))
    return {"client_share": share, "driver_share": None if cpu_share is None else share - own}


def throttled_share_of(reports: Sequence[WorkerReport]) -> float | None:
    """Return the share of the periods in which the CPU limit stopped workers; None: no limit."""
    periods = sum(report.cpu_periods for report in reports)
    return ratio(sum(report.throttled_periods for report in reports), periods) if periods else None


def connects_of(reports: Iterable[WorkerReport]) -> dict[str, Any]:
    """Return the figures of connections; empty if each worker has a single connection."""
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
    """Return the number of acknowledged rows, without the warm-up."""
    return sum(report.rows - report.warmup_rows for report in reports)


def compute_measured_s(outcome: Outcome) -> float:
    """Return the time from the common start, or from the end of the warm-up, to the last row.

    With a rate, the time lasts at least until the next batch is due, because the rows cover the
    schedule until that time.
    """
    sends = list_inserting(outcome)
    stages = [stage for report in sends for stage in report.stages]
    last = max((stage.stage for stage in stages), default=0)
    due = [
        each.due_until_s
        for each in [stage for stage in stages if stage.stage == last] or sends
        if each.due_until_s is not None
    ]
    sent_s = _measure_sent_s(outcome)
    return max(sent_s, min(due) - _find_began_s(outcome)) if due and sent_s else sent_s


def _measure_sent_s(outcome: Outcome) -> float:
    ends = [report.ended_s for report in list_inserting(outcome) if report.ended_s]
    return max(ends) - _find_began_s(outcome) if ends and outcome.released_s else 0.0


def _find_began_s(outcome: Outcome) -> float:
    """Return the time at which the measured part began, on the collector's clock."""
    return (outcome.released_s or 0.0) + outcome.phases_s.get(WARMUP, 0.0)


def rates_by_second(outcome: Outcome) -> list[float]:
    """Return the rate in each measured second until the first worker ends.

    A long run has only the mean of several seconds, which is repeated for each of these seconds.
    """
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
    """Return whether the workers report stages."""
    return any(report.stages for report in reports)


def _measure_overlap(outcome: Outcome) -> float | None:
    times = [(each.started_s, each.ended_s) for each in outcome.workers]
    known = [(start, end) for start, end in times if start and end]
    window_s = _measure_sent_s(outcome)
    if len(times) < 2 or not window_s or in_stages(outcome.workers):
        return None
    if len(known) < len(times):  # some workers finished during the warm-up
        return 0.0
    together_s = min(end for _, end in known) - max(start for start, _ in known)
    return min(max(together_s / window_s, 0.0), 1.0)


def _measure_evenness(reports: Sequence[WorkerReport]) -> float | None:
    if in_stages(reports):
        return None
    rates = [ratio(count_measured_rows([report]), report.duration_s) for report in reports]
    return ratio(min(rates), max(rates)) if len(rates) > 1 else None


def _compute_stored_rate(rows: int, window_s: float, outcome: Outcome) -> float | None:
    reached = _AFTER_VISIBLE in outcome.phases_s
    return ratio(rows, window_s + outcome.phases_s.get(_VISIBLE, 0.0)) if reached else None


def _measure_bytes_per_s(reports: Sequence[WorkerReport], window_s: float) -> float | None:
    sizes = [report.payload_bytes for report in reports]
    known = [size for size in sizes if size is not None]
    return ratio(sum(known), window_s) if known and len(known) == len(sizes) else None


def _measure_values_per_s(
    rows_per_s: float, reader: DatasetReader, stored: Dataset
) -> float | None:
    values = reader.values(stored.ranges, (Role.FIELD,))
    return None if values is None else rows_per_s * ratio(values, stored.rows)


def _measure_bits_per_value(
    size_bytes: int, reader: DatasetReader, stored: Dataset
) -> float | None:
    values = reader.values(stored.ranges)
    return None if values is None else ratio(8 * size_bytes, values)


def ratio(part: float, whole: float) -> float:
    """Return a quotient; 0 if the divisor is 0."""
    return part / whole if whole else 0.0
