"""Compares what is stored with the rows of an insert that did not end.

Which rows were acknowledged is not known then: any row of the dataset may be stored, once, and no
other row may be. Stored rows are compared by their hash, in passes, so that memory is bounded.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.hashes import block_hashes, stored_hashes
from simulator.data.mixer import Hashes
from simulator.data.query import Aggregate, AggregateQuery, Function, RowsQuery
from simulator.data.schema import Table
from simulator.errors import counted
from simulator.modules.base import Database, Session, Unsupported
from simulator.protocol.verdict import Check, Status, Verdict
from simulator.verify.comparison import STREAM_ROWS
from simulator.verify.fold_tasks import VERIFY_BLOCK_ROWS

_PASS_ROWS = 1 << 24
_MOST_SHOWN = 3


def verify_interrupted(
    database: Database, dataset: Dataset, pass_rows: int = _PASS_ROWS
) -> Verdict:
    """Return how many rows of the dataset are stored, and whether any other row is."""
    checks, present = [], 0
    try:
        with database.connect() as session:
            for table in DatasetReader(dataset).tables:
                stored = _Stored(database, session, dataset, table, pass_rows)
                checks.append(stored.check())
                present += stored.present
    except Unsupported as error:
        return Verdict(status=Status.UNKNOWN, reason=str(error))
    except ValueError as error:
        types = "values of their columns' types"
        return Verdict.of([Check(name="stored values", expected=types, found=str(error), ok=False)])
    verdict = Verdict.of(checks, present=present, absent=dataset.rows - present)
    if verdict.status is not Status.INCOMPLETE:
        return verdict
    planned = counted(dataset.rows, "row")
    reason = f"the interrupted insert was to write up to {planned}: {present:,} are stored"
    return verdict.model_copy(update={"reason": reason})


class _Stored:
    """The stored rows of one table, beside those of the dataset."""

    def __init__(
        self, database: Database, session: Session, dataset: Dataset, table: Table, pass_rows: int
    ) -> None:
        self._session = session
        self._dataset = dataset
        self._table = table
        self._statement = database.render(RowsQuery(table))
        count = database.render(AggregateQuery(table, (Aggregate(Function.COUNT),)))
        ((rows,),) = session.run(count)
        self._passes = int(rows) // pass_rows + 1
        self._doubled = self._torn = self._foreign = 0
        self._first: list[str] = []
        """The first foreign rows."""
        self.present = 0
        for number in range(self._passes):
            self._compare(number)

    def _compare(self, number: int) -> None:
        """Compare the rows whose hashes belong to this pass."""
        passes = np.uint64(self._passes)
        mine = (hashes[hashes % passes == number] for hashes, _ in self._read())
        stored, copies = np.unique(
            np.concatenate([np.empty(0, np.uint64), *mine]), return_counts=True
        )
        wanted, left = np.zeros(len(stored), np.int64), len(stored)
        for hashes in self._expected() if left else ():
            places = np.searchsorted(stored, hashes)
            places[places == len(stored)] = 0
            hits, counts = np.unique(places[stored[places] == hashes], return_counts=True)
            before = wanted[hits] < copies[hits]
            wanted[hits] += counts
            left -= int((before & (wanted[hits] >= copies[hits])).sum())
            if not left:  # what a run that ends by time was allowed to write has no bound
                break
        self.present += int(np.minimum(copies, wanted).sum())
        self._doubled += int((copies - wanted)[(wanted > 0) & (copies > wanted)].sum())
        unknown = stored[wanted == 0]
        if len(unknown):
            self._name(unknown)

    def _read(self) -> Iterator[tuple[Hashes, list[tuple[Any, ...]]]]:
        for raw in self._session.stream(self._statement, STREAM_ROWS):
            yield stored_hashes(self._statement.outputs, raw), [*map(tuple, raw)]

    def _expected(self) -> Iterator[Hashes]:
        """Yield the hashes of the table's rows, a block of every range in turn."""
        reader = DatasetReader(self._dataset)
        mine = [r for r in self._dataset.ranges if reader.tables[r.table].name == self._table.name]
        turns = [reader.blocks((rows,), VERIFY_BLOCK_ROWS) for rows in mine]
        while turns:
            drawn = [next(turn, None) for turn in turns]
            turns = [turn for turn, blocks in zip(turns, drawn, strict=True) if blocks]
            for blocks in drawn:
                for block in blocks or ():
                    yield block_hashes(self._statement.outputs, block)

    def _name(self, unknown: NDArray[np.uint64]) -> None:
        """Count rows that are not the dataset's: of points, a row may be stored in part."""
        never_null = [place for place, c in enumerate(self._table.columns) if not c.nullable]
        kinds = Counter[bool]()
        for hashes, rows in self._read():
            for index in np.flatnonzero(np.isin(hashes, unknown)).tolist():
                torn = any(rows[index][place] is None for place in never_null)
                kinds[torn] += 1
                if not torn and len(self._first) < _MOST_SHOWN:
                    self._first.append(str(rows[index]))
        self._torn += kinds[True]
        self._foreign += kinds[False]

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
