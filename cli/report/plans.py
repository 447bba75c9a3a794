"""The plan of a sweep before it starts: its runs in order, their rows, and how long they may take.

This is what `--dry-run` prints for the local runner.
"""

import io
from collections.abc import Iterator, Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from cli.input.parameters import instant
from cli.planning.distribution import rows_left
from cli.planning.plan import PlannedRun
from cli.report.estimate import shown_time
from cli.results.result import Result, RunRecord
from simulator.data.dataset import Dataset, DatasetReader, PartsBy
from simulator.errors import counted
from simulator.protocol.messages import WARMUP
from simulator.protocol.spec import Kind, RunSpec

_SHOWN_RUNS = 100
_FIXED_PHASES = ("init", "barrier")
"""Phases of a run whose time does not depend on the number of rows."""


def plan_text(planned: Sequence[PlannedRun], runner: str, last: Result | None, width: int) -> str:
    """Return a plan as text; `last` is an earlier result of the target, for the estimate."""
    first = planned[0].spec
    out = io.StringIO()
    console = Console(file=out, width=width, highlight=False, markup=False, color_system=None)
    console.print(
        f"plan of {first.kind} on target {first.target} (module {first.module}, runner {runner});"
        " nothing is started",
        soft_wrap=True,
    )
    if not first.kind.needs_rows:
        console.print(_runs(planned[:_SHOWN_RUNS]))
        if len(planned) > _SHOWN_RUNS:
            console.print(f"and {counted(len(planned) - _SHOWN_RUNS, 'run')} more")
    for line in _facts(planned, first, last):
        console.print(line, soft_wrap=True)
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _runs(planned: Sequence[PlannedRun]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    titles = ("Run", "Workers", "Repeat", "Tables before", "Rows before", "Prefill", "Rows")
    for title in titles:
        table.add_column(title, justify="left" if title == "Tables before" else "right")
    for number, each in enumerate(planned, 1):
        spec = each.spec
        before = "dropped, created" if spec.clean else "kept" if spec.dataset.rows else "created"
        counts = (spec.dataset.rows, _rows(spec, "prefill"), _rows(spec, "timed"))
        shown = [f"{count:,}" for count in counts]
        if spec.clocking.duration_s:
            shown[-1] = f"for {shown_time(spec.clocking.duration_s)}"
        if spec.warmup_s:
            shown[-1] += f", warm-up {shown_time(spec.warmup_s)}"
        table.add_row(str(number), str(len(spec.workers)), str(each.run), before, *shown)
    return table


def _rows(spec: RunSpec, part: str) -> int:
    return sum(len(rows) for task in spec.inserts for rows in getattr(task, part))


def _facts(planned: Sequence[PlannedRun], first: RunSpec, last: Result | None) -> Iterator[str]:
    names = ", ".join(table.name for table in DatasetReader(first.dataset).tables)
    yield f"tables: {names}{_parts(first.dataset)}"
    if first.clocking.stages:
        stages = (
            f"{counted(stage.workers, 'worker')} for {shown_time(stage.duration_s)}"
            for stage in first.clocking.stages
        )
        yield f"stages: {', '.join(stages)}"
    if first.kind.needs_rows:
        at_most = "" if first.complete else "up to "
        yield f"rows expected in the tables: {at_most}{first.dataset.rows:,}"
    match first.kind:
        case Kind.INSERT:
            yield from _inserts(planned, first, last)
        case Kind.MIXED:
            yield from _mixed(first, len(planned))
        case Kind.QUERY:
            yield f"queries: {', '.join(first.load.queries)}"
            yield from (f"{_asked(each.spec)}; each worker asks once before" for each in planned)
        case _:
            yield f"verification: {first.verify}"


def _inserts(planned: Sequence[PlannedRun], first: RunSpec, last: Result | None) -> Iterator[str]:
    yield f"{_batches(first)}; primary key: {first.dataset.primary_key}"
    yield f"verification after each run: {first.verify}"
    seconds = estimated_s(planned, last)
    if last is None or seconds is None:
        yield "duration: unknown, because there is no earlier insert with this batch size"
    else:
        yield f"duration: about {shown_time(seconds)}, at the speed of {last.created:%F}"


def _batches(spec: RunSpec) -> str:
    limit = spec.clocking.rows_per_s
    rate = f"{limit:,.0f} rows/s" if limit else "no limit"
    batch = f"{spec.batch_rows:,} rows" if spec.batch_rows else "single rows"
    return f"batch: {batch}; rate: {rate}"


def _mixed(spec: RunSpec, runs: int) -> Iterator[str]:
    """Yield what the workers of mixed runs do, each with the rows that the one before leaves."""
    load, clocking, reader = spec.load, spec.clocking, DatasetReader(spec.dataset)
    assert load.until_ms is not None
    yield f"inserts: {counted(len(spec.inserts), 'worker')}; {_batches(spec)}"
    rate = f"{clocking.queries_per_s:g} queries/s" if clocking.queries_per_s else "no limit"
    yield f"queries: {counted(len(spec.asks), 'worker')}; rate: {rate}; {', '.join(load.queries)}"
    yield f"queries are about the time before {instant(load.until_ms)}, where new rows begin"
    if reader.sizes is not None:
        left = counted(sum(rows_left(reader, spec.dataset)), "row")
        yield f"left to insert: {left} of {sum(reader.sizes):,}, for all runs together"
    warmup = f" after a warm-up of {shown_time(spec.warmup_s)}" if spec.warmup_s else ""
    yield (
        f"{counted(runs, 'run')}; duration of each: {shown_time(clocking.duration_s)}{warmup};"
        f" verification: {spec.verify}, and each answer"
    )


def _asked(spec: RunSpec) -> str:
    """Return how often the workers of a run ask each query."""
    workers, runs = counted(len(spec.workers), "worker"), sum(task.runs for task in spec.asks)
    often = counted(runs, "run") if runs else f"for {shown_time(spec.clocking.duration_s)}"
    return f"{workers}: each query {often}"


def _parts(dataset: Dataset) -> str:
    if dataset.parts == 1:
        return ""
    pinned = ", of which each worker writes one" if dataset.parts_by is PartsBy.WORKER else ""
    return f", in {dataset.parts} parts{pinned}"


def estimated_s(planned: Sequence[PlannedRun], last: Result | None) -> float | None:
    """Return how long the runs take at the speed of an earlier result; None if it has no runs."""
    done = [run for run in last.runs if run.metrics and run.metrics.rows] if last else []
    if not done:
        return None
    return sum(_duration_s(each.spec, done) for each in planned)


def _duration_s(spec: RunSpec, done: Sequence[RunRecord]) -> float:
    """Return how long a run takes, by the earlier run with the nearest number of workers."""
    nearest = min(done, key=lambda run: abs(run.workers - len(spec.workers)))
    assert nearest.metrics
    phases = nearest.outcome.phases_s
    fixed = sum(phases.get(name, 0.0) for name in _FIXED_PHASES)
    with_rows = sum(phases.values()) - fixed
    clocking = spec.clocking
    if clocking.duration_s:
        inserted_s = phases.get(WARMUP, 0.0) + phases.get("insert", 0.0)
        return fixed + with_rows - inserted_s + clocking.warmup_s + clocking.duration_s
    written = sum(each.prefill_rows + each.rows for each in nearest.outcome.workers)
    return fixed + with_rows * rows_of(spec) / written


def rows_of(spec: RunSpec) -> int:
    """Return how many rows a run inserts, at most if it ends by time."""
    return _rows(spec, "prefill") + _rows(spec, "timed")
