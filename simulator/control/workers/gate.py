"""The gate between workers and coordinator: it admits the workers, and keeps their answers.

It rejects messages of other processes, and reports that do not account for every row and answer.
A message that is repeated because its reply was lost changes nothing.
"""

import json
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from simulator import __version__
from simulator.control.answers.fresh import Arrivals
from simulator.control.script import MOST_ANSWER_BYTES, Rejected, Script
from simulator.control.workers.coordinator import Coordinator
from simulator.control.workers.fold_tasks import SharedFoldTasks
from simulator.data.answer import Answer
from simulator.data.ranges import sum_rows
from simulator.protocol.arrivals import FreshAnswers, SentBatches
from simulator.protocol.folding import FoldReply, FoldRequest
from simulator.protocol.messages import (
    CORRECTIONS,
    DELETION,
    TAGS,
    AnswerKey,
    AnswerQuestion,
    AnswerRows,
    Arrival,
    Heartbeat,
    Message,
    Registration,
    WorkerReport,
)
from simulator.protocol.spec import Ask, ChangeTask, InsertTask


def check_report(
    report: WorkerReport,
    script: Script,
    answers: Mapping[str, Collection[tuple[int, str]]],
    arrivals: Arrivals,
    *,
    stopped: bool,
) -> None:
    """Raise Rejected if a report does not account for rows or answers.

    `answers` maps a query to instance and digest of the answers that the worker has sent. A report
    with an error, or of a run that was stopped, may be incomplete.
    """
    task = script.spec.workers[report.index]
    whole = report.error is None and not stopped
    if isinstance(task, InsertTask):
        _check_rows(report, task, whole=whole, by_time=bool(script.spec.clocking.duration_s))
        if script.spec.load.fresh_ms and whole and not arrivals.has_sent(report.index):
            raise _reject(report, "its rows, and has not sent all of its batches")
    elif isinstance(task, Ask):
        _check_answers(report, task, script, answers, arrivals, whole=whole)
    elif whole:
        _check_changes(report, task)


def _reject(report: WorkerReport, text: str) -> Rejected:
    return Rejected(f"worker {report.index}: reports {text}")


def _check_rows(report: WorkerReport, task: InsertTask, *, whole: bool, by_time: bool) -> None:
    own = task.timed + task.prefill
    if not all(any(item in r for r in own) and len(item) for item in report.uncertain):
        raise _reject(report, "uncertain rows that are not its own")
    if not all(any(item in r for r in task.timed) for item in report.written or ()):
        raise _reject(report, "written rows that are not its own")
    by_end = report.written if by_time and report.written is not None else task.timed
    planned = sum_rows(by_end) + sum_rows(task.prefill)
    rows = report.rows + report.prefill_rows + sum_rows(report.uncertain)
    if whole and rows != planned:
        raise _reject(report, f"{rows} rows of {planned}, and no error")


def _check_changes(report: WorkerReport, task: ChangeTask) -> None:
    corrected = sum(times.rows for times in report.changes if times.name == CORRECTIONS)
    if corrected != sum_rows(task.correct):
        raise _reject(report, f"{corrected} corrected rows of {sum_rows(task.correct)}")
    requests = {times.name: times.count for times in report.changes}
    updates = sum(len(retag.values) for retag in task.retags)
    for name, wanted in ((DELETION, len(task.delete_ms)), (TAGS, updates)):
        if requests.get(name, 0) != wanted:
            raise _reject(report, f"{name}: {requests.get(name, 0)} of {wanted} requests")


def _check_answers(  # noqa: PLR0913
    report: WorkerReport,
    task: Ask,
    script: Script,
    answers: Mapping[str, Collection[tuple[int, str]]],
    arrivals: Arrivals,
    *,
    whole: bool,
) -> None:
    names, queries = {times.name for times in report.queries}, {*script.queries}
    may_lack_some = script.spec.load.ramp or not whole
    if not names <= queries or (names < queries and not may_lack_some):
        raise _reject(report, f"{len(names)} queries of {len(queries)}, and no error")
    least = 0 if script.in_turn or script.spec.clocking.stages else 1
    for times in report.queries:
        wanted = task.multiply(script.spec.load.weights.get(times.name, 1)).runs
        fewest = task.fewest or wanted or least
        if not fewest <= times.runs <= (wanted or times.runs):
            ran = f"{times.runs} of {wanted if fewest == wanted else f'at least {fewest}'} times"
            raise _reject(report, f"that query {times.name} ran {ran}")
        if script.spec.load.fresh_ms:
            got = 1 + times.warmup_runs + times.runs
            sent = arrivals.count_answered(times.name, report.index)
            if whole and sent != got:
                raise _reject(report, f"{got} answers to query {times.name}, and has sent {sent}")
            continue
        found = answers[times.name]
        asked = script.instances(times.name, task, times.runs, times.warmup_runs)
        if len(found) != times.answers or {instance for instance, _ in found} != asked:
            raise _reject(
                report,
                f"{times.answers} answers to {len(asked)} instances of query {times.name}, and has"
                f" sent {len(found)}",
            )


class Gate:
    """Applies the messages of workers to a run, and keeps the answers that they have sent."""

    def __init__(self, run: Coordinator, script: Script) -> None:
        self.run = run
        self.script = script
        self._answers: dict[str, dict[tuple[int, str], bytes]] = {q: {} for q in script.queries}
        """Query -> (instance, digest) -> rows in JSON, with a tenth of the memory of objects."""
        self._sent: defaultdict[tuple[int, str], set[tuple[int, str]]] = defaultdict(set)
        """(worker, query) -> instance and digest of the answers that the worker has sent."""
        self._answer_bytes = 0
        self.fold_tasks = SharedFoldTasks(run, script)
        self.arrivals = Arrivals()

    def take(self, message: Message, uid: str) -> None:
        """Apply a message, new or from the journal, without holding its worker."""
        match message:
            case Registration():
                self._register(message, uid)
            case Arrival():
                self._arrive(message, uid)
            case Heartbeat():
                self.beat(message, uid)
            case WorkerReport():
                self.report(message, uid)
            case SentBatches() | FreshAnswers():
                self.take_part(message, uid)
            case AnswerRows():
                self.answer(message, uid)
            case AnswerQuestion():
                self.knows(message, uid)

    async def register(self, message: Registration, uid: str) -> bool:
        """Register a worker, and hold it for a while; return whether the tables are ready."""
        self._register(message, uid)
        return await self.run.hold(self.run.tables_ready)

    def _register(self, message: Registration, uid: str) -> None:
        index, workers = message.index, len(self.script.spec.workers)
        if index >= workers:
            known = f"this run has workers 0..{workers - 1}" if workers else "this run has none"
            raise Rejected(f"worker {index}: {known}")
        if self.run.uids.get(index, uid) != uid:
            raise Rejected(f"worker {index} is already registered by another process")
        if self.run.register(message, uid, __version__):
            self.run.journal.note(message, uid)

    def _admit(self, index: int, uid: str) -> None:
        """Raise Rejected unless the process has registered as this worker."""
        if index not in self.run.uids:
            raise Rejected(f"worker {index} has not registered")
        if self.run.uids[index] != uid:
            raise Rejected(f"worker {index} is registered by another process")

    async def arrive(self, message: Arrival, uid: str) -> bool:
        """Hold a worker at a barrier for a while; return whether it may continue."""
        self._arrive(message, uid)
        return await self.run.hold_at_barrier(message)

    def _arrive(self, message: Arrival, uid: str) -> None:
        self._admit(message.index, uid)
        if self.run.arrive(message):
            self.run.journal.note(message, uid)

    def beat(self, message: Heartbeat, uid: str) -> None:
        """Note the progress of a worker, unless its report has arrived."""
        self._admit(message.index, uid)
        if message.index not in self.run.reports:
            self.run.beat(message)

    def report(self, report: WorkerReport, uid: str) -> None:
        """Store a worker's result, once; an error in the result ends the run."""
        self._admit(report.index, uid)
        if report.index not in self.run.reports:
            sent = {query: self._sent[report.index, query] for query in self.script.queries}
            stopped = self.run.stopped.is_set()
            check_report(report, self.script, sent, self.arrivals, stopped=stopped)
            self.run.report(report)
            self.run.journal.note(report, uid)

    def take_part(self, message: SentBatches | FreshAnswers, uid: str) -> None:
        """Keep a part of a worker's report about fresh rows."""
        self._admit(message.index, uid)
        if not self.script.spec.load.fresh_ms:
            raise Rejected(f"worker {message.index}: this run has no queries about fresh rows")
        if isinstance(message, FreshAnswers) and message.query not in self._answers:
            raise Rejected(f"worker {message.index}: this run has no query {message.query!r}")
        if self.arrivals.take(message):
            self.run.journal.note(message, uid)

    async def fold_task(self, message: FoldRequest, uid: str) -> FoldReply:
        """Merge a worker's fold; hold the worker, and return its next task."""
        self._admit(message.index, uid)
        if message.folded:
            await self.fold_tasks.take(message.index, message.folded)
        return await self.fold_tasks.next(message.index)

    def knows(self, message: AnswerQuestion, uid: str) -> tuple[bool, ...]:
        """Return, for each of these answers to a query, whether its rows are already kept."""
        kept, sent = self._find_answers(message, uid)
        found = [_name(each) for each in message.answers]
        new = {which for which in found if which in kept} - sent
        if new:
            sent |= new
            self.run.journal.note(message, uid)
        return tuple(which in kept for which in found)

    def answer(self, message: AnswerRows, uid: str) -> None:
        """Keep the rows of answers, all or none, for the comparison with the truth."""
        kept, sent = self._find_answers(message, uid)
        rows_of = {_name(each): each.rows for each in message.answers}
        new = {n: json.dumps(rows).encode() for n, rows in rows_of.items() if n not in kept}
        size_bytes = sum(map(len, new.values()))
        if self._answer_bytes + size_bytes > MOST_ANSWER_BYTES:
            raise Rejected(
                f"all different answers of this run take more than {MOST_ANSWER_BYTES:,} bytes;"
                f" the last one is to query {message.query!r}; ask fewer queries (--count, --types)"
            )
        self._answer_bytes += size_bytes
        kept.update(new)
        sent.update(rows_of)
        self.run.journal.note(message, uid)

    def _find_answers(
        self, message: AnswerQuestion | AnswerRows, uid: str
    ) -> tuple[dict[tuple[int, str], bytes], set[tuple[int, str]]]:
        """Return the kept answers to a query, and the answers that this worker has sent."""
        self._admit(message.index, uid)
        if message.query not in self._answers:
            raise Rejected(f"worker {message.index}: this run has no query {message.query!r}")
        return self._answers[message.query], self._sent[message.index, message.query]

    def answers(self, query: str) -> Iterator[tuple[int, Answer]]:
        """Yield the instance and rows of each different answer to a query, by instance."""
        names = tuple(column.name for column in self.script.outputs.get(query, ()))
        for (instance, _), rows in sorted(self._answers.get(query, {}).items()):
            yield instance, Answer(names, tuple(map(tuple, json.loads(rows))))


def _name(answer: AnswerKey) -> tuple[int, str]:
    return answer.instance, answer.digest
