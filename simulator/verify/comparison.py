"""After the clock has stopped: is everything there that was acknowledged, and nothing else?

`counts` compares rows, sums, minima and maxima of every column and distinct natural keys; `full`
also reads every row back. The truth comes from the dataset's own rows. Rows whose send had an
unknown outcome may be stored or not; everything else must be there exactly once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Block
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.hashes import block_hashes, stored_hashes
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    DistinctQuery,
    Function,
    Query,
    RowsQuery,
    Statement,
    answer,
    outputs,
)
from simulator.data.schema import INTEGERS, Table, Type
from simulator.modules.base import Database, Session, Unsupported
from simulator.protocol.verdict import Check, RowSlice, Status, Verdict, VerifyMode
from simulator.verify.fingerprint import Fingerprint, buckets_of
from simulator.verify.oracle import Oracle

VERIFY_BLOCK_ROWS = 1 << 16
_STREAM_ROWS = 20_000
_MAX_BUCKETS = 1000
_MAX_SHOWN = 5


def verify(
    database: Database, dataset: Dataset, uncertain: Sequence[RowSlice], level: VerifyMode
) -> Verdict:
    """Compare what is stored with the dataset; rows of `uncertain` may be missing."""
    maybe = frozenset(row for item in uncertain for row in item.numbers())
    try:
        with database.connect() as session:
            comparison = _Comparison(database, session, dataset, DatasetReader(dataset), maybe, [])
            checks = comparison.counts()
            if level is VerifyMode.FULL:
                # Every row has been seen, which settles what the counts had to leave open.
                checks = [check for check in checks if check.ok is not None]
                checks += [comparison.rows(table) for table in comparison.reader.tables]
    except Unsupported as error:
        return Verdict(status=Status.UNKNOWN, reason=str(error))
    except ValueError as error:
        types = "values of their columns' types"
        checks = [Check(name="stored values", expected=types, found=str(error), ok=False)]
    return Verdict.of(checks, not_compared=comparison.not_compared)


@dataclass(frozen=True, slots=True)
class _Comparison:
    """What is stored beside what should be."""

    database: Database
    session: Session
    dataset: Dataset
    reader: DatasetReader
    maybe: frozenset[int]
    not_compared: list[str]
    """What the database cannot be asked, and why."""

    def blocks(self, table: Table | None = None) -> Iterator[Block]:
        """Yield the dataset's rows, of one table or of all."""
        for rows in self.dataset.ranges:
            for blocks in self.reader.blocks(rows, VERIFY_BLOCK_ROWS):
                yield from (b for b in blocks if table is None or b.table.name == table.name)

    def maybe_of(self, table: Table) -> NDArray[np.int64]:
        """Return the numbers of a table's rows that may be missing."""
        tables = self.reader.tables
        which = [item.name for item in tables].index(table.name)
        return np.array([row for row in self.maybe if row % len(tables) == which], np.int64)

    def counts(self) -> list[Check]:
        """Compare counts, sums, extremes and distinct keys of every table."""
        queries = [_statistics(table) for table in self.reader.tables]
        oracle = Oracle(queries)
        for block in self.blocks():
            oracle.add(block)
        return [check for query in queries for check in self._table_counts(oracle, query)]

    def _table_counts(self, oracle: Oracle, query: AggregateQuery) -> list[Check]:
        table, truth = query.table, oracle.truth(query)
        expected = dict(zip(truth.answer.names, truth.answer.rows[0], strict=True))
        slack = dict(zip(truth.answer.names, truth.slack[0] if truth.slack else (), strict=False))
        asked = self._askable(query, expected)
        raw = self.session.run(self.database.render(asked))
        found = answer(outputs(asked), raw)
        checks = [
            _check(table, label, expected[label], value, slack.get(label, 0.0))
            for label, value in zip(found.names, found.rows[0], strict=True)
        ]
        stored = int(found.rows[0][0])
        uncertain = len(self.maybe_of(table))
        if uncertain and stored != expected["count"]:
            checks = _loosened(checks, expected["count"], uncertain, stored)
        distinct = DistinctQuery(table, table.key)
        label = f"distinct ({', '.join(table.key)})"
        if table.key and self._can(distinct, label):
            ((keys,),) = self.session.run(self.database.render(distinct))
            checks.append(_check(table, label, stored, int(keys)))
        return checks

    def _askable(self, query: AggregateQuery, expected: dict[str, Any]) -> AggregateQuery:
        """Leave out what the database cannot be asked, but for the count of rows."""
        table = query.table
        count, *others = (a for a in query.aggregates if _fits(table, a, expected))
        others = [a for a in others if self._can(AggregateQuery(table, (a,)), a.label)]
        return AggregateQuery(table, (count, *others))

    def _can(self, query: Query, label: str) -> bool:
        try:
            self.database.render(query)
        except Unsupported as error:
            self.not_compared.append(f"{query.table.name}: {label}: {error}")
            return False
        return True

    def rows(self, table: Table) -> Check:
        """Read every row of a table back and compare it."""
        statement = self.database.render(RowsQuery(table))
        expected, stored = Fingerprint(), Fingerprint()
        maybe, not_stored = self.maybe_of(table), Counter[int]()
        for block in self.blocks(table):
            hashes = block_hashes(statement.outputs, block)
            uncertain = np.isin(block.rows, maybe)
            expected.add(hashes[~uncertain])
            not_stored.update(hashes[uncertain].tolist())
        sought = np.array([*not_stored], np.uint64)
        for raw in self.session.stream(statement, _STREAM_ROWS):
            hashes = stored_hashes(statement.outputs, raw)
            stored.add(hashes)
            came = not_stored & Counter(hashes[np.isin(hashes, sought)].tolist())
            expected.add(np.array([*came.elements()], np.uint64))
            not_stored -= came
        name, told = f"{table.name}: every row", f"{int(expected.counts.sum())} rows"
        left = f"uncertain and not stored: {not_stored.total()}"
        buckets = expected.differing(stored)
        if not len(buckets):
            found = f"{told}; {left}" if not_stored.total() else told
            return Check(name=name, expected=told, found=found, ok=True)
        missing, extra = self._differences(table, statement, buckets[:_MAX_BUCKETS])
        lost = [row for row in missing if row not in self.maybe]
        found = (
            f"{int(stored.counts.sum())} rows; missing {_shown(lost)}; "
            f"not expected {_shown(extra)}; {left}"
        )
        all_explained = len(buckets) <= _MAX_BUCKETS and not lost and not extra
        return Check(name=name, expected=told, found=found, ok=all_explained)

    def _differences(
        self, table: Table, statement: Statement, buckets: NDArray[np.int64]
    ) -> tuple[list[int], list[Any]]:
        """Return the numbers of rows that are missing and the rows that should not be there."""
        expected: dict[int, list[int]] = {}
        for block in self.blocks(table):
            hashes = block_hashes(statement.outputs, block)
            for index in np.flatnonzero(np.isin(buckets_of(hashes), buckets)).tolist():
                expected.setdefault(int(hashes[index]), []).append(int(block.rows[index]))
        extra: list[Any] = []
        found: Counter[int] = Counter()
        for raw in self.session.stream(statement, _STREAM_ROWS):
            hashes = stored_hashes(statement.outputs, raw)
            for index in np.flatnonzero(np.isin(buckets_of(hashes), buckets)).tolist():
                key = int(hashes[index])
                found[key] += 1
                if found[key] > len(expected.get(key, ())):
                    extra.append(tuple(raw[index]))
        missing: list[int] = []
        for key, rows in expected.items():  # of rows that are alike the uncertain ones are missing
            missing += sorted(rows, key=self.maybe.__contains__)[found[key] :]
        return sorted(missing), extra


def _statistics(table: Table) -> AggregateQuery:
    """Return the count of rows and, for each column, what can be compared of it."""
    aggregates = [Aggregate(Function.COUNT)]
    for column in table.columns:
        functions = [Function.MIN, Function.MAX]
        if column.nullable:
            functions.insert(0, Function.COUNT)
        if column.type not in (Type.TEXT, Type.TIMESTAMP):
            functions.append(Function.SUM)
        aggregates += [Aggregate(function, column.name) for function in functions]
    return AggregateQuery(table, tuple(aggregates))


def _fits(table: Table, aggregate: Aggregate, expected: dict[str, Any]) -> bool:
    """Whether 64 bits hold a sum: databases refuse or round one that they do not."""
    if aggregate.function is not Function.SUM or aggregate.column is None:
        return True
    if table.column(aggregate.column).type not in INTEGERS:
        return True
    low, high = expected[f"min_{aggregate.column}"], expected[f"max_{aggregate.column}"]
    return low is None or expected["count"] * max(abs(low), abs(high)) < 2**63


def _check(table: Table, label: str, expected: Any, found: Any, slack: float = 0.0) -> Check:
    near = bool(slack) and found is not None and abs(found - expected) <= slack
    ok = bool(found == expected) or near
    return Check(name=f"{table.name}: {label}", expected=str(expected), found=str(found), ok=ok)


def _loosened(checks: list[Check], total: int, uncertain: int, stored: int) -> list[Check]:
    """Allow for uncertain rows that are not stored: what they leave open is unknown, not wrong."""
    if not total - uncertain <= stored <= total:
        return checks
    count, *others = checks
    within = count.model_copy(update={"expected": f"{total - uncertain}..{total}", "ok": True})
    return [
        within,
        *(check if check.ok else check.model_copy(update={"ok": None}) for check in others),
    ]


def _shown(items: Sequence[Any]) -> str:
    if not items:
        return "0"
    more = ", ..." if len(items) > _MAX_SHOWN else ""
    return f"{len(items)} ({', '.join(str(item) for item in items[:_MAX_SHOWN])}{more})"
