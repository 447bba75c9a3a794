"""The process that started something, and whether it is still alive."""

import getpass
import os
import socket
from dataclasses import dataclass
from typing import Self

import psutil

_CLOCK_S = 10.0
"""Tolerance for a system clock that is adjusted while the process runs."""


def user_name() -> str:
    """Return the user's name, or number where the system has no name for it."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def user_at_host() -> str:
    """Return the user and this machine, as others may read it."""
    return f"{user_name()}@{socket.gethostname()}"


@dataclass(frozen=True, slots=True)
class Owner:
    """A process of this machine; process ids are reused, so its start time is part of it."""

    pid: int
    created_s: int

    @classmethod
    def this(cls) -> Self:
        """Return this process."""
        return cls(os.getpid(), int(psutil.Process().create_time()))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the process that a text identifies, or None."""
        pid, _, created = text.strip().partition(".")
        return cls(int(pid), int(created)) if pid.isdecimal() and created.isdecimal() else None

    def __str__(self) -> str:
        return f"{self.pid}.{self.created_s}"

    @property
    def alive(self) -> bool:
        """Whether the process still exists."""
        try:
            created_s = psutil.Process(self.pid).create_time()
        except psutil.Error:
            return False
        return abs(created_s - self.created_s) < _CLOCK_S
