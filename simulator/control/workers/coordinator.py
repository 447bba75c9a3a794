"""The state of a run: registered, waiting and finished workers, and the reason for its end.

The coordinator uses one event loop, no HTTP and no database. The gate admits the messages.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import StrEnum

from simulator.control.journal import Journal
from simulator.protocol.events import Occurrence
from simulator.protocol.messages import (
    Arrival,
    Heartbeat,
    Registration,
    WorkerReport,
    heartbeat_s,
    hold_s,
)

_TICK_S = 0.25
_LIVE_S = 2.0
"""Maximum age of the last message of a live worker."""
_MANY = 50
_LEAD_S = 0.002
"""Time per worker, if there are many, until all have received the reply."""


class StopReason(StrEnum):
    """The reason why a run did not end by itself."""

    STOPPED = "run stopped"
    LOST = "worker lost"
    FAILED = "worker failed"
    WRONG = "wrong answer"


class Coordinator:
    """A run with a fixed number of workers."""

    def __init__(  # noqa: PLR0913
        self,
        workers: int,
        clock: Callable[[], float] | None = None,
        own_clock: Callable[[], float] | None = None,
        *,
        arrivals: Mapping[str, int] | None = None,
        at_once: int | None = None,
        journal: Journal | None = None,
    ) -> None:
        """Store the clock of instants (default: the journal's clock), and the clock for silence.

        `arrivals` maps a barrier to the number of workers that come to it, by default all. A
        barrier opens for `at_once` workers, by default for all; `let_in` admits the remaining
        workers. The journal keeps the state that a replacement of this collector needs.
        """
        self._at_once = at_once
        self.heartbeat_s, self._hold_s = heartbeat_s(workers), hold_s(workers)
        self.over = ""
        """Query of the ramp that ended last."""
        self.measured_s: float | None = None
        """Start of the measured part, if the rate became steady in the warm-up."""
        self._arrivals = arrivals
        self.journal = journal or Journal()
        self._clock = clock or self.journal.now_s
        self._own_clock = own_clock or self._clock
        self.workers = workers
        self.tables_ready = asyncio.Event()
        self.stopped = asyncio.Event()
        self.cause = ""
        self._stop_reason: StopReason | None = None
        self._stopped_s = 0.0
        """Time of the stop, or of the last message of a lost worker, on the clock of instants."""
        self.uids: dict[int, str] = {}
        self.beats: dict[int, Heartbeat] = {}
        self.heard_s: dict[int, float] = {}
        self._progressed_s = 0.0
        """Time of the last acknowledged rows, on the clock for silence; 0 without any."""
        self.reports: dict[int, WorkerReport] = {}
        self.released_s: dict[str, float] = {}
        """Barrier -> time at which it opened."""
        self.first_arrival_s: dict[str, float] = {}
        self._arrived: dict[str, set[int]] = {}
        self._gates: dict[str, dict[int, asyncio.Event]] = {}
        """Barrier -> worker -> event that is set once the worker may continue."""
        self._all_reported = asyncio.Event()

    def stop(self, cause: str, reason: StopReason = StopReason.STOPPED, ago_s: float = 0.0) -> None:
        """Stop the run for a cause that occurred `ago_s` ago; only the first cause counts."""
        if not self.stopped.is_set():
            self.cause, self._stop_reason = cause, reason
            self._stopped_s = self._clock() - ago_s
            self.stopped.set()

    @property
    def is_wrong(self) -> bool:
        """True if a wrong answer ended the run."""
        return self._stop_reason is StopReason.WRONG

    def list_early_end(self, began_s: float) -> Iterator[Occurrence]:
        """Yield the time and cause of the stop, if the run was stopped after its beginning."""
        if self._stop_reason and self._stopped_s >= began_s:
            at_s = round(self._stopped_s - began_s, 1)
            yield Occurrence(at_s=at_s, what=self._stop_reason.value, is_failure=True)

    def lose(self, index: int, cause: str) -> None:
        """End the run for a lost worker, unless the worker has already reported."""
        if index not in self.reports:
            self.stop(f"worker {index} {cause}", StopReason.LOST)

    def register(self, message: Registration, uid: str, version: str) -> bool:
        """Register a worker; return whether the worker is new."""
        is_new = message.index not in self.uids
        self.uids.setdefault(message.index, uid)
        if message.version != version:
            self.stop(
                f"worker {message.index} is version {message.version} and the collector {version};"
                " use one image for both"
            )
        self.heard_s[message.index] = self._own_clock()
        return is_new

    def arrive(self, message: Arrival) -> bool:
        """Note a worker at a barrier; return whether the worker is new.

        The last worker opens the barrier.
        """
        name = message.barrier
        self._gates.setdefault(name, {}).setdefault(message.index, asyncio.Event())
        arrived = self._arrived.setdefault(name, set())
        if message.index in arrived:
            return False
        self.first_arrival_s.setdefault(name, self._clock())
        arrived.add(message.index)
        expected = self._arrivals[name] if self._arrivals else self.workers
        if len(arrived) == expected and name not in self.released_s:
            self.released_s[name] = self._clock() + self._lead_s
            self.let_in(name, expected if self._at_once is None else self._at_once)
        return True

    async def hold_at_barrier(self, message: Arrival) -> bool:
        """Hold a worker at a barrier for a while; return whether it may continue."""
        return await self.hold(self._gates[message.barrier][message.index])

    @property
    def _lead_s(self) -> float:
        """Time by which many workers are admitted before their common start; 0 for few workers."""
        return _LEAD_S * self.workers if self.workers >= _MANY else 0.0

    def let_in(self, barrier: str, more: int = 0) -> int:
        """Let more workers pass an open barrier; return how many may pass by then."""
        gates = [gate for _, gate in sorted(self._gates[barrier].items())]
        closed = [gate for gate in gates if not gate.is_set()]
        for gate in closed[:more]:
            gate.set()
        return len(gates) - len(closed[more:])

    def end_ramp(self, query: str) -> None:
        """Move all workers to the next query; waiting workers skip the current query."""
        self.over = query
        self.let_in(query, self.workers)

    async def hold(self, gate: asyncio.Event) -> bool:
        """Wait briefly for a gate, because frequent replies show that the collector is alive."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._hold_s):
                await self._either(gate)
        return gate.is_set()

    async def _either(self, event: asyncio.Event) -> None:
        waits = [asyncio.ensure_future(e.wait()) for e in (event, self.stopped)]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    @property
    def waiting_first(self) -> int:
        """Return how many workers are at the first barrier of the run."""
        return len(next(iter(self._arrived.values()), ()))

    def count_waiting(self, barrier: str) -> int:
        """Return how many workers are at a barrier."""
        return len(self._arrived.get(barrier, ()))

    def beat(self, message: Heartbeat) -> None:
        """Note the progress of a worker."""
        before, now_s = self.beats.get(message.index), self._own_clock()
        rows = before.rows + before.prefill_rows if before else 0
        if message.rows + message.prefill_rows > rows:
            self._progressed_s = now_s
        self.beats[message.index] = message
        self.heard_s[message.index] = now_s

    @property
    def newest_ms(self) -> int | None:
        """Newest time of an acknowledged row in any heartbeat; None without a row."""
        known = [beat.newest_ms for beat in self.beats.values() if beat.newest_ms is not None]
        return max(known, default=None)

    def count_asked(self, query: str) -> tuple[int, float]:
        """Return how often the workers of a query have run the query, and how long they waited."""
        beats = [beat for beat in self.beats.values() if beat.phase == query]
        return sum(beat.runs for beat in beats), sum(beat.waited_s for beat in beats)

    def compute_stalled_s(self, since_s: float) -> float:
        """Return how long no row has been acknowledged, at most since `since_s`."""
        return self._own_clock() - max(self._progressed_s, since_s)

    def report(self, report: WorkerReport) -> None:
        """Store a worker's result; an error in the result ends the run."""
        self.reports[report.index] = report
        if report.error:
            reason = StopReason.WRONG if report.is_wrong else StopReason.FAILED
            self.stop(f"worker {report.index}: {report.error}", reason)
        if len(self.reports) == self.workers:
            self._all_reported.set()

    def all_reports(self) -> tuple[WorkerReport, ...]:
        """Return the report of every worker; for a lost worker, its last heartbeat."""
        from_beats = {
            index: WorkerReport(
                index=index,
                error=f"no report; last heartbeat in {beat.phase}",
                rows=beat.rows,
                prefill_rows=beat.prefill_rows,
                retried=beat.retried,
                is_lost=True,
            )
            for index, beat in self.beats.items()
        }
        known = {**from_beats, **self.reports}
        return tuple(known[index] for index in sorted(known))

    @property
    def has_all_reports(self) -> bool:
        """True if every worker has reported: none sends anything more."""
        return self._all_reported.is_set()

    async def wait_finished(self) -> None:
        """Wait until all workers have reported or the run is over."""
        await self._either(self._all_reported)

    async def last_reports(self, grace_s: float) -> None:
        """Give live workers a moment to report after the end."""
        deadline = self._own_clock() + grace_s
        while self._own_clock() < deadline:
            if not any(self._list_alive()):
                return
            await asyncio.sleep(_TICK_S / 5)  # workers may become silent, which sets no event

    def _list_alive(self) -> list[bool]:
        """Return for each worker that has registered and not reported whether it is alive."""
        since_s = self._own_clock() - max(_LIVE_S, 2 * self.heartbeat_s)
        return [at_s > since_s for i, at_s in self.heard_s.items() if i not in self.reports]

    @property
    def has_lost(self) -> bool:
        """True if a worker is gone without a report."""
        return self._stop_reason is StopReason.LOST or not all(self._list_alive())

    async def watch(self, appear_s: float, silence_s: float) -> None:
        """Stop the run when a worker does not register in time or becomes silent."""
        started_s = self._own_clock()
        while not self.stopped.is_set():
            await asyncio.sleep(_TICK_S)  # silence sets no event
            now = self._own_clock()
            for index in range(self.workers):
                if index in self.reports:
                    continue
                if index not in self.uids and now - started_s > appear_s:
                    self.stop(f"worker {index} did not register within {appear_s:.0f} s")
                heard = self.heard_s.get(index)
                if heard is not None and now - heard > silence_s:
                    cause = f"worker {index} has been silent for {silence_s:.0f} s"
                    self.stop(cause, StopReason.LOST, now - heard)
