"""The collector: prepares tables, starts the workers together, compacts and verifies tables.

Standard output is the event stream of the run; its last event is the Outcome, even on failure.
"""

import asyncio
import math
import socket
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from signal import SIGTERM
from typing import Literal, NamedTuple

from simulator import clock
from simulator.clock import OwnClock, now_s
from simulator.control.database.checks import probe, scan_file
from simulator.control.database.ownership import RENEWED_S
from simulator.control.database.work import DatabaseWork
from simulator.control.journal import (
    Began,
    Entered,
    Journal,
    Ramped,
    Steadied,
    Stepped,
    TablesPrepared,
)
from simulator.control.progress.follower import Follower
from simulator.control.progress.phases import EventWriter
from simulator.control.script import Script
from simulator.control.workers.coordinator import Coordinator
from simulator.control.workers.endpoints import application, server_of
from simulator.control.workers.gate import Gate
from simulator.errors import (
    BenchError,
    ConfigError,
    Interrupted,
    MismatchError,
    RunError,
    SetupError,
)
from simulator.forks import MOST_COLLECTORS
from simulator.host import boot_id
from simulator.modules.contract import Database
from simulator.protocol.events import Occurrence, Outcome
from simulator.protocol.messages import WARMUP
from simulator.protocol.records import Scanned
from simulator.protocol.run_input import ParentPipe
from simulator.protocol.spec import RunSpec, Work
from simulator.protocol.verdict import Status, Verdict
from simulator.verify.truth.folding import FoldTasks, fold_here
from simulator.verify.truth.needed import Names


class Resumed(NamedTuple):
    """The progress of a run, as the journal of the run records it."""

    replaced_s: tuple[float, ...] = ()
    """Times at which collectors, the present one included, replaced lost collectors."""
    prepared: TablesPrepared | None = None
    """The prepared tables; None: the tables are not ready, and no worker has begun."""
    spent_s: float = 0.0
    """Time since the start of the run."""

    def occurrences(self, began_s: float) -> Iterator[Occurrence]:
        """Yield the replacements of collectors since `began_s`."""
        for at_s in self.replaced_s:
            if at_s >= began_s:
                what = "collector replaced"
                yield Occurrence(at_s=round(at_s - began_s, 1), what=what, is_failure=True)


def resume(gate: Gate, follower: Follower) -> Resumed:
    """Restore the progress of the run from its journal, and note that this collector has begun."""
    journal = gate.run.journal
    began: list[float] = []
    prepared = None
    for at_s, uid, what in journal.entries():
        match what:
            case Began():
                began.append(at_s)
                if what.boot_id == boot_id():  # the clock may have been set meanwhile
                    clock.adopt(what.ahead_s)
            case TablesPrepared():
                prepared = what
            case Entered() | Stepped() | Ramped():
                follower.restore(what)
            case Steadied():
                gate.run.measured_s = what.measured_s
            case _:
                gate.take(what, uid)
    journal.note(Began(boot_id=boot_id(), ahead_s=clock.ahead_s()))
    if not began:
        return Resumed()
    now_s = clock.now_s()
    return Resumed((*began[1:], now_s), prepared, now_s - began[0])


_POLL_S = 0.5
_LAST_REPORTS_S = 2.0
_STALLED_S = 2.0
"""Minimum time without an acknowledged row that the message of --timeout mentions."""
_LAST_REPLIES_S = 0.05
_BLAME_S = 3.0
"""Time to find out whether another process has changed the tables."""
_COUNT_S = 5.0
"""Time to count the stored rows after the loss of a worker; a pod ends 10 s after it is deleted."""
_END_S = 2.0
"""Time for recording in the database that a failed run writes nothing more."""
_TEARDOWN_S = 10.0
"""Time for the statements of --teardown after a failure."""


class Collector:
    """One run, from empty tables to the verdict."""

    def __init__(
        self,
        spec: RunSpec,
        database: Database,
        token: str,
        clock: OwnClock,
        journal: Journal | None = None,
    ) -> None:
        """Store the parts of a run; a journal that another collector wrote is continued."""
        self._spec = spec
        self._database = database
        self._token = token
        self._clock = clock
        script = Script.of(spec, database)
        ramp = spec.load.ramp
        self._run = Coordinator(
            len(spec.workers),
            own_clock=clock,
            journal=journal,
            arrivals=script.arrivals,
            at_once=ramp.step if ramp else None,
        )
        self._gate = Gate(self._run, script)
        self._writer = EventWriter(clock=clock)
        self._follower = Follower(spec, script.queries, self._run, clock, self._writer)
        self._phases = self._follower.phases
        self._interrupted = False
        self._scanned: Scanned | None = None
        self._resumed = Resumed()
        self._loop: asyncio.AbstractEventLoop
        self._work = DatabaseWork(spec, database, self._enter_from_thread, self._fold_from_thread)

    # --- the run -------------------------------------------------------------------------------

    async def serve(self, listener: socket.socket, parent: ParentPipe | None) -> Outcome:
        """Serve the workers until the run is over; emit and return its outcome."""
        loop = self._loop = asyncio.get_running_loop()
        loop.add_signal_handler(SIGTERM, self._interrupt, "stopped by the user")
        if parent:
            self._listen_to(parent, loop)
        server = server_of(application(self._gate, self._token), self._run.workers)
        serving = asyncio.create_task(server.serve(sockets=[listener]))
        failure: BenchError | None = None
        try:
            self._resume()
            async with self._background():
                await self._measure()
        except BenchError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - a driver's error
            failure = SetupError(f"{self._phases.now}: {self._database.explain(error)}")
        if failure:
            self._run.stop(self._database.options.redact(str(failure)))
            failure = await self._blame(failure)
            await self._count()
            await self._tear_down()
            await self._end()
        self._follower.pass_on(self._run.all_reports())
        outcome = self._outcome(failure)
        self._writer.write(outcome)
        await asyncio.sleep(_LAST_REPLIES_S)  # waiting workers get the reply that the run is over
        await asyncio.to_thread(self._writer.close)
        serving.cancel()
        return outcome

    async def _blame(self, failure: BenchError) -> BenchError:
        """Return the failure, or another error if another process has changed the tables."""
        if isinstance(failure, Interrupted | ConfigError):
            return failure
        harm, prepared = None, self._run.tables_ready.is_set()
        with suppress(TimeoutError):
            async with asyncio.timeout(_BLAME_S):
                explain = partial(self._work.explain_harm, self._run.cause, prepared=prepared)
                harm = await asyncio.to_thread(explain)
        if not harm:
            return failure
        self._run.cause = str(harm)
        return harm

    async def _count(self) -> None:
        """Find out which rows are stored if a worker was lost, within _COUNT_S."""
        if not (self._run.tables_ready.is_set() and self._run.has_lost):
            return
        counting = asyncio.to_thread(self._work.count_stored, self._run.all_reports())
        try:
            await asyncio.wait_for(counting, _COUNT_S)
        except Exception as error:  # noqa: BLE001 - a driver's error
            why = self._database.options.redact(self._database.explain(error))
            if isinstance(error, TimeoutError):
                why = f"that takes longer than {_COUNT_S:.0f} s"
            reason = f"the rows that are stored were not counted ({why}): `verify` counts them"
            self._work.verdict = Verdict(status=Status.UNKNOWN, reason=reason)

    async def _tear_down(self) -> None:
        """Carry out --teardown after a failure, within _TEARDOWN_S."""
        try:
            async with asyncio.timeout(_TEARDOWN_S):
                await asyncio.to_thread(self._work.tear_down)
        except (BenchError, TimeoutError) as error:
            text = self._database.options.redact(str(error) or "--teardown: took too long")
            print(text, file=sys.stderr, flush=True)  # noqa: T201

    async def _end(self) -> None:
        """Let the next insert begin at once after a failure, unless a worker may still send."""
        if not self._run.tables_ready.is_set() or self._run.has_all_reports:
            with suppress(TimeoutError):
                async with asyncio.timeout(_END_S):
                    await asyncio.to_thread(self._work.ownership.renew, ended=True)

    def _resume(self) -> None:
        """Continue the run of a lost collector, if there was one."""
        try:
            self._resumed = resume(self._gate, self._follower)
        except RunError:
            self._work.touched = True  # perhaps: progress and number of collectors are unknown
            self._writer.follow(MOST_COLLECTORS)
            raise
        self._writer.follow(len(self._resumed.replaced_s))
        if self._resumed.replaced_s:
            self._follower.go_on()

    async def _measure(self) -> None:
        spec = self._spec
        alone = {
            Work.CHECK: self._check,
            Work.MARKS: self._work.read_marks,
            Work.SCAN: self._scan,
        }
        if spec.work in alone:
            self._phases.enter(spec.work.value)
            await self._in_thread(alone[spec.work])
            return
        if self._resumed.prepared:
            await self._in_thread(partial(self._work.go_on, self._resumed.prepared))
        else:
            self._phases.enter("init")
            await self._in_thread(self._work.prepare)
            if spec.work is Work.VERIFY:
                await self._in_thread(self._work.verify_stored)
                return
            prefills = any(task.prefill for task in spec.inserts)
            self._phases.enter("prefill" if prefills else "barrier")
            self._run.journal.note(self._work.prepared)
        self._run.tables_ready.set()
        await self._run.wait_finished()
        self._follower.finish()
        if self._run.stopped.is_set():
            await self._run.last_reports(_LAST_REPORTS_S)
            raise self._make_end()
        await self._in_thread(self._finish)
        self._gate.fold_tasks.dismiss()

    async def _in_thread(self, work: Callable[[], None]) -> None:
        """Run blocking work in a thread; a stopped run does not wait for the work to end."""
        task = asyncio.create_task(asyncio.to_thread(work))
        over = asyncio.create_task(self._run.stopped.wait())
        await asyncio.wait({task, over}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        if not task.done():
            raise self._make_end()
        task.result()

    @asynccontextmanager
    async def _background(self) -> AsyncIterator[None]:
        watching = self._run.watch(self._spec.appear_s, self._spec.silence_s)
        tasks = [asyncio.create_task(watching)]
        tasks.append(asyncio.create_task(self._follower.report()))
        tasks.append(asyncio.create_task(self._renew()))
        if self._spec.timeout_s:
            tasks.append(asyncio.create_task(self._time_out()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    async def _renew(self) -> None:
        """Show other inserts from time to time that this run still writes."""
        while True:
            await asyncio.sleep(RENEWED_S)
            await asyncio.to_thread(self._work.ownership.renew)

    async def _time_out(self) -> None:
        began_s = self._clock() - self._resumed.spent_s
        while self._clock() - began_s < self._spec.timeout_s:  # noqa: ASYNC110 - pauses do not count
            await asyncio.sleep(_POLL_S)  # one long sleep would count pauses of the machine
        self._run.stop(
            f"--timeout: the run was not done after {self._spec.timeout_s:g} s, in phase"
            f" {self._phases.now}{self._describe_stall()}; give it more time, fewer rows, or 0 for"
            " no limit"
        )

    def _describe_stall(self) -> str:
        """Return how long the database has acknowledged no row, as text; empty if not for long."""
        stalled_s = self._run.compute_stalled_s(self._phases.entered_s)
        inserts = self._phases.now in (self._spec.barrier, WARMUP, "prefill")
        if not inserts or stalled_s < _STALLED_S:
            return ""
        return f"; the database has acknowledged no row for {stalled_s:.0f} s"

    def _interrupt(self, cause: str) -> None:
        self._interrupted = True
        self._run.stop(cause)

    def _listen_to(self, parent: ParentPipe, loop: asyncio.AbstractEventLoop) -> None:
        """Stop the run when the parent has exited, or has lost a worker."""

        def lost(line: str) -> None:
            index, _, cause = line.partition(" ")
            loop.call_soon_threadsafe(self._run.lose, int(index), cause)

        def gone() -> None:
            self._writer.discard()
            loop.call_soon_threadsafe(self._interrupt, "the command line is gone")

        parent.listen(lost, gone)

    def _check(self) -> None:
        for step in probe(self._database, self._spec.module):
            self._loop.call_soon_threadsafe(self._writer.write, step)

    def _scan(self) -> None:
        self._scanned = scan_file(self._spec)

    def _finish(self) -> None:
        reports = list(self._run.reports.values())
        if self._spec.work.writes:
            self._work.finish_insert(reports)
        if self._spec.asks:
            self._work.finish_query(self._gate.answers, self._gate.arrivals)
        if self._spec.teardown:
            self._enter_from_thread("teardown")
            self._work.tear_down()

    def _make_end(self) -> BenchError:
        failed = MismatchError if self._run.is_wrong else RunError
        return (Interrupted if self._interrupted else failed)(self._run.cause)

    # --- events --------------------------------------------------------------------------------

    def _enter_from_thread(self, phase: str) -> None:
        """Enter a phase in the loop's thread, because lines written by two threads would mix."""
        self._loop.call_soon_threadsafe(self._phases.enter, phase, now_s())

    def _fold_from_thread(self, names: Names, tasks: FoldTasks) -> None:
        """Fold tasks in threads of this process, and in the workers that have reported."""
        self._loop.call_soon_threadsafe(self._gate.fold_tasks.offer, names, tasks)
        fold_here(tasks)

    def _outcome(self, failure: BenchError | None) -> Outcome:
        self._phases.leave(now_s())
        inserts = bool(self._spec.inserts)
        if self._spec.work.writes:
            self._phases.make_exact(self._spec)
        reports = self._run.all_reports()
        released_s = min(self._run.released_s.values(), default=None)
        background, began_s = self._work.background, released_s or math.inf
        written = any(r.rows or r.prefill_rows or r.uncertain or r.changes for r in reports)
        status: Literal["done", "failed", "interrupted"] = "done"
        if failure:
            status = "interrupted" if isinstance(failure, Interrupted) else "failed"
        return Outcome(
            status=status,
            cause=self._run.cause if failure else "",
            exit_code=failure.exit_code if failure else 0,
            touched=self._work.touched or written,
            released_s=released_s,
            phases_s=self._phases.seconds,
            server=self._work.server,
            insert_mode=self._spec.mode if inserts else "",
            reports=len(reports),
            verdict=self._work.verdict,
            rows_verdict=self._work.rows_verdict,
            queries=self._work.queries,
            plans=self._work.plans,
            freshness=self._work.freshness,
            ramps=tuple(self._follower.ramping.found) if self._follower.ramping else (),
            size_bytes=self._work.size_bytes,
            size_before_bytes=self._work.size_before_bytes,
            deleted_rows=0 if failure else self._spec.dataset.rows - self._spec.changed.rows,
            complete=self._work.complete and not failure,
            marks=self._work.found_marks,
            no_mark=self._work.ownership.no_mark,
            paused_s=self._follower.paused_s,
            steady=self._follower.steadied,
            background=background.counts(began_s + self._phases.seconds.get(WARMUP, 0.0)),
            occurrences=(
                *background.occurrences(began_s),
                *self._resumed.occurrences(began_s),
                *self._run.list_early_end(began_s),
            ),
            scanned=self._scanned,
        )
