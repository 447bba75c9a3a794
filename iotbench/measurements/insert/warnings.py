"""Warnings of measurements that write rows."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from iotbench.figures.figures import spread_of
from iotbench.measurements.insert.figures import rows_by_stage
from iotbench.results.metrics import InsertMetrics, rates_by_second
from iotbench.results.result import Result, RunRecord
from iotbench.results.warmup import LEAST_S, find_warmup
from simulator.errors import counted
from simulator.protocol.messages import WARMUP

CLIENT_BOUND = 0.5
"""Client share above which the client affects the result as much as the database."""
WIDE_SPREAD = 0.10
THROTTLED = 0.05
"""Share of periods above which a CPU limit is named; the time lost is at most this share."""
_LIMITS = {
    "local": (
        "this machine or container",
        "the container's limit, `docker run --cpus`",
    ),
    "kubernetes": ("the pods", "--set worker.resources.limits.cpu=..."),
}
"""Runner -> what a CPU limit applies to, and how to raise it."""
LITTLE_OVERLAP = 0.80
_LEAST_OVERLAP_S = 1.0
"""Minimum duration of a run for a warning; workers of shorter runs start at too different times."""
REACHED = 0.95
"""Share of a requested rate or duration that counts as reached."""


def writing_warnings(result: Result) -> Iterator[str]:
    """Yield reasons to doubt rates and latencies of inserts."""
    by_workers: dict[int, list[RunRecord]] = defaultdict(list)
    for run in result.runs:
        if run.metrics and run.outcome.status == "done":
            by_workers[run.workers].append(run)
    servers = [run.outcome.server for run in result.runs if run.outcome.server]
    keeps_rows = any(server.nodes for server in servers)
    for workers, runs in by_workers.items():
        at = counted(workers, "worker")
        metrics = [run.metrics for run in runs if run.metrics]
        yield from _warn_of_client(result, at, workers, metrics, keeps_rows=keeps_rows)
        yield from _warn_of_spread(result, at, metrics)
        yield from _warn_of_missed_rates(result, at, runs)
        yield from _warn_of_warmups(result, at, runs)
        yield from _warn_of_early_ends(result, at, runs)
        yield from _warn_of_sends(at, [run for run in runs if not run.outages])
    verdicts = [run.outcome.verdict for run in result.runs if run.outcome.verdict]
    left_out = [*dict.fromkeys(what for verdict in verdicts for what in verdict.not_compared)]
    if left_out:
        more = f"; and {len(left_out) - 1} more, in the result file" if len(left_out) > 1 else ""
        yield (
            f"verification did not compare everything: {left_out[0]}{more}; a difference there"
            " stays unseen; --verify full reads every row back"
        )
    if keeps_rows and servers[-1].durable is False:
        yield (
            "an acknowledged row is not durable (see the server line), so a crash can lose it;"
            " compare only with targets of equal durability"
        )


def _warn_of_client(
    result: Result, at: str, workers: int, runs: Sequence[InsertMetrics], *, keeps_rows: bool
) -> Iterator[str]:
    share = max(run.client_share for run in runs)
    if keeps_rows and share > CLIENT_BOUND:
        yield (
            f"{at}: the client itself took {share:.0%} of the time, so the result is as much about"
            " the client as about the database; use more workers or larger batches"
        )
    shares = (run.throttled_periods_share for run in runs)
    yield from warn_of_throttling(result, f"{at}: ", shares, ", or use larger batches")
    yield from warn_of_shared_cores(result, workers)


def _warn_of_early_ends(result: Result, at: str, runs: Sequence[RunRecord]) -> Iterator[str]:
    given = result.configuration
    if not (given.get("duration_s") or given.get("stages")) or given.get("limit"):
        return
    ends_s = [
        worker.ended_s - run.outcome.released_s
        for run in runs
        for worker in run.outcome.workers
        if worker.rows and worker.written is None and worker.ended_s and run.outcome.released_s
    ]
    if ends_s:
        yield (
            f"{at}: a worker had written all its rows after {min(ends_s):.2g} s, before its time"
            " was over; use a workload with more rows, or a shorter time"
        )


def _warn_of_spread(result: Result, at: str, runs: Sequence[InsertMetrics]) -> Iterator[str]:
    spread = spread_of([run.rows_per_s for run in runs]) or 0.0
    if not result.configuration.get("steps") and spread > WIDE_SPREAD:
        yield (
            f"{at}: the runs differ by {spread:.0%} of their mean, so a smaller difference between"
            " two results means nothing; make the runs longer (more rows), or stop other work on"
            " the machine"
        )
    long = [run for run in runs if run.rows > _LEAST_OVERLAP_S * run.rows_per_s]
    overlaps = [run.overlap for run in long if run.overlap is not None]
    if overlaps and min(overlaps) < LITTLE_OVERLAP:
        yield (
            f"{at}: all of them were sending for only {min(overlaps):.0%} of the time, so the rate"
            " is partly that of fewer workers; use --duration, which ends all of them together,"
            " or more rows"
        )
    unsent = sum(run.unsent for run in runs)
    yield from (f"{at}: {text}" for text in warn_of_unsent(unsent, "batch"))


def _warn_of_missed_rates(result: Result, at: str, runs: Sequence[RunRecord]) -> Iterator[str]:
    """Yield a warning if a requested rate was not reached, in a run or in a stage."""
    names = ("insert_rate", "rate")
    name = next((each for each in names if each in result.configuration), "")
    rate, option = float(result.configuration.get(name, 0)), f"--{name.replace('_', '-')}"
    reached = [(at, rate, min(run.metrics.rows_per_s for run in runs if run.metrics))]
    if stages := runs[0].stages:
        reached = [
            (str(row.place), stage.rate_per_s or rate, row.value("rows_per_s_min") or 0.0)
            for stage, row in zip(stages, rows_by_stage(runs), strict=True)
        ]
    for where, wanted, found in reached:
        if found < REACHED * wanted:
            yield (
                f"{where}: reached only {found:,.0f} of the requested {wanted:,.0f} rows/s, so"
                " latency includes the delay behind schedule; lower"
                f" {'--stages' if stages else option}, or use more workers"
            )


def warn_of_throttling(
    result: Result, at: str, shares: Iterable[float | None], or_else: str = ""
) -> Iterator[str]:
    """Yield a warning if a CPU limit stopped workers in a large share of the periods of a run."""
    share = max((each for each in shares if each is not None), default=0.0)
    if share > THROTTLED:
        limited, remedy = _LIMITS[result.runner]
        yield (
            f"{at}the CPU limit of {limited} stopped the workers in {share:.0%} of the periods (100"
            " ms) in which they ran, so the result is as much about the limit as about the"
            f" database; raise {remedy}{or_else}"
        )


def warn_of_unsent(unsent: int, what: str) -> Iterator[str]:
    """Yield a warning if batches or queries were due but did not begin before the end."""
    if unsent:
        yield (
            f"{counted(unsent, what)} fell due and did not begin before the end; percentiles count"
            " each with the time until then, so its true latency is higher; lower the rate, or use"
            " more workers"
        )


def _warn_of_warmups(result: Result, at: str, runs: Sequence[RunRecord]) -> Iterator[str]:
    """Yield a warning if most of the long runs begin with a warm-up."""
    courses = [rates_by_second(run.outcome) for run in runs]
    long = [rates for rates in courses if len(rates) >= LEAST_S]
    found = [(each, len(rates)) for rates in long if (each := find_warmup(rates))]
    changes = result.configuration.get("steps") or result.configuration.get("stages")
    if 2 * len(found) <= len(long) or changes:
        return
    warmup, length_s = max(found, key=lambda each: each[0].seconds)
    given_s = float(result.configuration.get("warmup_s") or 0.0)
    warm_s = [run.outcome.phases_s.get(WARMUP, given_s) for run in runs]
    left_out_s = math.ceil(max(warm_s)) + warmup.seconds
    change = warmup.effect(length_s)
    yield (
        f"{at}: the first {warmup.seconds} s ran at {warmup.rate_before:,.0f} rows/s and the rest"
        f" at {warmup.rate_after:,.0f} rows/s, so the average is {abs(change):.0%}"
        f" {'higher' if change > 0 else 'lower'} than the rate that lasts; leave them out with"
        f" --warmup {left_out_s}s"
    )


def _warn_of_sends(at: str, runs: Sequence[RunRecord]) -> Iterator[str]:
    """Yield warnings about batches that were repeated or have an unknown outcome.

    Runs with faults are excluded, because separate lines describe faults.
    """
    reports = [report for run in runs for report in run.outcome.workers]
    retried = sum(report.retried for report in reports)
    if retried:
        verb = "was" if retried == 1 else "were"
        yield (
            f"{at}: {counted(retried, 'send')} failed without effect and {verb} repeated, after"
            f" pauses of {sum(report.backoff_s for report in reports):.3g} s in all, which latency"
            " includes; the database's log may show the reason"
        )
    disconnected_s = sum(report.disconnected_s for report in reports)
    if disconnected_s:
        yield (
            f"{at}: connections were lost, and workers were without one for {disconnected_s:.3g} s"
            " in all, in which they sent nothing; the database's log may show the reason"
        )
    uncertain = sum(run.metrics.uncertain_rows for run in runs if run.metrics)
    if not uncertain:
        return
    verdicts = [run.outcome.verdict for run in runs if run.outcome.verdict]
    present = sum(verdict.uncertain_present for verdict in verdicts)
    absent = sum(verdict.uncertain_absent for verdict in verdicts)
    causes = [*dict.fromkeys(each.uncertain_cause for each in reports if each.uncertain_cause)]
    known = "it was not checked whether they are stored"
    if present or absent:
        known = f"after the run, {present:,} of them are stored and {absent:,} are not"
    verb = "has" if uncertain == 1 else "have"
    last = f" (last error: {causes[-1]})" if causes else ""
    yield (
        f"{at}: {counted(uncertain, 'row')} {verb} no known outcome{last}, and rates do not count"
        f" them; {known}; remove the cause of the error, and run again"
    )


def warn_of_shared_cores(result: Result, workers: int) -> Iterator[str]:
    """Yield a warning if there are more workers than cores."""
    at = counted(workers, "worker")
    if result.runner == "local" and workers > result.machine.cores:
        verb = "shares" if workers == 1 else "share"
        yield (
            f"{at} {verb} {counted(result.machine.cores, 'core')} of this machine, so they delay"
            " each other; use fewer workers, or a machine with more cores"
        )
