"""How far one worker is, and what it may therefore send next.

A worker passes the barriers of the script in order and then reports. A message that is repeated,
because its reply was lost, is accepted in every state and changes nothing.
"""

from collections.abc import Collection, Mapping

from simulator.control.script import Script, rows_of
from simulator.protocol.messages import Heartbeat, WorkerReport


class Rejected(Exception):
    """The message does not belong to this run now; the text gives the reason."""


class WorkerProgress:
    """The progress of one worker. `opened` is the number of barriers that have opened."""

    def __init__(self, index: int, script: Script) -> None:
        self._index = index
        self._script = script
        self._plan = script.plans[index]
        self._arrived = 0
        """The number of barriers at which it has arrived."""
        self._beat = Heartbeat(index=index, phase="start")
        self.report: WorkerReport | None = None

    def _reject(self, message: str, opened: int) -> Rejected:
        return Rejected(f"worker {self._index}: {message}; expected {self._expected(opened)}")

    def _expected(self, opened: int) -> str:
        barriers = self._script.barriers
        if self.report:
            return "nothing more, since it has reported"
        if self._arrived > opened:
            return f"it to wait at barrier {barriers[opened]!r}"
        if self._arrived < len(barriers):
            return f"barrier {barriers[self._arrived]!r}"
        return "its report"

    def _passed(self, opened: int) -> int:
        """The number of barriers behind it."""
        return min(self._arrived, opened)

    # --- barriers --------------------------------------------------------------------------------

    def arrive(self, barrier: str, opened: int) -> None:
        """Take its arrival at a barrier."""
        barriers = self._script.barriers
        if barrier in barriers[: self._arrived]:
            return
        its_turn = barrier in barriers[self._arrived : opened + 1]
        if self.report or not its_turn:
            raise self._reject(f"came to barrier {barrier!r}", opened)
        self._arrived += 1

    # --- heartbeats ------------------------------------------------------------------------------

    def beat(self, beat: Heartbeat, opened: int) -> bool:
        """Take a heartbeat; return whether it counts: not after the report, which it may follow."""
        if self.report:
            return False
        phases, last = self._script.phases, self._beat
        place = phases.get(beat.phase)
        if place is None or place > self._furthest(opened):
            raise self._reject(f"is in phase {beat.phase!r}", opened)
        before = (phases[last.phase], last.rows, last.prefill_rows, last.uncertain_rows)
        now = (place, beat.rows, beat.prefill_rows, beat.uncertain_rows)
        if any(new < old for new, old in zip(now, before, strict=True)):
            raise self._reject(f"went back from {_counts(last)} to {_counts(beat)}", opened)
        self._check_rows(beat.rows, beat.prefill_rows, beat.uncertain_rows, opened)
        self._beat = beat
        return True

    def _furthest(self, opened: int) -> int:
        """The place of the furthest phase that it can be in: perhaps on its way to a barrier."""
        passed = self._passed(opened)
        waiting = passed < len(self._script.barriers)
        return 1 + 2 * passed + waiting

    def _check_rows(self, rows: int, prefill_rows: int, uncertain_rows: int, opened: int) -> None:
        """Reject more rows than planned, or timed rows before the clock starts."""
        timed, prefill = rows_of(self._plan.timed), rows_of(self._plan.prefill)
        most = timed if self._passed(opened) else 0
        if rows > most:
            raise self._reject(f"counts {rows} rows of {most}", opened)
        if prefill_rows > prefill:
            raise self._reject(f"counts {prefill_rows} rows of a prefill of {prefill}", opened)
        total, planned = rows + prefill_rows + uncertain_rows, timed + prefill
        if total > planned:
            raise self._reject(f"counts {total} rows, some uncertain, of {planned}", opened)

    # --- answers ---------------------------------------------------------------------------------

    def answer(self, query: str, *, opened: int, known: bool) -> None:
        """Take an answer to a query that it has reached; after the report, only a known one."""
        passed = self._script.barriers[: self._passed(opened)]
        if query not in self._script.outputs or query not in passed:
            raise self._reject(f"answers query {query!r}", opened)
        if self.report and not known:
            raise self._reject(f"answers query {query!r} again", opened)

    # --- after the report ------------------------------------------------------------------------

    def help(self, opened: int) -> None:
        """Take a request for rows to fold, once it has reported."""
        if not self.report:
            raise self._reject("asks for rows to fold", opened)

    # --- the report ------------------------------------------------------------------------------

    def finish(
        self,
        report: WorkerReport,
        *,
        opened: int,
        stopped: bool,
        answers: Mapping[str, Collection[str]],
    ) -> None:
        """Take its report; an incomplete one needs an error, or the end of the run as a reason."""
        if self.report:
            if report != self.report:
                raise self._reject("reports again, and differently", opened)
            return
        own = self._plan.timed + self._plan.prefill
        if not all(any(r.has(item) for r in own) and len(item) for item in report.uncertain):
            raise self._reject("reports uncertain rows that are not its own", opened)
        if not all(any(r.has(item) for r in self._plan.timed) for item in report.written or ()):
            raise self._reject("reports written rows that are not its own", opened)
        uncertain = rows_of(report.uncertain)
        self._check_rows(report.rows, report.prefill_rows, uncertain, opened)
        last = self._beat
        if report.rows < last.rows or report.prefill_rows < last.prefill_rows:
            raise self._reject(f"reports less than its last heartbeat, {_counts(last)}", opened)
        if sum(report.rows_by_second) > report.rows:
            raise self._reject("reports more rows by second than rows", opened)
        self._check_queries(report, opened, answers)
        if report.error is None and not stopped:
            self._check_complete(report, uncertain, opened)
        self.report = report

    def _check_queries(
        self, report: WorkerReport, opened: int, answers: Mapping[str, Collection[str]]
    ) -> None:
        """Reject measurements of queries that it cannot have run."""
        passed = self._script.barriers[: self._passed(opened)] if self._script.outputs else ()
        names = tuple(times.name for times in report.queries)
        if names != passed[: len(names)]:
            raise self._reject(f"reports the queries {', '.join(names)[:200]}", opened)
        for times in report.queries:
            if len(times.durations_s) != self._script.repeats:
                ran = f"{len(times.durations_s)} of {self._script.repeats} times"
                raise self._reject(f"reports that query {times.name} ran {ran}", opened)
            if not times.answers or not set(times.answers) <= set(answers[times.name]):
                raise self._reject(
                    f"reports an answer to query {times.name} without its rows", opened
                )

    def _check_complete(self, report: WorkerReport, uncertain: int, opened: int) -> None:
        """Reject the report of a worker that left something out without an error."""
        script = self._script
        if self._passed(opened) < len(script.barriers) or len(report.queries) < len(script.outputs):
            raise self._reject("reports before it is done, and no error", opened)
        rows = report.rows + report.prefill_rows + uncertain
        timed = self._plan.timed
        if script.duration_s and report.written is not None:
            timed = report.written
        planned = rows_of(timed) + rows_of(self._plan.prefill)
        if rows != planned:
            raise self._reject(f"reports {rows} rows of {planned}, and no error", opened)


def _counts(beat: Heartbeat) -> str:
    counts = f"{beat.prefill_rows} + {beat.rows} rows and {beat.uncertain_rows} uncertain"
    return f"{beat.phase!r} with {counts}"
