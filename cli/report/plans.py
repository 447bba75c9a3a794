"""The plan of a sweep before it starts: its runs in order, their rows, and how long they may take.

This is what `--dry-run` prints for the local runner.
"""

import io
from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table

from cli.plan import PlannedRun
from cli.report.estimate import shown_time
from cli.results import Result, RunRecord
from simulator.data.dataset import DatasetReader
from simulator.errors import counted
from simulator.protocol.spec import Kind, RunSpec

_SHOWN_RUNS = 100


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
    if first.kind is Kind.INSERT:
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
        if spec.duration_s:
            shown[-1] = f"for {shown_time(spec.duration_s)}"
        table.add_row(str(number), str(len(spec.workers)), str(each.run), before, *shown)
    return table


def _rows(spec: RunSpec, part: str) -> int:
    return sum(len(rows) for task in spec.inserts for rows in getattr(task, part))


def _facts(planned: Sequence[PlannedRun], first: RunSpec, last: Result | None) -> list[str]:
    parts = first.dataset.parts
    names = ", ".join(table.name for table in DatasetReader(first.dataset).tables)
    lines = [f"tables: {names}" + (f", in {parts} parts" if parts > 1 else "")]
    if first.kind is Kind.INSERT:
        rate = f"{first.rate_rows_per_s:,.0f} rows/s" if first.rate_rows_per_s else "no limit"
        batch = f"{first.batch_rows:,} rows" if first.batch_rows else "single rows"
        lines.append(f"batch: {batch}; rate: {rate}; primary key: {first.dataset.primary_key}")
        lines.append(f"verification after each run: {first.verify}")
        seconds = estimated_s(planned, last)
        if last is None or seconds is None:
            lines.append(
                "duration: unknown, because there is no earlier insert with this batch size"
            )
        else:
            lines.append(
                f"duration: about {shown_time(seconds)}, at the speed of {last.created:%F}"
            )
        return lines
    lines.append(f"rows expected in the tables: {first.dataset.rows:,}")
    if first.kind is Kind.QUERY:
        lines.append(f"queries: {', '.join(first.load.queries)}")
        lines += [f"{_asked(each.spec)}; each worker asks once before" for each in planned]
    else:
        lines.append(f"verification: {first.verify}")
    return lines


def _asked(spec: RunSpec) -> str:
    """Return how often the workers of a run ask each query."""
    workers, runs = counted(len(spec.workers), "worker"), sum(task.runs for task in spec.asks)
    often = counted(runs, "run") if runs else f"for {shown_time(spec.load.duration_s)}"
    return f"{workers}: each query {often}"


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
    prefilled = sum(worker.prefill_rows for worker in nearest.outcome.workers)
    seconds = sum(nearest.outcome.phases_s.values())
    if spec.duration_s:
        return seconds - nearest.outcome.phases_s.get("insert", 0.0) + spec.duration_s
    rows = _rows(spec, "prefill") + _rows(spec, "timed")
    return seconds * rows / (nearest.metrics.rows + prefilled)
