"""The local runner: collector and workers as processes of this machine."""

import shutil
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path
from secrets import token_urlsafe
from types import TracebackType
from typing import Self

from cli.host.interrupts import Interrupts
from cli.host.scratch import scratch_folder
from cli.runners.processes import Processes
from simulator.protocol.messages import Event, Outcome, PhaseEvent
from simulator.protocol.spec import RunSpec, write_private, write_secrets

_TIDY_S = 8.0
_END_S = 3.0


class LocalRunner:
    """Each run is a collector and workers, which end with the run or with this process."""

    def __init__(
        self,
        secrets: Mapping[str, str],
        interrupts: Interrupts,
        lock: AbstractContextManager[object],
    ) -> None:
        """Take the target's credentials and what excludes other runs on its database."""
        self._secrets = secrets
        self._lock = lock
        self._interrupts = interrupts
        self._logs: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._lock.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._lock.__exit__(kind, error, traceback)

    def facts(self) -> dict[str, str]:
        """Return nothing: everything ran on this machine."""
        return {}

    def logs(self) -> dict[str, str]:
        """Return the last log lines of the last run."""
        return self._logs

    def run(self, spec: RunSpec) -> Iterator[Event]:
        """Start the run and yield its events; the last is always an Outcome."""
        with ExitStack() as stack:
            folder = stack.enter_context(scratch_folder("run"))
            processes = stack.enter_context(Processes(folder))
            write_private(folder / "spec.json", spec.model_dump_json())
            write_secrets(folder / "secrets", token_urlsafe(32), self._secrets)
            with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
                # The socket listens before the collector runs, so that all start in parallel.
                port = listener.getsockname()[1]
                fd = listener.fileno()
                processes.start("collector", ["collector", f"--fd={fd}"], keep_fd=fd)
            for index in range(len(spec.workers)):
                url = f"http://127.0.0.1:{port}"
                role = ["worker", f"--collector={url}", f"--index={index}"]
                processes.start(f"worker-{index}", role)
            yield from self._events(processes, folder)

    def _events(self, processes: Processes, folder: Path) -> Iterator[Event]:
        deadline = None
        while True:
            event = processes.next_event()
            if isinstance(event, PhaseEvent) and event.phase in ("insert", "query"):
                # All processes have read the secrets; a killed command line leaves none behind.
                shutil.rmtree(folder / "secrets", ignore_errors=True)
            if isinstance(event, Outcome):
                processes.wait(_END_S)
                self._logs = processes.logs()
                yield event
                return
            if event:
                yield event
            if deadline is None and self._interrupts.requested:
                deadline = time.monotonic() + _TIDY_S
                processes.ask_to_stop()
            lost = processes.lost_collector()
            if deadline and (lost or time.monotonic() > deadline):
                # It does not handle signals yet, or is stuck.
                self._logs = processes.logs()
                yield Outcome(
                    status="interrupted", cause="stopped by the user", exit_code=130, touched=True
                )
                return
            if lost:
                self._logs = processes.logs()
                yield Outcome(status="failed", cause=lost, exit_code=1, touched=True)
                return
            processes.report_lost_workers()
