"""Answers about fresh rows: the workers' reports, kept part by part, and their verdict."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from simulator.control.script import Rejected
from simulator.data.query import AggregateQuery
from simulator.data.reader import DatasetReader
from simulator.errors import RunError, counted
from simulator.modules.contract import Database, Unsupported
from simulator.protocol.arrivals import ArrivalPart, FreshAnswers, SentBatches
from simulator.protocol.events import Freshness, QueryVerdict
from simulator.protocol.numbers import counts_of, pairs_of
from simulator.protocol.spec import RunSpec
from simulator.protocol.verdict import Check, Status, Verdict
from simulator.verify.fresh.answers import FreshOutcome, check
from simulator.verify.fresh.arriving import (
    AnswerLog,
    ArrivingRows,
    TimedBatches,
    select_stored_since,
)

MOST_BYTES = 256 << 20
"""Maximum size of all parts of a run, as text."""


class Arrivals:
    """The parts of all workers' reports. A repeated part changes nothing."""

    def __init__(self) -> None:
        self._sent: dict[int, list[SentBatches]] = defaultdict(list)
        self._answers: dict[tuple[str, int], list[FreshAnswers]] = defaultdict(list)
        self._bytes = 0

    def take(self, part: SentBatches | FreshAnswers) -> bool:
        """Keep a part; return whether the part is new.

        Raises Rejected if the part is not the worker's next part.
        """
        kept: list[ArrivalPart] = (
            self._sent[part.index]  # type: ignore[assignment]
            if isinstance(part, SentBatches)
            else self._answers[part.query, part.index]
        )
        if part.part < len(kept):
            return False
        if part.part > len(kept) or (kept and kept[-1].last):
            raise Rejected(f"worker {part.index}: part {part.part} came after {len(kept)} parts")
        self._bytes += _size_of(part)
        if self._bytes > MOST_BYTES:
            raise Rejected(
                f"the batches and answers of this run take more than {MOST_BYTES:,} bytes; lower"
                " --query-rate, use larger batches, or a shorter --duration"
            )
        kept.append(part)
        return True

    def list_sent(self) -> Iterator[SentBatches]:
        """Yield the batches that the workers have sent to the database."""
        return chain.from_iterable(self._sent.values())

    def has_sent(self, worker: int) -> bool:
        """Return whether all batches of a worker have arrived."""
        parts = self._sent.get(worker, [])
        return bool(parts) and parts[-1].last

    def answers(self, query: str) -> Iterator[FreshAnswers]:
        """Yield the answers of all workers to a query."""
        for (name, _), parts in self._answers.items():
            if name == query:
                yield from parts

    def count_answered(self, query: str, worker: int) -> int:
        """Return how many answers of a worker to a query have arrived."""
        return sum(part.count for part in self._answers.get((query, worker), ()))


def _size_of(part: SentBatches | FreshAnswers) -> int:
    if isinstance(part, SentBatches):
        return len(part.batches) + len(part.runs)
    return len(part.answers) + len(part.values) + sum(len(str(key)) for key in part.keys)


def judge_fresh(
    spec: RunSpec, database: Database, arrivals: Arrivals
) -> tuple[tuple[QueryVerdict, ...], tuple[Freshness, ...]]:
    """Return the verdict on each query, and for queries that count rows, their freshness."""
    reader = DatasetReader(spec.dataset)
    try:
        stored = select_stored_since(reader, spec.dataset, spec.load.until_ms or 0)
        rows = ArrivingRows(reader, TimedBatches.of(arrivals.list_sent(), stored))
        verdicts, freshness = [], []
        for name, fresh_type in spec.fresh_types.items():
            try:
                statement = database.statement(fresh_type.since(spec.load.until_ms or 0))
            except Unsupported as error:
                verdict = Verdict(status=Status.UNKNOWN, reason=f"not supported: {error}")
                verdicts.append(QueryVerdict(name=name, verdict=verdict))
                continue
            parts = (AnswerLog.of(part, fresh_type) for part in arrivals.answers(name))
            found = check(rows, fresh_type, parts, promised=not database.late)
            verdicts.append(
                QueryVerdict(
                    name=name,
                    statement=statement.text,
                    verdict=Verdict.of([*_list_checks(name, found, database.late)]),
                    answers=found.answers,
                )
            )
            if isinstance(fresh_type.query, AggregateQuery):
                seen, unseen = found.delays(rows, reader.place(fresh_type.query.table))
                freshness.append(
                    Freshness(
                        query=name,
                        rows=int(seen.rows.sum()),
                        unseen_rows=int(unseen.rows.sum()),
                        delays=pairs_of(counts_of(*seen)),
                        unseen=pairs_of(counts_of(*unseen)),
                    )
                )
    except ValueError as error:
        raise RunError(f"a worker's report of fresh rows cannot be read: {error}") from error
    return tuple(verdicts), tuple(freshness)


def _list_checks(name: str, found: FreshOutcome, late: str) -> Iterator[Check]:
    seen = "sent until then" if late else "acknowledged before and sent until then"
    yield Check(
        name=f"{name}: answers",
        expected=f"{counted(found.answers, 'answer')} between what was {seen}",
        found=f"{found.right:,}",
        ok=found.right == found.answers,
    )
    for wrong in found.wrong:
        yield Check(name=name, expected=wrong.expected, found=wrong.found, ok=False)
