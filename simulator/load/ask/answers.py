"""The answers to queries, kept until the clock stops, and reported in canonical form."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

from simulator.data.query import Statement, answer
from simulator.errors import RunError
from simulator.load.client import AnswerName, Rows
from simulator.protocol.messages import MOST_ANSWERS, digest_of

Report: TypeAlias = Callable[[str, Mapping[AnswerName, Rows]], None]
"""Takes a query and up to MOST_ANSWERS different answers to it."""
Raw: TypeAlias = Sequence[Sequence[Any]]
"""Rows as the driver returns them."""


class Asked(NamedTuple):
    """An instance of a query type, and its statement."""

    instance: int
    statement: Statement


class KeptAnswers(Protocol):
    """Keeps the answers to one query type until they are reported."""

    def keep(self, asked: Asked, rows: Raw, began_ns: int, ended_ns: int) -> int:
        """Keep the rows of an answer; return how many values are kept."""

    def reported(self, report: Report) -> int:
        """Report what is kept; return how many answers were reported in all."""


class DifferentAnswers:
    """The different answers to one type: what is equal to an answer before is kept once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._kept: list[tuple[int, Statement, Raw]] = []
        self._newest: dict[int, Raw] = {}
        """Instance -> the last of its answers that are kept."""
        self._values = 0
        self._digests: dict[int, set[str]] = defaultdict(set)
        """Instance -> digests of the answers that were reported."""

    def keep(self, asked: Asked, rows: Raw, began_ns: int, ended_ns: int) -> int:
        """Keep the rows of an answer, unless they equal the instance's previous answer."""
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


def _rows_of(name: str, statement: Statement, raw: Raw) -> Rows:
    """Return the rows of an answer in canonical form; RunError if its columns are others."""
    try:
        return answer(statement.outputs, raw).rows
    except ValueError as error:
        raise explain_unexpected(name, error) from error


def explain_unexpected(name: str, error: Exception) -> RunError:
    """Return the error of a query with an answer that cannot be read."""
    return RunError(f"query {name}: the answer does not have the expected columns: {error}")
