"""What a result says, as typed figures: made once, and shown as a table, JSON or CSV."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from cli.metrics import InsertMetrics, latency_of, merged, query_metrics
from cli.results import Result, RunRecord
from simulator.data.walks import Precision
from simulator.protocol.messages import QueryTimes, QueryVerdict
from simulator.protocol.spec import Kind
from simulator.protocol.verdict import Status, Verdict


class Unit(StrEnum):
    """What a figure counts."""

    ROWS_PER_S = "rows/s"
    BYTES_PER_S = "bytes/s"
    MILLISECONDS = "ms"
    QUERIES_PER_S = "queries/s"
    SHARE = "share"
    """0..1."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, and what it stands on."""

    value: float
    unit: Unit
    n: int
    """How many measurements it is computed from: runs, sends or executions of a query."""
    spread: float | None = None
    """(highest - lowest) / mean of the runs; None for fewer than two runs."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a summary: a worker count, a step, a query or a check."""

    name: str | int
    runs: int
    figures: Mapping[str, Figure]
    """By name; empty where nothing could be measured."""
    verdict: str
    """The status in a word or two; the reason where nothing could be measured."""
    workers: int = 0
    """Of a query: how many asked it."""
    expected: str = ""
    found: str = ""
    """Of a check: the values that were compared."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The rows of a result; runs that failed have none."""

    kind: Kind
    subject: str
    """What a row is about: workers, level (rows in the tables before a step), query or check."""
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class OnDisk:
    """The size of the tables after the last run whose database reports one."""

    size_bytes: int
    bytes_per_row: float
    bits_per_value: float | None
    """None if it was not measured, as in results of version 0.1.0."""
    precision: Precision | None


def on_disk_of(result: Result) -> OnDisk | None:
    """Return what the rows of a result take on disk, if that is known."""
    for run in reversed(result.runs):
        size_bytes, found = run.outcome.size_bytes, run.metrics
        if size_bytes and found and found.bytes_per_row:
            return OnDisk(size_bytes, found.bytes_per_row, found.bits_per_value, found.precision)
    return None


def summary_of(result: Result) -> Summary:
    """Return the summary of a result."""
    done = [run for run in result.runs if run.outcome.status == "done"]
    if result.kind is Kind.VERIFY:
        return Summary(result.kind, "check", tuple(row for run in done for row in _checks(run)))
    if result.kind is Kind.QUERY:
        return Summary(result.kind, "query", tuple(row for run in done for row in _queries(run)))
    if result.configuration.get("steps"):
        return Summary(result.kind, "level", tuple(map(_step, done)))
    counts = dict.fromkeys(run.workers for run in done)
    rows = (_workers(count, [run for run in done if run.workers == count]) for count in counts)
    return Summary(result.kind, "workers", tuple(rows))


def spread_of(rates: Sequence[float]) -> float | None:
    """Return (highest - lowest) / mean; None for fewer than two rates, or none above 0."""
    if len(rates) < 2 or not sum(rates):
        return None
    return (max(rates) - min(rates)) / (sum(rates) / len(rates))


def _workers(count: int, runs: Sequence[RunRecord]) -> Row:
    rates = [run.metrics.rows_per_s for run in runs if run.metrics]
    reference = [run.metrics.rows_per_s_reference for run in runs if run.metrics]
    n, spread = len(rates), spread_of(rates)
    figures = {
        "rows_per_s_min": Figure(min(rates), Unit.ROWS_PER_S, n),
        "rows_per_s_max": Figure(max(rates), Unit.ROWS_PER_S, n),
        "rows_per_s_avg": Figure(_mean(rates), Unit.ROWS_PER_S, n, spread),
        **_known("rows_per_s_stored_avg", Unit.ROWS_PER_S, runs, lambda m: m.rows_per_s_stored),
        **_known("bytes_per_s_avg", Unit.BYTES_PER_S, runs, lambda m: m.bytes_per_s),
        "rows_per_s_reference_avg": Figure(
            _mean(reference), Unit.ROWS_PER_S, n, spread_of(reference)
        ),
        **_sends(runs),
    }
    return Row(count, len(runs), figures, _worst(runs).value)


def _step(run: RunRecord) -> Row:
    rate = run.metrics.rows_per_s if run.metrics else 0.0
    reference = run.metrics.rows_per_s_reference if run.metrics else 0.0
    figures = {
        "rows_per_s": Figure(rate, Unit.ROWS_PER_S, 1),
        "rows_per_s_reference": Figure(reference, Unit.ROWS_PER_S, 1),
        **_known("rows_per_s_stored", Unit.ROWS_PER_S, [run], lambda m: m.rows_per_s_stored),
        **_known("bytes_per_s", Unit.BYTES_PER_S, [run], lambda m: m.bytes_per_s),
        **_sends([run]),
    }
    return Row(run.level, 1, figures, _worst([run]).value)


def _known(
    name: str,
    unit: Unit,
    runs: Sequence[RunRecord],
    value: Callable[[InsertMetrics], float | None],
) -> dict[str, Figure]:
    """Return the mean of the runs' values; nothing if one of them is unknown."""
    values = [value(run.metrics) for run in runs if run.metrics]
    known = [each for each in values if each is not None]
    if not known or len(known) < len(values):
        return {}
    return {name: Figure(_mean(known), unit, len(known), spread_of(known))}


def _sends(runs: Sequence[RunRecord]) -> dict[str, Figure]:
    latency = latency_of(merged(tuple(w for run in runs for w in run.outcome.workers)))
    shares = [run.metrics.client_share for run in runs if run.metrics]
    return {
        "latency_p50_ms": Figure(latency.p50_ms, Unit.MILLISECONDS, latency.sends),
        "latency_p99_ms": Figure(latency.p99_ms, Unit.MILLISECONDS, latency.sends),
        "latency_max_ms": Figure(latency.max_ms, Unit.MILLISECONDS, latency.sends),
        "client_share": Figure(_mean(shares), Unit.SHARE, len(shares)),
    }


def _queries(run: RunRecord) -> list[Row]:
    times: dict[str, list[QueryTimes]] = defaultdict(list)
    for worker in run.outcome.workers:
        for each in worker.queries:
            times[each.name].append(each)
    return [_query(query, times[query.name], run.workers) for query in run.outcome.queries]


def _query(query: QueryVerdict, times: Sequence[QueryTimes], workers: int) -> Row:
    if not times:
        return Row(query.name, 0, {}, query.verdict.reason, workers)
    found = query_metrics(times)
    waits = {
        "wait_ms_min": found.wait.min_ms,
        "wait_ms_avg": found.wait.mean_ms,
        "wait_ms_p50": found.wait.p50_ms,
        "wait_ms_p95": found.wait.p95_ms,
        "wait_ms_p99": found.wait.p99_ms,
        "wait_ms_max": found.wait.max_ms,
    }
    n = found.wait.sends
    figures = {
        "first_ms_avg": Figure(found.first_ms, Unit.MILLISECONDS, len(times)),
        **{name: Figure(value, Unit.MILLISECONDS, n) for name, value in waits.items()},
        "queries_per_s": Figure(found.queries_per_s, Unit.QUERIES_PER_S, n),
        "client_share": Figure(found.client_share, Unit.SHARE, n),
    }
    verdict = query.verdict.status.value + ", tuned" * query.tuned
    return Row(query.name, 1, figures, verdict, workers)


def _checks(run: RunRecord) -> list[Row]:
    statuses = {True: Status.VERIFIED, False: Status.MISMATCH, None: Status.UNKNOWN}
    checks = run.outcome.verdict.checks if run.outcome.verdict else ()
    return [
        Row(
            check.name,
            1,
            {},
            statuses[check.ok].value,
            expected=check.expected,
            found=check.found,
        )
        for check in checks
    ]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _worst(runs: Sequence[RunRecord]) -> Status:
    order = (Status.MISMATCH, Status.INCOMPLETE, Status.UNKNOWN, Status.OFF, Status.VERIFIED)
    verdicts: list[Verdict | None] = [run.outcome.verdict for run in runs]
    found = {verdict.status if verdict else Status.UNKNOWN for verdict in verdicts}
    return next(status for status in order if status in found)
