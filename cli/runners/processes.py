"""The processes of one local run: start, events, and the end in every case."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from cli.runners.stream import TAIL_LINES, EventStream
from simulator.protocol.messages import Event

_POLL_S = 0.05
# A worker allocates the same few MB for every block. By default glibc returns them to the system
# each time, and the page faults make encoding up to four times slower.
_MEMORY_SETTINGS = {"MALLOC_TRIM_THRESHOLD_": "67108864", "MALLOC_MMAP_THRESHOLD_": "67108864"}
_ROOT = Path(__file__).resolve().parents[2]


class Processes:
    """The processes of one run. Leaving the context ends them all."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self._stream = EventStream()
        self._reported: set[str] = set()
        self._reader: threading.Thread | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._running.values():
            if process.poll() is None:
                process.kill()
        for process in self._running.values():
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe:
                    with suppress(BrokenPipeError):
                        pipe.close()

    def start(self, name: str, role: list[str], keep_fd: int | None = None) -> None:
        """Start a process that ends when its standard input, a pipe from here, closes."""
        files = [f"--spec={self._folder / 'spec.json'}", f"--secrets={self._folder / 'secrets'}"]
        command = [sys.executable, "-P", "-m", "simulator", *role, *files, "--parent-pipe"]
        is_collector = name == "collector"
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE if is_collector else log,
                stderr=log,
                env={**os.environ, **_MEMORY_SETTINGS, "PYTHONPATH": _python_path()},
                pass_fds=() if keep_fd is None else (keep_fd,),
                start_new_session=True,  # the command line handles Ctrl-C
            )
        self._running[name] = process
        if is_collector:
            self._reader = threading.Thread(target=self._read, args=(process,), daemon=True)
            self._reader.start()

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        for line in process.stdout:
            self._lines.put(line)

    def next_event(self) -> Event | None:
        """Return the next event of the collector, or None after a moment."""
        try:
            line = self._lines.get(timeout=_POLL_S).decode(errors="replace")
        except queue.Empty:
            return None
        return self._stream.take(line)

    def ask_to_stop(self) -> None:
        """Ask the collector to end the run and to report the progress."""
        collector = self._running["collector"]
        if collector.poll() is None:
            collector.send_signal(signal.SIGTERM)

    def lost_collector(self) -> str:
        """Return why the collector has ended, or nothing while it runs."""
        code = self._running["collector"].poll()
        if code is None:
            return ""
        if (self._reader and self._reader.is_alive()) or not self._lines.empty():
            return ""  # read the events that it wrote before it ended
        return f"the collector {_ended(code)} before the run was over{self._last_line('collector')}"

    def report_lost_workers(self) -> None:
        """Report workers that have ended to the collector, which would notice much later."""
        for name, process in self._running.items():
            code = process.poll()
            if name != "collector" and code and name not in self._reported:
                self._reported.add(name)
                cause = f"{name.replace('-', ' ')} {_ended(code)}{self._last_line(name)}"
                self._write_to_collector(cause)

    def _write_to_collector(self, cause: str) -> None:
        pipe = self._running["collector"].stdin
        assert pipe
        try:
            pipe.write(" ".join(cause.split()).encode() + b"\n")
            pipe.flush()
        except BrokenPipeError:
            pass  # the collector is gone as well; the next poll finds that

    def wait(self, limit_s: float) -> None:
        """Wait a moment for the processes to end."""
        deadline = time.monotonic() + limit_s
        for process in self._running.values():
            try:
                process.wait(max(deadline - time.monotonic(), 0.01))
            except subprocess.TimeoutExpired:
                return

    def logs(self) -> dict[str, str]:
        """Return the last lines of every log that is not empty."""
        tails = {name: self._tail(name) for name in self._running}
        return {name: tail for name, tail in tails.items() if tail}

    def _tail(self, name: str) -> str:
        lines = (self._folder / f"{name}.log").read_text(errors="replace").splitlines()
        if name == "collector":
            lines += self._stream.log
        return "\n".join(lines[-TAIL_LINES:])

    def _last_line(self, name: str) -> str:
        last = self._tail(name).splitlines()[-1:]
        return f": {last[0]}" if last else ""


def _ended(code: int) -> str:
    if code < 0:
        return f"was killed by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _python_path() -> str:
    before = os.environ.get("PYTHONPATH")
    return os.pathsep.join([str(_ROOT), *([before] if before else [])])
