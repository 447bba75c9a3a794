"""Queries as rows: each of a run, in each stage, and all of a run together."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from cli.results.metrics import (
    Latency,
    QueryMetrics,
    StageMetrics,
    latency_of,
    query_metrics,
    stage_metrics,
)
from cli.results.result import RunRecord
from cli.summary.figures import Figure, Row, Unit
from cli.summary.verdicts import worst
from simulator.protocol.events import QueryVerdict
from simulator.protocol.messages import QueryTimes

ALL_QUERIES = "all queries"
"""The row of all queries of a run together."""


def times_of(run: RunRecord) -> dict[str, list[QueryTimes]]:
    """Return query -> the measurements of each worker."""
    times: dict[str, list[QueryTimes]] = defaultdict(list)
    for worker in run.outcome.workers:
        for each in worker.queries:
            times[each.name].append(each)
    return times


def rows_by_query(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each query of each run; in stages, also for each stage of a query."""
    for run in runs:
        yield from _of_run(run)


def totals(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield what all queries of a run come to together, for each run that asked several."""
    for run in runs:
        times = times_of(run)
        if len(times) > 1:
            firsts = sum(map(len, times.values()))
            figures = _asked(query_metrics(*times.values()), firsts)
            yield Row(ALL_QUERIES, 1, figures, worst([run]).value, run.workers)


def _of_run(run: RunRecord) -> list[Row]:
    times, let_in = times_of(run), {ramp.query: ramp.workers for ramp in run.outcome.ramps}
    rows = []
    for query in run.outcome.queries:
        of_workers = times.get(query.name, ())
        rows.append(_query(query, of_workers, let_in.get(query.name, run.workers)))
        rows += _query_stages(query, of_workers, run)
    return rows


def _query_stages(
    query: QueryVerdict, times: Sequence[QueryTimes], run: RunRecord
) -> Iterator[Row]:
    """Yield a row for a query in each stage of a run."""
    verdict = query.verdict.status.value + ", tuned" * query.tuned
    for place, stage in enumerate(run.stages if times else ()):
        found = stage_metrics((each for worker in times for each in worker.stages), place)
        name = name_in_stage(query.name, place)
        if found:
            yield Row(name, 1, _asked_in_stage(found), verdict, stage.workers)
        else:
            yield Row(name, 0, {}, f"{verdict}, not timed", stage.workers)


def name_in_stage(query: str, place: int) -> str:
    """Return the name of the row of a query in a stage (from 0)."""
    return f"{query}, stage {place + 1}"


def _query(query: QueryVerdict, times: Sequence[QueryTimes], workers: int) -> Row:
    if not times:
        return Row(query.name, 0, {}, query.verdict.reason, workers)
    verdict = query.verdict.status.value + ", tuned" * query.tuned
    return Row(query.name, 1, _asked(query_metrics(times), len(times)), verdict, workers)


def _asked_in_stage(found: StageMetrics) -> dict[str, Figure]:
    return {
        "seconds": Figure(found.seconds, Unit.SECONDS, 1),
        **_waits(latency_of(found.histogram)),
        "queries_per_s": Figure(found.queries_per_s, Unit.QUERIES_PER_S, found.count),
    }


def _waits(found: Latency) -> dict[str, Figure]:
    values = {
        "wait_ms_min": found.min_ms,
        "wait_ms_avg": found.mean_ms,
        "wait_ms_p50": found.p50_ms,
        "wait_ms_p95": found.p95_ms,
        "wait_ms_p99": found.p99_ms,
        "wait_ms_max": found.max_ms,
    }
    return {name: Figure(value, Unit.MILLISECONDS, found.sends) for name, value in values.items()}


def _asked(found: QueryMetrics, firsts: int) -> dict[str, Figure]:
    n = found.wait.sends
    return {
        "first_ms_avg": Figure(found.first_ms, Unit.MILLISECONDS, firsts),
        **_waits(found.wait),
        "queries_per_s": Figure(found.queries_per_s, Unit.QUERIES_PER_S, n),
        "client_share": Figure(found.client_share, Unit.SHARE, n),
    }
