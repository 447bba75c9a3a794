"""Starts the processes of a local sweep by forking a process that has loaded the program."""

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Self

from simulator.errors import SetupError
from simulator.host import FORK_SERVER

_ROOT = Path(__file__).resolve().parents[3]
_ANSWER_BYTES = 32
_ANSWER_S = 60.0
"""Maximum time to wait for an answer, including the time to load the program."""
_END_S = 5.0


@dataclass
class Fork:
    """A forked process, and our ends of its pipes."""

    pid: int
    stdin: IO[bytes]
    stdout: IO[bytes]
    stderr: IO[bytes]
    exit: IO[bytes]
    code: int | None = None

    def wait(self, limit_s: float = 0) -> int | None:
        """Return the exit code, negative for a signal; None if the process does not end in time."""
        if self.code is None:
            poll = select.poll()
            poll.register(self.exit, select.POLLIN)
            if poll.poll(1000 * limit_s):
                if not (code := self.exit.read(_ANSWER_BYTES)):
                    self._send(signal.SIGKILL)  # its parent is gone, and the exit code with it
                self.code = int(code or -signal.SIGKILL)
        return self.code

    def kill(self) -> None:
        """Kill the process unless it has ended."""
        if self.wait() is None:
            self._send(signal.SIGKILL)

    def terminate(self) -> None:
        """Ask the process to end unless it has ended."""
        if self.wait() is None:
            self._send(signal.SIGTERM)

    def close(self) -> None:
        """Close our ends of the pipes."""
        for pipe in (self.stdin, self.stdout, self.stderr, self.exit):
            pipe.close()

    def _send(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


class Forks:
    """Starts processes of a sweep. Leaving the context ends the fork server, not the processes."""

    def __init__(self, sweep_id: str = "") -> None:
        """Store the ID of the sweep, which lists of processes show."""
        self._sweep_id = sweep_id

    def __enter__(self) -> Self:
        """Start the fork server; SetupError on other systems than Linux."""
        if sys.platform != "linux":
            raise SetupError(
                f"expected Linux for local workers, got {sys.platform}; use --runner kubernetes, or"
                " run the command line in a container: docs/README.md#systems"
            )
        self._control, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._control.settimeout(_ANSWER_S)
        with ExitStack() as stack, other:
            stack.enter_context(self._control)
            self._log = stack.enter_context(TemporaryFile())
            self._server = self._start_server(other.fileno())
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()
        try:
            self._server.wait(_END_S)
        except subprocess.TimeoutExpired:
            self._server.kill()
            self._server.wait()

    def _start_server(
        self, stdin: int, program: Sequence[str] = ("simulator", FORK_SERVER)
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-P", "-m", *program, self._sweep_id],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            env=compose_environment(),
            start_new_session=True,  # the command line handles Ctrl-C
        )

    def start(self, name: str, role: Sequence[str], files: Mapping[str, int]) -> Fork:
        """Start a process with a role, and pass open files to the process as options.

        SetupError if the process cannot be started.
        """
        wanted = {"name": name, "role": role, "options": [*files]}
        with ExitStack() as ours, ExitStack() as theirs:
            stdin, to_stdin = _open_pipe(theirs, ours)
            (stdout, to_stdout), (stderr, to_stderr), (code, to_code) = (
                _open_pipe(ours, theirs) for _ in range(3)
            )
            given = [to_code, stdin, to_stdout, to_stderr]
            numbers = [*(pipe.fileno() for pipe in given), *files.values()]
            pid = self._ask(json.dumps(wanted).encode(), numbers)
            if pid < 0:
                raise SetupError(
                    f"cannot start {name}: {os.strerror(-pid)}: see ulimit -u, and the free memory"
                )
            ours.pop_all()
            return Fork(pid, to_stdin, stdout, stderr, code)

    def _ask(self, message: bytes, files: Sequence[int]) -> int:
        try:
            socket.send_fds(self._control, [message], files)
            answer = self._control.recv(_ANSWER_BYTES)
        except TimeoutError:
            raise self._explain_loss(f"has not answered for {_ANSWER_S:.0f} s") from None
        except ConnectionError:
            answer = b""
        if not answer:
            raise self._explain_loss("has ended")
        return int(answer)

    def _explain_loss(self, what: str) -> SetupError:
        self._log.seek(0)
        last = self._log.read().decode(errors="replace").strip().splitlines()[-1:]
        return SetupError(
            ": ".join([f"the process that starts collector and workers {what}", *last])
        )


def _open_pipe(reading: ExitStack, writing: ExitStack) -> tuple[IO[bytes], IO[bytes]]:
    """Return both ends of a new pipe; closing a stack closes the end that belongs to it."""
    read, write = os.pipe()
    return (
        reading.enter_context(os.fdopen(read, "rb", buffering=0)),
        writing.enter_context(os.fdopen(write, "wb", buffering=0)),
    )


def compose_environment() -> dict[str, str]:
    """Return the environment of the processes: our environment, and the path of the program."""
    path = os.pathsep.join(filter(None, [str(_ROOT), os.environ.get("PYTHONPATH")]))
    return {**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"}
