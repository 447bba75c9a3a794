"""Descriptions of measurements with several connections in a worker."""

from collections.abc import Iterator
from statistics import fmean

from iotbench.results.metrics import connects_of
from iotbench.results.result import Result


def connection_facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield how many connections there were, where workers have several, and their opening."""
    found = [each for run in result.runs if (each := connects_of(run.outcome.workers))]
    for connections in dict.fromkeys(each["connections"] for each in found):
        some = [each for each in found if each["connections"] == connections]
        p50_ms = fmean(each["connect_p50_ms"] for each in some)
        p99s_ms = [each["connect_p99_ms"] for each in some]
        slow = "" if None in p99s_ms else f", {fmean(p99s_ms):.3g} ms (99th percentile)"
        pool = result.configuration.get("pool")
        shared = f", {pool:,} of each worker shared by {result.configuration['connections']:,}"
        yield (
            "connections",
            (
                f"{connections:,}, each opened in {p50_ms:.3g} ms (median){slow}"
                f"{f'{shared} callers' if pool else ''}"
            ),
        )
