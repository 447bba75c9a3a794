"""The gate between workers and coordinator: admits the messages that the script of the run allows.

Everything else is rejected with what was expected instead. Pure state; no HTTP, no database.
"""

import json
from collections.abc import Iterator, Mapping

from simulator import __version__
from simulator.clock import elapsed_s
from simulator.control.coordinator import Coordinator
from simulator.control.portions import SharedPortions
from simulator.control.progress import Rejected, WorkerProgress
from simulator.control.script import MOST_ANSWER_BYTES, Script
from simulator.data.query import Answer, Output
from simulator.data.schema import Type
from simulator.protocol.messages import (
    AnswerKey,
    AnswerQuestion,
    AnswerRows,
    AnswerWithRows,
    Arrival,
    Heartbeat,
    PortionReply,
    PortionRequest,
    Registration,
    Scalar,
    WorkerReport,
    digest_of,
)

_JSON_TYPES: dict[Type, type] = {
    Type.INT16: int,
    Type.INT32: int,
    Type.INT64: int,
    Type.FLOAT32: float,
    Type.FLOAT64: float,
    Type.BOOL: bool,
    Type.TEXT: str,
    Type.TIMESTAMP: int,
}


class Gate:
    """Who the workers of a run are, how far each is, and the answers that they have sent."""

    def __init__(self, run: Coordinator, script: Script) -> None:
        self.run = run
        self.script = script
        self._workers: dict[int, WorkerProgress] = {}
        self._answers: dict[str, dict[tuple[int, str], bytes]] = {q: {} for q in script.queries}
        """Query -> instance, digest -> rows in JSON: a tenth of the memory of objects."""
        self._answer_bytes = 0
        self.portions = SharedPortions(run, script)
        self._began_s = elapsed_s()

    @property
    def report_bytes(self) -> int:
        """The most that a report may take in JSON at this time."""
        return self.script.report_bytes(elapsed_s() - self._began_s)

    def _opened(self, worker: WorkerProgress) -> int:
        """How many of its barriers have opened for it."""
        return sum(self.run.may_pass(barrier, worker.index) for barrier in worker.barriers)

    async def register(self, message: Registration, uid: str) -> bool:
        """Register a worker, hold the request for a while; return whether the tables are ready."""
        index, workers = message.index, len(self.script.tasks)
        if index >= workers:
            known = f"this run has workers 0..{workers - 1}" if workers else "this run has none"
            raise Rejected(f"worker {index}: {known}")
        if self.run.uids.get(index, uid) != uid:
            raise Rejected(f"worker {index} is already registered by another process")
        if index not in self._workers:
            if uid in self.run.uids.values():
                raise Rejected(f"worker {index}: this process is already another worker")
            self._workers[index] = WorkerProgress(index, self.script)
        return await self.run.register(message, uid, __version__)

    def _worker(self, index: int, uid: str) -> WorkerProgress:
        """Return the worker that this process has registered, once it may work."""
        if index not in self._workers:
            raise Rejected(f"worker {index} has not registered")
        if self.run.uids[index] != uid:
            raise Rejected(f"worker {index} is registered by another process")
        if not self.run.tables_ready.is_set():
            raise Rejected(f"worker {index}: expected it to wait until the tables are ready")
        return self._workers[index]

    async def arrive(self, message: Arrival, uid: str) -> bool:
        """Hold a worker at a barrier for a while; return whether all are there and it may go on."""
        worker = self._worker(message.index, uid)
        worker.arrive(message.barrier, self._opened(worker))
        return await self.run.arrive(message)

    def beat(self, message: Heartbeat, uid: str) -> None:
        """Note how far a worker is."""
        worker = self._worker(message.index, uid)
        if worker.beat(message, self._opened(worker)):
            self.run.beat(message)

    def report(self, report: WorkerReport, uid: str) -> None:
        """Take a worker's result; an error in it ends the run."""
        worker = self._worker(report.index, uid)
        stopped = self.run.stopped.is_set()
        worker.finish(report, opened=self._opened(worker), stopped=stopped)
        self.run.report(report)

    async def portion(self, message: PortionRequest, uid: str) -> PortionReply:
        """Take what a worker has folded; hold it for a while, and return what to fold next."""
        worker = self._worker(message.index, uid)
        worker.help(self._opened(worker))
        if message.folded:
            await self.portions.take(message.index, message.folded)
        return await self.portions.next(message.index)

    def knows(self, message: AnswerQuestion, uid: str) -> tuple[bool, ...]:
        """Return which of these answers to a query are here."""
        worker, kept = self._answering(message, uid)
        found = [_which(each) for each in message.answers]
        worker.count_answers(message.query, [which for which in found if which in kept])
        return tuple(which in kept for which in found)

    def answer(self, message: AnswerRows, uid: str) -> None:
        """Keep the rows of answers for their comparison with the truth: all of them, or none."""
        worker, kept = self._answering(message, uid)
        query, new = message.query, {}
        for each in message.answers:
            if _which(each) not in kept:
                self._check_rows(query, each)
                new[_which(each)] = json.dumps(each.rows).encode()
        self._keep(query, new)
        worker.count_answers(query, [_which(each) for each in message.answers])

    def _answering(
        self, message: AnswerQuestion | AnswerRows, uid: str
    ) -> tuple[WorkerProgress, Mapping[tuple[int, str], bytes]]:
        """Return the worker of these answers, and what is kept of their query."""
        worker, kept = self._worker(message.index, uid), self._answers.get(message.query, {})
        found = [_which(each) for each in message.answers]
        worker.expect_answers(message.query, found, kept, self._opened(worker))
        return worker, kept

    def _check_rows(self, query: str, answer: AnswerWithRows) -> None:
        if answer.digest != digest_of(answer.rows):
            raise Rejected(f"the digest of this answer to query {query!r} is not that of its rows")
        columns = self.script.outputs[query]
        if not all(_fits(row, columns) for row in answer.rows):
            types = ", ".join(f"{column.name} {column.type}" for column in columns)
            raise Rejected(f"expected an answer to query {query!r} with rows of {types}")

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


def _fits(row: tuple[Scalar, ...], columns: tuple[Output, ...]) -> bool:
    return len(row) == len(columns) and all(
        value is None or type(value) is _JSON_TYPES[column.type]
        for value, column in zip(row, columns, strict=True)
    )
