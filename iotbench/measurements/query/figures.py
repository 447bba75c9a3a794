"""Figures of queries: a row for each query, each stage of a query, and all queries together."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from iotbench.figures.figures import figures_of
from iotbench.figures.rows import ALL_QUERIES, Place, Row
from iotbench.figures.summary import Subject
from iotbench.figures.verdicts import worst
from iotbench.results.latency import Latency
from iotbench.results.metrics import connects_of
from iotbench.results.result import RunRecord
from iotbench.results.timed import QueryMetrics, QueryStage, time_query, time_stage
from simulator.protocol.events import QueryVerdict
from simulator.protocol.messages import QueryTimes


def times_of(run: RunRecord) -> dict[str, list[QueryTimes]]:
    """Return query -> the times of each worker."""
    times: dict[str, list[QueryTimes]] = defaultdict(list)
    for worker in run.outcome.workers:
        for each in worker.queries:
            times[each.name].append(each)
    return times


def rows_by_query(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each query of each run, and for each stage of a query."""
    for run in runs:
        times, let_in = times_of(run), {ramp.query: ramp.workers for ramp in run.outcome.ramps}
        connects = connects_of(run.outcome.workers)
        for query in run.outcome.queries:
            of_workers = times.get(query.name, ())
            place = Place(query=query.name, workers=let_in.get(query.name, run.workers))
            if not of_workers:
                yield Row(place, 0, {}, query.verdict.reason)
                continue
            figures = figures_of([time_query(of_workers, connects=connects)])
            yield Row(place, 1, figures, _format_verdict(query))
            yield from _list_stage_rows(query, of_workers, run)


def totals(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for all queries together, for each run with several queries."""
    for run in runs:
        times = times_of(run)
        if len(times) > 1:
            place = Place(query=ALL_QUERIES, workers=run.workers)
            part = time_query(*times.values(), connects=connects_of(run.outcome.workers))
            yield Row(place, 1, figures_of([part]), worst([run]).value)


def _list_stage_rows(
    query: QueryVerdict, times: Sequence[QueryTimes], run: RunRecord
) -> Iterator[Row]:
    for number, stage in enumerate(run.stages):
        place = Place(query=query.name, stage=number + 1, workers=stage.workers)
        part = time_stage((s for worker in times for s in worker.stages), number, asked=True)
        if part:
            yield Row(place, 1, figures_of([part]), _format_verdict(query))
        else:
            yield Row(place, 0, {}, f"{_format_verdict(query)}, not timed")


def _format_verdict(query: QueryVerdict) -> str:
    return query.verdict.status.value + ", tuned" * query.tuned


QUERY = Subject(
    "query", "Query", rows_by_query, totals,
    sources=(QueryMetrics, QueryStage, Latency), listed_by="queries_per_s", judged_by="p50_ms",
    is_named=True,
)  # fmt: skip
