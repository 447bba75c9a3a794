"""Asks queries: times them one by one, and has their answers kept."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from simulator.data.own_query import TextQuery
from simulator.data.query import Query, Statement, answer
from simulator.data.query_type import QueryType
from simulator.errors import RunError
from simulator.load.client import AnswerName, Rows
from simulator.load.connection import Stopped
from simulator.load.meter import Durations, StageMeter
from simulator.load.pace import FASTEST, NEVER_NS, Pace, Timetable, paces_of, wait_until
from simulator.modules.base import Database, Session
from simulator.protocol.messages import MOST_ANSWERS, QueryTimes, digest_of
from simulator.protocol.spec import MOST_INSTANCES, MOST_WARMUP, Ask, Clocking

_KEPT_VALUES = 1 << 20
"""Values of answers that are kept until the clock stops; more of them are sent before."""

Report: TypeAlias = Callable[[str, Mapping[AnswerName, Rows]], None]
"""Takes a query and up to MOST_ANSWERS different answers to it."""
_Raw: TypeAlias = Sequence[Sequence[Any]]
"""Rows as the driver returns them."""


class Statements(Protocol):
    """The statements of one query type, each with the number of its instance."""

    def first(self) -> "Asked":
        """Return that of the first run."""

    def warmup(self, run: int) -> "Asked":
        """Return that of a run of the warm-up."""

    def timed(self, run: int) -> "Asked":
        """Return that of a timed run."""


class Answers(Protocol):
    """Keeps the answers to one query type until they are reported."""

    def keep(self, asked: "Asked", rows: "_Raw", began_ns: int, ended_ns: int) -> int:
        """Keep the rows of an answer; return how many values are kept."""

    def reported(self, report: "Report") -> int:
        """Report what is kept; return how many answers were reported in all."""


class Asked(NamedTuple):
    """An instance of a query type, and its statement."""

    instance: int
    statement: Statement


class Asker:
    """Asks one query type through one session."""

    def __init__(  # noqa: PLR0913
        self,
        database: Database,
        session: Session,
        name: str,
        statements: Statements,
        answers: Answers,
        *,
        task: Ask,
        warmup_s: float = 0.0,
    ) -> None:
        """The warm-up lasts at least `warmup_s` and as many runs as the task says."""
        self._database, self._session, self._name = database, session, name
        self._statements, self._answers = statements, answers
        self._task = task
        self._warmup_s = warmup_s
        self._warmup_runs = 0
        self.waits = Durations()
        """Of the timed runs so far: without the first one and the warm-up."""
        self._first_ns = self._client_ns = 0

    def ask(
        self,
        stop: threading.Event,
        duration_s: float,
        report: Report,
        over: Callable[[], bool] | None = None,
        pace: Pace = FASTEST,
    ) -> QueryTimes:
        """Run the type as often or as long as the task says; report its answers afterwards.

        With `over`, until it returns True. With a rate, each run is due at a time.
        """
        self.warm(stop, report)
        began_ns = ended_ns = time.perf_counter_ns()
        end_ns, wanted = began_ns + int(duration_s * 1e9), self._task.runs
        over = over or (lambda: ended_ns >= end_ns)
        timetable = Timetable([pace], began_ns, began_ns)
        while self.waits.count < wanted or (not wanted and (not self.waits.count or not over())):
            due_ns = timetable.due_ns(ended_ns) if pace.rate_per_s else None
            if due_ns is not None:
                if due_ns >= end_ns and self.waits.count and not wanted:
                    break
                wait_until(due_ns, stop)
            self.once(stop, report, due_ns)
            ended_ns = time.perf_counter_ns()
        return self.times((ended_ns - began_ns) / 1e9, report)

    def ask_in_stages(
        self,
        stop: threading.Event,
        report: Report,
        clocking: Clocking,
        place: int,
        instant_s: Callable[[int], float],
    ) -> QueryTimes:
        """Run the type in the stages in which worker `place` is active, after `warm`.

        The stages begin now; `instant_s` returns the collector's time of an instant. The answers
        are reported afterwards.
        """
        start_ns = ended_ns = time.perf_counter_ns()
        meter = StageMeter(clocking.stages, start_ns)
        rate_per_s = clocking.queries_per_s
        paces = paces_of(clocking, place, place + 1, rate_per_s)
        timetable = Timetable(paces, start_ns, start_ns)
        while (due_ns := timetable.due_ns(time.perf_counter_ns())) != NEVER_NS:
            wait_until(due_ns, stop)
            began_ns = time.perf_counter_ns()
            waited_ns = self.once(stop, report, due_ns if rate_per_s else None)
            ended_ns = time.perf_counter_ns()
            meter.record(began_ns, waited_ns, ended_ns)
        # What follows would disturb the others.
        wait_until(start_ns + int(clocking.duration_s * 1e9), stop)
        times = self.times((ended_ns - start_ns) / 1e9, report)
        return times.model_copy(update={"stages": meter.times(instant_s)})

    def warm(self, stop: threading.Event, report: Report) -> None:
        """Run the type for the first time, and as its warm-up."""
        self.ask_first(stop, report)
        warm_ns = time.perf_counter_ns() + int(self._warmup_s * 1e9)
        while self._warmup_runs < self._task.burn_in or (
            self._warmup_s and time.perf_counter_ns() < warm_ns
        ):
            self.warm_once(stop, report)

    def ask_first(self, stop: threading.Event, report: Report) -> None:
        """Run the type for the first time."""
        self._first_ns = self._untimed_ns(self._statements.first(), stop, report)

    def warm_once(self, stop: threading.Event, report: Report, due_ns: int | None = None) -> int:
        """Run the next instance of the warm-up; return the wait, as `once` does, in ns."""
        late_ns = _late_ns(due_ns)
        asked = self._statements.warmup(self._warmup_runs)
        waited_ns = self._untimed_ns(asked, stop, report)
        self._warmup_runs += 1
        return late_ns + waited_ns

    def once(self, stop: threading.Event, report: Report, due_ns: int | None = None) -> int:
        """Run the next instance, timed; return the wait in ns.

        One that begins after it was due has waited since then.
        """
        late_ns = _late_ns(due_ns)
        asked = self._statements.timed(self.waits.count)
        waited_ns = late_ns + self._waited_ns(asked, stop, report)
        self.waits.record(waited_ns)
        return waited_ns

    def times(self, elapsed_s: float, report: Report) -> QueryTimes:
        """Return what was measured in a time, once the answers are reported."""
        return QueryTimes(
            name=self._name,
            first_s=self._first_ns / 1e9,
            runs=self.waits.count,
            waits=self.waits.encoded(),
            wait_s=self.waits.sum_ns / 1e9,
            client_s=self._client_ns / 1e9,
            elapsed_s=elapsed_s,
            answers=self._answers.reported(report),
            warmup_runs=self._warmup_runs,
        )

    def _untimed_ns(self, asked: Asked, stop: threading.Event, report: Report) -> int:
        """Run an instance and return the wait; the client's share does not count."""
        client_ns = self._client_ns
        waited_ns = self._waited_ns(asked, stop, report)
        self._client_ns = client_ns
        return waited_ns

    def _waited_ns(self, asked: Asked, stop: threading.Event, report: Report) -> int:
        """Run an instance and return the wait; every row is fetched within the timed part."""
        if stop.is_set():
            raise Stopped
        session = self._session
        before_s, start_ns = session.client_s, time.perf_counter_ns()
        try:
            rows = session.run(asked.statement)
        except Exception as error:  # of any driver
            raise RunError(f"query {self._name}: {self._database.explain(error)}") from error
        ended_ns = time.perf_counter_ns()
        spent_ns = ended_ns - start_ns
        client_ns = min(int((session.client_s - before_s) * 1e9), spent_ns)
        self._client_ns += client_ns
        if self._answers.keep(asked, rows, start_ns, ended_ns) > _KEPT_VALUES:
            self._answers.reported(report)
        return spent_ns - client_ns


def asker_of(  # noqa: PLR0913
    database: Database,
    session: Session,
    name: str,
    query_type: QueryType[Query | TextQuery],
    task: Ask,
    *,
    text: str = "",
    warmup_s: float = 0.0,
) -> Asker:
    """Return what asks the instances of a type; `text` is the target's own for all of them."""
    statements = Rendered(database, query_type, task, text=text, warmup_s=warmup_s)
    answers = DifferentAnswers(name)
    return Asker(database, session, name, statements, answers, task=task, warmup_s=warmup_s)


def _late_ns(due_ns: int | None) -> int:
    """Return how long ago something was due."""
    return 0 if due_ns is None else max(time.perf_counter_ns() - due_ns, 0)


class Rendered:
    """Statements of instances, all rendered before the clock starts."""

    def __init__(
        self,
        database: Database,
        query_type: QueryType[Query | TextQuery],
        task: Ask,
        *,
        text: str = "",
        warmup_s: float = 0.0,
    ) -> None:
        """Take the target's own text for all of them, if there is one."""

        def rendered(number: int) -> Asked:
            instance = query_type.number(number)
            return Asked(instance, database.statement(query_type.instance(instance), text))

        numbers = task.instances(task.runs or MOST_INSTANCES)
        warmup = task.warmup(MOST_WARMUP if warmup_s else task.burn_in)
        self._first = rendered(task.first)
        self._warmup = [rendered(number) for number in (warmup if query_type.varies else (0,))]
        self._timed = [rendered(number) for number in (numbers if query_type.varies else (0,))]

    def first(self) -> Asked:
        """Return that of the first run."""
        return self._first

    def warmup(self, run: int) -> Asked:
        """Return that of a run of the warm-up."""
        return self._warmup[run % len(self._warmup)]

    def timed(self, run: int) -> Asked:
        """Return that of a timed run."""
        return self._timed[run % len(self._timed)]


class DifferentAnswers:
    """The different answers to one type: what is equal to an answer before is kept once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._kept: list[tuple[int, Statement, _Raw]] = []
        self._newest: dict[int, _Raw] = {}
        """Instance -> the last of its answers that are kept."""
        self._values = 0
        self._digests: dict[int, set[str]] = defaultdict(set)
        """Instance -> digests of the answers that were reported."""

    def keep(self, asked: Asked, rows: _Raw, began_ns: int, ended_ns: int) -> int:
        """Keep the rows of an answer, unless they are those of the instance's answer before."""
        del began_ns, ended_ns
        instance, statement = asked
        if self._newest.get(instance) == rows:
            return 0
        self._kept.append((instance, statement, rows))
        self._newest[instance] = rows
        self._values += max(len(rows), 1) * len(statement.outputs)
        return self._values if len(self._kept) > 1 else 0

    def reported(self, report: Report) -> int:
        """Report what is kept; return how many different answers were reported in all."""
        for first in range(0, len(self._kept), MOST_ANSWERS):
            found: dict[AnswerName, Rows] = {}
            for instance, statement, raw in self._kept[first : first + MOST_ANSWERS]:
                rows = _rows_of(self._name, statement, raw)
                digest = digest_of(rows)
                if digest not in self._digests[instance]:
                    found[instance, digest] = rows
            if found:
                report(self._name, found)
            for instance, digest in found:
                self._digests[instance].add(digest)
        self._kept.clear()
        self._newest.clear()
        self._values = 0
        return sum(map(len, self._digests.values()))


def _rows_of(name: str, statement: Statement, raw: _Raw) -> Rows:
    """Return the rows of an answer in canonical form; RunError if its columns are others."""
    try:
        return answer(statement.outputs, raw).rows
    except ValueError as error:
        raise unexpected(name, error) from error


def unexpected(name: str, error: Exception) -> RunError:
    """Return the error of a query whose answer cannot be read."""
    return RunError(f"query {name}: the answer does not have the expected columns: {error}")
