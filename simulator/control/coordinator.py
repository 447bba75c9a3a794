"""The run as the collector sees it: who is there, who waits, who has reported, why it is over.

Pure state and waiting on one event loop; no HTTP, no database. The collector feeds it.
"""

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress

from simulator.data.query import Answer
from simulator.protocol.messages import (
    HOLD_S,
    SILENCE_S,
    Arrival,
    Heartbeat,
    Registration,
    WorkerReport,
)

_TICK_S = 0.25


class Rejected(Exception):
    """A message that does not belong to this run; the text says why."""


class Coordinator:
    """State of one run with a fixed number of workers."""

    def __init__(self, workers: int, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.workers = workers
        self.tables_ready = asyncio.Event()
        self.stopped = asyncio.Event()
        self.cause = ""
        self.uids: dict[int, str] = {}
        self.beats: dict[int, Heartbeat] = {}
        self.heard_s: dict[int, float] = {}
        self.reports: dict[int, WorkerReport] = {}
        self.answers: dict[str, Answer] = {}
        self.released_s: dict[str, float] = {}
        """Barrier -> when it was opened."""
        self.first_arrival_s: dict[str, float] = {}
        self._arrived: dict[str, set[int]] = {}
        self._gates: dict[str, asyncio.Event] = {}
        self._all_reported = asyncio.Event()

    def stop(self, cause: str) -> None:
        """End the run; the first cause given is the one that counts."""
        if not self.stopped.is_set():
            self.cause = cause
            self.stopped.set()

    async def register(self, message: Registration, version: str) -> bool:
        """Take a worker in and hold it for a while; return whether the tables are ready."""
        if not 0 <= message.index < self.workers:
            raise Rejected(f"worker {message.index}: this run has workers 0..{self.workers - 1}")
        if self.uids.setdefault(message.index, message.uid) != message.uid:
            raise Rejected(f"worker {message.index} is there already; two cannot both count")
        if message.version != version:
            self.stop(
                f"worker {message.index} is version {message.version} and the collector {version};"
                " use one image for both"
            )
        self.heard_s[message.index] = self._clock()
        return await self._held(self.tables_ready)

    def _expect(self, index: int) -> None:
        if index not in self.uids:
            raise Rejected(f"worker {index} has not registered")

    async def arrive(self, message: Arrival) -> bool:
        """Hold a worker at a barrier for a while; return whether all are there and may go on."""
        self._expect(message.index)
        name = message.barrier
        gate = self._gates.setdefault(name, asyncio.Event())
        arrived = self._arrived.setdefault(name, set())
        self.first_arrival_s.setdefault(name, self._clock())
        arrived.add(message.index)
        if len(arrived) == self.workers:
            self.released_s.setdefault(name, self._clock())
            gate.set()
        return await self._held(gate)

    async def _held(self, gate: asyncio.Event) -> bool:
        """Wait for a gate, but not for long: a reply also says that the collector is alive."""
        with suppress(TimeoutError):
            async with asyncio.timeout(HOLD_S):
                await self._either(gate)
        return gate.is_set()

    async def _either(self, event: asyncio.Event) -> None:
        """Wait for the event or for the end of the run."""
        waits = [asyncio.ensure_future(e.wait()) for e in (event, self.stopped)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    @property
    def waiting_first(self) -> int:
        """How many workers are at the first barrier of the run."""
        return len(next(iter(self._arrived.values()), ()))

    def waiting(self, barrier: str) -> int:
        """Return how many workers are at a barrier."""
        return len(self._arrived.get(barrier, ()))

    def beat(self, message: Heartbeat) -> None:
        """Note how far a worker is."""
        self._expect(message.index)
        self.beats[message.index] = message
        self.heard_s[message.index] = self._clock()

    def report(self, report: WorkerReport) -> None:
        """Take a worker's result; an error in it ends the run."""
        self._expect(report.index)
        self.reports[report.index] = report
        if report.error:
            self.stop(f"worker {report.index}: {report.error}")
        if len(self.reports) == self.workers:
            self._all_reported.set()

    def all_reports(self) -> tuple[WorkerReport, ...]:
        """Return every worker's report; of one that is lost, what it last said of itself."""
        last_words = {
            index: WorkerReport(
                index=index,
                error=f"no report; last heard of in {beat.phase}",
                rows=beat.rows,
                prefill_rows=beat.prefill_rows,
                retried=beat.retried,
            )
            for index, beat in self.beats.items()
        }
        known = {**last_words, **self.reports}
        return tuple(known[index] for index in sorted(known))

    async def finished(self) -> None:
        """Wait until all workers have reported or the run is over."""
        await self._either(self._all_reported)

    async def last_reports(self, grace_s: float) -> None:
        """After the end, give those that are still there a moment to say what they did."""
        deadline = self._clock() + grace_s
        while self._clock() < deadline:
            alive = [i for i, heard in self.heard_s.items() if self._clock() - heard < 2.0]
            if all(index in self.reports for index in alive):
                return
            await asyncio.sleep(_TICK_S / 5)

    async def watch(self, appear_s: float) -> None:
        """End the run when a worker does not appear in time or falls silent."""
        started_s = self._clock()
        while not self.stopped.is_set():
            await asyncio.sleep(_TICK_S)
            now = self._clock()
            for index in range(self.workers):
                if index in self.reports:
                    continue
                if index not in self.uids and now - started_s > appear_s:
                    self.stop(f"worker {index} has not appeared within {appear_s:.0f} s")
                heard = self.heard_s.get(index)
                if heard is not None and now - heard > SILENCE_S:
                    self.stop(f"worker {index} has not been heard of for {SILENCE_S:.0f} s")
