"""The workers' reports about rows that arrive, kept part by part until they are judged."""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

from simulator.control.script import Rejected
from simulator.protocol.arrivals import ArrivalPart, FreshAnswers, SentBatches

MOST_BYTES = 256 << 20
"""Largest size of all parts of a run, as text."""


class Arrivals:
    """The parts of all workers. A part that comes again changes nothing."""

    def __init__(self) -> None:
        self._sent: dict[int, list[SentBatches]] = defaultdict(list)
        self._answers: dict[tuple[str, int], list[FreshAnswers]] = defaultdict(list)
        self._bytes = 0

    def take(self, part: SentBatches | FreshAnswers) -> bool:
        """Keep the next part of a worker; False: it is here. Rejected if it is not the next."""
        kept: list[ArrivalPart] = (
            self._sent[part.index]  # type: ignore[assignment]
            if isinstance(part, SentBatches)
            else self._answers[part.query, part.index]
        )
        if part.part < len(kept):
            return False
        if part.part > len(kept) or (kept and kept[-1].last):
            raise Rejected(f"worker {part.index}: part {part.part} of {len(kept)} that are here")
        self._bytes += _size_of(part)
        if self._bytes > MOST_BYTES:
            raise Rejected(
                f"the batches and answers of this run take more than {MOST_BYTES:,} bytes; lower"
                " --query-rate, use larger batches, or a shorter --duration"
            )
        kept.append(part)
        return True

    def sent(self) -> Iterator[SentBatches]:
        """Yield what the workers have sent to the database."""
        return chain.from_iterable(self._sent.values())

    def has_sent(self, worker: int) -> bool:
        """Return whether all batches of a worker are here."""
        parts = self._sent.get(worker, [])
        return bool(parts) and parts[-1].last

    def answers(self, query: str) -> Iterator[FreshAnswers]:
        """Yield the answers of all workers to a query."""
        for (name, _), parts in self._answers.items():
            if name == query:
                yield from parts

    def count_answered(self, query: str, worker: int) -> int:
        """Return how many answers of a worker to a query are here."""
        return sum(part.count for part in self._answers.get((query, worker), ()))


def _size_of(part: SentBatches | FreshAnswers) -> int:
    if isinstance(part, SentBatches):
        return len(part.batches) + len(part.runs)
    return len(part.answers) + len(part.values) + sum(len(str(key)) for key in part.keys)
