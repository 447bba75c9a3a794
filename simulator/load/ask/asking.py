"""The part of a worker that asks queries: by type, in turn, or about fresh rows."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from math import gcd
from types import MappingProxyType

from simulator.clock import OwnClock
from simulator.load.ask.answers import EveryAnswer, Moving
from simulator.load.ask.asker import Asker, asker_of
from simulator.load.ask.callers import Callers, Persistence, callers_of
from simulator.load.client import CollectorClient
from simulator.load.connecting import connect, session_of
from simulator.load.connections import Connections
from simulator.load.durations import Durations, encode_durations
from simulator.load.timings import RunClock
from simulator.modules.contract import Database, Session
from simulator.protocol.arrivals import NEVER_NS
from simulator.protocol.messages import QueryTimes
from simulator.protocol.pace import Pace, Timetable, paces_of, wait_until
from simulator.protocol.spec import Ask, RunSpec, Work

NO_WEIGHTS: Mapping[str, int] = MappingProxyType({})


def order_turns(askers: Sequence[Asker], weights: Mapping[str, int]) -> list[Asker]:
    """Return askers in the order of their turns, each as often as its weight and evenly spread."""
    found = [weights.get(asker.name, 1) for asker in askers]
    common = gcd(*found)
    turns = [
        ((turn + 0.5) / (weight // common), place)
        for place, weight in enumerate(found)
        for turn in range(weight // common)
    ]
    return [askers[place] for _, place in sorted(turns)]


class Turns:
    """Asks query types in turn, beginning with the turn at place `first`."""

    def __init__(  # noqa: PLR0913
        self,
        askers: Sequence[Asker],
        callers: Callers,
        pace: Pace,
        first: int = 0,
        weights: Mapping[str, int] = NO_WEIGHTS,
        *,
        warmup_s: float = 0.0,
        when_measured: Callable[[], object] = int,
    ) -> None:
        """Store askers with the same callers, after their first runs.

        Runs due in the first `warmup_s` are not timed. `when_measured` is called after this
        warm-up.
        """
        self._askers, self._callers, self._pace, self._first = askers, callers, pace, first
        self._turns = order_turns(askers, weights)
        self._warmup_s, self._when_measured = warmup_s, when_measured
        self.waits = Durations()
        """Waits of all queries, including the warm-up."""
        self._measured_ns = self._ended_ns = 0
        """Start of the measured part, and time of its last answer; 0 until then."""
        self._cpu_s = 0.0

    def ask(self, stop: threading.Event) -> None:
        """Ask until the time is over; with a rate, each query has a due time."""
        start_ns, pace = time.perf_counter_ns(), self._pace
        measured_ns = start_ns + int(self._warmup_s * 1e9)
        timetable = Timetable([pace], start_ns, measured_ns)
        if not self._warmup_s:
            self._begin_measured()
        asked = islice(cycle(self._turns), self._first % len(self._turns), None)
        while True:
            self._callers.wait_for_one()
            due_ns = timetable.due_ns(time.perf_counter_ns())
            if due_ns == NEVER_NS:
                break
            wait_until(due_ns, stop)
            timed = due_ns >= measured_ns
            if timed and not self._measured_ns:
                self._begin_measured()
            scheduled_ns = due_ns if pace.rate_per_s else None
            record = self._record_timed if timed else self._record
            next(asked).once(scheduled_ns, record, timed=timed)
        self._callers.wait_for_all()
        turns = list(islice(asked, len(self._turns)))
        for kept in timetable.list_kept():
            late_ns = kept.late_ns[kept.unsent_ns >= measured_ns]
            for turn, asker in enumerate(turns):
                asker.keep(kept.until_ns - measured_ns, late_ns[turn :: len(turns)], kept.each)
        if not self._measured_ns:
            self._begin_measured()
        self._cpu_s = self._callers.cpu_s() - self._cpu_s
        wait_until(pace.end_ns(measured_ns), stop)  # reports would disturb the other workers

    def _record(self, waited_ns: int, _: int) -> None:
        self.waits.record(waited_ns)

    def _record_timed(self, waited_ns: int, ended_ns: int) -> None:
        self.waits.record(waited_ns)
        self._ended_ns = max(ended_ns, self._ended_ns)

    def _begin_measured(self) -> None:
        self._when_measured()
        self._measured_ns = self._ended_ns = time.perf_counter_ns()
        self._cpu_s = self._callers.cpu_s()

    def times(self) -> list[QueryTimes]:
        """Report the answers, and return the measurements in the order of the types."""
        elapsed_s = (self._ended_ns - self._measured_ns) / 1e9
        return [asker.times(elapsed_s, self._cpu_s) for asker in self._askers]


@dataclass(frozen=True, slots=True)
class Calls:
    """Functions of the worker that its queries need."""

    wait_for_all: Callable[[str], bool]
    """Wait at a barrier; return whether the worker takes part in the next phase."""
    is_over: Callable[[str], bool]
    """Return whether the ramp of a query has ended."""
    begin_measured: Callable[[], object]
    newest_ms: Callable[[], int | None]
    """Return the time of the newest acknowledged row of any worker."""


class Asking:
    """Asks the queries of one worker."""

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        spec: RunSpec,
        database: Database,
        client: CollectorClient,
        index: int,
        stop: threading.Event,
        clock: OwnClock,
        run_clock: RunClock,
        calls: Calls,
    ) -> None:
        self._spec, self._database, self._client, self._index = spec, database, client, index
        self._stop, self._clock, self._run_clock = stop, clock, run_clock
        self._calls = calls
        self.connects = ""
        """Times to open each of several connections, as a histogram."""
        self.waits: Durations | None = None
        """Waits of the current queries."""
        self.times: list[QueryTimes] = []
        self._persistence = (
            Persistence(
                self._open_to_ask,
                stop,
                clock,
                spec.retry_s,
                # Without a fault, only errors that are unrelated to the query are retried.
                may_pass=None if spec.fault else database.is_refused_login,
            )
            if spec.fault or spec.retry_s
            else None
        )

    @property
    def failed(self) -> int:
        """Number of failed and repeated attempts to ask a query."""
        return self._persistence.failed if self._persistence else 0

    def carry_out(self, task: Ask) -> None:
        """Wait for all workers, and ask the queries."""
        embedded = self._database.capabilities.embedded
        session = session_of(self._open_to_ask, self._spec.several, {})
        callers = callers_of(session, self._persistence, embedded=embedded)
        with closing(callers):
            if isinstance(session, Connections):
                self.connects = encode_durations(session.opened_ns)
            if self._spec.work is not Work.MIXED:
                self._ask_one_by_one(task, callers)
            elif self._spec.load.fresh_ms:
                self._ask_fresh(task, callers)
            else:
                askers = [asker for _, asker in self._make_askers(task, callers)]
                self._ask_in_turn(task, callers, askers)

    def _open_to_ask(self) -> Session:
        retry_s = self._spec.retry_s
        session = connect(self._database, self._stop, self._clock, retry_s)
        if self._spec.load.own:
            session.read_only()
        return session

    def _ask_one_by_one(self, task: Ask, callers: Callers) -> None:
        for name, asker in self._make_askers(task, callers):
            clocking = self._spec.clocking.multiply(self._spec.load.weights.get(name, 1))
            self.waits = asker.waits
            if clocking.stages:
                asker.warm()
            if not self._calls.wait_for_all(name):
                continue
            if not self._run_clock.is_started:
                self._run_clock.start()
            if clocking.stages:
                times = asker.ask_in_stages(clocking, self._index, self._run_clock.instant_s)
            else:
                over = partial(self._calls.is_over, name) if self._spec.load.ramp else None
                pace = Pace(clocking.queries_per_s / task.every, task.place / task.every)
                times = asker.ask(clocking.duration_s, over, pace)
            self.times.append(times)
        self._run_clock.stop()

    def _ask_in_turn(self, task: Ask, callers: Callers, askers: Sequence[Asker]) -> None:
        clocking = self._spec.clocking
        for asker in askers:
            asker.ask_first()
        (pace,) = paces_of(clocking, task.place, task.every, clocking.queries_per_s)
        turns = Turns(
            askers, callers, pace, task.place, self._spec.load.weights,
            warmup_s=clocking.warmup_s, when_measured=self._calls.begin_measured,
        )  # fmt: skip
        self.waits = turns.waits
        self._calls.wait_for_all(self._spec.barrier)
        turns.ask(self._stop)
        self._run_clock.stop()
        self.times += turns.times()

    def _ask_fresh(self, task: Ask, callers: Callers) -> None:
        """Ask in turn about rows that are arriving, and report every answer."""
        spec, database, types = self._spec, self._database, self._spec.fresh_types
        asked = database.select_answered(spec.query_types(), spec.load.queries)
        answers = {name: EveryAnswer(name, types[name]) for name in asked}
        askers = [
            Asker(
                database, callers, name,
                Moving(database, types[name], self._find_since_ms, answers[name]), answers[name],
                task=task, stop=self._stop, warmup_s=spec.clocking.warmup_s,
            )
            for name in asked
        ]  # fmt: skip
        self._ask_in_turn(task, callers, askers)
        for each in answers.values():
            self._client.report_parts("/answers/fresh", each.parts(self._index, self._client.ticks))

    def _find_since_ms(self) -> int:
        """Return the instant since which rows are fresh; no row stored before the run is fresh."""
        load, newest_ms = self._spec.load, self._calls.newest_ms()
        until_ms = load.until_ms or 0
        if newest_ms is None:
            return until_ms
        since_ms = max(until_ms, newest_ms - load.fresh_ms)
        return since_ms - since_ms % (1000 * self._database.interval_s if load.aligned else 1)

    def _make_askers(self, task: Ask, callers: Callers) -> Iterator[tuple[str, Asker]]:
        """Render the statements of each type that the database can answer, and yield its asker."""
        load, types = self._spec.load, self._spec.query_types()
        for name in self._database.select_answered(types, load.queries):
            asker = asker_of(
                self._database, callers, name, types[name],
                task.multiply(load.weights.get(name, 1)), stop=self._stop,
                report=self._client.answers, text=load.queries[name],
                warmup_s=self._spec.clocking.warmup_s,
            )  # fmt: skip
            yield name, asker
