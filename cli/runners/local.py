"""The local runner: collector and workers as processes of this machine."""

import json
import secrets as tokens
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from cli.interrupts import Interrupts
from cli.runners.processes import Processes
from simulator.protocol import Event, Outcome, PhaseEvent
from simulator.spec import RunSpec, write_private

_TIDY_S = 8.0
_END_S = 3.0


class LocalRunner:
    """Each run is a collector and its workers, ended with the run and with this process."""

    def __init__(self, interrupts: Interrupts) -> None:
        self._interrupts = interrupts
        self._logs: dict[str, str] = {}

    def logs(self) -> dict[str, str]:
        """Return the last lines that the processes of the last run wrote."""
        return self._logs

    def run(self, spec: RunSpec, secrets: Mapping[str, str]) -> Iterator[Event]:
        """Start the run and yield its events; the last is always an Outcome."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="iot-bench-")))
            processes = stack.enter_context(Processes(folder))
            write_private(folder / "spec.json", spec.model_dump_json())
            write_private(folder / "secrets.json", json.dumps(dict(secrets)))
            write_private(folder / "token", tokens.token_urlsafe(32))
            with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
                # The socket listens before the collector runs, so that all start side by side.
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
                # Everybody has read them; a killed command line cannot leave them behind.
                for name in ("secrets.json", "token"):
                    (folder / name).unlink(missing_ok=True)
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
                # It had not begun to listen to signals, or does not get round to it.
                self._logs = processes.logs()
                yield Outcome(
                    status="interrupted", cause="stopped by the user", exit_code=130, touched=True
                )
                return
            if lost:
                self._logs = processes.logs()
                yield Outcome(status="failed", cause=lost, exit_code=1, touched=True)
                return
            processes.tell_of_lost_workers()
