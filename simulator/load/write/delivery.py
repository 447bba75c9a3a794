"""Sends batches, and handles and counts failures."""

import queue
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from simulator.data.ranges import RowRange, cover
from simulator.errors import RunError
from simulator.load.connecting import Stopped, WriterConnection
from simulator.load.meter import Meter
from simulator.load.timings import Stopwatch
from simulator.load.write.batch import Batch, Held
from simulator.load.write.send_log import SendLog
from simulator.modules.contract import Failure, Session
from simulator.protocol.messages import MOST_FAILURES, BatchFailures, Failed, Troubles


@dataclass(slots=True)
class Send:
    """A batch in flight, and its outcome."""

    batch: Batch
    due_ns: int
    attempts: int = 0
    """Number of failed attempts."""
    retry_until_s: float = 0.0
    """Time until which the batch may be sent again (--retry-for); 0: nothing has failed."""
    ended_ns: int = 0
    error: Exception | None = None


class Window:
    """The batches in flight.

    Drivers report the end of a batch on their own threads. A queue passes each report to the
    sending thread; only this thread counts outcomes and retries.
    """

    def __init__(self) -> None:
        self._ended: queue.SimpleQueue[Send] = queue.SimpleQueue()
        self._open = 0

    def __len__(self) -> int:
        return self._open

    def begin(self, session: Session, send: Send) -> None:
        """Send without waiting; `await_ended` returns the outcome, including an error."""

        def done(error: Exception | None) -> None:
            send.ended_ns = time.perf_counter_ns()
            send.error = error
            self._ended.put(send)

        self._open += 1
        try:
            session.begin(send.batch.payload, done)
        except Exception as error:  # noqa: BLE001 - the module classifies it
            done(error)

    def await_ended(self) -> Send:
        """Wait for the next batch that ends, and return it.

        Each batch ends, at the latest when its session times out or is closed.
        """
        send = self._ended.get()
        self._open -= 1
        return send


class Failures:
    """The failures of one worker since the clock started, and the rows of unknown outcome."""

    def __init__(self) -> None:
        self.uncertain: list[RowRange] = []
        """Rows of unknown outcome, including the prefill."""
        self.uncertain_rows = self.uncertain_batches = 0
        self.uncertain_cause = ""
        """The last error that left the outcome of a batch unknown."""
        self.start(None)

    def start(self, start_ns: int | None) -> None:
        """Reset the counts, and list failures by second after this instant; None: list nothing."""
        self._start_ns = start_ns
        self._counts: Counter[tuple[int, Failed]] = Counter()
        self._unlisted = 0
        """Number of failures that the list has no room for."""
        self.errors = 0
        """Number of failed attempts to send a batch."""
        self.retried = 0

    def note(self, what: Failed) -> None:
        """Count a failure at the present second."""
        self.retried += what is Failed.RETRIED
        if self._start_ns is None:
            return
        key = (time.perf_counter_ns() - self._start_ns) // 1_000_000_000, what
        if key in self._counts or len(self._counts) < MOST_FAILURES:
            self._counts[key] += 1
        else:
            self._unlisted += 1

    def note_uncertain(self, batch: Iterable[Held], cause: str) -> None:
        """Count the rows of a batch with an unknown outcome."""
        for held in batch:
            self.uncertain += cover(held.rows, held.table)
            self.uncertain_rows += len(held.rows)
        self.uncertain_batches += 1
        self.uncertain_cause = cause
        self.note(Failed.UNCERTAIN)

    def troubles(self) -> Troubles:
        """Return the part of the report about failures: the first ones, in the order of time."""
        return Troubles(
            retried=self.retried,
            uncertain=tuple(self.uncertain),
            uncertain_cause=self.uncertain_cause,
            failures=tuple(
                BatchFailures(second=second, what=what, count=count)
                for (second, what), count in self._counts.items()
            ),
            more_failures=self._unlisted,
        )


MAX_ATTEMPTS = 6
MAX_UNCERTAIN_SENDS = 100
_BACKOFF_S = 0.05
_LONGEST_BACKOFF_S = 2.0


class Delivery:
    """Sends batches through one connection until each is acknowledged, uncertain, or has failed."""

    def __init__(
        self,
        connection: WriterConnection,
        spent: Stopwatch,
        stop: threading.Event,
        clock: Callable[[], float],
        retry_s: float = 0.0,
    ) -> None:
        """Store the connection; failed batches and lost connections are retried for `retry_s`."""
        self._connection, self._spent = connection, spent
        self._stop, self._clock, self._retry_s = stop, clock, retry_s
        self._window = Window()
        self.meter = Meter(time.perf_counter_ns())
        """Measurements of the acknowledged batches."""
        self.failures = Failures()
        self.log: SendLog | None = None
        """Log of the times at which each batch is sent and acknowledged."""

    def deliver(self, batch: Batch, due_ns: int) -> None:
        """Send a batch; other batches may be in flight."""
        connection = self._connection
        if connection.in_flight > 1:
            self._deliver_beside(batch, due_ns)
        elif self._stop.is_set():
            raise Stopped
        else:
            before = time.perf_counter_ns()
            if self.log:
                self.log.note_sent(batch, before)
            try:
                connection.session.send(batch.payload)
            except Exception as error:  # noqa: BLE001 - the module classifies it
                self._repeat_alone(Send(batch, due_ns, error=error), before)
            else:
                after = time.perf_counter_ns()
                self._spent.send_ns += after - before
                payload = batch.payload
                self.meter.record(due_ns, after, payload.rows, payload.size_bytes)
                if self.log:
                    self.log.note_acknowledged(batch, after)
        batch.origin.sent += 1

    def _repeat_alone(self, send: Send, before_ns: int) -> None:
        try:
            while send.error is not None and self._send_again(send.error, send):
                if self._stop.is_set():
                    raise Stopped
                send.error = None
                try:
                    self._connection.session.send(send.batch.payload)
                except Exception as error:  # noqa: BLE001 - the module classifies it
                    send.error = error
                else:
                    send.ended_ns = time.perf_counter_ns()
                    self._count_acknowledged(send)
        finally:
            self._spent.send_ns += time.perf_counter_ns() - before_ns

    def _deliver_beside(self, batch: Batch, due_ns: int) -> None:
        before = time.perf_counter_ns()
        if self.log:
            self.log.note_sent(batch, before)
        try:
            self._begin(Send(batch, due_ns))
            while len(self._window) >= self._connection.in_flight:
                self._end(self._window.await_ended())
        finally:
            self._spent.send_ns += time.perf_counter_ns() - before

    def _begin(self, send: Send) -> None:
        if self._stop.is_set():
            raise Stopped
        self._window.begin(self._connection.session, send)

    def _end(self, send: Send) -> None:
        if send.error is None:
            self._count_acknowledged(send)
        elif self._send_again(send.error, send):
            self._begin(send)

    @contextmanager
    def all_ended(self) -> Iterator[None]:
        """Wait at the end for the batches in flight; after an error, only count their outcomes."""
        try:
            yield
            self.end_all()
        finally:
            while self._window:
                send = self._window.await_ended()
                if send.error is None:
                    self._count_acknowledged(send)
                elif self._connection.session.classify(send.error) is Failure.UNKNOWN:
                    cause = self._connection.explain(send.error)
                    self.failures.note_uncertain(send.batch.list_held(), cause)

    def end_all(self) -> None:
        """Wait for the batches in flight, and repeat failed batches."""
        before = time.perf_counter_ns()
        while self._window:
            self._end(self._window.await_ended())
        self._spent.send_ns += time.perf_counter_ns() - before

    def _count_acknowledged(self, send: Send) -> None:
        payload = send.batch.payload
        self.meter.record(send.due_ns, send.ended_ns, payload.rows, payload.size_bytes)
        if self.log:
            self.log.note_acknowledged(send.batch, send.ended_ns)

    def _send_again(self, error: Exception, send: Send) -> bool:
        """Handle a failed send; return whether to retry, after a pause."""
        failures, session = self.failures, self._connection.session
        failures.errors += 1
        send.attempts += 1
        send.retry_until_s = send.retry_until_s or self._clock() + self._retry_s
        failure, cause = session.classify(error), self._connection.explain(error)
        goes_on = self._retry_s or session.is_outdated()
        if failure is Failure.FATAL and goes_on and self._connection.may_pass(error):
            failure = Failure.NOT_APPLIED
        if failure is Failure.FATAL:
            failures.note(Failed.FATAL)
            raise RunError(f"insert failed: {cause}")
        if failure is Failure.UNKNOWN:
            self._count_uncertain(send.batch, cause)
        for _ in range(self._connection.newly_replaced()):
            failures.note(Failed.LOST)
            failures.note(Failed.RESTORED)
        if not session.is_usable:
            self._reconnect(cause, send.retry_until_s - self._clock())
        if failure is Failure.UNKNOWN:
            return False
        if send.attempts >= MAX_ATTEMPTS and self._clock() >= send.retry_until_s:
            failures.note(Failed.FATAL)
            raise RunError(f"insert failed {send.attempts} times in a row; the last error: {cause}")
        failures.note(Failed.RETRIED)
        self._pause(send)
        return True

    def _pause(self, send: Send) -> None:
        """Wait before a batch is sent again, longer each time."""
        pause_s = min(_BACKOFF_S * 2 ** min(send.attempts - 1, 30), _LONGEST_BACKOFF_S)
        before = time.perf_counter_ns()
        self._stop.wait(pause_s)
        self._spent.backoff_ns += time.perf_counter_ns() - before

    def _count_uncertain(self, batch: Batch, cause: str) -> None:
        self.failures.note_uncertain(batch.list_held(), cause)
        # The failure of a node leaves all batches in flight uncertain.
        most = MAX_UNCERTAIN_SENDS + self._connection.in_flight - 1
        if self.failures.uncertain_batches > most:
            raise RunError(
                f"more than {most} batches had no known outcome; the last error: {cause}"
            )

    def _reconnect(self, cause: str, within_s: float) -> None:
        self.failures.note(Failed.LOST)
        before = time.perf_counter_ns()
        try:
            self._connection.restore(cause, within_s)
        finally:
            self._spent.disconnected_ns += time.perf_counter_ns() - before
        self.failures.note(Failed.RESTORED)
