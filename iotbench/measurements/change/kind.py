"""`change`: how fast stored rows are changed and deleted; the remaining rows are verified."""

from collections.abc import Iterable, Iterator, Sequence

from iotbench.config.input.parameters import instant
from iotbench.config.input.quantities import format_time
from iotbench.config.targets.config import Target
from iotbench.figures.pictures import Ranges
from iotbench.figures.rows import INSERTS
from iotbench.measurements.change.figures import CHANGE
from iotbench.measurements.change.options import ChangeOptions
from iotbench.measurements.change.plan import change_run, option_problems, target_problems
from iotbench.measurements.insert import plan
from iotbench.measurements.insert.kind import batches_text
from iotbench.measurements.insert.warnings import writing_warnings
from iotbench.measurements.shared.kind import Kind, Planned
from iotbench.measurements.shared.plan import PlannedRun, Wanted, expect_stored
from iotbench.results.metrics import rates_by_second
from iotbench.results.result import Result, RunRecord
from simulator.errors import counted, format_size
from simulator.protocol.messages import CORRECTIONS, DELETION, TAGS
from simulator.protocol.spec import RunSpec, Work


class ChangeKind(Kind[ChangeOptions]):
    """Stored rows are corrected, retagged or deleted, optionally while new rows are inserted."""

    name = "change"
    work = Work.CHANGE
    subjects = (CHANGE,)
    has_worker_counts = False
    options = ChangeOptions
    help = """Correct, retag or delete rows, and verify what is left.

    Run `insert` first. --correct sends some of the rows again with other fields, as upserts.
    --retag gives a tag of some series another value, by an update of all rows of each series.
    --delete-oldest and --delete-before delete rows by their time: with a statement, or with the
    database's own retention (--delete-by retention). With --insert-workers, later rows are inserted
    during the change, and the result has their rate before, during and after it.

    Afterwards every stored row is compared with the expected rows, with any --verify. Later
    queries are checked against the changed rows, and `insert --no-clean`, `mixed` and `change`
    continue them. The result has the size on disk before and after.

    `change` refuses what the database cannot do before it changes anything. A request that fails
    ends the run; the stored rows are then unknown, and you have to run `insert` again.
    """
    examples = (
        "change --target sqlite --delete-oldest 50%",
        "change -t postgresql --correct 10% --correct-workers 4 --batch 1000",
        "change -t postgresql --retag 10%",
        "change -t timescaledb --delete-oldest 50% --delete-by retention",
        (
            "change -t mysql --delete-oldest 50% --delete-steps 10 --insert-workers 2"
            " --insert-rate 5k --batch 1000 --duration 30s --at 10s"
        ),
    )
    title = "Changes of stored rows"
    pictures = (
        Ranges(
            "p50_ms", "p99_ms", "Latency of each request",
            "Marker: median; end of the line: 99th percentile.", ("max_ms", "rows_per_s"),
        ),
    )  # fmt: skip

    def problems(self, options: ChangeOptions) -> list[str]:
        return option_problems(options)

    def target_problems(
        self, options: ChangeOptions, target: Target, *, force: bool
    ) -> Iterable[str]:
        return target_problems(target, options, force=force)

    def expect(self, options: ChangeOptions, target: Target) -> None:
        expect_stored(target, options.level.value)

    def plan(self, wanted: Wanted[ChangeOptions]) -> Planned:
        options, stored = wanted.options, wanted.stored
        planned = change_run(wanted)
        plan.expect_storable([planned], wanted.target)
        spec = planned.spec
        until_ms = max((each for task in spec.changes for each in task.delete_ms), default=None)
        return Planned(
            [planned],
            {
                **options.configuration(),
                "deleted_until": None if until_ms is None else instant(until_ms),
                "rows": stored.dataset.rows,
                "workload": stored.dataset.workload,
                "seed": stored.dataset.seed,
            },
        )

    def outline(self, planned: Sequence[PlannedRun], last: Result | None) -> Iterator[str]:
        spec = planned[0].spec
        ranges = [item for task in spec.changes for item in task.correct]
        steps = [each for task in spec.changes for each in task.delete_ms]
        if steps:
            rows = counted(spec.dataset.rows - spec.changed.rows, "row")
            yield (
                f"deletion: {rows} before {instant(max(steps))}, by {spec.changes[0].by}, in"
                f" {counted(len(steps), 'step')}"
            )
        if ranges:
            yield (
                f"corrections: {counted(sum(map(len, ranges)), 'row')} by"
                f" {counted(len(spec.changes), 'worker')};"
                f" {batches_text(spec).partition(';')[0]}"
            )
        if retags := [each for task in spec.changes for each in task.retags]:
            tags = ", ".join(dict.fromkeys(each.tag for each in retags))
            series = counted(sum(len(each.values) for each in retags), "update")
            yield f"tags: {series} of {tags}, one for each series of each table"
        if spec.inserts:
            yield (
                f"inserts during the change: {counted(len(spec.inserts), 'worker')};"
                f" {batches_text(spec)}; for {format_time(spec.clocking.duration_s)}"
            )
        yield f"verification: {spec.verify}"

    def row_names(self, first: RunSpec) -> Iterator[str]:
        yield from [INSERTS] * bool(first.inserts)
        yield from [DELETION] * any(task.delete_ms for task in first.changes)
        yield from [CORRECTIONS] * any(task.correct for task in first.changes)
        yield from [TAGS] * any(task.retags for task in first.changes)

    def warnings(self, result: Result) -> Iterator[str]:
        if result.configuration.get("insert_workers"):
            yield from writing_warnings(result)

    def answers(self, result: Result) -> Iterator[tuple[str, str]]:
        for run in result.runs:
            before, after = run.outcome.size_before_bytes, run.outcome.size_bytes
            if before and after:
                change = f"{after / before - 1:+.0%}"
                yield "size", f"{format_size(before)} before, {format_size(after)} after ({change})"
            if rates := [*_compute_rates(run)]:
                yield "inserts", ", ".join(f"{rate:,.0f} rows/s {when}" for when, rate in rates)

    def describe_measured(self, result: Result) -> Iterator[str]:
        options = result.configuration
        if share := options.get("correct"):
            yield f"correct={100 * float(share):g}%"
        if share := options.get("retag"):
            yield f"retag={100 * float(share):g}%"
        if until := options.get("deleted_until"):
            yield f"deleted until {until}"
        yield from super().describe_measured(result)


def _compute_rates(run: RunRecord) -> Iterator[tuple[str, float]]:
    """Yield the mean rates of the inserts before, during and after the changes."""
    changes = [each for report in run.outcome.workers for each in report.changes]
    released_s, rates = run.outcome.released_s, rates_by_second(run.outcome)
    if not changes or released_s is None or not rates:
        return
    began = int(min(each.started_s for each in changes) - released_s)
    ended = int(max(each.ended_s for each in changes) - released_s) + 1
    parts = (
        ("before", rates[:began]),
        ("during the change", rates[began:ended]),
        ("after it", rates[ended:]),
    )
    yield from ((when, sum(part) / len(part)) for when, part in parts if len(part))


KIND = ChangeKind()
