"""The local runner: collector and workers as processes of this machine."""

import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from secrets import token_urlsafe
from tempfile import TemporaryFile
from typing import Literal, Self

from iotbench.execution.local.forks import Forks
from iotbench.execution.local.processes import RunProcesses
from iotbench.machine.interrupts import STOPPED, Interrupts
from iotbench.machine.scratch import scratch_folder
from simulator.clock import OwnClock
from simulator.errors import Interrupted
from simulator.host import allow_open_files
from simulator.modules.contract import IMPORT
from simulator.protocol.events import Event, Outcome
from simulator.protocol.messages import TIMEOUT_GRACE_S
from simulator.protocol.run_input import RunInput
from simulator.protocol.spec import RunSpec

_TIDY_S = 8.0
_END_S = 1.0
_LAST_REPORTS_S = 2.0


class LocalRunner:
    """Runs collector and workers as processes, which end with the run or with this process."""

    def __init__(
        self,
        secrets: Mapping[str, str],
        credential_files: Mapping[str, Path],
        interrupts: Interrupts,
        lock: AbstractContextManager[object],
        sweep_id: str = "",
    ) -> None:
        """Prepare the runner.

        `credential_files` contains rotated credentials, and `lock` is held during the sweep.
        """
        self._secrets, self._credential_files = secrets, credential_files
        self._lock = lock
        self._forks = Forks(sweep_id)
        self._interrupts = interrupts
        self._logs: dict[str, str] = {}
        self.cluster_warnings: list[str] = []
        """Warnings about the place of the runs: none, because every run is on this machine."""

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self._lock)
            stack.enter_context(self._forks)
            self._held = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._held.close()

    def facts(self) -> dict[str, str]:
        """Return no facts, because every run is on this machine."""
        return {}

    def logs(self) -> dict[str, str]:
        """Return the last log lines of the last run, by process."""
        return self._logs

    def run(self, spec: RunSpec) -> Iterator[Event]:
        """Start a run and yield its events; the last event is always an Outcome.

        No process keeps running afterwards, even if the iterator is closed early.
        """
        allow_open_files()
        with ExitStack() as stack:
            if spec.mode == IMPORT:  # workers that are killed leave their files there
                scratch = stack.enter_context(scratch_folder("import"))
                spec = spec.model_copy(update={"scratch": str(scratch)})
            given = RunInput(
                spec=spec,
                token=token_urlsafe(32),
                credentials=self._secrets,
                credential_files=self._credential_files,
            )
            clock = stack.enter_context(OwnClock())
            processes = stack.enter_context(RunProcesses(self._forks, given, clock))
            # The socket listens before a collector runs: all start in parallel, and workers find
            # the next one if it is lost.
            listener = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=1024))
            journal = stack.enter_context(TemporaryFile())
            files = {"--fd": listener.fileno(), "--journal": journal.fileno()}
            processes.start("collector", ["collector"], files)
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            for index in range(len(spec.workers)):
                role = ["worker", f"--collector={url}", f"--index={index}"]
                processes.start(f"worker-{index}", role)
            yield from self._follow(spec, processes, clock, listener.close)

    def _follow(
        self, spec: RunSpec, processes: RunProcesses, clock: OwnClock, refuse: Callable[[], None]
    ) -> Iterator[Event]:
        """Yield the events; once no collector is left, `refuse` ends the workers' wait for one."""
        deadline_s = timeout_s = None
        while True:
            event = processes.next_event()
            if isinstance(event, Outcome):
                processes.wait(_END_S)
                self._logs = processes.logs()
                yield _explain(event, processes)
                return
            if event:
                if timeout_s is None and spec.timeout_s:
                    timeout_s = clock() + spec.timeout_s + TIMEOUT_GRACE_S
                yield event
            if deadline_s is None and self._interrupts.requested:
                deadline_s = clock() + _TIDY_S
                processes.ask_to_stop()
            lost = processes.lost_collector()
            if lost and not deadline_s and processes.replace_collector():
                continue
            if deadline_s and (lost or clock() > deadline_s):
                # The collector does not handle signals yet, or is stuck.
                refuse()
                yield self._conclude(processes, "interrupted", STOPPED)
                return
            if not lost and timeout_s and clock() > timeout_s:
                lost = (
                    f"--timeout: the run was not done after {spec.timeout_s:g} s, and the collector"
                    f" did not end it{processes.state('collector')}"
                )
            if lost:
                refuse()
                yield self._conclude(processes, "failed", lost)
                return
            processes.report_lost_workers()

    def _conclude(
        self, processes: RunProcesses, status: Literal["failed", "interrupted"], cause: str
    ) -> Outcome:
        """Return the outcome of a run without a collector that could report the outcome."""
        reports = processes.last_reports(cause, _LAST_REPORTS_S)
        self._logs = processes.logs()
        return Outcome(
            status=status,
            cause=cause,
            exit_code=Interrupted.exit_code if status == "interrupted" else 1,
            touched=True,
            reports=len(reports),
            workers=reports,
        )


def _explain(outcome: Outcome, processes: RunProcesses) -> Outcome:
    """Return the outcome; the cause mentions if the process of a silent worker is stopped."""
    found = re.match(r"worker (\d+) has been silent for \d+ s$", outcome.cause)
    if not found:
        return outcome
    state = processes.state(f"worker-{found[1]}")
    return outcome.model_copy(update={"cause": outcome.cause + state})
