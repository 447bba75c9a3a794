"""The process that owns an object, and whether the process is still alive."""

import getpass
import hashlib
import os
import re
import socket
from dataclasses import dataclass
from typing import Self

import psutil

from simulator.host import boot_id, pid_namespace

_OWNER = re.compile(r"([0-9]{1,9})\.([0-9]{1,15})\.([0-9a-f]{6})\.([0-9a-f]{6})")
"""Pattern of process ID, start time, boot and namespace; the numbers are valid for system calls."""
_CLOCK_S = 10.0
"""Tolerance for changes of the system clock while the process runs."""


def user_name() -> str:
    """Return the name of the user, or the user ID if the user has no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def user_at_host() -> str:
    """Return user and host name, for display to other users."""
    return f"{user_name()}@{socket.gethostname()}"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process, identified by process ID, start time, boot of the machine and PID namespace.

    A process ID alone is not unique: it is reused on a machine, and also occurs in containers and
    on other machines.
    """

    pid: int
    created_s: int
    boot: str
    namespace: str

    @classmethod
    def this(cls) -> Self:
        """Return this process."""
        created_s = int(psutil.Process().create_time())
        return cls(os.getpid(), created_s, _digest(boot_id()), _digest(pid_namespace()))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the process that a text identifies; None if the text identifies no process."""
        found = _OWNER.fullmatch(text.strip())
        return cls(int(found[1]), int(found[2]), found[3], found[4]) if found else None

    def __str__(self) -> str:
        return f"{self.pid}.{self.created_s}.{self.boot}.{self.namespace}"

    @property
    def is_visible(self) -> bool:
        """True if this process can see the owner while the owner exists."""
        here = _digest(boot_id()), _digest(pid_namespace())
        return (self.boot, self.namespace) == here

    @property
    def alive(self) -> bool:
        """True if the owner may still exist on this machine."""
        if not self.is_visible:
            return self.boot == _digest(boot_id())
        try:
            created_s = psutil.Process(self.pid).create_time()
        except psutil.Error:
            return False
        return abs(created_s - self.created_s) < _CLOCK_S


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:6]
