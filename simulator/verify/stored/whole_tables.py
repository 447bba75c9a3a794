"""Compares sums of row hashes, or counts by tags, that a database computes for a whole table.

If the database computes no hashes, it counts the rows with each combination of tags: altered or
swapped tags change no sum, and perhaps no extreme.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

from simulator.data.answer import Answer, answer
from simulator.data.block import Block
from simulator.data.dataset import Dataset
from simulator.data.query import AggregateQuery, Query, RowsQuery
from simulator.data.schema import Table
from simulator.modules.contract import Alike, Database, Session, Unsupported
from simulator.protocol.verdict import Check, VerifyMode
from simulator.verify.truth.folding import Folding, truths
from simulator.verify.truth.needed import series_of
from simulator.verify.truth.oracle import Oracle, Truth

MOST_SERIES = 20_000
"""Maximum number of combinations in the first block; with more, the answer is too long."""
_MOST_SHOWN = 3
_Tags: TypeAlias = tuple[str | None, ...]


class SeriesCounts:
    """Counts of rows by tags, of each table for which the database can compute them."""

    def __init__(self, database: Database, session: Session) -> None:
        self._database, self._session = database, session
        self.queries: list[AggregateQuery] = []
        self.left_out: list[str] = []
        """Tables without counts, with reasons."""

    def want(self, table: Table, first: Block | None, why_not: str = "") -> None:
        """Plan to count a table's rows by tags, if possible; `first` is its first block of rows."""
        query = series_of(table)
        if query is None or first is None:
            return
        if why_not:
            self._leave_out(query, why_not)
            return
        sample = Oracle([query])
        sample.add(first)
        if len(sample.truth(query).answer.rows) > MOST_SERIES:
            self._leave_out(query, f"there are more than {MOST_SERIES:,}")
            return
        try:
            self._database.render(query)
        except Unsupported as error:
            self._leave_out(query, str(error))
            return
        self.queries.append(query)

    def checks(self, found: Mapping[Query, Truth]) -> list[Check]:
        """Compare the counts of stored rows with the truth."""
        return [check for query in self.queries if (check := self._compare(query, found[query]))]

    def _compare(self, query: AggregateQuery, truth: Truth) -> Check | None:
        statement = self._database.render(query)
        try:
            rows = self._session.run(statement)
        except Exception as error:
            if not self._session.gave_up(error):
                raise
            self._leave_out(query, f"is too much for the server: {error}")
            return None
        stored = answer(statement.outputs, rows)
        differing = _find_differing(truth.answer, stored)
        return Check(
            name=f"{query.table.name}: {_label(query)}",
            expected=_format_counts(truth.answer, differing),
            found=_format_counts(stored, differing),
            ok=not differing and truth.agrees(stored),
        )

    def _leave_out(self, query: AggregateQuery, why: str) -> None:
        self.left_out.append(f"{query.table.name}: {_label(query)}: {why}")


def _label(query: AggregateQuery) -> str:
    return f"rows by {', '.join(query.by)}"


def _find_differing(expected: Answer, found: Answer) -> Sequence[_Tags]:
    both = {*expected.rows} ^ {*found.rows}
    return sorted({tuple(row[:-1]) for row in both}, key=_format_tags)


def _format_tags(tags: _Tags) -> str:
    return ", ".join("NULL" if tag is None else str(tag) for tag in tags)


def _format_counts(counts: Answer, differing: Sequence[_Tags]) -> str:
    rows = {tuple(row[:-1]): row[-1] for row in counts.rows}
    parts = [f"{_format_tags(tags)}: {rows.get(tags, 0):,}" for tags in differing[:_MOST_SHOWN]]
    return "; ".join([f"{len(rows):,} combinations", *parts])


HASHES = "hashes of rows"
UNCLEAR = "some rows have an unknown outcome"
_MODULUS = 2**64


class RowHashes:
    """The number of rows and the sum of their hashes, for each table, from the database."""

    def __init__(self, database: Database, session: Session, tables: Sequence[Table]) -> None:
        self._queries = [RowsQuery(table, hashed=database.row_hash) for table in tables]
        self._answers: list[Answer] = []
        self.why_not = ""
        """Reason why the database computes no hashes; empty if it does."""
        try:
            self.why_not = self._probe(database, session)
        except Unsupported as error:
            self.why_not = str(error)
        except Exception as error:  # noqa: BLE001  # of any driver: older servers lack functions
            self.why_not = f"the server computes none: {database.explain(error)}"

    def _probe(self, database: Database, session: Session) -> str:
        hashing = database.row_hash
        if hashing is None:
            return database.no_row_hash
        statements = [database.render(query) for query in self._queries]
        ((*found,),) = session.run(database.probe())
        if [int(value) % _MODULUS for value in found] != [
            v % _MODULUS for v in hashing.hash_known()
        ]:
            return "the functions of the server return other numbers than those of this program"
        self._answers = [answer(each.outputs, session.run(each)) for each in statements]
        return ""

    def checks(self, dataset: Dataset, fold: Folding) -> list[Check]:
        """Compare the tables with a dataset; return two checks for each table."""
        found, checks = truths(self._queries, dataset, fold), list[Check]()
        for query, stored in zip(self._queries, self._answers, strict=True):
            ((rows, total),) = found[query].answer.rows
            ((stored_rows, sums),) = stored.rows
            pairs = (("count", rows, stored_rows), (HASHES, total, (sums or 0) % _MODULUS))
            checks += [
                Check(
                    name=f"{query.table.name}: {label}",
                    expected=str(expected),
                    found=str(value),
                    ok=expected == value,
                )
                for label, expected, value in pairs
            ]
        return checks


def list_unseen(database: Database, tables: Sequence[Table], level: VerifyMode) -> Iterator[str]:
    """Yield differences that the comparison at this level does not show."""
    hashing = database.row_hash
    has_floats = Alike.ZEROS.concerns(tables)
    if level is VerifyMode.HASHES and hashing and hashing.unseen and has_floats:
        yield f"{HASHES}: {hashing.unseen}"
    if level is VerifyMode.FULL:
        alike = database.capabilities.alike
        yield from (f"{each}: {alike[each]}" for each in alike if each.concerns(tables))
