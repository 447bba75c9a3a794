"""Fork servers that are forks themselves, each with the environment and the folder of a test.

To load the program of collectors and workers takes half a second. A process of tests does it once.
"""

import atexit
import json
import os
import socket
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from subprocess import Popen, TimeoutExpired

from iotbench.execution.local.forks import Fork, Forks, compose_environment
from simulator.forks import fork
from simulator.program import load, play

NAME = "fork-server"


class ForkServer:
    """A fork server that is a fork, with what `Forks` needs of a process."""

    def __init__(self, process: Fork) -> None:
        self._process = process

    def poll(self) -> int | None:
        """Return the exit code, or None if it has not ended."""
        return self._process.wait()

    def wait(self, limit_s: float = 60) -> None:
        """Wait until it has ended; TimeoutExpired if it does not."""
        if self._process.wait(limit_s) is None:
            raise TimeoutExpired(NAME, limit_s)
        self._process.close()

    def kill(self) -> None:
        """Kill it."""
        self._process.kill()


class _Loading(Forks):
    def _start_server(self, stdin: int, program: Sequence[str] = (__name__,)) -> Popen[bytes]:
        return super()._start_server(stdin, program)


@cache
def load_program() -> _Loading:
    """Return the process that has loaded the program; it ends with this one."""
    loading = _Loading().__enter__()
    atexit.register(loading.__exit__)
    return loading


def start(control: int) -> ForkServer:
    """Start a fork server, which a socket controls, with our environment and folder."""
    role = [json.dumps(compose_environment()), str(Path.cwd())]
    return ForkServer(load_program().start(NAME, role, {"--fd": control}))


def main() -> int:
    """Fork fork servers; return the exit code of each."""
    load()
    given = fork(socket.socket(fileno=0))
    if given is None:
        return 0
    variables, folder, control = given
    os.environ.clear()
    os.environ.update(json.loads(variables))
    sys.path[:0] = os.environ["PYTHONPATH"].split(os.pathsep)
    os.chdir(folder)
    number = int(control.partition("=")[2])
    os.dup2(number, 0)
    os.close(number)
    sys.argv[1:] = [NAME]
    return play()


if __name__ == "__main__":
    sys.exit(main())
