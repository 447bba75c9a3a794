"""Mixed runs as rows: the inserts, and each query beside them."""

from collections.abc import Iterator, Sequence

from cli.results.metrics import Latency, latency_of, merged, query_metrics
from cli.results.result import RunRecord
from cli.summary.figures import Figure, Row, Unit, mean, spread_of
from cli.summary.inserts import known
from cli.summary.queries import ALL_QUERIES, times_of
from cli.summary.verdicts import worst_status
from simulator.protocol.messages import QueryTimes
from simulator.protocol.verdict import Status

INSERTS = "inserts"
"""The row of a mixed run that is not a query."""


def rows_by_load(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield the inserts of mixed runs, and each query; both have latencies of the same names."""
    found = [run.metrics for run in runs if run.metrics]
    if found:
        rates = [each.rows_per_s for each in found]
        latency = latency_of(merged(tuple(w for run in runs for w in run.outcome.workers)))
        shares = [each.client_share for each in found]
        figures = {
            "rows_per_s": Figure(mean(rates), Unit.ROWS_PER_S, len(rates), spread_of(rates)),
            **_latencies(latency),
            "client_share": Figure(mean(shares), Unit.SHARE, latency.sends),
            **known("bytes_per_s", Unit.BYTES_PER_S, runs, lambda m: m.bytes_per_s),
            **known("bytes_per_row", Unit.BYTES_PER_ROW, runs, lambda m: m.bytes_per_row),
        }
        verdicts = [run.outcome.rows_verdict for run in runs]
        status = worst_status(each.status if each else Status.UNKNOWN for each in verdicts)
        yield Row(INSERTS, len(runs), figures, status.value, runs[0].workers - _askers(runs))
    for name in dict.fromkeys(query.name for run in runs for query in run.outcome.queries):
        yield _load(name, runs)


def _load(name: str, runs: Sequence[RunRecord]) -> Row:
    """Return what a query of mixed runs comes to."""
    verdicts = [query.verdict for run in runs for query in run.outcome.queries
                if query.name == name]  # fmt: skip
    by_run = [times_of(run).get(name, []) for run in runs]
    status, askers = worst_status(each.status for each in verdicts), _askers(runs)
    if not any(by_run):
        return Row(name, 0, {}, verdicts[0].reason, askers)
    if not any(each.runs for of_run in by_run for each in of_run):
        return Row(name, 0, {}, f"{status.value}, not timed", askers)
    return Row(
        name, len(runs), _asked_beside([[of_run] for of_run in by_run]), status.value, askers
    )


def load_totals(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield what all queries of mixed runs come to together, if they asked several."""
    timed = [
        {name: times for name, times in times_of(run).items() if any(each.runs for each in times)}
        for run in runs
    ]
    names = {name for types in timed for name in types}
    if len(names) > 1:
        verdicts = [query.verdict.status for run in runs for query in run.outcome.queries
                    if query.name in names]  # fmt: skip
        figures = _asked_beside([list(types.values()) for types in timed])
        yield Row(ALL_QUERIES, len(runs), figures, worst_status(verdicts).value, _askers(runs))


def _askers(runs: Sequence[RunRecord]) -> int:
    """Return how many workers of each mixed run asked queries."""
    return sum(bool(worker.queries) for worker in runs[0].outcome.workers)


def _latencies(found: Latency) -> dict[str, Figure]:
    values = {
        "avg_ms": found.mean_ms,
        "p50_ms": found.p50_ms,
        "p95_ms": found.p95_ms,
        "p99_ms": found.p99_ms,
        "max_ms": found.max_ms,
    }
    return {name: Figure(value, Unit.MILLISECONDS, found.sends) for name, value in values.items()}


def _asked_beside(by_run: Sequence[Sequence[Sequence[QueryTimes]]]) -> dict[str, Figure]:
    """Return the figures of queries that were asked beside inserts: run, type, worker -> times."""
    runs = [query_metrics(*types, in_turn=True).queries_per_s for types in by_run if any(types)]
    found = query_metrics(*(of_type for types in by_run for of_type in types if of_type))
    firsts = sum(len(of_type) for types in by_run for of_type in types)
    n = found.wait.sends
    return {
        "queries_per_s": Figure(mean(runs), Unit.QUERIES_PER_S, len(runs), spread_of(runs)),
        "first_ms": Figure(found.first_ms, Unit.MILLISECONDS, firsts),
        **_latencies(found.wait),
        "client_share": Figure(found.client_share, Unit.SHARE, n),
    }
