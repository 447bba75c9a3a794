"""Warnings of measurements with queries, and descriptions of queries and rows."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from iotbench.figures.summary import Summary
from iotbench.measurements.insert.warnings import (
    CLIENT_BOUND,
    warn_of_shared_cores,
    warn_of_throttling,
    warn_of_unsent,
)
from iotbench.results.metrics import throttled_share_of
from iotbench.results.result import Result
from simulator.data.dataset import Dataset
from simulator.errors import counted
from simulator.protocol.spec import QueryLoad, RunSpec


def describe_asked(asked: Dataset, first: RunSpec) -> dict[str, Any]:
    """Return the queries and the queried rows, for the configuration in a result."""
    weights = dict(first.load.weights)
    return {
        "queries": list(first.load.queries),
        **({"weights": weights} if weights else {}),
        "rows": asked.rows,
        "workload": asked.workload,
        "seed": asked.seed,
    }


def names_of(load: QueryLoad) -> str:
    """Return the names of a load's types, with their weights."""
    return ", ".join(f"{n}:{load.weights[n]}" if n in load.weights else n for n in load.queries)


def share_facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield each type's share of the timed queries, if types have weights."""
    if not result.configuration.get("weights"):
        return
    runs = Counter[str]()
    for each in (worker for run in result.runs for worker in run.outcome.workers):
        runs.update({times.name: times.runs for times in each.queries})
    if total := runs.total():
        shares = (f"{name} {count / total:.1%}" for name, count in runs.items())
        yield "shares", f"of {counted(total, 'query')}: {', '.join(shares)}"


def asking_warnings(result: Result, summary: Summary) -> Iterator[str]:
    """Yield warnings if the times of queries depend on the client, or answers have no truth."""
    bound: dict[str, float] = {}
    decoding: dict[str, float] = {}
    for row in summary.rows:
        share, name = row.value("client_share") or 0.0, row.place.query
        if name and share > CLIENT_BOUND:
            bound[name] = max(share, bound.get(name, 0.0))
            decoded = share - (row.value("driver_share") or 0.0)
            decoding[name] = max(decoded, decoding.get(name, 0.0))
    if bound and int(result.configuration.get("connections") or 1) > 1:
        yield (
            f"the workers' own processes were busy for {max(bound.values()):.0%} of the time, so"
            " their connections waited for one another and the times are partly the client's; use"
            " more workers with fewer connections each, or a lower rate"
        )
        bound = {}
    for name, share in bound.items():
        if (decoded := decoding[name]) > CLIENT_BOUND:
            yield (
                f"query {name}: the client took {decoded:.0%} of the time to decode and fold"
                " answers, which the other times leave out; a program that needs the answer waits"
                " for both"
            )
        else:
            yield (
                f"query {name}: the client, its driver included, computed for {share:.0%} of the"
                " time, so the times are as much about the client as about the database"
            )
    asked = (times for run in result.runs for each in run.outcome.workers for times in each.queries)
    yield from warn_of_unsent(sum(times.unsent for times in asked), "query")
    own = [query.name for query in result.queries if query.own]
    if own:
        yield (
            f"own queries ({', '.join(dict.fromkeys(own))}): their answers were not checked, as no"
            " truth of them is known; `validate --queries` compares them between targets"
        )
    for workers in dict.fromkeys(run.workers for run in result.runs):
        runs = [each for each in result.runs if each.workers == workers]
        asking = [
            [each for each in run.outcome.workers if each.queries]
            for run in runs
            if run.outcome.status == "done"
        ]
        shares = map(throttled_share_of, asking)
        at = f"{counted(workers, 'worker')} with queries: "
        yield from warn_of_throttling(result, at, shares)
        yield from warn_of_shared_cores(result, workers)
