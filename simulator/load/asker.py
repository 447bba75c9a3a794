"""Asks queries: renders them before the clock, times them one by one, keeps their answers."""

import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from simulator.data.query import Answer, Statement, answer
from simulator.data.query_type import QueryType
from simulator.errors import RunError
from simulator.load.connection import Stopped
from simulator.load.meter import Durations
from simulator.modules.base import Database, Session
from simulator.protocol.messages import QueryTimes, digest_of
from simulator.protocol.spec import MOST_INSTANCES, Ask

_KEPT_VALUES = 1 << 20
"""Values of answers that are kept until the clock stops; more of them are sent before."""

Report: TypeAlias = Callable[[str, int, str, Answer], None]
"""Takes query, instance, digest and answer."""
_Rows: TypeAlias = Sequence[Sequence[Any]]


class Asker:
    """Asks the instances of one query type through one session."""

    def __init__(  # noqa: PLR0913
        self,
        database: Database,
        session: Session,
        name: str,
        query_type: QueryType,
        task: Ask,
        *,
        text: str = "",
    ) -> None:
        """Render the statements of all instances; `text` is the target's own for all of them."""
        self._database, self._session, self._name = database, session, name
        self._task = task

        def rendered(number: int) -> tuple[int, Statement]:
            instance = query_type.number(number)
            return instance, database.statement(query_type.instance(instance), text)

        numbers = task.instances(task.runs or MOST_INSTANCES)
        self._uncounted = [rendered(number) for number in task.uncounted]
        self._others = [rendered(number) for number in (numbers if query_type.varies else (0,))]
        self._answers = _Answers(name)
        self._waits = Durations()
        self._client_ns = 0

    @property
    def runs(self) -> int:
        """How often it has been run so far, without the first run and the burn-in."""
        return self._waits.count

    @property
    def waited_s(self) -> float:
        """How long these runs have waited for their answers."""
        return self._waits.sum_ns / 1e9

    def ask(
        self,
        stop: threading.Event,
        duration_s: float,
        report: Report,
        over: Callable[[], bool] | None = None,
    ) -> QueryTimes:
        """Run the type as often or as long as the task says; report its answers afterwards.

        With `over`, until it returns True.
        """
        first_ns, *_ = [self._waited_ns(each, stop, report) for each in self._uncounted]
        self._client_ns = 0
        began_ns = ended_ns = time.perf_counter_ns()
        end_ns, wanted = began_ns + int(duration_s * 1e9), self._task.runs
        over = over or (lambda: ended_ns >= end_ns)
        while self.runs < wanted or (not wanted and (not self.runs or not over())):
            asked = self._others[self.runs % len(self._others)]
            self._waits.record(self._waited_ns(asked, stop, report))
            ended_ns = time.perf_counter_ns()
        return QueryTimes(
            name=self._name,
            first_s=first_ns / 1e9,
            runs=self.runs,
            waits=self._waits.encoded(),
            wait_s=self._waits.sum_ns / 1e9,
            client_s=self._client_ns / 1e9,
            elapsed_s=(ended_ns - began_ns) / 1e9,
            answers=self._answers.reported(report),
        )

    def _waited_ns(
        self, asked: tuple[int, Statement], stop: threading.Event, report: Report
    ) -> int:
        """Run an instance and return the wait; every row is fetched within the timed part."""
        if stop.is_set():
            raise Stopped
        instance, statement = asked
        session = self._session
        before_s, start_ns = session.client_s, time.perf_counter_ns()
        try:
            rows = session.run(statement)
        except Exception as error:
            raise RunError(f"query {self._name}: {self._database.explain(error)}") from error
        spent_ns = time.perf_counter_ns() - start_ns
        client_ns = min(int((session.client_s - before_s) * 1e9), spent_ns)
        self._client_ns += client_ns
        self._answers.keep(instance, statement, rows, report)
        return spent_ns - client_ns


class _Answers:
    """The answers to one type: what is equal to an answer before is kept once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._raw: dict[int, tuple[Statement, _Rows]] = {}
        self._values = 0
        self._digests: dict[int, set[str]] = defaultdict(set)
        """Instance -> digests of the answers that were reported."""

    def keep(self, instance: int, statement: Statement, rows: _Rows, report: Report) -> None:
        """Keep the rows of an answer, unless they are those of the instance's answer before."""
        before = self._raw.get(instance)
        if before is not None:
            if before[1] == rows:
                return
            self._report(instance, *before, report)
        self._raw[instance] = statement, rows
        self._values += len(rows) * len(statement.outputs)
        if self._values > _KEPT_VALUES and len(self._raw) > 1:
            self.reported(report)

    def reported(self, report: Report) -> int:
        """Report what is kept; return how many different answers were reported in all."""
        for instance, (statement, rows) in self._raw.items():
            self._report(instance, statement, rows, report)
        self._raw.clear()
        self._values = 0
        return sum(map(len, self._digests.values()))

    def _report(self, instance: int, statement: Statement, rows: _Rows, report: Report) -> None:
        try:
            found = answer(statement.outputs, rows)
        except ValueError as error:
            raise RunError(
                f"query {self._name}: the answer does not have the expected columns: {error}"
            ) from error
        digest = digest_of(found.rows)
        if digest not in self._digests[instance]:
            report(self._name, instance, digest, found)
            self._digests[instance].add(digest)
