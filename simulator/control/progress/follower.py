"""Follows the workers of a run: enters their phases, and writes samples of their progress."""

import asyncio
from collections.abc import Iterable, Sequence

from simulator.clock import OwnClock, now_s
from simulator.control.journal import Entered, Ramped, Steadied, Stepped
from simulator.control.progress.phases import EventWriter, Phases
from simulator.control.progress.ramp import Ramping
from simulator.control.progress.recent import AHEAD_S, Recent, Steady
from simulator.control.workers.coordinator import Coordinator
from simulator.data.ranges import sum_rows
from simulator.errors import counted
from simulator.protocol.events import AskedEvent, ProgressEvent, ReportEvent
from simulator.protocol.messages import WARMUP, WATCH, WorkerReport
from simulator.protocol.spec import RunSpec, Work

_POLL_S = 0.5
_PROGRESS_PARTS = 200
"""Approximate number of progress reports in a phase, so that the log of a long run stays short."""
_PULSES = 3
"""Number of events, in every phase, within the time that counts as silence."""
_SAMPLED = ("prefill", WARMUP, Work.INSERT, Work.QUERY, Work.MIXED, Work.CHANGE)


class Follower:
    """Reports the workers' progress in one run as events."""

    def __init__(
        self,
        spec: RunSpec,
        queries: Iterable[str],
        run: Coordinator,
        clock: OwnClock,
        writer: EventWriter,
    ) -> None:
        """Store the run, its clock, and the queries in the order in which they are asked."""
        self._spec = spec
        self._queries: Sequence[str] = list(queries)
        self._run = run
        self._clock = clock
        self._writer = writer
        self._pulse_s = spec.silence_s / _PULSES
        beside = [i for i, task in enumerate(spec.workers) if spec.inserts and task.task == "ask"]
        self._recent = Recent(run, clock, spec.barrier, beside)
        self.phases = Phases(run, clock, writer.write)
        self.ramping = Ramping(spec.load.ramp, run, clock) if spec.load.ramp else None
        self._steady = Steady() if spec.clocking.warmup_until_steady_s else None
        self.paused_s = 0.0
        """Time for which this process was stopped while the workers were timed."""
        self._paused_began_s = 0.0
        self._warmup_rows = 0
        """Number of rows acknowledged at the end of the warm-up."""
        self._asking = ""
        self._asked_runs = 0
        """Number of runs of the current query in the last report."""
        self._ready = 0
        self._reported: set[int] = set()
        """Indexes of the workers with a report that has been written."""

    async def report(self) -> None:
        """Report the progress of the workers until cancelled."""
        plans = self._spec.inserts
        planned = {
            "prefill": sum(sum_rows(plan.prefill) for plan in plans),
            self._spec.barrier: sum(sum_rows(plan.timed) for plan in plans),
        }
        planned[WARMUP] = planned[self._spec.barrier]
        phases = self.phases
        while True:
            self.follow()
            self._report_asked()
            self._recent.note()
            if self._recent.is_due(phases.entered_s, self._pulse_s):
                self._sample()
            if self.ramping:
                self.ramping.tick()
            silent_s, phase_s = self._writer.silent_s, now_s() - phases.began_at_s
            pause_s = min(phase_s / _PROGRESS_PARTS, self._pulse_s)
            if phases.now in planned and silent_s >= pause_s:
                self._writer.write(self._progress(planned[phases.now]))
            elif silent_s >= self._pulse_s and phases.now:
                phases.describe(self._describe_waiting(phase_s))
            await asyncio.sleep(_POLL_S)  # also report that nothing has happened

    def finish(self) -> None:
        """Report the progress since the last poll; a short run ends between two polls."""
        self.follow()
        self._recent.note()
        self._sample()
        if self._run.released_s:
            self.paused_s = self._clock.paused_s() - self._paused_began_s

    def follow(self) -> None:
        """Write new reports, and enter the phase that the workers have entered."""
        self.pass_on(self._run.reports.values())
        phases, released = self.phases, self._run.released_s
        start = self._spec.barrier
        if phases.now == "prefill" and self._run.count_waiting(start):
            phases.enter("barrier", at_s=self._run.first_arrival_s[start])
        if not released:
            ready = self._run.waiting_first
            if phases.now == "barrier" and ready != self._ready:
                self._ready = ready
                phases.describe(self._describe_waiting(0.0))
            return
        if phases.now == "barrier":
            self._paused_began_s = self._clock.paused_s()
            began_s = min(released.values())
            phases.enter(WARMUP if self._spec.warmup_s else self._spec.work.value, at_s=began_s)
        if phases.now == WARMUP and now_s() >= (ends_s := self._find_warmup_end(phases.began_at_s)):
            self._warmup_rows = sum(beat.rows for beat in self._run.beats.values())
            phases.enter(self._spec.work.value, at_s=ends_s)
        asking = list(released)[-1]
        if phases.now == Work.QUERY and asking != self._asking:
            self._asking = asking
            self._asked_runs = 0
            phases.describe(self._describe_asked())

    def _find_warmup_end(self, began_s: float) -> float:
        return self._run.measured_s or began_s + self._spec.warmup_s

    def restore(self, what: Entered | Stepped | Ramped) -> None:
        """Restore the progress that another collector reported."""
        if isinstance(what, Entered):
            self.phases.restore(what)
        elif self.ramping:
            self.ramping.restore(what)

    def go_on(self) -> None:
        """Continue to follow the run of another collector."""
        if self.ramping:
            self.ramping.is_resumed = True
        if self.phases.now:
            self.phases.describe("the collector was lost; another one goes on")

    @property
    def steadied(self) -> bool | None:
        """True if the rate became steady in the warm-up; None if that was not asked for."""
        return self._run.measured_s is not None if self._steady else None

    def pass_on(self, reports: Iterable[WorkerReport]) -> None:
        """Write each report once; after this, the run no longer needs the worker that sent it."""
        for report in reports:
            if report.index not in self._reported:
                self._reported.add(report.index)
                self._writer.write(ReportEvent(report=report))

    def _sample(self) -> None:
        phase = self.phases.now
        if phase not in _SAMPLED:
            return
        query = self._asking if phase == Work.QUERY else ""
        began_s = self._run.released_s.get(query or self._recent.worker_phase(phase))
        sample = self._recent.sample(now_s(), phase, query, began_s)
        if self._spec.clocking.stages and began_s:
            elapsed_s = sample.at_s - self._find_warmup_end(began_s)
            sample = sample.model_copy(update={"active": self._spec.active_at(elapsed_s)})
        if phase == WARMUP and self._steady and self._run.measured_s is None:
            self._steady.note(sample.rows_per_s)
            if self._steady.is_reached:
                most_s = self.phases.began_at_s + self._spec.warmup_s
                measured_s = min(now_s() + max(AHEAD_S, 2 * self._run.heartbeat_s), most_s)
                self._run.measured_s = measured_s
                self._run.journal.note(Steadied(measured_s=measured_s))
        self._writer.write(sample)

    def _progress(self, planned: int) -> ProgressEvent:
        phase, beats = self.phases.now, self._run.beats.values()
        prefills, warms = phase == "prefill", phase == WARMUP
        rows = sum(beat.prefill_rows if prefills else beat.rows for beat in beats)
        spent_s = max(now_s() - self.phases.began_at_s, 1e-9)
        rows_per_s = (rows - (0 if prefills or warms else self._warmup_rows)) / spent_s
        left_s = (planned - rows) / rows_per_s if rows_per_s else None
        if self._spec.clocking.duration_s and left_s is not None and not prefills:
            timed_s = self._spec.clocking.duration_s + (self._spec.warmup_s if warms else 0.0)
            left_s = min(left_s, max(timed_s - spent_s, 0.0))
            planned = rows + round(rows_per_s * left_s)
        return ProgressEvent(
            phase=phase,
            rows=rows,
            of=planned,
            rows_per_s=rows_per_s,
            left_s=left_s,
        )

    def _report_asked(self) -> None:
        """Report the runs of the current query, after each --print-interval of them."""
        every = self._spec.load.print_interval
        runs, waited_s = self._run.count_asked(self._asking)
        if not every or runs // every <= self._asked_runs // every:
            return
        self._asked_runs = runs
        spent_s = max(now_s() - self._run.released_s[self._asking], 1e-9)
        self._writer.write(
            AskedEvent(
                query=self._asking,
                runs=runs,
                wait_ms_avg=1000 * waited_s / runs,
                queries_per_s=runs / spent_s,
            )
        )

    def _describe_asked(self) -> str:
        place = self._queries.index(self._asking) + 1
        return f"{self._asking}, {place} of {len(self._queries)}"

    def _describe_waiting(self, phase_s: float) -> str:
        parts = [f"for {phase_s:.0f} s"] if phase_s else []
        if self.phases.now == WATCH:
            parts.insert(0, "an insert into these tables has not ended: does it still run?")
        if self.phases.now == "barrier":
            ready = self._run.waiting_first
            parts.insert(0, f"{ready} of {self._run.workers} workers ready")
        if self._asking and self.phases.now == Work.QUERY:
            runs = sum(beat.runs for beat in self._run.beats.values())
            parts.insert(0, f"{self._describe_asked()}, {counted(runs, 'run')}")
            if self.ramping:
                parts.insert(1, counted(self._run.let_in(self._asking), "worker"))
        return ", ".join(parts)
