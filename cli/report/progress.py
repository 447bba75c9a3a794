"""Live progress on standard error: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from cli.host.streams import plain
from cli.plan import PlannedRun
from cli.report.estimate import Estimate, shown_time
from cli.report.figures import significant
from simulator.errors import counted
from simulator.protocol.messages import AskedEvent, Event, Outcome, PhaseEvent, ProgressEvent
from simulator.protocol.spec import Kind

_LINE_EVERY_S = 5.0
_BAR_WIDTH = 12


class Follower:
    """Shows the events of a sweep as they come."""

    def __init__(
        self, planned: Sequence[PlannedRun], *, quiet: bool, as_json: bool = False
    ) -> None:
        """`as_json`: write what the user asks to be printed as a line of JSON."""
        self._quiet = quiet
        self._as_json = as_json
        self._total_runs = len(planned)
        self._estimate = Estimate(planned)
        self._console = Console(stderr=True)
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._run_id = ""
        self._number = 0
        self._shown_s = 0.0

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(_BAR_WIDTH),
                TextColumn("{task.fields[detail]}"),
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
            self._begin(planned)
        match event:
            case PhaseEvent(phase=phase, detail=detail):
                self._update(planned, phase, detail, None, None)
            case ProgressEvent():
                self._update(planned, event.phase, self._progress(event), event.rows, event.of)
            case AskedEvent() if self._as_json:
                self._console.print(
                    event.model_dump_json(), markup=False, highlight=False, soft_wrap=True
                )
            case AskedEvent():
                self._line(planned, _asked(event))
            case Outcome():
                self._estimate.finish()
                self._line(planned, _ending(planned, event))

    def _begin(self, planned: PlannedRun) -> None:
        self._run_id = planned.spec.run_id
        self._number += 1
        self._shown_s = time.monotonic()
        self._estimate.begin()
        if self._bar:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task("", total=None, detail="")

    def _update(
        self, planned: PlannedRun, phase: str, detail: str, done: int | None, of: int | None
    ) -> None:
        if self._bar and self._task is not None:
            description = f"{self._head(planned)} {phase}"
            self._bar.update(
                self._task, description=description, completed=done or 0, total=of, detail=detail
            )
        elif time.monotonic() - self._shown_s > _LINE_EVERY_S:
            self._shown_s = time.monotonic()
            self._line(planned, f"{phase}: {detail}" if detail else phase)

    def _progress(self, event: ProgressEvent) -> str:
        words = [f"{event.rows:,} of {counted(event.of, 'row')}", f"{event.rows_per_s:,.0f} rows/s"]
        if event.left_s is not None:
            words.append(f"{shown_time(event.left_s)} left")
        sweep_s = self._estimate.left_s(event.left_s, event.rows_per_s)
        if sweep_s is not None and self._number < self._total_runs:
            words.append(f"sweep {shown_time(sweep_s)} left")
        return ", ".join(words)

    def _head(self, planned: PlannedRun) -> str:
        workers = len(planned.spec.workers)
        if not workers:
            return str(planned.spec.kind)
        return f"[{self._number}/{self._total_runs}] {counted(workers, 'worker')}"

    def _line(self, planned: PlannedRun, text: str) -> None:
        line = f"{self._head(planned)}: {text}"
        self._console.print(plain(line), markup=False, highlight=False, soft_wrap=True)


def _asked(event: AskedEvent) -> str:
    figures = (
        f"{significant(event.wait_ms_avg)} ms on average, {event.queries_per_s:,.0f} queries/s"
    )
    return f"{event.query}: {counted(event.runs, 'run')}, {figures}"


def _ending(planned: PlannedRun, outcome: Outcome) -> str:
    if outcome.status != "done":
        return f"{outcome.status}: {outcome.cause}"
    verdict = outcome.verdict.status if outcome.verdict else ""
    if planned.spec.kind is Kind.VERIFY:
        return f"{counted(planned.spec.dataset.rows, 'row')}, {verdict}"
    if planned.spec.kind is Kind.QUERY:
        return f"{counted(len(outcome.queries), 'query')}, {verdict}"
    ends = [report.ended_s for report in outcome.workers if report.ended_s]
    rows = sum(report.rows for report in outcome.workers)
    window = max(ends) - outcome.released_s if ends and outcome.released_s else 0.0
    rate = f"{rows / window:,.0f} rows/s" if window else counted(rows, "row")
    return f"{rate}, {verdict}"
