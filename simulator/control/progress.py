"""How far one worker is, and what it may therefore send next.

A worker passes the barriers of the script in order and then reports. A message that is repeated,
because its reply was lost, is accepted in every state and changes nothing.
"""

from collections.abc import Collection, Sequence

from simulator.control.script import Script, rows_of
from simulator.data.ranges import RowRange
from simulator.protocol.messages import Heartbeat, StageTimes, WorkerReport
from simulator.protocol.spec import MOST_INSTANCES, MOST_WARMUP, Ask, Insert


class Rejected(Exception):
    """The message does not belong to this run now; the text gives the reason."""


class WorkerProgress:
    """The progress of one worker. `opened` is the number of barriers that have opened."""

    def __init__(self, index: int, script: Script) -> None:
        self.index = index
        self._script = script
        self._task = script.tasks[index]
        self.barriers = script.barriers(self._task)
        self._phases = script.phases(self._task)
        self._arrived = 0
        """The number of barriers at which it has arrived."""
        self._beat = Heartbeat(index=index, phase="start")
        self._answers: dict[str, set[tuple[int, str]]] = {query: set() for query in script.queries}
        """Query -> instance and digest of the answers that it has sent."""
        self.report: WorkerReport | None = None

    @property
    def _planned(self) -> tuple[int, int]:
        """How many rows it prefills and writes timed."""
        task = self._task
        return (rows_of(task.prefill), rows_of(task.timed)) if isinstance(task, Insert) else (0, 0)

    def _reject(self, message: str, opened: int) -> Rejected:
        return Rejected(f"worker {self.index}: {message}; expected {self._expected(opened)}")

    def _expected(self, opened: int) -> str:
        barriers = self.barriers
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
        barriers = self.barriers
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
        phases, last = self._phases, self._beat
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
        waiting = passed < len(self.barriers)
        return 1 + 2 * passed + waiting

    def _check_rows(self, rows: int, prefill_rows: int, uncertain_rows: int, opened: int) -> None:
        """Reject more rows than planned, or timed rows before the clock starts."""
        prefill, timed = self._planned
        most = timed if self._passed(opened) else 0
        if rows > most:
            raise self._reject(f"counts {rows} rows of {most}", opened)
        if prefill_rows > prefill:
            raise self._reject(f"counts {prefill_rows} rows of a prefill of {prefill}", opened)
        total, planned = rows + prefill_rows + uncertain_rows, timed + prefill
        if total > planned:
            raise self._reject(f"counts {total} rows, some uncertain, of {planned}", opened)

    # --- answers ---------------------------------------------------------------------------------

    def expect_answers(
        self,
        query: str,
        answers: Collection[tuple[int, str]],
        known: Collection[tuple[int, str]],
        opened: int,
    ) -> None:
        """Reject answers to a query that it has not reached; after the report, all but known ones.

        An answer is its instance and its digest.
        """
        task, passed = self._task, self._passed(opened)
        if query not in self._script.reached(task, passed) or isinstance(task, Insert):
            raise self._reject(f"answers query {query!r}", opened)
        if self.report and not all(answer in known for answer in answers):
            raise self._reject(f"answers query {query!r} again", opened)
        runs, warmup_runs = (task.runs or MOST_INSTANCES) if passed else 0, MOST_WARMUP
        asked = self._script.instances(query, task, runs, warmup_runs)
        for instance, _ in answers:
            if instance not in asked:
                raise self._reject(f"answers instance {instance} of query {query!r}", opened)

    def count_answers(self, query: str, answers: Collection[tuple[int, str]]) -> None:
        """Count answers that are here as sent by this worker, each once."""
        self._answers[query].update(answers)

    # --- after the report ------------------------------------------------------------------------

    def help(self, opened: int) -> None:
        """Take a request for rows to fold, once it has reported."""
        if not self.report:
            raise self._reject("asks for rows to fold", opened)

    # --- the report ------------------------------------------------------------------------------

    def finish(self, report: WorkerReport, *, opened: int, stopped: bool) -> None:
        """Take its report; an incomplete one needs an error, or the end of the run as a reason."""
        if self.report:
            if report != self.report:
                raise self._reject("reports again, and differently", opened)
            return
        task = self._task
        timed: tuple[RowRange, ...] = ()
        own: tuple[RowRange, ...] = ()
        if isinstance(task, Insert):
            timed, own = task.timed, task.timed + task.prefill
        if not all(any(item in r for r in own) and len(item) for item in report.uncertain):
            raise self._reject("reports uncertain rows that are not its own", opened)
        if not all(any(item in r for r in timed) for item in report.written or ()):
            raise self._reject("reports written rows that are not its own", opened)
        uncertain = rows_of(report.uncertain)
        self._check_rows(report.rows, report.prefill_rows, uncertain, opened)
        last = self._beat
        if report.rows < last.rows or report.prefill_rows < last.prefill_rows:
            raise self._reject(f"reports less than its last heartbeat, {_counts(last)}", opened)
        self._check_parts(report, opened)
        self._check_queries(report, opened)
        if report.error is None and not stopped:
            self._check_complete(report, uncertain, opened)
        self.report = report

    def _check_parts(self, report: WorkerReport, opened: int) -> None:
        """Reject parts of the rows that cannot be."""
        if sum(report.rows_by_second) > report.rows:
            raise self._reject("reports more rows by second than rows", opened)
        if report.warmup_rows > report.rows:
            raise self._reject("reports more rows of the warm-up than rows", opened)
        if sum(stage.rows for stage in report.stages) > report.rows - report.warmup_rows:
            raise self._reject("reports more rows by stage than rows", opened)
        self._check_stages(report.stages, opened)

    def _check_queries(self, report: WorkerReport, opened: int) -> None:
        """Reject measurements of queries that it cannot have run."""
        task = self._task
        reached = self._script.reached(task, self._passed(opened))
        names = tuple(times.name for times in report.queries)
        left_out = {*reached} - {*names} if self._script.ramps else set()
        if names != tuple(each for each in reached if each not in left_out)[: len(names)]:
            raise self._reject(f"reports the queries {', '.join(names)[:200]}", opened)
        assert isinstance(task, Ask) or not names
        for times in report.queries:
            assert isinstance(task, Ask)
            least = 0 if self._script.in_turn or self._script.clocking.stages else 1
            if sum(stage.count for stage in times.stages) > times.runs:
                raise self._reject("reports more runs by stage than runs", opened)
            self._check_stages(times.stages, opened)
            if times.runs != (task.runs or max(times.runs, least)):
                ran = f"{times.runs} of {task.runs or f'at least {least}'} times"
                raise self._reject(f"reports that query {times.name} ran {ran}", opened)
            if times.warmup_runs < task.burn_in:
                raise self._reject(f"reports a warm-up of {times.warmup_runs} runs", opened)
            sent = self._answers[times.name]
            asked = self._script.instances(times.name, task, times.runs, times.warmup_runs)
            if len(sent) != times.answers or {instance for instance, _ in sent} != asked:
                raise self._reject(
                    f"reports {times.answers} answers to {len(asked)} instances of query"
                    f" {times.name}, and has sent {len(sent)}",
                    opened,
                )

    def _check_stages(self, stages: Sequence[StageTimes], opened: int) -> None:
        """Reject measurements of stages in which it was not active, or out of order."""
        run = self._script.clocking.stages
        active = [number for number, each in enumerate(run) if self.index < each.workers]
        found = [each.stage for each in stages]
        if found != [number for number in active if number in found]:
            raise self._reject(f"reports the stages {found}", opened)

    def _check_complete(self, report: WorkerReport, uncertain: int, opened: int) -> None:
        """Reject the report of a worker that left something out without an error."""
        asked = len(self._script.queries) if isinstance(self._task, Ask) else 0
        left_out = len(report.queries) < asked and not self._script.ramps
        if self._passed(opened) < len(self.barriers) or left_out:
            raise self._reject("reports before it is done, and no error", opened)
        rows = report.rows + report.prefill_rows + uncertain
        prefill, timed = self._planned
        if self._script.clocking.duration_s and report.written is not None:
            timed = rows_of(report.written)
        planned = timed + prefill
        if rows != planned:
            raise self._reject(f"reports {rows} rows of {planned}, and no error", opened)


def _counts(beat: Heartbeat) -> str:
    counts = f"{beat.prefill_rows} + {beat.rows} rows and {beat.uncertain_rows} uncertain"
    return f"{beat.phase!r} with {counts}"
