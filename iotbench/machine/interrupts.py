"""Signals that ask the program to stop: Ctrl-C, `kill`, or a closed terminal."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from simulator.errors import Interrupted

_Handler = Callable[[int, FrameType | None], object] | signal.Handlers

STOPPED = "stopped by the user"
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP)


class Interrupts:
    """The user's requests to stop: the first one stops the program cleanly, the second at once."""

    def __init__(self) -> None:
        self.requested = False

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        # A closed terminal sends SIGHUP more than once: from the shell, and from the kernel.
        if self.requested and number != signal.SIGHUP:
            raise Interrupted(f"stopped at once by {signal.Signals(number).name}")
        self.requested = True


@contextmanager
def stop_on_signals() -> Iterator[None]:
    """Let each of the signals end the context like Ctrl-C, which leaves all contexts in it.

    Libraries replace KeyboardInterrupt by errors of their own, as pyarrow does while it imports
    modules; the context ends with KeyboardInterrupt nevertheless.
    """
    stops = []

    def stop(number: int, _frame: FrameType | None) -> None:
        stops.append(number)
        raise KeyboardInterrupt

    with _handle(stop):
        try:
            yield
        except Exception as error:
            if stops:
                raise KeyboardInterrupt from error
            raise


def end_on_signals() -> None:
    """Let each of the signals end the process at once."""
    for number in _list_handled():
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def end_by_signals() -> Iterator[None]:
    """Let each of the signals end the process at once in the context, which needs no cleanup."""
    with _handle(signal.SIG_DFL):
        yield


@contextmanager
def catch_interrupts() -> Iterator[Interrupts]:
    """Catch the signals in the context."""
    interrupts = Interrupts()
    with _handle(interrupts._receive):  # noqa: SLF001
        yield interrupts


@contextmanager
def _handle(handler: _Handler) -> Iterator[None]:
    numbers = _list_handled()
    before = [signal.signal(number, handler) for number in numbers]
    try:
        yield
    finally:
        for number, earlier in zip(numbers, before, strict=True):
            signal.signal(number, earlier)


def _list_handled() -> list[signal.Signals]:
    """Return the signals to handle; SIGHUP remains ignored under `nohup`."""
    is_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [number for number in SIGNALS if number != signal.SIGHUP or not is_ignored]
