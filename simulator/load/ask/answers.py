"""Keeps answers to report: the different answers to a query, or all answers about fresh rows."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from simulator.data.answer import answer, canonical
from simulator.data.fresh import FreshType
from simulator.data.hashes import convert_stored_values
from simulator.data.query import AggregateQuery, Output, Statement
from simulator.data.schema import FLOATS
from simulator.errors import BenchError, MismatchError, RunError
from simulator.load.client import AnswerName, Rows
from simulator.modules.contract import Database
from simulator.protocol.arrivals import (
    ANSWER_COLUMNS,
    NULL_DOUBLE,
    NULL_INTEGER,
    FreshAnswers,
    Ticks,
)
from simulator.protocol.messages import MOST_ANSWERS, Scalar, digest_of
from simulator.protocol.numbers import MOST_NUMBERS, Columns, pack

Report: TypeAlias = Callable[[str, Mapping[AnswerName, Rows]], None]
"""Function that takes a query and up to MOST_ANSWERS different answers to the query."""
Raw: TypeAlias = Sequence[Sequence[Any]]
"""Rows as the driver returns them."""


class Asked(NamedTuple):
    """An instance of a query type, and its statement."""

    instance: int
    statement: Statement


class DifferentAnswers:
    """The different answers to one type; equal answers are kept once."""

    def __init__(self, name: str, report: Report) -> None:
        self._name, self._report = name, report
        self._kept: list[tuple[int, Statement, Raw]] = []
        self._newest: dict[int, Raw] = {}
        """Instance -> its last kept answer."""
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

    def report_kept(self) -> int:
        """Report the kept answers; return the total number of reported ones."""
        for first in range(0, len(self._kept), MOST_ANSWERS):
            found: dict[AnswerName, Rows] = {}
            for instance, statement, raw in self._kept[first : first + MOST_ANSWERS]:
                try:
                    rows = answer(statement.outputs, raw).rows
                except ValueError as error:
                    raise explain_unexpected(self._name, error, statement) from error
                digest = digest_of(rows)
                if digest not in self._digests[instance]:
                    found[instance, digest] = rows
            if found:
                self._report(self._name, found)
            for instance, digest in found:
                self._digests[instance].add(digest)
        self._kept.clear()
        self._newest.clear()
        self._values = 0
        return sum(map(len, self._digests.values()))


def explain_unexpected(
    name: str, error: Exception, statement: Statement | None = None
) -> BenchError:
    """Return the error of an answer that cannot be read, perhaps because of a user's query."""
    if statement and (statement.own or statement.tuned):
        text = "the answer does not have the expected columns"
        return RunError(f"query {name}: {text}: {error}; correct the text of the query")
    return MismatchError(f"query {name}: the answer is wrong: {error}; `verify` names altered rows")


_PART_NUMBERS = MOST_NUMBERS // 4


class Moving:
    """Statements about the rows since an instant; the instant advances once later rows are visible.

    A later instant is tried whenever `since_ms` has advanced. Until an answer has rows since that
    instant, all other queries use the earlier instant, so that no row leaves the window before the
    row is visible.
    """

    def __init__(
        self,
        database: Database,
        fresh_type: FreshType,
        since_ms: Callable[[], int],
        answers: "EveryAnswer",
    ) -> None:
        """Store `since_ms`, which returns the instant to ask about, in ms since 1970."""
        self._database, self._type, self._since_ms = database, fresh_type, since_ms
        self._answers = answers
        self._wanted_ms = since_ms()
        """The instant wanted at the last try; the instant advances with the rows."""
        self._held = self._render(self._wanted_ms)
        self._tried: Asked | None = None
        self._is_trying = False

    def _render(self, since_ms: int) -> Asked:
        return Asked(since_ms, self._database.statement(self._type.since(since_ms)))

    def _choose(self, _: int = 0) -> Asked:
        if self._tried and self._answers.found_ms >= self._tried.instance:
            self._held, self._tried = self._tried, None
        wanted_ms = self._since_ms()
        if self._is_trying or wanted_ms <= self._wanted_ms:
            self._is_trying = False
            return self._held
        self._wanted_ms, self._is_trying = wanted_ms, True
        self._tried = self._tried or self._render(wanted_ms)
        return self._tried

    first = warmup = timed = _choose


class EveryAnswer:
    """All answers to one type about fresh rows, packed in parts."""

    def __init__(self, name: str, fresh_type: FreshType) -> None:
        self._name, self._type = name, fresh_type
        self._outputs = fresh_type.outputs
        """The columns as the driver returns them."""
        self._kept: list[tuple[int, int, int, Raw]] = []
        self._values = 0
        self._parts: list[tuple[int, str, list[tuple[Scalar, ...]], str]] = []
        self._count = 0
        self.found_ms = -1
        """The latest instant since which an answer had a row."""

    def keep(self, asked: Asked, rows: Raw, began_ns: int, ended_ns: int) -> int:
        """Keep an answer; pack the kept answers once they fill a part; return 0."""
        self._outputs = asked.statement.outputs
        self._kept.append((asked.instance, began_ns, ended_ns, rows))
        self._count += 1
        if asked.instance > self.found_ms and self._has_row(rows):
            self.found_ms = asked.instance
        self._values += len(ANSWER_COLUMNS) + len(rows) * len(asked.statement.outputs)
        if self._values > _PART_NUMBERS:
            self._pack()
        return 0

    def _has_row(self, rows: Raw) -> bool:
        """Return whether an answer has a row, or a count above 0; `_pack` refuses other values."""
        place, is_count = len(self._type.tags), isinstance(self._type.query, AggregateQuery)
        found = [row[place] for row in rows if len(row) > place and row[place] is not None]
        try:
            return any(float(each) > 0 for each in found) if is_count else bool(found)
        except (TypeError, ValueError):
            return False

    def report_kept(self) -> int:
        """Return the number of answers; `parts` reports the answers."""
        return self._count

    def _pack(self) -> None:
        heads = [(since, began, ended, len(rows)) for since, began, ended, rows in self._kept]
        rows = [row for *_, found in self._kept for row in found]
        outputs = self._outputs
        if len(rows) * len(outputs) > MOST_NUMBERS:
            raise RunError(
                f"query {self._name}: expected answers of at most {MOST_NUMBERS // len(outputs):,}"
                f" rows together, got {len(rows):,}; choose others with --types"
            )
        try:
            keys, values = self._divide(rows)
        except (ValueError, OverflowError) as error:
            raise explain_unexpected(self._name, error) from error
        packed = pack(np.array(heads, np.int64).reshape(-1, len(ANSWER_COLUMNS)).T)
        self._parts.append((len(heads), packed, keys, pack(values)))
        self._kept.clear()
        self._values = 0

    def _divide(self, rows: Raw) -> tuple[list[tuple[Scalar, ...]], Columns]:
        """Return the different keys of rows, and, for each row, its key's index and its values."""
        outputs, tags = self._outputs, len(self._type.tags)
        if any(len(row) != len(outputs) for row in rows):
            raise ValueError(f"expected {len(outputs)} columns")
        place_of: dict[tuple[Any, ...], int] = {}
        places = [place_of.setdefault(tuple(row[:tags]), len(place_of)) for row in rows]
        keys = [tuple(map(canonical, outputs, raw)) for raw in place_of]
        by_column = zip(*rows, strict=True) if rows else [()] * len(outputs)
        columns = [*map(_convert, outputs[tags:], [*by_column][tags:])]
        return keys, np.array([places, *columns], np.int64)

    def parts(self, index: int, ticks: Ticks) -> Iterator[FreshAnswers]:
        """Yield the parts of the report of worker `index`; the last part may be empty."""
        self._pack()
        for number, (count, heads, keys, values) in enumerate(self._parts):
            yield FreshAnswers(
                index=index,
                part=number,
                last=number == len(self._parts) - 1,
                ticks=ticks,
                query=self._name,
                count=count,
                answers=heads,
                keys=tuple(keys),
                values=values,
            )


KeptAnswers: TypeAlias = DifferentAnswers | EveryAnswer
"""Object that keeps the answers to one query type until they are reported."""


def _convert(output: Output, values: Sequence[Any]) -> NDArray[np.int64]:
    """Return a column of answers as 64-bit integers; a value outside its type becomes NULL."""
    found, valid, odd = convert_stored_values(output, values)
    is_double = output.type in FLOATS
    if is_double and not np.isfinite(found).all():
        raise ValueError(f"{output.name}: expected finite numbers")
    numbers = found.astype(np.float64).view(np.int64) if is_double else found.astype(np.int64)
    null = NULL_DOUBLE if is_double else NULL_INTEGER
    if valid is not None:
        numbers[~valid] = null
    numbers[odd] = null
    return numbers
