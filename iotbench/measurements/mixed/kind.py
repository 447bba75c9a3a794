"""`mixed`: inserts and queries at the same time on one target; both are timed and verified."""

from collections.abc import Iterable, Iterator, Sequence

from iotbench.config.input.parameters import instant
from iotbench.config.input.quantities import format_time
from iotbench.config.targets.config import Target
from iotbench.figures.pictures import Over, Ranges
from iotbench.figures.rows import INSERTS
from iotbench.measurements.insert import plan
from iotbench.measurements.insert.kind import batches_text
from iotbench.measurements.insert.warnings import REACHED, writing_warnings
from iotbench.measurements.mixed.figures import LOAD
from iotbench.measurements.mixed.plan import (
    list_mixed_types,
    option_problems,
    plan_mixed_runs,
    target_problems,
)
from iotbench.measurements.query.options import MixedOptions
from iotbench.measurements.query.plan import impossible_of
from iotbench.measurements.query.warnings import (
    asking_warnings,
    describe_asked,
    names_of,
    share_facts,
)
from iotbench.measurements.shared.distribution import rows_left
from iotbench.measurements.shared.faults import fault_facts
from iotbench.measurements.shared.kind import Kind, Planned
from iotbench.measurements.shared.plan import PlannedRun, Wanted
from iotbench.results.latency import freshness_ms, least_freshness_ms
from iotbench.results.metrics import compute_measured_s
from iotbench.results.result import Result
from simulator.data.reader import DatasetReader
from simulator.errors import counted
from simulator.protocol.spec import RunSpec, Work

_MOST_UNSEEN, _PERCENTILES = 0.05, (50, 99)


class MixedKind(Kind[MixedOptions]):
    """Some workers insert rows while others ask about rows that were stored before."""

    name = "mixed"
    work = Work.MIXED
    subjects = (LOAD,)
    has_worker_counts = False
    options = MixedOptions
    help = """Insert rows and ask queries at the same time.

    Run `insert` first; if the workload has an end, use --limit to leave rows to insert. Some
    workers add later rows; others ask the workload's queries in turn, each once before the clock
    starts. The time range of every query ends where the new rows begin, so its answer does not
    change while rows are added, and is compared with the truth. Afterwards the stored rows are
    verified as after an insert; `insert --no-clean` and `mixed` continue them.

    With --fresh, queries are about arriving rows: their number, extremes by tag, and the newest
    rows. Each answer must have every row that was acknowledged before the query began, where the
    database promises that, and no row that was sent after it ended. Freshness is the time from the
    acknowledgement of a row until a query has seen it.

    With --runs, each run continues the rows of the previous run.

    With --queries, your own queries are asked as they are; their answers are not checked.

    Types that a database cannot ask for a time range with an end are left out, with the reason.
    """
    examples = (
        "mixed --target sqlite --duration 30s",
        "mixed -t postgresql --insert-workers 4 --insert-rate 50k --query-rate 20",
        "mixed -t elasticsearch --fresh 1m --insert-rate 5k --query-rate 20",
        "mixed -t timescaledb --mix insert=80,query=20 --rate 100 --batch 1000",
    )

    title = "Inserts beside queries"
    pictures = (
        Ranges(
            "p50_ms", "p99_ms", "Latency of inserts, wait of queries",
            "Marker: median; end of the line: 99th percentile.",
            ("p95_ms", "max_ms", "rows_per_s", "queries_per_s"),
        ),
        Over("rows_per_s", "Rows per second beside queries"),
    )  # fmt: skip

    def problems(self, options: MixedOptions) -> list[str]:
        return option_problems(options)

    def target_problems(
        self, options: MixedOptions, target: Target, *, force: bool
    ) -> Iterable[str]:
        return target_problems(target, options, force=force)

    def plan(self, wanted: Wanted[MixedOptions]) -> Planned:
        options, asked = wanted.options, wanted.stored.dataset
        planned = plan_mixed_runs(wanted)
        plan.expect_storable(planned, wanted.target)
        first = planned[0].spec
        assert first.load.until_ms is not None
        until_ms = first.load.until_ms
        types = list_mixed_types(asked, options, until_ms)
        return Planned(
            planned,
            {
                **options.configuration(),
                "until": instant(until_ms),
                **describe_asked(asked, first),
            },
            impossible_of(options.asked, types),
        )

    def outline(self, planned: Sequence[PlannedRun], last: Result | None) -> Iterator[str]:
        spec = planned[0].spec
        load, clocking, reader = spec.load, spec.clocking, DatasetReader(spec.dataset)
        assert load.until_ms is not None
        yield f"inserts: {counted(len(spec.inserts), 'worker')}; {batches_text(spec)}"
        rate = f"{clocking.queries_per_s:g} queries/s" if clocking.queries_per_s else "no limit"
        askers = counted(len(spec.asks), "worker")
        yield f"queries: {askers}; rate: {rate}; {names_of(load)}"
        if load.fresh_ms:
            yield (
                f"queries are about the last {format_time(load.fresh_ms / 1000)} of the rows that"
                f" arrive, which begin at {instant(load.until_ms)}"
            )
        else:
            begin = instant(load.until_ms)
            yield f"queries are about the time before {begin}, where new rows begin"
        if reader.sizes is not None:
            left = counted(sum(rows_left(reader, spec.dataset)), "row")
            yield f"left to insert: {left} of {sum(reader.sizes):,}, for all runs together"
        warmup = f" after a warm-up of {format_time(spec.warmup_s)}" if spec.warmup_s else ""
        yield (
            f"{counted(len(planned), 'run')}; duration of each: {format_time(clocking.duration_s)}"
            f"{warmup}; verification: {spec.verify}, and each answer"
        )

    def row_names(self, first: RunSpec) -> Iterator[str]:
        yield INSERTS
        yield from super().row_names(first)

    def warnings(self, result: Result) -> Iterator[str]:
        yield from writing_warnings(result)
        yield from asking_warnings(result, self.summary(result))
        yield from _warn_of_load(result)
        yield from _warn_of_unseen_rows(result)

    def answers(self, result: Result) -> Iterator[tuple[str, str]]:
        yield from fault_facts(result)
        yield from share_facts(result)

    def warmup_text(self, rows: int, runs: int) -> str:
        return (
            f"before each run is measured: {counted(rows, 'row')} and {counted(runs, 'query')} in"
            " all, verified, and left out of every figure above but the first answers"
        )

    def describe_measured(self, result: Result) -> Iterator[str]:
        options = result.configuration
        yield f"w={options.get('insert_workers')}+{options.get('query_workers')}"
        yield from super().describe_measured(result)


def _warn_of_load(result: Result) -> Iterator[str]:
    """Yield warnings about runs that did not reach the requested load."""
    options = result.configuration
    wanted, duration_s = (float(options.get(name, 0)) for name in ("query_rate", "duration_s"))
    rows_per_s = float(options.get("insert_rate", 0))
    between_s = (options.get("batch") or 1) / rows_per_s if rows_per_s else 0.0
    for run in result.runs:
        if run.outcome.status != "done":
            continue
        asked = [times for worker in run.outcome.workers for times in worker.queries]
        askers = sum(bool(worker.queries) for worker in run.outcome.workers)
        runs = sum(times.runs for times in asked)
        if runs + askers < REACHED * wanted * duration_s:  # each may have one more, due later
            yield (
                f"reached only {runs / duration_s:,.3g} of the requested {wanted:,.3g} queries/s,"
                " so the waits include the delay behind schedule; lower --query-rate, or use more"
                " --query-workers"
            )
        left = {t.name for t in asked} - {t.name for t in asked if t.runs}
        if left:
            yield (
                f"not timed, since others took all of the time: {', '.join(sorted(left))}; use a"
                " longer --duration, more --query-workers, or fewer --types"
            )
        ends = [w.ended_s for w in run.outcome.workers if w.ended_s and not w.queries]
        inserted_s = compute_measured_s(run.outcome)
        if ends and inserted_s + between_s < REACHED * duration_s:
            yield (
                f"the last row was inserted after {inserted_s:.3g} s of {duration_s:.3g} s, so"
                " later queries ran alone: no row was left, or the database took none; lower"
                " --insert-rate, or insert fewer rows before"
            )


def _warn_of_unseen_rows(result: Result) -> Iterator[str]:
    """Yield warnings about rows that no answer contained, with lower bounds of the freshness."""
    for each in (each for run in result.runs for each in run.outcome.freshness):
        all_rows = each.rows + each.unseen_rows
        unknown = [n for n in _PERCENTILES if freshness_ms(each, n / 100) is None]
        if not all_rows or (not unknown and each.unseen_rows <= _MOST_UNSEEN * all_rows):
            continue
        bounds = ((n, least_freshness_ms(each, n / 100) or 0.0) for n in unknown)
        least = [f", p{n} of freshness is at least {bound:,.1f} ms" for n, bound in bounds]
        yield (
            f"{each.query}: {each.unseen_rows:,} of {all_rows:,} rows were in no answer until the"
            f" end{''.join(least)}; use a longer --duration, a higher --query-rate, or a lower"
            " --insert-rate"
        )


KIND = MixedKind()
