"""From the collector's lines to events: each once, and the workers' reports put into the outcome.

A runner may read a line twice, since a broken stream is read again from an earlier place.
"""

from collections import deque

from simulator.protocol.messages import Event, Outcome, ReportEvent, WorkerReport, parse_event

TAIL_LINES = 20


class EventStream:
    """The events of one run, as they come line by line."""

    def __init__(self) -> None:
        self._last = 0
        self._reports: list[WorkerReport] = []
        self.log: deque[str] = deque(maxlen=TAIL_LINES)
        """The last lines that were no events."""

    def take(self, line: str) -> Event | None:
        """Return the event of a line, if it is a new one for the command line to see."""
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
                self._reports.append(report)
                return None
            case Outcome():
                return self._whole(event)
        return event

    def _whole(self, outcome: Outcome) -> Outcome:
        complete = outcome.model_copy(update={"workers": tuple(self._reports)})
        lost = outcome.reports - len(self._reports)
        if not lost or outcome.status != "done":
            return complete
        cause = f"the reports of {lost} workers were lost on the way from the collector's log"
        return complete.model_copy(update={"status": "failed", "cause": cause, "exit_code": 1})
