"""Sends that are on their way: begun one after the other, ended in any order."""

import queue
import time
from dataclasses import dataclass

from simulator.data.block import Rows
from simulator.modules.base import Payload, Session


@dataclass(slots=True)
class Send:
    """A payload on its way, and in the end how that went."""

    payload: Payload
    rows: Rows
    due_ns: int
    attempt: int = 0
    ended_ns: int = 0
    error: Exception | None = None


class Window:
    """What is on its way.

    Drivers say on threads of their own that a send has ended; here it waits in a queue, so that
    everything that is counted or decided stays with the thread that sends.
    """

    def __init__(self) -> None:
        self._ended: queue.SimpleQueue[Send] = queue.SimpleQueue()
        self._open = 0

    def __len__(self) -> int:
        return self._open

    def begin(self, session: Session, send: Send) -> None:
        """Send without waiting; how it went, an error included, comes out of `ended`."""

        def done(error: Exception | None) -> None:
            send.ended_ns = time.perf_counter_ns()
            send.error = error
            self._ended.put(send)

        self._open += 1
        try:
            session.begin(send.payload, done)
        except Exception as error:  # noqa: BLE001 - the module says what it means
            done(error)

    def ended(self) -> Send:
        """Return a send that has ended, waiting for one if need be.

        Each does: by the time limits of its session, and when that is closed.
        """
        send = self._ended.get()
        self._open -= 1
        return send
