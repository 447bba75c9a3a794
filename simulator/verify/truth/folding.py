"""Folds the rows of a dataset into the truth of many queries, in several threads and processes.

Rows to fold, drawn or stored, are divided into tasks, each of which counts once. A task that
another process has taken and not returned is finally folded here: a lost or slow process costs only
time. A task that is returned later is not merged again. Threads share the tasks: NumPy releases
the interpreter lock while it draws and counts, and holds it only in `ufunc.at`.
"""

import itertools
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from simulator.data.block import Rows
from simulator.data.dataset import Dataset
from simulator.data.derived import innermost
from simulator.data.query import EVERYTHING, Query, RowsQuery
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table
from simulator.host import usable_cores
from simulator.protocol.folding import StoredWindow
from simulator.verify.truth.fingerprint import EveryRow, Fingerprint
from simulator.verify.truth.measures import Arrays
from simulator.verify.truth.oracle import Oracle, Truth
from simulator.verify.truth.record import from_bytes

Read: TypeAlias = Callable[[StoredWindow, Callable[[], bool]], Fingerprint | None]
"""Function that reads the rows of a window while they are wanted."""
VERIFY_BLOCK_ROWS = 1 << 16
FOLD_TASK_ROWS = 1 << 20
_LEAST_ROWS = 1 << 14
_MOST_RANGES = 1000
"""Maximum number of ranges in a task, so that small ranges are folded together."""


@dataclass(frozen=True, slots=True)
class FoldTask:
    """Rows that one thread or process folds: drawn from ranges, or stored."""

    number: int
    ranges: tuple[RowRange, ...] = ()
    window: StoredWindow | None = None


def fold_rows(
    ranges: Iterable[RowRange], reader: DatasetReader, oracle: Oracle, wanted: Callable[[], bool]
) -> bool:
    """Fold rows into an oracle, block by block; return False once `wanted` does."""
    for rows in ranges:
        for turn in reader.blocks((rows,), VERIFY_BLOCK_ROWS):
            if not wanted():
                return False
            for block in turn:
                oracle.add(block)
    return True


class FoldTasks:
    """The rows that are left to fold, and the fold of all other rows. Thread-safe."""

    def __init__(
        self,
        queries: Sequence[Query],
        dataset: Dataset,
        windows: Iterable[StoredWindow] = (),
        read: Read | None = None,
        *,
        signless: bool = False,
    ) -> None:
        """Store the windows of stored rows, and the function that reads a window here."""
        self.queries = tuple(queries)
        self._windows, self._read_window = deque(windows), read
        self._stored: dict[int, Fingerprint] = defaultdict(Fingerprint)
        reader = DatasetReader(dataset)
        needed = {reader.place(innermost(query).table) for query in queries}
        self._reader = reader.narrow(queries)
        self._total = Oracle(queries, signless=signless)
        self._left = deque(rows for rows in dataset.ranges if rows and rows.table in needed)
        self._rows = FOLD_TASK_ROWS
        self._numbers = itertools.count()
        self._taken: dict[int, FoldTask] = {}
        """Tasks that are not yet merged, in the order in which they were taken."""
        self._here: set[int] = set()
        """Numbers of the tasks that threads of this process fold."""
        self._lock = threading.Lock()

    def take(self) -> FoldTask | None:
        """Return a task for another process; None if all are taken, or too small."""
        with self._lock:
            return self._take() if self._windows or self._rows >= _LEAST_ROWS else None

    def find_taken(self, number: int) -> FoldTask | None:
        """Return a task that was taken; None once it is merged."""
        return self._taken.get(number)

    def _take(self) -> FoldTask | None:
        window = self._windows.popleft() if self._windows else None
        ranges = () if window else self._take_ranges()
        if not (window or ranges):
            return None
        task = FoldTask(next(self._numbers), ranges, window)
        self._taken[task.number] = task
        return task

    def _take_ranges(self) -> tuple[RowRange, ...]:
        ranges: list[RowRange] = []
        rows = 0
        while self._left and rows < self._rows and len(ranges) < _MOST_RANGES:
            whole = self._left.popleft()
            piece = next(whole.pieces(self._rows - rows))
            if piece.stop < whole.stop:
                self._left.appendleft(whole.model_copy(update={"start": piece.stop}))
            ranges.append(piece)
            rows += len(piece)
        return tuple(ranges)

    def merge(self, number: int, parts: Sequence[Arrays]) -> None:
        """Merge the fold of a task, unless it has been merged."""
        with self._lock:
            if self._taken.pop(number, None):
                self._total.merge(parts)

    def merge_stored(self, number: int, window: StoredWindow, parts: Arrays) -> None:
        """Merge the fingerprint of stored rows, unless it has been merged."""
        with self._lock:
            if self._taken.pop(number, None):
                self._stored[window.table].append(parts)

    def merge_bytes(self, number: int, content: bytes) -> None:
        """Merge the fold of a task by another process; ValueError if it is damaged."""
        task = self.find_taken(number)
        if task and task.window:
            every = EveryRow(RowsQuery(self._reader.tables[task.window.table]))
            (parts,) = from_bytes([every], content)
            self.merge_stored(number, task.window, parts)
        elif task:
            self.merge(number, self._total.from_bytes(content))

    def shrink(self, number: int) -> None:
        """Make tasks smaller: the fold of this task has too many groups to be sent."""
        with self._lock:
            task = self._taken.get(number)
            if task is None:
                return
            rows = sum(map(len, task.ranges)) // 2
            if rows < self._rows:
                self._rows = max(rows, 1)
                if number not in self._here:
                    del self._taken[number]
                    self._left.extendleft(reversed(task.ranges))

    def fold(self) -> None:
        """Fold the tasks that no other process has taken, then the tasks that were not returned."""
        try:
            while (task := self._take_here()) is not None:
                oracle, is_open = self._total.empty(), partial(self._is_open, task.number)
                if task.window:
                    assert self._read_window
                    if found := self._read_window(task.window, is_open):
                        self.merge_stored(task.number, task.window, found.parts())
                elif fold_rows(task.ranges, self._reader, oracle, is_open):
                    self.merge(task.number, oracle.parts())
        except BaseException:  # end the other threads too
            with self._lock:
                self._left.clear()
                self._windows.clear()
                self._taken.clear()
            raise

    def _is_open(self, number: int) -> bool:
        return number in self._taken

    def _take_here(self) -> FoldTask | None:
        with self._lock:
            others = (p for number, p in self._taken.items() if number not in self._here)
            task = self._take() or next(others, None)
            if task:
                self._here.add(task.number)
            return task

    def truth(self, query: Query) -> Truth:
        """Return the true answer, once all tasks are folded."""
        return self._total.truth(query)

    def fingerprint_expected(self, table: Table) -> Fingerprint:
        """Return the fingerprint of the dataset's rows, once all tasks are folded."""
        return self._total.fingerprint(table)

    def fingerprint_stored(self, table: Table) -> Fingerprint:
        """Return the fingerprint of the stored rows, once all tasks are folded."""
        return self._stored[self._reader.place(table)]


Folding: TypeAlias = Callable[[FoldTasks], None]
"""Function that folds all tasks."""


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

    If the workload can name the rows that a query selects, only these are folded, up to as many
    rows as the dataset has. All other queries share one fold of the whole dataset.
    """
    reader, found, budget = DatasetReader(dataset), dict[Query, Truth](), dataset.rows
    for query in dict.fromkeys(queries):
        rows = _find_rows(query, dataset, reader)
        if rows is not None and len(rows) <= budget:
            budget -= len(rows)
            found[query] = _compute_truth(query, reader.narrow([query]), rows)
    others = [query for query in dict.fromkeys(queries) if query not in found]
    if others:
        tasks = FoldTasks(others, dataset)
        fold(tasks)
        found |= {query: tasks.truth(query) for query in others}
    return found


def _find_rows(query: Query, dataset: Dataset, reader: DatasetReader) -> Rows | None:
    query = innermost(query)
    if query.selection == EVERYTHING:
        return None
    rows = reader.candidates(query.table, query.selection)
    return None if rows is None else rows[dataset.holds(reader.place(query.table), rows)]


def _compute_truth(query: Query, reader: DatasetReader, rows: Rows) -> Truth:
    oracle = Oracle([query])
    table = innermost(query).table
    for start in range(0, len(rows), VERIFY_BLOCK_ROWS):
        oracle.add(reader.draw_rows(table, rows[start : start + VERIFY_BLOCK_ROWS]))
    return oracle.truth(query)
