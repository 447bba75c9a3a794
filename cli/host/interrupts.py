"""Ctrl-C and SIGTERM: the first asks to stop tidily, the second stops at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from simulator.errors import Interrupted


class Interrupts:
    """How often the user has asked to stop."""

    def __init__(self) -> None:
        self.requested = False

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self.requested:
            raise Interrupted(f"stopped at once by {signal.Signals(number).name}")
        self.requested = True


@contextmanager
def caught_interrupts() -> Iterator[Interrupts]:
    """Take the signals over for a while."""
    interrupts = Interrupts()
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, interrupts._receive) for number in numbers]  # noqa: SLF001
    try:
        yield interrupts
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)
