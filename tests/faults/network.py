"""A network of its own for one cell, in which the way between two processes can be cut."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from typing import Self

from tests.faults.processes import is_root

_NEEDED = ("unshare", "nsenter", "ip", "iptables")
_LISTENER = """
import socket, sys
made = socket.socket()
made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
made.bind(("127.0.0.1", int(sys.argv[1])))
made.listen(128)
socket.send_fds(socket.socket(fileno=int(sys.argv[2])), [b"1"], [made.fileno()])
"""
_HOLD = "ip link set lo up && echo up && exec sleep infinity"


def listen(port: int) -> socket.socket:
    """Return a socket that listens on a port of this machine; 0: a free one."""
    return socket.create_server(("127.0.0.1", port), backlog=128)


class Network:
    """A network namespace with nothing but its loopback interface; a context manager.

    A user who is not an administrator gets it in a user namespace, where the kernel allows that.
    """

    def __init__(self) -> None:
        self._holder: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        mapped = [] if is_root() else ["--map-root-user"]
        self._holder = subprocess.Popen(
            ["unshare", *mapped, "--net", "sh", "-c", _HOLD],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._holder.stdout
        if self._holder.stdout.readline().strip() != "up":
            assert self._holder.stderr
            why = self._holder.stderr.read().strip()
            self.__exit__()
            raise OSError(f"no network namespace can be made here: {why}")
        return self

    def __exit__(self, *_: object) -> None:
        if self._holder:
            self._holder.kill()
            self._holder.communicate()

    @property
    def entry(self) -> list[str]:
        """The words before a command that runs in this network."""
        assert self._holder
        mapped = [] if is_root() else ["--user", "--preserve-credentials"]
        return ["nsenter", f"--target={self._holder.pid}", *mapped, "--net", "--"]

    def listen(self, port: int) -> socket.socket:
        """Return a socket that listens on a port of this network."""
        ours, theirs = socket.socketpair()
        with ours, theirs:
            command = [sys.executable, "-c", _LISTENER, str(port), str(theirs.fileno())]
            subprocess.run([*self.entry, *command], pass_fds=[theirs.fileno()], check=True)
            _, (handle,), _, _ = socket.recv_fds(ours, 16, 1)
            return socket.socket(fileno=handle)

    def cut(self, port: int) -> None:
        """Let nothing more pass from or to a port."""
        for side in ("--dport", "--sport"):
            self._filter("-A", "INPUT", "-p", "tcp", side, str(port), "-j", "DROP")

    def join(self) -> None:
        """Let everything pass again."""
        self._filter("-F")

    def _filter(self, *words: str) -> None:
        command = [*self.entry, "iptables", "-w", *words]
        with tempfile.NamedTemporaryFile() as lock:  # its own one is for administrators
            environment = {**os.environ, "XTABLES_LOCKFILE": lock.name}
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env=environment
            )
        if done.returncode:
            raise OSError(f"{' '.join(command)}: {done.stderr.strip()}")


def unavailable() -> str:
    """Return why this machine has no such network, or nothing."""
    missing = [program for program in _NEEDED if shutil.which(program) is None]
    if missing:
        return f"not installed: {', '.join(missing)}"
    with contextlib.ExitStack() as stack:
        try:
            network = stack.enter_context(Network())
            network.cut(9)
        except OSError as error:
            return str(error)
    return ""
