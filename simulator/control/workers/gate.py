"""The gate between workers and coordinator: who the workers are, and what they have sent.

The messages of other processes are rejected, and reports that do not account for every row and
answer. A message that is repeated, because its reply was lost, changes nothing. Pure state.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping

from simulator import __version__
from simulator.control.answers.arrivals import Arrivals
from simulator.control.script import MOST_ANSWER_BYTES, Rejected, Script
from simulator.control.workers.coordinator import Coordinator
from simulator.control.workers.fold_tasks import SharedFoldTasks
from simulator.control.workers.reports import check_report
from simulator.data.query import Answer
from simulator.protocol.arrivals import FreshAnswers, SentBatches
from simulator.protocol.folding import FoldReply, FoldRequest
from simulator.protocol.messages import (
    AnswerKey,
    AnswerQuestion,
    AnswerRows,
    Arrival,
    Heartbeat,
    Message,
    Registration,
    WorkerReport,
)


class Gate:
    """Keeps the workers of a run, how far each is, and the answers that they have sent."""

    def __init__(self, run: Coordinator, script: Script) -> None:
        self.run = run
        self.script = script
        self._answers: dict[str, dict[tuple[int, str], bytes]] = {q: {} for q in script.queries}
        """Query -> instance, digest -> rows in JSON: a tenth of the memory of objects."""
        self._sent: defaultdict[tuple[int, str], set[tuple[int, str]]] = defaultdict(set)
        """Worker, query -> instance and digest of its answers."""
        self._answer_bytes = 0
        self.fold_tasks = SharedFoldTasks(run, script)
        self.arrivals = Arrivals()

    def take(self, message: Message, uid: str) -> None:
        """Apply a message that the journal has."""
        match message:
            case Registration():
                self._register(message, uid)
            case Arrival():
                self._arrive(message, uid)
            case WorkerReport():
                self.report(message, uid)
            case SentBatches() | FreshAnswers():
                self.take_part(message, uid)
            case AnswerRows():
                self.answer(message, uid)
            case AnswerQuestion():
                self.knows(message, uid)

    async def register(self, message: Registration, uid: str) -> bool:
        """Register a worker, hold the request for a while; return whether the tables are ready."""
        self._register(message, uid)
        return await self.run.held(self.run.tables_ready)

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
        """Reject the message of a process that has not registered as this worker."""
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
        """Note how far a worker is, unless its report was quicker."""
        self._admit(message.index, uid)
        if message.index not in self.run.reports:
            self.run.beat(message)

    def report(self, report: WorkerReport, uid: str) -> None:
        """Store a worker's result, once; an error in it ends the run."""
        self._admit(report.index, uid)
        if report.index not in self.run.reports:
            sent = {query: self._sent[report.index, query] for query in self.script.queries}
            stopped = self.run.stopped.is_set()
            check_report(report, self.script, sent, self.arrivals, stopped=stopped)
            self.run.report(report)
            self.run.journal.note(report, uid)

    def take_part(self, message: SentBatches | FreshAnswers, uid: str) -> None:
        """Keep a part of what a worker reports of rows that arrive."""
        self._admit(message.index, uid)
        if not self.script.spec.load.fresh_ms:
            raise Rejected(f"worker {message.index}: this run has no queries about fresh rows")
        if isinstance(message, FreshAnswers) and message.query not in self._answers:
            raise Rejected(f"worker {message.index}: this run has no query {message.query!r}")
        if self.arrivals.take(message):
            self.run.journal.note(message, uid)

    async def fold_task(self, message: FoldRequest, uid: str) -> FoldReply:
        """Merge a worker's folded rows; hold the worker, and return what to fold next."""
        self._admit(message.index, uid)
        if message.folded:
            await self.fold_tasks.take(message.index, message.folded)
        return await self.fold_tasks.next(message.index)

    def knows(self, message: AnswerQuestion, uid: str) -> tuple[bool, ...]:
        """Return which of these answers to a query are here."""
        kept, sent = self._answering(message, uid)
        found = [_which(each) for each in message.answers]
        new = {which for which in found if which in kept} - sent
        if new:
            sent |= new
            self.run.journal.note(message, uid)
        return tuple(which in kept for which in found)

    def answer(self, message: AnswerRows, uid: str) -> None:
        """Keep the rows of answers for their comparison with the truth: all of them, or none."""
        kept, sent = self._answering(message, uid)
        new = {_which(each): each.rows for each in message.answers if _which(each) not in kept}
        self._keep(message.query, {which: json.dumps(new[which]).encode() for which in new})
        sent.update(_which(each) for each in message.answers)
        self.run.journal.note(message, uid)

    def _answering(
        self, message: AnswerQuestion | AnswerRows, uid: str
    ) -> tuple[Mapping[tuple[int, str], bytes], set[tuple[int, str]]]:
        """Return the answers to a query that are kept, and those that this worker has sent."""
        self._admit(message.index, uid)
        if message.query not in self._answers:
            raise Rejected(f"worker {message.index}: this run has no query {message.query!r}")
        return self._answers[message.query], self._sent[message.index, message.query]

    def _keep(self, query: str, answers: Mapping[tuple[int, str], bytes]) -> None:
        size_bytes = sum(map(len, answers.values()))
        if self._answer_bytes + size_bytes > MOST_ANSWER_BYTES:
            raise Rejected(
                f"all different answers of this run take more than {MOST_ANSWER_BYTES:,} bytes;"
                f" the last one is to query {query!r}; ask fewer queries (--count, --types)"
            )
        self._answer_bytes += size_bytes
        self._answers[query].update(answers)

    def answers(self, query: str) -> Iterator[tuple[int, Answer]]:
        """Yield the different answers to a query, each with its instance, in order of these."""
        names = tuple(column.name for column in self.script.outputs.get(query, ()))
        for (instance, _), rows in sorted(self._answers.get(query, {}).items()):
            yield instance, Answer(names, tuple(map(tuple, json.loads(rows))))


def _which(answer: AnswerKey) -> tuple[int, str]:
    return answer.instance, answer.digest
