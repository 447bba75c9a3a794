"""Turns lines of the collector into events, and adds the reports of workers to the outcome.

A line that is read twice gives one event: a runner reads a broken stream again from an earlier
line.
"""

from collections import deque

from simulator.errors import counted
from simulator.protocol.events import Event, Outcome, ReportEvent, parse_event
from simulator.protocol.messages import WorkerReport

TAIL_LINES = 20


class EventStream:
    """The event stream of one run."""

    def __init__(self) -> None:
        self._last = 0
        self._reports: dict[int, WorkerReport] = {}
        self.log: deque[str] = deque(maxlen=TAIL_LINES)
        """The last lines that are not events."""

    @property
    def reports(self) -> tuple[WorkerReport, ...]:
        """Reports of the workers, in the order of the workers."""
        return tuple(self._reports[index] for index in sorted(self._reports))

    def has_report_of(self, index: int) -> bool:
        """Return whether a worker has reported without an error."""
        report = self._reports.get(index)
        return report is not None and not report.error

    def take(self, line: str) -> Event | None:
        """Return the event in a line; None if the line has no event, or was read before."""
        try:
            number, event = parse_event(line)
        except ValueError:
            if line.strip():
                self.log.append(line.rstrip())
            return None
        if number <= self._last:
            return None
        self._last = number
        match event:
            case ReportEvent(report=report):
                # A collector that replaces another one passes all reports on again.
                self._reports[report.index] = report
                return None
            case Outcome():
                return self._complete(event)
        return event

    def _complete(self, outcome: Outcome) -> Outcome:
        complete = outcome.model_copy(update={"workers": self.reports})
        lost = outcome.reports - len(self.reports)
        if not lost or outcome.status != "done":
            return complete
        cause = f"the collector's log lacks the reports of {counted(lost, 'worker')}"
        return complete.model_copy(update={"status": "failed", "cause": cause, "exit_code": 1})


def words_of(log: str) -> list[str]:
    """Return the lines of a log that are not events."""
    return [line for line in log.splitlines() if not _parse(line)]


def reports_in(log: str) -> list[WorkerReport]:
    """Return the reports that a worker writes to its log if it has no collector."""
    events = map(_parse, log.splitlines())
    return [event.report for event in events if isinstance(event, ReportEvent)]


def _parse(line: str) -> Event | None:
    try:
        return parse_event(line)[1]
    except ValueError:
        return None
