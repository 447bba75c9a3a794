"""Live progress on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from cli.plan import PlannedRun
from simulator.protocol.messages import Event, Outcome, PhaseEvent, ProgressEvent
from simulator.protocol.spec import Kind

_LINE_EVERY_S = 5.0


class Follower:
    """Shows the events of a sweep as they come."""

    def __init__(self, *, total_runs: int, quiet: bool) -> None:
        self._quiet = quiet
        self._total_runs = total_runs
        self._console = Console(stderr=True)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._run_id = ""
        self._number = 0
        self._said_s = 0.0

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[told]}"),
            )
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def show(self, planned: PlannedRun, event: Event) -> None:
        """Show one event of a run."""
        if self._quiet:
            return
        if planned.spec.run_id != self._run_id:
            self._run_id = planned.spec.run_id
            self._number += 1
            self._said_s = time.monotonic()
            if self._bar:
                if self._task is not None:
                    self._bar.remove_task(self._task)
                self._task = self._bar.add_task("", total=None, told="")
        match event:
            case PhaseEvent(phase=phase, detail=detail):
                self._tell(planned, phase, detail, None, None)
            case ProgressEvent():
                self._tell(planned, event.phase, _told(event), event.rows, event.of)
            case Outcome():
                self._line(planned, _ending(planned, event))

    def _tell(
        self, planned: PlannedRun, phase: str, told: str, done: int | None, of: int | None
    ) -> None:
        if self._bar and self._task is not None:
            description = f"{self._head(planned)} {phase}"
            self._bar.update(
                self._task, description=description, completed=done or 0, total=of, told=told
            )
        elif time.monotonic() - self._said_s > _LINE_EVERY_S:
            self._said_s = time.monotonic()
            self._line(planned, f"{phase}: {told}" if told else phase)

    def _head(self, planned: PlannedRun) -> str:
        workers = len(planned.spec.workers)
        if not workers:
            return str(planned.spec.kind)
        plural = "s" if workers > 1 else ""
        return f"[{self._number}/{self._total_runs}] {workers} worker{plural}"

    def _line(self, planned: PlannedRun, text: str) -> None:
        line = f"{self._head(planned)}: {text}"
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)


def _told(event: ProgressEvent) -> str:
    left = "" if event.left_s is None else f", {event.left_s:,.0f} s left"
    return f"{event.rows:,} of {event.of:,} rows, {event.rows_per_s:,.0f} rows/s{left}"


def _ending(planned: PlannedRun, outcome: Outcome) -> str:
    if outcome.status != "done":
        return f"{outcome.status}: {outcome.cause}"
    verdict = outcome.verdict.status if outcome.verdict else ""
    if planned.spec.kind is Kind.VERIFY:
        return f"{planned.spec.dataset.rows:,} rows, {verdict}"
    if planned.spec.kind is Kind.QUERY:
        return f"{len(outcome.queries)} queries, {verdict}"
    ends = [report.ended_s for report in outcome.workers if report.ended_s]
    rows = sum(report.rows for report in outcome.workers)
    window = max(ends) - outcome.released_s if ends and outcome.released_s else 0.0
    rate = f"{rows / window:,.0f} rows/s" if window else f"{rows:,} rows"
    return f"{rate}, {verdict}"
