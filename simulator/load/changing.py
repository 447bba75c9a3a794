"""Deletes the oldest stored rows, corrects other rows, and updates tags; times each request."""

import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from simulator.data.changes import Deleting, in_unit
from simulator.data.reader import BLOCK_ROWS, DatasetReader
from simulator.errors import BenchError, RunError
from simulator.load.connecting import Stopped
from simulator.load.durations import Durations
from simulator.load.timings import cpu_clock
from simulator.modules.contract import Database, Payload, Session
from simulator.protocol.messages import CORRECTIONS, DELETION, TAGS, ChangeTimes
from simulator.protocol.spec import ChangeTask, RunSpec

_Answer = TypeVar("_Answer")


class Changer:
    """Changes rows through one session.

    A failed request ends the run, because the changed rows are unknown.
    """

    def __init__(
        self, database: Database, session: Session, spec: RunSpec, stop: threading.Event
    ) -> None:
        self._database, self._session, self._spec, self._stop = database, session, spec, stop
        self._reader = DatasetReader(spec.changed)
        self.waits = Durations()
        """Durations of all requests."""

    def carry_out(
        self, task: ChangeTask, instant_s: Callable[[int], float]
    ) -> tuple[ChangeTimes, ...]:
        """Delete, correct and update tags; return the measurements.

        `instant_s` returns the collector's time of an instant.
        """
        found = []
        if task.delete_ms:
            found.append(self._delete(task, instant_s))
        if task.correct:
            found.append(self._correct(task, instant_s))
        if task.retags:
            found.append(self._retag(task, instant_s))
        return tuple(found)

    def _correct(self, task: ChangeTask, instant_s: Callable[[int], float]) -> ChangeTimes:
        timing, rows = self._make_timing(CORRECTIONS), 0
        for payload in timing.exclude(self._encode(task)):
            self._request(timing, partial(self._session.send, payload))
            rows += payload.rows
        return timing.times(instant_s, rows)

    def _make_timing(self, name: str) -> "_Timing":
        cpu_s = cpu_clock(embedded=self._database.capabilities.embedded)
        return _Timing(name, self.waits, cpu_s)

    def _encode(self, task: ChangeTask) -> Iterator[Payload]:
        session, batch_rows = self._session, self._spec.batch_rows
        for item in task.correct:
            for turn in self._reader.blocks([item], BLOCK_ROWS, batch_rows):
                for block in turn:
                    yield from session.encode(block, session.correcting, batch_rows)

    def _delete(self, task: ChangeTask, instant_s: Callable[[int], float]) -> ChangeTimes:
        timing, session = self._make_timing(DELETION), self._session
        delete = session.delete_before if task.by is Deleting.STATEMENT else session.drop_before
        for until_ms in task.delete_ms:
            self._request(timing, partial(self._delete_before, delete, until_ms))
        return timing.times(instant_s)

    def _retag(self, task: ChangeTask, instant_s: Callable[[int], float]) -> ChangeTimes:
        timing, rows = self._make_timing(TAGS), 0
        for retag in task.retags:
            table = self._reader.tables[retag.table]
            for name in retag.values:
                rows += self._request(timing, partial(self._session.retag, table, retag, name))
        return timing.times(instant_s, rows)

    def _delete_before(self, delete: Callable[..., None], until_ms: int) -> None:
        for table in self._reader.tables:
            delete(table, in_unit(until_ms, table.time_unit))

    def _request(self, timing: "_Timing", request: Callable[[], _Answer]) -> _Answer:
        if self._stop.is_set():
            raise Stopped
        try:
            return timing.request(request)
        except BenchError:
            raise
        except Exception as error:  # of any driver
            cause = self._database.explain(error)
            raise RunError(
                f"{timing.name}: a request failed, so nobody knows which rows it has changed:"
                f" {cause}"
            ) from error


class _Timing:
    """The durations of the requests of one change."""

    def __init__(self, name: str, all_waits: Durations, cpu_s: Callable[[], float]) -> None:
        self.name, self._all, self._read_cpu_s = name, all_waits, cpu_s
        self._waits = Durations()
        self._client_ns, self._cpu_began_s = 0, cpu_s()
        self._began_ns = self._ended_ns = time.perf_counter_ns()

    def exclude(self, payloads: Iterator[Payload]) -> Iterator[Payload]:
        """Yield payloads; the time to make payloads counts as the client's time."""
        while True:
            before_ns = time.perf_counter_ns()
            payload = next(payloads, None)
            self._client_ns += time.perf_counter_ns() - before_ns
            if payload is None:
                return
            yield payload

    def request(self, request: Callable[[], _Answer]) -> _Answer:
        """Time a request; return its answer."""
        before_ns = time.perf_counter_ns()
        answer = request()
        self._ended_ns = time.perf_counter_ns()
        self._waits.record(self._ended_ns - before_ns)
        self._all.record(self._ended_ns - before_ns)
        return answer

    def times(self, instant_s: Callable[[int], float], rows: int = 0) -> ChangeTimes:
        """Return the measurements."""
        return ChangeTimes(
            name=self.name,
            rows=rows,
            count=self._waits.count,
            waits=self._waits.encode(),
            wait_s=self._waits.sum_ns / 1e9,
            client_s=self._client_ns / 1e9,
            cpu_s=self._read_cpu_s() - self._cpu_began_s,
            started_s=instant_s(self._began_ns),
            ended_s=instant_s(self._ended_ns),
        )
