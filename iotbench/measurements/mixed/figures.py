"""Figures of mixed loads: a row for the inserts, and a row for each query during the inserts."""

from collections.abc import Iterator, Sequence

from iotbench.figures.figures import figures_of
from iotbench.figures.rows import ALL_QUERIES, INSERTS, Place, Row
from iotbench.figures.summary import Subject
from iotbench.figures.verdicts import level_of, worst_status
from iotbench.measurements.insert.figures import list_timed_inserts
from iotbench.measurements.query.figures import times_of
from iotbench.results.latency import Latency
from iotbench.results.metrics import InsertMetrics, connects_of
from iotbench.results.result import RunRecord
from iotbench.results.timed import QueryMetrics, Timed, time_query
from simulator.protocol.messages import QueryTimes, WorkerReport
from simulator.protocol.verdict import Status


def rows_by_load(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for the inserts of mixed runs, and a row for each query."""
    parts = list_timed_inserts(runs)
    if parts:
        verdicts = [run.outcome.rows_verdict for run in runs]
        status = worst_status(each.status if each else Status.UNKNOWN for each in verdicts)
        place = Place(load=INSERTS, workers=runs[0].workers - len(_list_askers(runs[0])))
        yield Row(place, len(runs), figures_of(parts), status.value, level=level_of(runs))
    for name in dict.fromkeys(query.name for run in runs for query in run.outcome.queries):
        yield _make_query_row(name, runs)


def _make_query_row(name: str, runs: Sequence[RunRecord]) -> Row:
    place = Place(query=name, workers=len(_list_askers(runs[0])))
    verdicts = [q.verdict for run in runs for q in run.outcome.queries if q.name == name]
    status = worst_status(each.status for each in verdicts)
    of_runs = [times for run in runs if (times := times_of(run).get(name))]
    if not of_runs:
        return Row(place, 0, {}, verdicts[0].reason)
    if not any(_is_timed(times) for times in of_runs):
        return Row(place, 0, {}, f"{status.value}, not timed")
    seen = [next((f for f in run.outcome.freshness if f.query == name), None) for run in runs]
    parts = [
        time_query(times, freshness=freshness, connects=connects_of(_list_askers(run)))
        for run, freshness in zip(runs, seen, strict=True)
        if (times := times_of(run).get(name))
    ]
    return Row(place, len(runs), figures_of(parts), status.value)


def load_totals(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for all queries of mixed runs together, if there are several queries."""
    timed = [
        {name: times for name, times in times_of(run).items() if _is_timed(times)} for run in runs
    ]
    names = {name for types in timed for name in types}
    if len(names) > 1:
        verdicts = (q.verdict.status for run in runs for q in run.outcome.queries
                    if q.name in names)  # fmt: skip
        parts: list[Timed] = [
            time_query(*each.values(), in_turn=True, connects=connects_of(_list_askers(run)))
            for run, each in zip(runs, timed, strict=True)
            if each
        ]
        place = Place(query=ALL_QUERIES, workers=len(_list_askers(runs[0])))
        yield Row(place, len(runs), figures_of(parts), worst_status(verdicts).value)


def _is_timed(times: Sequence[QueryTimes]) -> bool:
    return any(each.runs for each in times)


def _list_askers(run: RunRecord) -> list[WorkerReport]:
    """Return the reports of the workers that asked queries in a mixed run."""
    return [worker for worker in run.outcome.workers if worker.queries]


LOAD = Subject(
    "load", "Load", rows_by_load, load_totals,
    sources=(InsertMetrics, QueryMetrics, Latency), listed_by="rows_per_s", judged_by="p50_ms",
    is_named=True,
)  # fmt: skip
