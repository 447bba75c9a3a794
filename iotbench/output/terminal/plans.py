"""The plan of a sweep, which `--dry-run` prints if the local runner is used."""

from collections.abc import Iterator, Sequence
from typing import Any

from iotbench.config.input.quantities import format_time
from iotbench.machine.tables import CellKind, TextTable, draw
from iotbench.measurements.shared.kind import Kind
from iotbench.measurements.shared.plan import PlannedRun, count_prefilled, count_timed
from iotbench.results.result import Result
from simulator.data.dataset import Dataset, PartsBy
from simulator.data.reader import DatasetReader
from simulator.errors import counted
from simulator.protocol.pace import LoadStage

_SHOWN_RUNS = 100


def plan_text(
    kind: Kind[Any], planned: Sequence[PlannedRun], runner: str, last: Result | None, width: int
) -> str:
    """Return a plan as text; the estimate is based on `last`, an earlier result of the target."""
    first = planned[0].spec
    about = f"target {first.target} (module {first.module}, runner {runner})"
    parts: list[TextTable | str] = [f"plan of {kind.name} on {about}; nothing is started"]
    if not kind.needs_rows:
        parts.append(_list_runs(planned[:_SHOWN_RUNS]))
        if len(planned) > _SHOWN_RUNS:
            parts.append(f"and {counted(len(planned) - _SHOWN_RUNS, 'run')} more")
    return draw([*parts, *_list_facts(kind, planned, last)], width)


def _list_runs(planned: Sequence[PlannedRun]) -> TextTable:
    table = TextTable()
    for title in ("Run", "Workers", "Repeat"):
        table.add_column(title)
    table.add_column("Tables before", CellKind.TEXT)
    for title in ("Rows before", "Prefill", "Rows"):
        table.add_column(title)
    for number, each in enumerate(planned, 1):
        spec = each.spec
        before = "dropped, created" if spec.clean else "kept" if spec.dataset.rows else "created"
        counts = (spec.dataset.rows, count_prefilled(spec), count_timed(spec))
        shown = [f"{count:,}" for count in counts]
        if spec.clocking.duration_s:
            shown[-1] = f"for {format_time(spec.clocking.duration_s)}"
        if spec.warmup_s:
            shown[-1] += f", warm-up {format_time(spec.warmup_s)}"
        table.add_row(str(number), str(len(spec.workers)), str(each.run), before, *shown)
    return table


def _list_facts(
    kind: Kind[Any], planned: Sequence[PlannedRun], last: Result | None
) -> Iterator[str]:
    first = planned[0].spec
    names = ", ".join(table.name for table in DatasetReader(first.dataset).tables)
    yield f"tables: {names}{_describe_parts(first.dataset)}"
    if first.clocking.stages:
        stages = (
            f"{counted(stage.workers, 'worker')}{_format_rate(stage)}"
            f" for {format_time(stage.duration_s)}"
            for stage in first.clocking.stages
        )
        yield f"stages: {', '.join(stages)}"
    if kind.needs_rows:
        at_most = "" if first.complete else "up to "
        yield f"rows expected in the tables: {at_most}{first.dataset.rows:,}"
    yield from kind.outline(planned, last)


def _format_rate(stage: LoadStage) -> str:
    return f" at {stage.rate_per_s:,.15g}/s" if stage.rate_per_s else ""


def _describe_parts(dataset: Dataset) -> str:
    if dataset.parts == 1:
        return ""
    pinned = ", of which each worker writes one" if dataset.parts_by is PartsBy.WORKER else ""
    return f", in {dataset.parts} parts{pinned}"
