"""Shows progress on standard error: a bar on a terminal, lines elsewhere."""

import os
import sys
import time
from typing import Self

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from iotbench.config.input.quantities import format_time
from iotbench.figures.numbers import significant
from iotbench.figures.rows import describe_verdict
from iotbench.machine.cleaning import plain
from iotbench.machine.streams import width_of
from iotbench.measurements.shared.plan import PlannedRun
from iotbench.output.terminal.course import SweepMoment
from iotbench.results.metrics import compute_measured_s, count_measured_rows, list_inserting
from simulator.errors import counted
from simulator.protocol.events import (
    AskedEvent,
    AskedSample,
    Outcome,
    PhaseEvent,
    ProgressEvent,
    SampleEvent,
)
from simulator.protocol.messages import CORRECTIONS, TAGS
from simulator.protocol.spec import Work

_LINE_EVERY_S = 5.0
_BAR_WIDTH = 12
_BAR_STYLE = "cyan"
"""Style of the bar; Rich's default is red, like an error."""


class ProgressDisplay:
    """Shows the progress of a sweep."""

    def __init__(self, *, quiet: bool, as_json: bool = False) -> None:
        """Prepare the display; `as_json` prints reports of queries as JSON."""
        self._quiet = quiet
        self._as_json = as_json
        width = width_of(sys.stderr) if "COLUMNS" in os.environ else None  # else the terminal's
        self._console = Console(stderr=True, width=width)
        self._column = BarColumn(
            _BAR_WIDTH,
            complete_style=_BAR_STYLE,
            finished_style=_BAR_STYLE,
            pulse_style=_BAR_STYLE,
        )
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._number = 0
        self._shown_s = 0.0
        self._fault = ""
        """Name of the fault that the last line shows."""

    def __enter__(self) -> Self:
        if not self._quiet and sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                self._column,
                TextColumn("{task.fields[detail]}"),
            )
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar:
            self._bar.stop()

    def take(self, moment: SweepMoment) -> None:
        """Show the event of a moment."""
        if self._quiet:
            return
        if moment.number != self._number:
            self._begin(moment)
        match moment.event:
            case PhaseEvent() | ProgressEvent() | SampleEvent():
                self._update(moment)
            case AskedEvent() as event if self._as_json:
                self._console.print(
                    event.model_dump_json(), markup=False, highlight=False, soft_wrap=True
                )
            case AskedEvent() as event:
                self._print_line(moment, _describe_asked(event))
            case Outcome() as outcome:
                self._print_line(moment, describe_end(moment.planned, outcome))

    def _begin(self, moment: SweepMoment) -> None:
        self._number = moment.number
        self._shown_s = time.monotonic()
        if self._bar:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task("", total=None, detail="")

    def _update(self, moment: SweepMoment) -> None:
        if self._bar and self._task is not None:
            self._redraw(self._bar, self._task, moment)
        elif _has_news(moment) and (
            time.monotonic() - self._shown_s > _LINE_EVERY_S or moment.fault != self._fault
        ):
            self._shown_s, self._fault = time.monotonic(), moment.fault
            words = ", ".join(_list_words(moment))
            self._print_line(
                moment, f"{_format_phase(moment)}: {words}" if words else _format_phase(moment)
            )

    def _redraw(self, bar: Progress, task: TaskID, moment: SweepMoment) -> None:
        """Draw the line within the width of the terminal; the bar is shortened first."""
        description = f"{_format_head(moment)} {_format_phase(moment)}"
        room = self._console.width - len(description) - 2
        detail = _fit(moment, room - 2)
        self._column.bar_width = min(max(room - len(detail), 1), _BAR_WIDTH)
        done = moment.progress
        bar.update(
            task,
            description=escape(description),
            completed=done.rows if done else 0,
            total=done.of if done else None,
            detail=escape(plain(detail)),
        )

    def _print_line(self, moment: SweepMoment, text: str) -> None:
        line = f"{_format_head(moment)}: {text}"
        self._console.print(plain(line), markup=False, highlight=False, soft_wrap=True)


def _format_head(moment: SweepMoment) -> str:
    if not moment.workers:
        return str(moment.planned.spec.work)
    return f"[{moment.number}/{moment.of}] {counted(moment.workers, 'worker')}"


def _format_phase(moment: SweepMoment) -> str:
    return f"{moment.phase} ({moment.fault})" if moment.fault else moment.phase


def _has_news(moment: SweepMoment) -> bool:
    """Return whether a line about the moment shows more than the phase."""
    return not isinstance(moment.event, SampleEvent) or bool(moment.progress or moment.place)


def _list_words(moment: SweepMoment) -> list[str]:
    """Return the words of the line about a moment."""
    done, sample = moment.progress, moment.sample
    if done:
        words = [f"{done.rows:,} of {counted(done.of, 'row')}", f"{done.rows_per_s:,.0f} rows/s"]
    elif sample and sample.query and not moment.planned.spec.load.ramp:
        words = [moment.place, counted(sample.runs, "run"), _format_rate(sample)]
    else:
        words = [moment.detail] if moment.detail else []
    if sample:
        words += [*_format_active(sample), *_format_latency(sample), *_format_queries(sample)]
        words += [_format_errors(sample)] if sample.errors else []
    if moment.left_s is not None:
        words.append(f"{format_time(moment.left_s)} left")
    if moment.sweep_left_s is not None and moment.number < moment.of:
        words.append(f"sweep {format_time(moment.sweep_left_s)} left")
    return words


def _fit(moment: SweepMoment, width: int) -> str:
    """Return the text about a moment; words of low importance are omitted if it is too long."""
    sample = moment.sample
    if not sample:
        return moment.detail
    left_s = moment.left_s if moment.sweep_left_s is None else moment.sweep_left_s
    words = [
        _format_rate(sample),
        *_format_active(sample),
        *_format_latency(sample),
        *_format_queries(sample),
        _format_errors(sample),
    ]
    words += [f"{format_time(left_s)} left"] if left_s is not None else []
    words = [moment.place, *words] if moment.place else words
    if not sample.errors and len(", ".join(words)) > width:
        words.remove(_format_errors(sample))
    for each in (sample.asked, sample) if sample.asked else ():
        if len(", ".join(words)) > width:
            for word in _format_latency(each):  # queries are last, if both have the same
                del words[len(words) - 1 - words[::-1].index(word)]
    if moment.place and len(", ".join(words)) > width:
        words[0] = sample.query
    if moment.place and len(", ".join(words)) > width:
        words = words[1:]
    return ", ".join(words)


def _format_rate(sample: SampleEvent) -> str:
    if sample.query:
        return f"{_format_per_s(sample.queries_per_s)} queries/s"
    return f"{sample.rows_per_s:,.0f} rows/s"


def _format_queries(sample: SampleEvent) -> list[str]:
    """Return the words about the queries of a mixed run."""
    asked = sample.asked
    if asked is None:
        return []
    return [f"{_format_per_s(asked.queries_per_s)} queries/s", *_format_latency(asked)]


def _format_per_s(rate: float) -> str:
    return significant(rate) if rate else "0"


def _format_latency(sample: SampleEvent | AskedSample) -> list[str]:
    return [] if sample.p99_ms is None else [f"p99 {significant(sample.p99_ms)} ms"]


def _format_active(sample: SampleEvent) -> list[str]:
    return [] if sample.active is None else [f"{counted(sample.active, 'worker')} active"]


def _format_errors(sample: SampleEvent) -> str:
    return counted(sample.errors, "error")


def _describe_asked(event: AskedEvent) -> str:
    figures = (
        f"{significant(event.wait_ms_avg)} ms on average, {event.queries_per_s:,.0f} queries/s"
    )
    return f"{event.query}: {counted(event.runs, 'run')}, {figures}"


def describe_end(planned: PlannedRun, outcome: Outcome) -> str:
    """Return a short text about the end of a run."""
    if outcome.status != "done":
        return f"{outcome.status}: {outcome.cause}"
    found = outcome.verdict
    verdict = describe_verdict(found.status, found.level) if found else ""
    work = planned.spec.work
    if not work.writes:
        queries = counted(len(outcome.queries), "query")
        rows_checked = counted(planned.spec.dataset.rows, "row")
        return f"{queries if work.asks else rows_checked}, {verdict}"
    rows, window_s = count_measured_rows(list_inserting(outcome)), compute_measured_s(outcome)
    if work is Work.CHANGE:
        times = [each for report in outcome.workers for each in report.changes]
        corrected, retagged = (
            sum(each.rows for each in times if each.name == name) for name in (CORRECTIONS, TAGS)
        )
        counts = (
            ("corrected", corrected), ("retagged", retagged),
            ("deleted", outcome.deleted_rows), ("inserted", rows),
        )  # fmt: skip
        changed = ", ".join(f"{counted(n, 'row')} {what}" for what, n in counts if n)
        return f"{changed}, {verdict}"
    rate = f"{rows / window_s:,.0f} rows/s" if window_s else counted(rows, "row")
    runs = sum(times.runs for report in outcome.workers for times in report.queries)
    asked = f", {counted(runs, 'query')}" if work.asks else ""
    return f"{rate}{asked}, {verdict}"
