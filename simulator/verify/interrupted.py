"""Compares what is stored with the rows of an insert that did not end.

Which rows were acknowledged is not known then: any row of the dataset may be stored, once, and no
other row may be. Memory is bounded: the rows are compared in passes, by their hash.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.hashes import block_hashes, stored_hashes
from simulator.data.query import RowsQuery, Statement
from simulator.data.schema import Table
from simulator.errors import counted
from simulator.modules.base import Database, Session, Unsupported
from simulator.protocol.verdict import Check, Status, Verdict
from simulator.verify.comparison import STREAM_ROWS, VERIFY_BLOCK_ROWS

_PASS_ROWS = 1 << 24
_MOST_SHOWN = 3


def verify_interrupted(
    database: Database, dataset: Dataset, pass_rows: int = _PASS_ROWS
) -> Verdict:
    """Return how many rows of the dataset are stored, and whether any other row is."""
    checks, present = [], 0
    reader = DatasetReader(dataset)
    try:
        with database.connect() as session:
            for table in reader.tables:
                found = _Found(database, session, dataset, table)
                for number in range(passes := dataset.rows // pass_rows + 1):
                    found.compare(number, passes)
                present += found.present
                checks.append(found.check())
    except Unsupported as error:
        return Verdict(status=Status.UNKNOWN, reason=str(error))
    except ValueError as error:
        types = "values of their columns' types"
        return Verdict.of([Check(name="stored values", expected=types, found=str(error), ok=False)])
    return Verdict.of(checks, present=present, absent=dataset.rows - present)


class _Found:
    """The stored rows of one table, beside those of the dataset."""

    def __init__(
        self, database: Database, session: Session, dataset: Dataset, table: Table
    ) -> None:
        self._session = session
        self._dataset = dataset
        self._reader = DatasetReader(dataset)
        self._table = table
        self._statement: Statement = database.render(RowsQuery(table))
        self._never_null = [n for n, c in enumerate(table.columns) if not c.nullable]
        self.present = 0
        self._foreign = self._doubled = self._torn = 0
        self._first: list[str] = []
        """The first foreign rows."""

    def compare(self, number: int, passes: int) -> None:
        """Compare the rows whose hash belongs to this pass."""
        expected, copies = np.unique(self._expected(number, passes), return_counts=True)
        counts = np.zeros(len(expected), np.int64)
        for raw in self._session.stream(self._statement, STREAM_ROWS):
            hashes = stored_hashes(self._statement.outputs, raw)
            mine = np.flatnonzero(hashes % np.uint64(passes) == number)
            places = np.searchsorted(expected, hashes[mine])
            known = np.zeros(len(mine), np.bool_)
            inside = places < len(expected)
            known[inside] = expected[places[inside]] == hashes[mine[inside]]
            np.add.at(counts, places[known], 1)
            for index in mine[~known].tolist():
                self._add_unknown(raw[index])
        self.present += int(np.minimum(counts, copies).sum())
        self._doubled += int(np.maximum(counts - copies, 0).sum())

    def _expected(self, number: int, passes: int) -> NDArray[np.uint64]:
        mine = (hashes[hashes % np.uint64(passes) == number] for hashes in self._hashes())
        return np.concatenate([np.empty(0, np.uint64), *mine])

    def _hashes(self) -> Iterator[NDArray[np.uint64]]:
        for rows in self._dataset.ranges:
            for blocks in self._reader.blocks(rows, VERIFY_BLOCK_ROWS):
                for block in blocks:
                    if block.table.name == self._table.name:
                        yield block_hashes(self._statement.outputs, block)

    def _add_unknown(self, row: Sequence[Any]) -> None:
        """Count a row that is not the dataset's: of points, a row may be stored in part."""
        if any(row[place] is None for place in self._never_null):
            self._torn += 1
            return
        self._foreign += 1
        if len(self._first) < _MOST_SHOWN:
            self._first.append(str(tuple(row)))

    def check(self) -> Check:
        """Return whether every stored row is one of the dataset, and stored once."""
        parts = [f"{counted(self.present, 'row')} of it"]
        if self._torn:
            parts.append(f"{self._torn:,} stored in part")
        if self._doubled:
            parts.append(f"{self._doubled:,} stored twice")
        if self._foreign:
            more = ", ..." if self._foreign > len(self._first) else ""
            parts.append(f"not expected {self._foreign:,} ({', '.join(self._first)}{more})")
        return Check(
            name=f"{self._table.name}: rows of the interrupted insert",
            expected="no others",
            found=", ".join(parts),
            ok=not self._foreign and not self._doubled,
        )
