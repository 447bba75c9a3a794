"""Asks queries, times each of them, and keeps their answers."""

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.own_query import TextQuery
from simulator.data.query import Query, Statement
from simulator.data.query_type import QueryType
from simulator.errors import RunError
from simulator.load.ask.answers import Asked, DifferentAnswers, KeptAnswers, Moving, Raw, Report
from simulator.load.ask.callers import Callers
from simulator.load.connecting import Stopped
from simulator.load.durations import Durations, encode_together
from simulator.load.meter import StageMeter
from simulator.modules.contract import Database, Session
from simulator.protocol.arrivals import NEVER_NS
from simulator.protocol.messages import QueryTimes
from simulator.protocol.pace import FASTEST, Clocking, Pace, Timetable, paces_of, wait_until
from simulator.protocol.spec import MOST_INSTANCES, MOST_WARMUP, Ask

_KEPT_VALUES = 1 << 20
"""Maximum number of answer values kept until the clock stops; more are reported earlier."""

Record: TypeAlias = Callable[[int, int], None]
"""Function that takes the wait of a run, and the time at which the run ended, in ns."""


class Asker:
    """Runs one query type."""

    def __init__(  # noqa: PLR0913
        self,
        database: Database,
        callers: Callers,
        name: str,
        statements: "Statements",
        answers: KeptAnswers,
        *,
        task: Ask,
        stop: threading.Event,
        warmup_s: float = 0.0,
    ) -> None:
        """Store the parts; the warm-up lasts at least `warmup_s` and the task's burn-in.

        `stop` ends the run between two queries.
        """
        self._database, self._callers, self.name = database, callers, name
        self._statements, self._answers = statements, answers
        self._task, self._stop = task, stop
        self._warmup_s = warmup_s
        self._warmup_runs = self._begun = 0
        """Numbers of warm-up runs and of timed runs that have begun."""
        self.waits = Durations()
        """Waits of the timed runs, without the first run and the warm-up."""
        self._unsent = Durations()
        """Lateness, at the end, of the queries that were due but did not begin."""
        self._due_s: float | None = None
        self._first_ns = self._client_ns = self._ended_ns = 0

    def ask(
        self,
        duration_s: float,
        over: Callable[[], bool] | None = None,
        pace: Pace = FASTEST,
    ) -> QueryTimes:
        """Run the type as often or as long as the task requires; report its answers afterwards.

        With `over`, run until it returns True. With a rate, each run has a due time.
        """
        self.warm()
        cpu_s, began_ns = self._callers.cpu_s(), time.perf_counter_ns()
        end_ns, wanted = began_ns + int(duration_s * 1e9), self._task.runs
        by_time, fewest = not wanted and over is None, self._task.fewest or wanted
        over = over or (lambda: not pace.rate_per_s and time.perf_counter_ns() >= end_ns)
        # The first query is asked even if it is due after the end.
        first_s = pace.turn / pace.rate_per_s + 1e-9 if pace.rate_per_s else 0.0
        length_s = max(duration_s, first_s) if by_time else 0.0
        timetable = Timetable([replace(pace, duration_s=length_s)], began_ns, began_ns)
        while True:
            self._callers.wait_for_one()
            begun = self._begun
            if begun and (begun == wanted or (begun >= fewest and over())):
                break
            due_ns = None
            if pace.rate_per_s:
                due_ns = timetable.due_ns(time.perf_counter_ns())
                if due_ns == NEVER_NS:
                    break
                wait_until(due_ns, self._stop)
            self.once(due_ns)
        self._callers.wait_for_all()
        for kept in timetable.list_kept():
            self.keep(kept.until_ns - began_ns, kept.late_ns, kept.each)
        elapsed_s = (self._ended_ns - began_ns) / 1e9
        return self.times(elapsed_s, self._callers.cpu_s() - cpu_s)

    def ask_in_stages(
        self, clocking: Clocking, place: int, instant_s: Callable[[int], float]
    ) -> QueryTimes:
        """Run the type in the stages in which worker `place` is active, after `warm`.

        The stages begin now; `instant_s` returns the collector's time of an instant. The answers
        are reported afterwards.
        """
        cpu_s, start_ns = self._callers.cpu_s(), time.perf_counter_ns()
        self._ended_ns = start_ns
        meter = StageMeter(clocking.stages, start_ns)
        paces = paces_of(clocking, place, place + 1, clocking.queries_per_s)
        timetable = Timetable(paces, start_ns, start_ns)
        while True:
            self._callers.wait_for_one()
            due_ns = timetable.due_ns(time.perf_counter_ns())
            if due_ns == NEVER_NS:
                break
            wait_until(due_ns, self._stop)
            # The due time decides on the stage, which may end before the run begins.
            record = partial(meter.record, due_ns)
            scheduled_ns = None if timetable.free_until_ns else due_ns
            self.once(scheduled_ns, record)
        self._callers.wait_for_all()
        cpu_s = self._callers.cpu_s() - cpu_s
        # A report now would disturb the other workers.
        wait_until(start_ns + int(clocking.duration_s * 1e9), self._stop)
        for kept in timetable.list_kept():
            self.keep(kept.until_ns - start_ns, kept.late_ns, kept.each)
            meter.keep(kept)
        times = self.times((self._ended_ns - start_ns) / 1e9, cpu_s)
        return times.model_copy(update={"stages": meter.times(instant_s)})

    def warm(self) -> None:
        """Run the type for the first time, and as its warm-up."""
        self.ask_first()
        warm_ns = time.perf_counter_ns() + int(self._warmup_s * 1e9)
        while self._warmup_runs < self._task.burn_in or (
            self._warmup_s and time.perf_counter_ns() < warm_ns
        ):
            self._callers.wait_for_one()
            self.once(timed=False)
        self._callers.wait_for_all()

    def ask_first(self) -> None:
        """Run the type for the first time."""

        def record_first(waited_ns: int, _: int) -> None:
            self._first_ns = waited_ns

        self._call(self._statements.first(), None, record_first)
        self._callers.wait_for_all()

    def once(
        self, due_ns: int | None = None, record: Record | None = None, *, timed: bool = True
    ) -> None:
        """Run the next instance with a free caller, as warm-up unless `timed`.

        A run that begins late has been waiting since its due time.
        """
        if timed:
            asked = self._statements.timed(self._begun)
            self._begun += 1
        else:
            asked = self._statements.warmup(self._warmup_runs)
            self._warmup_runs += 1
        self._call(asked, due_ns, record, timed=timed)

    def keep(self, due_ns: int, late_ns: NDArray[np.int64], each: int = 1) -> None:
        """Record how far the runs cover the schedule, and how late unsent queries were."""
        self._due_s = due_ns / 1e9
        self._unsent.add(self.waits.at_least(late_ns), each)

    def times(self, elapsed_s: float, cpu_s: float) -> QueryTimes:
        """Report the answers, and return the measurements."""
        waits, unsent = self.waits, self._unsent
        return QueryTimes(
            name=self.name,
            first_s=self._first_ns / 1e9,
            runs=waits.count,
            waits=encode_together(waits, unsent),
            wait_s=waits.sum_ns / 1e9,
            client_s=self._client_ns / 1e9,
            cpu_s=cpu_s,
            elapsed_s=elapsed_s,
            due_s=self._due_s,
            unsent=unsent.count,
            unsent_s=unsent.sum_ns / 1e9,
            answers=self._answers.report_kept(),
            warmup_runs=self._warmup_runs,
        )

    def _call(
        self, asked: Asked, due_ns: int | None, record: Record | None, *, timed: bool = False
    ) -> None:
        """Run an instance with a free caller; only a timed run records the client's share."""
        if self._stop.is_set():
            raise Stopped
        now_ns = time.perf_counter_ns()
        since_ns = now_ns if due_ns is None else min(due_ns, now_ns)

        def call(session: Session) -> None:
            before_s, start_ns = session.client_s, time.perf_counter_ns()
            rows = self._fetch(session, asked.statement)
            ended_ns = time.perf_counter_ns()
            client_ns = min(int((session.client_s - before_s) * 1e9), ended_ns - start_ns)
            waited_ns = ended_ns - since_ns - client_ns
            with self._callers.lock:
                if timed:
                    self._client_ns += client_ns
                    self._ended_ns = max(ended_ns, self._ended_ns)
                    self.waits.record(waited_ns)
                if record:
                    record(waited_ns, ended_ns)
                if self._answers.keep(asked, rows, start_ns, ended_ns) > _KEPT_VALUES:
                    self._answers.report_kept()

        self._callers.call(call)

    def _fetch(self, session: Session, statement: Statement) -> Raw:
        try:
            return session.run(statement)
        except Exception as error:  # of any driver
            raise RunError(f"query {self.name}: {self._database.explain(error)}") from error


def asker_of(  # noqa: PLR0913
    database: Database,
    callers: Callers,
    name: str,
    query_type: QueryType[Query | TextQuery],
    task: Ask,
    *,
    stop: threading.Event,
    report: Report,
    text: str = "",
    warmup_s: float = 0.0,
) -> Asker:
    """Return the asker of a type's instances; `text` is the target's own text of the query."""
    statements = RenderedStatements(database, query_type, task, text=text, warmup_s=warmup_s)
    return Asker(
        database, callers, name, statements, DifferentAnswers(name, report),
        task=task, stop=stop, warmup_s=warmup_s,
    )  # fmt: skip


class RenderedStatements:
    """Statements of instances, all rendered before the clock starts."""

    def __init__(
        self,
        database: Database,
        query_type: QueryType[Query | TextQuery],
        task: Ask,
        *,
        text: str,
        warmup_s: float,
    ) -> None:
        def render(number: int) -> Asked:
            instance = query_type.number(number)
            return Asked(instance, database.statement(query_type.instance(instance), text))

        numbers = task.instances(task.runs or MOST_INSTANCES)
        warmup = task.warmup(MOST_WARMUP if warmup_s else task.burn_in)
        self._first = render(task.first)
        self._warmup = [render(number) for number in (warmup if query_type.varies else (0,))]
        self._timed = [render(number) for number in (numbers if query_type.varies else (0,))]

    def first(self) -> Asked:
        """Return the first run's instance."""
        return self._first

    def warmup(self, run: int) -> Asked:
        """Return the instance of a warm-up run."""
        return self._warmup[run % len(self._warmup)]

    def timed(self, run: int) -> Asked:
        """Return the instance of a timed run."""
        return self._timed[run % len(self._timed)]


Statements: TypeAlias = RenderedStatements | Moving
"""The statements of one query type, each with the number of its instance."""
