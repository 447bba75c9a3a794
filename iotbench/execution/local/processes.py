"""The processes of one local run: starts and ends them, reads events, notices silence."""

import queue
import signal
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

import psutil

from iotbench.execution.local.forks import Fork, Forks
from iotbench.execution.local.pipes import Pipes
from iotbench.execution.stream import TAIL_LINES, EventStream
from simulator.forks import MOST_COLLECTORS
from simulator.protocol.events import Event
from simulator.protocol.messages import WorkerReport
from simulator.protocol.run_input import RunInput

_POLL_S = 0.05
_LOOK_S = 1.0
"""Interval of checks for stopped processes."""
_DRAIN_S = 1.0
"""Time to wait for the pipes of an ended process to close."""
_KILL_S = 5.0
"""Time that a killed process may take to end, for example while the process waits for a disk."""
_IS_STOPPED = "its process is stopped (SIGSTOP)"
_COLLECTOR = "collector"
_WORKER = "worker-"
_NO_FILES: Mapping[str, int] = {}


@dataclass
class _Running:
    """A process and its output."""

    name: str
    process: Fork
    role: Sequence[str]
    files: Mapping[str, int]
    stream: EventStream = field(default_factory=EventStream)
    log: deque[str] = field(default_factory=lambda: deque(maxlen=TAIL_LINES))
    open_pipes: int = 2
    ended_s: float | None = None
    stopped_s: float | None = None
    """Time at which a signal stopped the process."""

    def has_stopped(self) -> bool:
        """Return whether a signal has suspended the process without ending it."""
        try:
            return psutil.Process(self.process.pid).status() == psutil.STATUS_STOPPED
        except psutil.Error:
            return False

    def tail(self) -> list[str]:
        """Return the last lines that are not events."""
        return [*self.log, *self.stream.log][-TAIL_LINES:]


class RunProcesses:
    """The processes of one run. Leaving the context ends them all."""

    def __init__(self, forks: Forks, given: RunInput, clock: Callable[[], float]) -> None:
        self._forks = forks
        self._line = given.line()
        self._silence_s = given.spec.silence_s
        self._clock = clock
        self._all: dict[str, _Running] = {}
        self._pipes = Pipes()
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._reported: set[str] = set()
        self._heard_s: float | None = None
        self._looked_s = clock()
        self._lost: list[_Running] = []
        """Collectors that have been replaced."""

    def __enter__(self) -> Self:
        self._pipes.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        for running in self._all.values():
            running.process.kill()
        self._pipes.__exit__()
        for running in (*self._all.values(), *self._lost):
            running.process.wait(_KILL_S)
            running.process.close()

    def start(self, name: str, role: Sequence[str], files: Mapping[str, int] = _NO_FILES) -> None:
        """Start a process that reads its input from a pipe, and ends when this pipe closes."""
        process = self._forks.start(name, role, files)
        running = self._all[name] = _Running(name, process, role, files)

        def hear(line: str) -> None:
            self._heard_s = self._clock()
            self._lines.put(line)

        def end() -> None:
            running.open_pipes -= 1

        self._pipes.write(process.stdin, self._line)
        take = hear if name == _COLLECTOR else running.stream.take
        self._pipes.read(process.stdout, take, end)
        self._pipes.read(process.stderr, running.log.append, end)

    # --- while it runs -------------------------------------------------------------------------

    def next_event(self) -> Event | None:
        """Return the next event of the collector, or None after a moment."""
        try:
            line = self._lines.get(timeout=_POLL_S)
        except queue.Empty:
            return None
        return self._all[_COLLECTOR].stream.take(line)

    def ask_to_stop(self) -> None:
        """Ask the collector to report the progress and end the run."""
        self._all[_COLLECTOR].process.terminate()

    def lost_collector(self) -> str:
        """Return why the collector is lost; empty if it is not lost."""
        collector = self._all[_COLLECTOR]
        code = self._exit_code(collector)
        if code is not None:
            if not self._lines.empty():
                return ""  # read the events that it wrote before it ended
            times = f", as {len(self._lost)} before it," if self._lost else ""
            last = _show_last_line(collector)
            return f"the collector {_describe_end(code)}{times} before the run was over{last}"
        if self._is_stopped_too_long(collector):
            return f"the collector has been silent for {self._silence_s:.0f} s; {_IS_STOPPED}"
        if self._heard_s is not None and self._clock() - self._heard_s > self._silence_s:
            return (
                f"the collector has been silent for {self._silence_s:.0f} s{self.state(_COLLECTOR)}"
            )
        return ""

    def replace_collector(self) -> bool:
        """Start a new collector if a signal killed the current one; return whether it started."""
        lost = self._all[_COLLECTOR]
        code = self._exit_code(lost)
        if code is None or code >= 0 or len(self._lost) + 1 == MOST_COLLECTORS:
            return False
        self._heard_s = None
        self._reported.clear()  # the next one does not know it
        self._lost.append(lost)
        self.start(_COLLECTOR, lost.role, lost.files)
        other = self._all[_COLLECTOR]
        other.stream, other.log = lost.stream, lost.log
        return True

    def report_lost_workers(self) -> None:
        """Report ended workers to the collector, which would otherwise notice much later."""
        self._look()
        for name, running in self._all.items():
            if name == _COLLECTOR or name in self._reported:
                continue
            code = self._exit_code(running)
            if code:
                self._report(name, f"{_describe_end(code)}{_show_last_line(running)}")
            elif self._is_stopped_too_long(running):
                self._report(name, f"has been silent for {self._silence_s:.0f} s; {_IS_STOPPED}")

    def state(self, name: str) -> str:
        """Return a note that a silent process is stopped; empty if it is not stopped."""
        running = self._all.get(name)
        return f"; {_IS_STOPPED}" if running and running.has_stopped() else ""

    def _report(self, name: str, what: str) -> None:
        self._reported.add(name)
        self._send(self._all[_COLLECTOR], f"{name.removeprefix(_WORKER)} {what}")

    def _send(self, running: _Running, cause: str) -> None:
        self._pipes.write(running.process.stdin, " ".join(cause.split()).encode() + b"\n")

    def _look(self) -> None:
        """Note which processes are stopped."""
        now_s = self._clock()
        if now_s - self._looked_s < _LOOK_S:
            return
        self._looked_s = now_s
        for running in self._all.values():
            if not running.has_stopped():
                running.stopped_s = None
            elif running.stopped_s is None:
                running.stopped_s = now_s

    def _is_stopped_too_long(self, running: _Running) -> bool:
        since_s = running.stopped_s
        return since_s is not None and self._clock() - since_s > self._silence_s

    def _exit_code(self, running: _Running) -> int | None:
        """Return the exit code of a process that has ended, once its pipes have been read."""
        code = running.process.wait()
        if code is None:
            return None
        if running.ended_s is None:
            running.ended_s = self._clock()
        # A process that it has started may keep them open.
        is_read = not running.open_pipes or self._clock() - running.ended_s > _DRAIN_S
        return code if is_read else None

    # --- the end -------------------------------------------------------------------------------

    def wait(self, limit_s: float) -> None:
        """Wait a moment for the processes to end."""
        deadline_s = self._clock() + limit_s
        for running in self._all.values():
            if running.process.wait(max(deadline_s - self._clock(), 0.01)) is None:
                return

    def last_reports(self, cause: str, limit_s: float) -> tuple[WorkerReport, ...]:
        """End the collector; return the workers' reports that arrive within the limit, in order."""
        self._all[_COLLECTOR].process.kill()
        workers = [running for name, running in self._all.items() if name != _COLLECTOR]
        for running in workers:
            self._send(running, cause)
        deadline_s = self._clock() + limit_s
        while self._clock() < deadline_s and any(self._exit_code(w) is None for w in workers):
            self.next_event()
        return tuple(report for running in workers for report in running.stream.reports)

    def logs(self) -> dict[str, str]:
        """Return the last lines of every log that is not empty."""
        tails = {name: "\n".join(running.tail()) for name, running in self._all.items()}
        return {name: tail for name, tail in tails.items() if tail}


def _show_last_line(running: _Running) -> str:
    last = running.tail()[-1:]
    return f": {last[0]}" if last else ""


def _describe_end(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"
