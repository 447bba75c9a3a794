"""Inserts as rows: of a worker count, a step or a stage."""

from collections.abc import Callable, Iterator, Sequence

from cli.results.metrics import InsertMetrics, Latency, latency_of, merged, stage_metrics
from cli.results.result import RunRecord
from cli.summary.figures import Figure, Row, Unit, mean, spread_of
from cli.summary.verdicts import worst
from simulator.load.meter import new_histogram


def rows_by_workers(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each worker count, in the order of the runs."""
    for count in dict.fromkeys(run.workers for run in runs):
        yield _at_workers(count, [run for run in runs if run.workers == count])


def rows_by_level(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each step, which is a run."""
    return map(_at_level, runs)


def _at_workers(count: int, runs: Sequence[RunRecord]) -> Row:
    rates = [run.metrics.rows_per_s for run in runs if run.metrics]
    reference = [run.metrics.rows_per_s_reference for run in runs if run.metrics]
    n, spread = len(rates), spread_of(rates)
    figures = {
        "rows_per_s_min": Figure(min(rates), Unit.ROWS_PER_S, n),
        "rows_per_s_max": Figure(max(rates), Unit.ROWS_PER_S, n),
        "rows_per_s_avg": Figure(mean(rates), Unit.ROWS_PER_S, n, spread),
        **known("rows_per_s_stored_avg", Unit.ROWS_PER_S, runs, lambda m: m.rows_per_s_stored),
        **known("bytes_per_s_avg", Unit.BYTES_PER_S, runs, lambda m: m.bytes_per_s),
        **known("values_per_s_avg", Unit.VALUES_PER_S, runs, lambda m: m.values_per_s),
        "rows_per_s_reference_avg": Figure(
            mean(reference), Unit.ROWS_PER_S, n, spread_of(reference)
        ),
        **_sends(runs),
    }
    return Row(count, len(runs), figures, worst(runs).value, count)


def _at_level(run: RunRecord) -> Row:
    rate = run.metrics.rows_per_s if run.metrics else 0.0
    reference = run.metrics.rows_per_s_reference if run.metrics else 0.0
    figures = {
        "rows_per_s": Figure(rate, Unit.ROWS_PER_S, 1),
        "rows_per_s_reference": Figure(reference, Unit.ROWS_PER_S, 1),
        **known("rows_per_s_stored", Unit.ROWS_PER_S, [run], lambda m: m.rows_per_s_stored),
        **known("bytes_per_s", Unit.BYTES_PER_S, [run], lambda m: m.bytes_per_s),
        **known("values_per_s", Unit.VALUES_PER_S, [run], lambda m: m.values_per_s),
        **_sends([run]),
    }
    return Row(run.level, 1, figures, worst([run]).value, run.workers)


def rows_by_stage(runs: Sequence[RunRecord]) -> Iterator[Row]:
    """Yield a row for each stage of the runs, which have the same."""
    for place, stage in enumerate(runs[0].stages if runs else ()):
        measured = [
            stage_metrics((each for worker in run.outcome.workers for each in worker.stages), place)
            for run in runs
        ]
        found = [each for each in measured if each]
        if not found:
            yield Row(place + 1, 0, {}, "no row was inserted", stage.workers)
            continue
        histogram = new_histogram()
        for each in found:
            histogram.add(each.histogram)
        n, rates = len(found), [each.rows_per_s for each in found]
        figures = {
            "seconds": Figure(mean([each.seconds for each in found]), Unit.SECONDS, n),
            "rows": Figure(mean([each.rows for each in found]), Unit.ROWS, n),
            "rows_per_s": Figure(mean(rates), Unit.ROWS_PER_S, n, spread_of(rates)),
            **_send_latencies(latency_of(histogram)),
        }
        yield Row(place + 1, n, figures, worst(runs).value, stage.workers)


def known(
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
    return {name: Figure(mean(known), unit, len(known), spread_of(known))}


def _sends(runs: Sequence[RunRecord]) -> dict[str, Figure]:
    latency = latency_of(merged(tuple(w for run in runs for w in run.outcome.workers)))
    shares = [run.metrics.client_share for run in runs if run.metrics]
    return {
        **_send_latencies(latency),
        "client_share": Figure(mean(shares), Unit.SHARE, len(shares)),
        **known("overlap", Unit.SHARE, runs, lambda m: m.overlap),
        **known("evenness", Unit.SHARE, runs, lambda m: m.evenness),
        **known("bytes_per_row", Unit.BYTES_PER_ROW, runs, lambda m: m.bytes_per_row),
    }


def _send_latencies(found: Latency) -> dict[str, Figure]:
    values = {
        "latency_p50_ms": found.p50_ms,
        "latency_p95_ms": found.p95_ms,
        "latency_p99_ms": found.p99_ms,
        "latency_p999_ms": found.p999_ms,
        "latency_max_ms": found.max_ms,
    }
    return {name: Figure(value, Unit.MILLISECONDS, found.sends) for name, value in values.items()}
