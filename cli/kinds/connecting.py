"""What kinds whose workers may have several connections say of them."""

from collections.abc import Iterator

from cli.results.metrics import connects_of
from cli.results.result import Result


def connection_facts(result: Result) -> Iterator[tuple[str, str]]:
    """Yield how many connections there were, where workers have several, and their opening."""
    found = [each for run in result.runs if (each := connects_of(run.outcome.workers))]
    for connections in dict.fromkeys(each["connections"] for each in found):
        some = [each for each in found if each["connections"] == connections]
        p50_ms, p99_ms = (
            sum(each[name] for each in some) / len(some)
            for name in ("connect_p50_ms", "connect_p99_ms")
        )
        pool = result.configuration.get("pool")
        shared = f", {pool:,} of each worker shared by {result.configuration['connections']:,}"
        yield (
            "connections",
            (
                f"{connections:,}, each opened in {p50_ms:.3g} ms (median), {p99_ms:.3g} ms (99th"
                f" percentile){f'{shared} callers' if pool else ''}"
            ),
        )
