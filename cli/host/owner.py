"""Which process started something, and whether it is still alive."""

import os
from dataclasses import dataclass
from typing import Self

import psutil

_CLOCK_S = 10.0
"""A process's age is told by a clock that may be set right meanwhile."""


@dataclass(frozen=True, slots=True)
class Owner:
    """A process of this machine: its number alone will be another's one day."""

    pid: int
    created_s: int

    @classmethod
    def this(cls) -> Self:
        """Return this process."""
        return cls(os.getpid(), int(psutil.Process().create_time()))

    @classmethod
    def parse(cls, text: str) -> Self | None:
        """Return the process that a text names, if it names one."""
        pid, _, created = text.strip().partition(".")
        return cls(int(pid), int(created)) if pid.isdecimal() and created.isdecimal() else None

    def __str__(self) -> str:
        return f"{self.pid}.{self.created_s}"

    @property
    def alive(self) -> bool:
        """Whether the process is still there."""
        try:
            created_s = psutil.Process(self.pid).create_time()
        except psutil.Error:
            return False
        return abs(created_s - self.created_s) < _CLOCK_S
