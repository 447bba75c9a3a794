"""The truth of many queries over a dataset: from few rows where that will do, else from all.

Threads share the fold tasks: NumPy releases the interpreter while it draws and counts, and holds it
in `ufunc.at`, a small part of the time. The collector has other processes fold some of them.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

from simulator.data.block import Rows
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.derived import innermost
from simulator.data.query import EVERYTHING, DistinctQuery, Query
from simulator.host import usable_cores
from simulator.verify.truth.fold_tasks import VERIFY_BLOCK_ROWS, FoldTasks
from simulator.verify.truth.oracle import Oracle, Truth

Folding: TypeAlias = Callable[[FoldTasks], None]
"""Folds all tasks."""


def fold_here(tasks: FoldTasks, threads: int = 0) -> None:
    """Fold all tasks in threads of this process, as many as it has cores."""
    threads = threads or usable_cores()
    with ThreadPoolExecutor(threads) as pool:
        ends = [pool.submit(tasks.fold) for _ in range(threads)]
    for end in ends:
        end.result()


def truths(
    queries: Sequence[Query], dataset: Dataset, fold: Folding = fold_here
) -> dict[Query, Truth]:
    """Return the true answer to each query.

    Queries of which the workload names the rows are answered from these alone, as long as all of
    them together are fewer than the dataset's; the others share folds of the whole dataset.
    """
    reader, found, budget = DatasetReader(dataset), dict[Query, Truth](), dataset.rows
    for query in dict.fromkeys(queries):
        rows = _find_rows(query, dataset, reader)
        if rows is not None and len(rows) <= budget:
            budget -= len(rows)
            found[query] = _compute_truth(query, reader.reading([query]), rows)
    others = [query for query in dict.fromkeys(queries) if query not in found]
    if others:
        tasks = FoldTasks(others, dataset)
        fold(tasks)
        found |= {query: tasks.truth(query) for query in others}
    return found


def _find_rows(query: Query, dataset: Dataset, reader: DatasetReader) -> Rows | None:
    query = innermost(query)
    if isinstance(query, DistinctQuery) or query.selection == EVERYTHING:
        return None
    rows = reader.candidates(query.table, query.selection)
    return None if rows is None else rows[dataset.holds(reader.place(query.table), rows)]


def _compute_truth(query: Query, reader: DatasetReader, rows: Rows) -> Truth:
    oracle = Oracle([query])
    table = innermost(query).table
    for start in range(0, len(rows), VERIFY_BLOCK_ROWS):
        oracle.add(reader.drawn(table, rows[start : start + VERIFY_BLOCK_ROWS]))
    return oracle.truth(query)
