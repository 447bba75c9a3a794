"""The collector: prepares the tables, starts the workers together, compacts, verifies.

Standard output is the event stream of the run; its last event is the Outcome, even on failure.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from signal import SIGTERM
from typing import Literal

from simulator.clock import OwnClock
from simulator.control.coordinator import Coordinator
from simulator.control.endpoints import application
from simulator.control.event_writer import EventWriter
from simulator.control.gate import Gate
from simulator.control.probe import probe
from simulator.control.ramp import Ramping
from simulator.control.script import Script
from simulator.control.server import server_of
from simulator.control.stages import Stages
from simulator.errors import BenchError, Interrupted, RunError, SetupError, counted
from simulator.modules.base import Database
from simulator.protocol.messages import (
    AskedEvent,
    CheckEvent,
    Event,
    Outcome,
    PhaseEvent,
    ProgressEvent,
    ReportEvent,
)
from simulator.protocol.run_input import ParentPipe
from simulator.protocol.spec import Kind, RunSpec
from simulator.verify.folding import fold_here
from simulator.verify.needed import Names
from simulator.verify.portions import Portions

_PROGRESS_S = 0.5
_PROGRESS_PARTS = 200
"""A long run reports its progress less often, so that its log stays short..."""
_PULSES = 3
"""...but so often within the time that counts as silence, in every phase, as a sign of life."""
_LAST_REPORTS_S = 2.0
_STALLED_S = 2.0
"""A database that acknowledges no row for so long is named when the time is up."""
_LAST_REPLIES_S = 0.05


class Collector:
    """One run, from empty tables to the verdict."""

    def __init__(self, spec: RunSpec, database: Database, token: str, clock: OwnClock) -> None:
        self._spec = spec
        self._database = database
        self._token = token
        self._clock = clock
        script = Script.of(spec, database)
        ramp = spec.load.ramp
        self._run = Coordinator(
            len(spec.workers),
            own_clock=clock,
            arrivals=script.arrivals,
            at_once=ramp.step if ramp else None,
        )
        self._ramping = Ramping(ramp, self._run, clock) if ramp else None
        self._gate = Gate(self._run, script)
        self._writer = EventWriter()
        self._pulse_s = spec.silence_s / _PULSES
        self._phase = ""
        self._phase_began = self._entered_s = 0.0
        self._emitted_s = clock()
        self._paused_began_s = self._paused_s = 0.0
        self._phases_s: dict[str, float] = {}
        self._interrupted = False
        self._asking = ""
        self._asked_runs = 0
        """Of the query that is asked now, as they were last reported."""
        self._ready = 0
        self._loop: asyncio.AbstractEventLoop
        self._stages = Stages(spec, database, self._enter_from_thread, self._fold_from_thread)

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
            async with self._background():
                await self._measure()
        except BenchError as error:
            failure = error
        except Exception as error:  # noqa: BLE001 - a driver's error
            failure = SetupError(f"{self._phase}: {self._database.explain(error)}")
        if failure:
            self._run.stop(self._database.options.redact(str(failure)))
        for report in self._run.all_reports():
            self._emit(ReportEvent(report=report))
        outcome = self._outcome(failure)
        self._emit(outcome)
        await asyncio.sleep(_LAST_REPLIES_S)  # waiting workers get the reply that the run is over
        await asyncio.to_thread(self._writer.close)
        serving.cancel()
        return outcome

    async def _measure(self) -> None:
        spec = self._spec
        if spec.kind is Kind.CHECK:
            self._enter("check")
            await self._in_thread(self._check)
            return
        if spec.kind is Kind.MARKS:
            self._enter("marks")
            await self._in_thread(self._stages.read_marks)
            return
        self._enter("init")
        await self._in_thread(self._stages.prepare)
        if spec.kind is Kind.VERIFY:
            await self._in_thread(self._stages.verify_stored)
            return
        self._enter("prefill" if any(task.prefill for task in spec.inserts) else "barrier")
        self._run.tables_ready.set()
        await self._run.finished()
        self._follow_workers()  # a short run may end between two polls
        if self._run.released_s:
            self._paused_s = self._clock.paused_s() - self._paused_began_s
        if self._run.stopped.is_set():
            await self._run.last_reports(_LAST_REPORTS_S)
            raise self._over()
        await self._in_thread(self._finish)
        self._gate.portions.dismiss()

    async def _in_thread(self, work: Callable[[], None]) -> None:
        """Run blocking work in a thread; the end of the run does not wait for it."""
        task = asyncio.create_task(asyncio.to_thread(work))
        over = asyncio.create_task(self._run.stopped.wait())
        await asyncio.wait({task, over}, return_when=asyncio.FIRST_COMPLETED)
        over.cancel()
        if not task.done():
            raise self._over()
        task.result()

    @asynccontextmanager
    async def _background(self) -> AsyncIterator[None]:
        """Watch the workers, the timeout and the progress during the run."""
        watching = self._run.watch(self._spec.appear_s, self._spec.silence_s)
        tasks = [asyncio.create_task(watching)]
        tasks.append(asyncio.create_task(self._report_progress()))
        if self._spec.timeout_s:
            tasks.append(asyncio.create_task(self._time_out()))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()

    async def _time_out(self) -> None:
        began_s = self._clock()
        while self._clock() - began_s < self._spec.timeout_s:  # noqa: ASYNC110 - pauses do not count
            await asyncio.sleep(_PROGRESS_S)
        self._run.stop(
            f"--timeout: the run was not done after {self._spec.timeout_s:g} s, in phase"
            f" {self._phase}{self._stalled()}; give it more time, fewer rows, or 0 for no limit"
        )

    def _stalled(self) -> str:
        """Return for how long the database has acknowledged no row, if that is long."""
        stalled_s = self._run.stalled_s(self._entered_s)
        if self._phase not in (Kind.INSERT, "prefill") or stalled_s < _STALLED_S:
            return ""
        return f"; the database has acknowledged no row for {stalled_s:.0f} s"

    def _interrupt(self, cause: str) -> None:
        self._interrupted = True
        self._run.stop(cause)

    def _listen_to(self, parent: ParentPipe, loop: asyncio.AbstractEventLoop) -> None:
        """Stop the run when the parent is gone, or has lost a worker."""

        def lost(line: str) -> None:
            index, _, cause = line.partition(" ")
            loop.call_soon_threadsafe(self._run.lose, int(index), cause)

        def gone() -> None:
            self._writer.discard()
            loop.call_soon_threadsafe(self._interrupt, "the command line is gone")

        parent.listen(lost, gone)

    def _check(self) -> None:
        for step in probe(self._database):
            if not step.ok:
                raise SetupError(f"{step.name}: {step.detail}")
            self._loop.call_soon_threadsafe(
                self._emit, CheckEvent(name=step.name, detail=step.detail)
            )

    def _finish(self) -> None:
        reports = list(self._run.reports.values())
        if self._spec.inserts:
            self._stages.finish_insert(reports)
        if self._spec.asks:
            self._stages.finish_query(self._gate.answers)

    def _over(self) -> BenchError:
        return (Interrupted if self._interrupted else RunError)(self._run.cause)

    # --- events --------------------------------------------------------------------------------

    def _emit(self, event: Event) -> None:
        self._emitted_s = self._clock()
        self._writer.write(event)

    def _enter(self, phase: str, detail: str = "", at_s: float | None = None) -> None:
        """Enter a phase, now or at the earlier time when it began."""
        if self._run.stopped.is_set():
            return  # called by a thread that is still running; the outcome is the last event
        began = at_s or time.time()
        self._leave(began)
        self._phase, self._phase_began, self._entered_s = phase, began, self._clock()
        self._emit(PhaseEvent(phase=phase, detail=detail))

    def _enter_from_thread(self, phase: str) -> None:
        """Enter a phase, which begins now, in the loop's thread: two would mix their lines."""
        self._loop.call_soon_threadsafe(self._enter, phase, "", time.time())

    def _fold_from_thread(self, names: Names, portions: Portions) -> None:
        """Fold in threads of this process, and in the workers that have reported."""
        self._loop.call_soon_threadsafe(self._gate.portions.offer, names, portions)
        fold_here(portions)

    def _leave(self, at_s: float) -> None:
        if self._phase:
            spent = at_s - self._phase_began
            self._phases_s[self._phase] = self._phases_s.get(self._phase, 0.0) + spent
            self._phase = ""

    async def _report_progress(self) -> None:
        """Report the progress of the workers, and enter the phases that they enter."""
        plans = self._spec.inserts
        planned = {
            "prefill": sum(len(rows) for plan in plans for rows in plan.prefill),
            "insert": sum(len(rows) for plan in plans for rows in plan.timed),
        }
        while True:
            self._follow_workers()
            self._report_asked()
            if self._ramping:
                self._ramping.tick()
            silent_s, phase_s = self._clock() - self._emitted_s, time.time() - self._phase_began
            pause_s = min(phase_s / _PROGRESS_PARTS, self._pulse_s)
            if self._phase in planned and silent_s >= pause_s:
                self._emit(self._progress(planned[self._phase]))
            elif silent_s >= self._pulse_s and self._phase:
                self._emit(PhaseEvent(phase=self._phase, detail=self._waited(phase_s)))
            await asyncio.sleep(_PROGRESS_S)

    def _progress(self, planned: int) -> ProgressEvent:
        beats = self._run.beats.values()
        prefills = self._phase == "prefill"
        rows = sum(beat.prefill_rows if prefills else beat.rows for beat in beats)
        spent_s = max(time.time() - self._phase_began, 1e-9)
        rows_per_s = rows / spent_s
        left_s = (planned - rows) / rows_per_s if rows else None
        if self._spec.duration_s and left_s is not None and not prefills:
            left_s = min(left_s, max(self._spec.duration_s - spent_s, 0.0))
            planned = rows + round(rows_per_s * left_s)
        return ProgressEvent(
            phase=self._phase, rows=rows, of=planned, rows_per_s=rows_per_s, left_s=left_s
        )

    def _follow_workers(self) -> None:
        released = self._run.released_s
        ready = self._run.waiting("insert")
        if self._phase == "prefill" and ready:
            self._enter("barrier", at_s=self._run.first_arrival_s["insert"])
        if not released:
            self._report_ready()
            return
        if self._phase == "barrier":
            self._paused_began_s = self._clock.paused_s()
            self._enter(self._spec.kind.value, at_s=min(released.values()))
        asking = list(released)[-1]
        if self._phase == Kind.QUERY and asking != self._asking:
            self._asking = asking
            self._asked_runs = 0
            self._emit(PhaseEvent(phase=self._phase, detail=self._asked()))

    def _report_asked(self) -> None:
        """Report the runs of the query that is asked now, once it has enough new ones."""
        every = self._spec.load.print_interval
        runs, waited_s = self._run.asked(self._asking)
        if not every or runs // every <= self._asked_runs // every:
            return
        self._asked_runs = runs
        spent_s = max(time.time() - self._run.released_s[self._asking], 1e-9)
        self._emit(
            AskedEvent(
                query=self._asking,
                runs=runs,
                wait_ms_avg=1000 * waited_s / runs,
                queries_per_s=runs / spent_s,
            )
        )

    def _report_ready(self) -> None:
        """Report how many workers are at the first barrier, whenever that changes."""
        ready = self._run.waiting_first
        if self._phase == "barrier" and ready != self._ready:
            self._ready = ready
            self._emit(PhaseEvent(phase=self._phase, detail=self._waited(0.0)))

    def _asked(self) -> str:
        queries = list(self._gate.script.queries)
        return f"{self._asking}, {queries.index(self._asking) + 1} of {len(queries)}"

    def _waited(self, phase_s: float) -> str:
        parts = [f"for {phase_s:.0f} s"] if phase_s else []
        if self._phase == "barrier":
            ready = self._run.waiting_first
            parts.insert(0, f"{ready} of {self._run.workers} workers ready")
        if self._asking and self._phase == Kind.QUERY:
            runs = sum(beat.runs for beat in self._run.beats.values())
            parts.insert(0, f"{self._asked()}, {counted(runs, 'run')}")
            if self._ramping:
                parts.insert(1, counted(self._run.let_in(self._asking), "worker"))
        return ", ".join(parts)

    def _outcome(self, failure: BenchError | None) -> Outcome:
        self._leave(time.time())
        inserts = bool(self._spec.inserts)
        if inserts:
            self._exact_phases()
        reports = self._run.all_reports()
        written = any(r.rows or r.prefill_rows or r.uncertain for r in reports)
        status: Literal["done", "failed", "interrupted"] = "done"
        if failure:
            status = "interrupted" if isinstance(failure, Interrupted) else "failed"
        return Outcome(
            status=status,
            cause=self._run.cause if failure else "",
            exit_code=failure.exit_code if failure else 0,
            touched=self._stages.touched or written,
            released_s=min(self._run.released_s.values(), default=None),
            phases_s=self._phases_s,
            server=self._stages.server,
            insert_mode=self._database.insert_mode(self._spec.batch_rows) if inserts else "",
            reports=len(reports),
            verdict=self._stages.verdict,
            queries=self._stages.queries,
            ramps=tuple(self._ramping.found) if self._ramping else (),
            size_bytes=self._stages.size_bytes,
            complete=self._stages.complete and not failure,
            marks=self._stages.found_marks,
            no_mark=self._stages.tenure.no_mark,
            paused_s=self._paused_s,
        )

    def _exact_phases(self) -> None:
        """Replace the times at which phases were noticed by those of the barrier."""
        first = self._run.first_arrival_s.get("insert")
        released = self._run.released_s.get("insert")
        if first is None or released is None:
            return
        self._phases_s["barrier"] = released - first
        ends = [report.ended_s for report in self._run.reports.values() if report.ended_s]
        if ends:
            self._phases_s["insert"] = max(ends) - released
