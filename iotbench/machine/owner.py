"""The process that started something, and whether it is still alive."""

import getpass
import os
import re
import socket
from dataclasses import dataclass
from typing import Self

import psutil

_OWNER = re.compile(r"([0-9]{1,9})\.([0-9]{1,15})")
"""Process id and start time, both limited to values that system calls accept."""
_CLOCK_S = 10.0
"""Tolerance for a system clock that is adjusted while the process runs."""


def user_name() -> str:
    """Return the user's name, or the number of a user without a name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def user_at_host() -> str:
    """Return the user and this machine, for other users."""
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
        found = _OWNER.fullmatch(text.strip())
        return cls(int(found[1]), int(found[2])) if found else None

    def __str__(self) -> str:
        return f"{self.pid}.{self.created_s}"

    @property
    def alive(self) -> bool:
        """True if the process still exists."""
        try:
            created_s = psutil.Process(self.pid).create_time()
        except psutil.Error:
            return False
        return abs(created_s - self.created_s) < _CLOCK_S
