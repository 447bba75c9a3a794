"""Warnings: what was seen, why it matters, and what to do about it. A closed list."""

from collections import defaultdict
from collections.abc import Iterator

from cli.metrics import InsertMetrics
from cli.results import Result
from simulator.protocol.spec import Kind

CLIENT_BOUND = 0.5
"""From this client share on, a run is within half of what the client alone could do."""
WIDE_SPREAD = 0.10
THROTTLED = 0.05


def spread(rates: list[float]) -> float:
    """Return (highest - lowest) / mean of the rates; 0 of fewer than two."""
    return (max(rates) - min(rates)) / (sum(rates) / len(rates)) if len(rates) > 1 else 0.0


def warnings_of(result: Result) -> list[str]:
    """Return the warnings that a sweep calls for."""
    if result.kind is not Kind.INSERT:
        return []
    return list(_insert_warnings(result))


def _insert_warnings(result: Result) -> Iterator[str]:
    by_workers: dict[int, list[InsertMetrics]] = defaultdict(list)
    for run in result.runs:
        if run.metrics and run.outcome.status == "done":
            by_workers[run.workers].append(run.metrics)
    servers = [run.outcome.server for run in result.runs if run.outcome.server]
    keeps_rows = any(server.nodes for server in servers)
    for workers, runs in by_workers.items():
        at = f"{workers} worker{'s' if workers > 1 else ''}"
        yield from _of_the_client(result, at, workers, runs, keeps_rows=keeps_rows)
        yield from _of_the_runs(result, at, runs)
    verdicts = [run.outcome.verdict for run in result.runs if run.outcome.verdict]
    left_out = [*dict.fromkeys(what for verdict in verdicts for what in verdict.not_compared)]
    if left_out:
        more = f"; and {len(left_out) - 1} more, in the result file" if len(left_out) > 1 else ""
        yield (
            f"verification left out what this database cannot be asked: {left_out[0]}{more};"
            " --verify full reads every row back"
        )
    if keeps_rows and servers[-1].durable is False:
        yield (
            "an acknowledged row is not durable (the server line says why); compare only with"
            " targets that promise as little"
        )


def _of_the_client(
    result: Result, at: str, workers: int, runs: list[InsertMetrics], *, keeps_rows: bool
) -> Iterator[str]:
    share = max(run.client_share for run in runs)
    if keeps_rows and share > CLIENT_BOUND:
        yield (
            f"{at}: {share:.0%} of the time was the client's own, not the database's, so the"
            " client was measured as much as the database; use more workers or larger batches"
        )
    throttled = max(run.throttled_share for run in runs)
    if throttled > THROTTLED:
        yield (
            f"{at}: the pods' CPU limit stopped the workers for {throttled:.0%} of the time, so"
            " the limit was measured as much as the database; raise it with --set"
            " worker.resources.limits.cpu=..., or use larger batches"
        )
    if result.runner == "local" and workers > result.machine.cores:
        yield (
            f"{at} share {result.machine.cores} cores of this machine and wait for one another;"
            " use fewer workers, or a machine with more cores"
        )


def _of_the_runs(result: Result, at: str, runs: list[InsertMetrics]) -> Iterator[str]:
    rate = float(result.configuration.get("rate", 0))
    rates = [run.rows_per_s for run in runs]
    if not result.configuration.get("steps") and spread(rates) > WIDE_SPREAD:
        yield (
            f"{at}: the runs differ by {spread(rates):.0%} of their mean; make the runs longer"
            " (more rows), quieten the machine, or look at every run in the result file"
        )
    if rate and min(rates) < 0.95 * rate:
        yield (
            f"{at}: only {min(rates):,.0f} of the {rate:,.0f} rows/s asked for were reached;"
            " latency therefore holds the time that sends were late"
        )
    retried, uncertain = sum(r.retried for r in runs), sum(r.uncertain_rows for r in runs)
    if retried or uncertain:
        yield (
            f"{at}: {retried} sends were repeated and {uncertain} rows have no known outcome;"
            " the database's log tells why"
        )
