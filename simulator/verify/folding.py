"""The truth of many queries over a dataset: on several cores, and from few rows where that will do.

Threads share the work: NumPy releases the interpreter while it draws and counts, and holds it in
`ufunc.at`, a small part of the time. Each thread folds into an oracle of its own, so memory is that
of a block and of the groups for each thread.
"""

import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from simulator.data.block import Block, Rows
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.query import EVERYTHING, DistinctQuery, Query
from simulator.host import usable_cores
from simulator.verify.oracle import Oracle, Truth

VERIFY_BLOCK_ROWS = 1 << 16
_PIECE_ROWS = 1 << 20


def truths(
    queries: Sequence[Query], dataset: Dataset, threads: int | None = None
) -> dict[Query, Truth]:
    """Return the true answer to each query.

    Queries of which the workload names the rows are answered from these alone, as long as all of
    them together are fewer than the dataset's; the others share folds of the whole dataset.
    """
    reader, found, budget = DatasetReader(dataset), dict[Query, Truth](), dataset.rows
    for query in dict.fromkeys(queries):
        rows = _named(query, dataset, reader)
        if rows is not None and len(rows) <= budget:
            budget -= len(rows)
            found[query] = _selected(query, reader.reading([query]), rows)
    others = [query for query in dict.fromkeys(queries) if query not in found]
    if others:
        pieces = _pieces(others, dataset, reader.reading(others))
        oracle = folded(others, pieces, threads or usable_cores())
        found |= {query: oracle.truth(query) for query in others}
    return found


def _named(query: Query, dataset: Dataset, reader: DatasetReader) -> Rows | None:
    if isinstance(query, DistinctQuery) or query.selection == EVERYTHING:
        return None
    rows = reader.candidates(query.table, query.selection)
    return None if rows is None else rows[dataset.holds(reader.place(query.table), rows)]


def _selected(query: Query, reader: DatasetReader, rows: Rows) -> Truth:
    oracle = Oracle([query])
    for start in range(0, len(rows), VERIFY_BLOCK_ROWS):
        oracle.add(reader.drawn(query.table, rows[start : start + VERIFY_BLOCK_ROWS]))
    return oracle.truth(query)


def _pieces(
    queries: Sequence[Query], dataset: Dataset, reader: DatasetReader
) -> Iterator[Iterator[Block]]:
    """Yield the blocks of the tables that queries read, in pieces of about a million rows."""
    read = {reader.place(query.table) for query in queries}
    for rows in dataset.ranges:
        for piece in rows.pieces(_PIECE_ROWS) if rows.table in read else ():
            yield (block for turn in reader.blocks((piece,), VERIFY_BLOCK_ROWS) for block in turn)


def folded(queries: Sequence[Query], pieces: Iterable[Iterable[Block]], threads: int) -> Oracle:
    """Fold the blocks of all pieces; each piece is drawn and folded by one thread."""
    shared = _Shared(pieces)
    with ThreadPoolExecutor(threads) as pool:
        first, *others = [pool.submit(shared.fold, queries) for _ in range(threads)]
        total = first.result()
        for other in others:
            total.merge(other.result())
    return total


class _Shared:
    """Pieces that several threads fold, each what it takes."""

    def __init__(self, pieces: Iterable[Iterable[Block]]) -> None:
        self._pieces = iter(pieces)
        self._lock = threading.Lock()
        self._failed = False

    def fold(self, queries: Sequence[Query]) -> Oracle:
        """Fold pieces until none is left, or a thread has failed."""
        oracle = Oracle(queries)
        try:
            while (piece := self._next()) is not None:
                for block in piece:
                    oracle.add(block)
        except BaseException:
            self._failed = True
            raise
        return oracle

    def _next(self) -> Iterable[Block] | None:
        with self._lock:
            return None if self._failed else next(self._pieces, None)
