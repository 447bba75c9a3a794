"""Every stored row is read in windows of time: by several connections, also those of workers."""

import threading
from base64 import b64decode
from contextlib import closing

import pytest

from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.load.fold_tasks import read_window
from simulator.load.write.sender import Sender
from simulator.modules.contract import BATCH
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored import reader as stored
from simulator.verify.stored.comparison import verify
from simulator.verify.stored.reader import StoredRows, windows_of
from simulator.verify.truth.folding import FoldTasks, fold_here
from tests.contract.harness import created
from tests.contract.targets import STORING

ROWS, WINDOWS = 600, 6


@pytest.mark.parametrize("target", [pytest.param(t, id=name) for name, t in STORING.items()])
def test_rows_are_compared_by_windows_that_workers_read_as_well(target, database, monkeypatch):
    monkeypatch.setattr(stored, "WINDOW_ROWS", ROWS // WINDOWS)
    dataset = created(target, database, ROWS, 100)
    reader, rows = DatasetReader(dataset), StoredRows(database, dataset)
    with closing(Sender(database, reader, threading.Event())) as sender:
        sender.insert(dataset.ranges, BATCH, 100)
    database.visible(reader.tables)

    def fold(tasks: FoldTasks) -> None:
        """Fold here, after a worker has read every other window."""
        others = 0
        while not database.capabilities.embedded and others < WINDOWS and (task := tasks.take()):
            others += 1
            if task.window and others % 2:
                folded = read_window(task.number, task.window, rows, lambda: True)
                tasks.merge_bytes(task.number, b64decode(folded.content))
        fold_here(tasks)

    def verdict(number: int) -> Status:
        expected = dataset.with_ranges([RowRange(start=0, stop=number)])
        return verify(database, expected, (), VerifyMode.FULL, fold).status

    assert len([*windows_of(database, dataset)]) in (1, WINDOWS)
    assert verdict(ROWS) is Status.VERIFIED
    assert verdict(ROWS - 7) is verdict(ROWS + 7) is Status.MISMATCH
