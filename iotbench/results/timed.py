"""The metrics of parts of a run, with histograms: inserts, stages, queries and changes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hdrh.histogram import HdrHistogram

from iotbench.results.latency import FEWEST, freshness_ms
from iotbench.results.metrics import InsertMetrics, ratio, shares_of
from simulator.protocol.events import Freshness
from simulator.protocol.histogram import merge_histogram, new_histogram
from simulator.protocol.messages import ChangeTimes, QueryTimes, StageTimes


@dataclass(frozen=True, slots=True)
class Timed:
    """A run or a part of a run: its metrics, and the latencies of its batches or queries."""

    metrics: "InsertMetrics | InsertStage | QueryMetrics | QueryStage | ChangeMetrics"
    latencies: HdrHistogram


@dataclass(frozen=True, slots=True)
class InsertStage:
    """The metrics of one stage of inserts."""

    timed_s: float
    """Time from the first batch of the stage to the end of the last batch.

    If the next batch is due later, the time lasts until then."""
    rows: int
    unsent: int = 0
    """Number of batches that were due in the stage, but not sent before its end."""

    @property
    def rows_per_s(self) -> float:
        """Return the acknowledged rows per second."""
        return ratio(self.rows, self.timed_s)


@dataclass(frozen=True, slots=True)
class QueryStage:
    """The metrics of one stage of a query."""

    timed_s: float
    """Time from the first query of the stage to the end of the last query.

    If the next query is due later, the time lasts until then."""
    queries_per_s: float
    unsent: int = 0


def time_stage(times: Iterable[StageTimes], number: int, *, asked: bool) -> Timed | None:
    """Return the metrics of a stage over all workers; None if the stage is empty.

    `number`: number of the stage, from 0.
    """
    own = [each for each in times if each.stage == number]
    if not own:
        return None
    due_s = [each.due_until_s for each in own if each.due_until_s is not None]
    ended_s = max(min(due_s, default=0.0), *(each.ended_s for each in own))
    timed_s = ended_s - min(each.started_s for each in own)
    latencies = merge_histogram([each.latency for each in own])
    unsent = sum(each.unsent for each in own)
    if asked:
        rate = ratio(sum(each.count for each in own), timed_s)
        return Timed(QueryStage(timed_s, rate, unsent), latencies)
    return Timed(InsertStage(timed_s, sum(each.rows for each in own), unsent), latencies)


@dataclass(frozen=True, slots=True)
class QueryMetrics:
    """The metrics of query types over all workers."""

    timed_s: float
    """Time in which the queries ran."""
    first_ms: float
    """Mean wait of the workers' first runs."""
    avg_ms: float
    """Mean wait of all later runs, from the request to the last byte of the answer."""
    queries_per_s: float
    client_share: float
    """Share of the time of the queries, from 0 to 1.

    It is the greater of two shares: the client's time for answers, and the client's CPU time."""
    driver_share: float | None = None
    """The driver's part of `client_share`; None if the database is embedded."""
    connections: int | None = None
    """Number of connections of all workers with queries; None if each worker has one."""
    connect_p50_ms: float | None = None
    connect_p99_ms: float | None = None
    freshness_p50_ms: float | None = None
    """Median time from the acknowledgement of a row until an answer contains the row.

    None if not measured, or if there are too few rows."""
    freshness_p99_ms: float | None = None
    unsent: int = 0
    """Number of queries that were due but did not begin before the end (--rate).

    Percentiles and averages include these queries, with the time until the end; the rate excludes
    them."""


def time_query(
    *types: Sequence[QueryTimes],
    in_turn: bool = False,
    freshness: Freshness | None = None,
    connects: Mapping[str, Any] | None = None,
) -> Timed:
    """Return the metrics of query types over all workers.

    The types ran one after the other or, if `in_turn` is True, all during the same time. `connects`
    is the result of `connects_of`.
    """
    elapsed = [_measure_asked_s(times) for times in types]
    elapsed_s = max(elapsed) if in_turn else sum(elapsed)
    times = [each for of_type in types for each in of_type]
    waited, client = sum(each.wait_s for each in times), sum(each.client_s for each in times)
    runs, unsent = sum(each.runs for each in times), sum(each.unsent for each in times)
    unsent_s = sum(each.unsent_s for each in times)
    busy = ratio(sum(each.cpu_s for each in times), sum(each.elapsed_s for each in times))
    seen = freshness.rows if freshness else 0
    metrics = QueryMetrics(
        timed_s=elapsed_s,
        first_ms=1000 * sum(each.first_s for each in times) / len(times),
        avg_ms=1000 * ratio(waited + unsent_s, runs + unsent),
        queries_per_s=ratio(runs, elapsed_s),
        **shares_of(ratio(client, waited + client), busy or None),
        **(connects or {}),
        freshness_p50_ms=freshness_ms(freshness, 0.5),
        freshness_p99_ms=freshness_ms(freshness, 0.99) if seen >= FEWEST["p99_ms"] else None,
        unsent=unsent,
    )
    return Timed(metrics, merge_histogram([each.waits for each in times]))


def _measure_asked_s(times: Sequence[QueryTimes]) -> float:
    """Return the time until the last answer to a query type.

    With a rate, the time lasts at least until the next query is due, because the runs cover the
    schedule until then.
    """
    due_s = min((each.due_s for each in times if each.due_s is not None), default=0.0)
    return max(due_s, *(each.elapsed_s for each in times))


@dataclass(frozen=True, slots=True)
class ChangeMetrics:
    """The metrics of corrections or deletions over all workers."""

    timed_s: float
    """Time from the first request to the last acknowledgement."""
    rows: int
    rows_per_s: float
    client_share: float
    """Share of the time, from 0 to 1.

    It is the greater of two shares: the client's time to draw and encode rows, and the client's CPU
    time."""
    driver_share: float | None = None
    """The driver's part of `client_share`; None if the database is embedded."""


def time_change(times: Sequence[ChangeTimes], rows: int) -> Timed:
    """Return the metrics of a change of `rows` rows over all workers."""
    timed_s = max(each.ended_s for each in times) - min(each.started_s for each in times)
    waited, client = sum(each.wait_s for each in times), sum(each.client_s for each in times)
    took_s = sum(each.ended_s - each.started_s for each in times)
    busy = ratio(sum(each.cpu_s for each in times), took_s)
    metrics = ChangeMetrics(
        timed_s=timed_s,
        rows=rows,
        rows_per_s=ratio(rows, timed_s),
        **shares_of(ratio(client, waited + client), busy or None),
    )
    return Timed(metrics, merge_histogram([each.waits for each in times]))


def merge_waits(parts: Iterable[Timed]) -> HdrHistogram:
    """Return the joint histogram of all parts."""
    whole = new_histogram()
    for part in parts:
        whole.add(part.latencies)
    return whole
