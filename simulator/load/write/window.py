"""Batches in flight: sent in order, ended in any order."""

import queue
import time
from dataclasses import dataclass

from simulator.load.write.batch import Batch
from simulator.modules.contract import Session


@dataclass(slots=True)
class Send:
    """A batch in flight, and its outcome."""

    batch: Batch
    due_ns: int
    attempts: int = 0
    """That failed."""
    retry_until_s: float = 0.0
    """Until then it may be sent again (--retry-for); 0: nothing failed."""
    ended_ns: int = 0
    error: Exception | None = None


class Window:
    """The batches in flight.

    Drivers report the end of a batch on their own threads. A queue passes it to the thread that
    sends, which alone counts and decides.
    """

    def __init__(self) -> None:
        self._ended: queue.SimpleQueue[Send] = queue.SimpleQueue()
        self._open = 0

    def __len__(self) -> int:
        return self._open

    def begin(self, session: Session, send: Send) -> None:
        """Send without waiting; `ended` returns the outcome, including an error."""

        def done(error: Exception | None) -> None:
            send.ended_ns = time.perf_counter_ns()
            send.error = error
            self._ended.put(send)

        self._open += 1
        try:
            session.begin(send.batch.payload, done)
        except Exception as error:  # noqa: BLE001 - the module classifies it
            done(error)

    def ended(self) -> Send:
        """Wait for a batch that has ended, and return it.

        Each batch ends, at the latest by a timeout of its session or when that is closed.
        """
        send = self._ended.get()
        self._open -= 1
        return send
