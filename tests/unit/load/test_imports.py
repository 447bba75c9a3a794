"""Files for a database's import: which rows were written follows from them; when they fail."""

import threading

import pytest

from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.encode.text import CSV, TextEncoder
from simulator.errors import RunError
from simulator.load.connecting import Stopped
from simulator.load.write.sender import Sender
from simulator.modules.contract import IMPORT
from simulator.modules.null import Null, NullOptions, NullSession
from tests.unit import specs


class Importing(NullSession):
    """Encodes rows as CSV for a file, beside a statement."""

    def encoder(self, table, name, mode):
        assert mode == IMPORT
        text = TextEncoder.of(table.columns, table.time_unit, CSV)
        return lambda block, rows: [(name, content) for content in text.encode(block, rows)]


class Database(Null):
    def __init__(self):
        super().__init__(NullOptions())

    def connect(self):
        return Importing(self.options.encode)


DATASET = specs.dataset(workload="devops", params={"scale": 30, "duration_ms": 7_200_000}, seed=3)
RANGES = [RowRange(start=1, stop=20_000, take=7, every=9), RowRange(start=0, stop=999, table=4)]


def test_what_was_written_follows_from_the_files(tmp_path):
    sender = Sender(Database(), DatasetReader(DATASET), threading.Event())
    files = sender.write_files(RANGES, tmp_path)
    sender.start()
    sender.send(files[:1], 0)

    (held,) = files[0].list_held()
    sent = sender.preparer.list_written(RANGES)
    assert sent == tuple(each for each in RANGES if each.table == held.table)
    assert (sender.spent.generate_ns, sender.spent.encode_ns) == (0, 0)


def test_files_that_cannot_be_written_end_the_run_with_a_remedy(tmp_path):
    sender = Sender(Database(), DatasetReader(DATASET), threading.Event())
    with pytest.raises(RunError, match=r"(?s)--import: .*No such file.*; set TMPDIR to a folder"):
        sender.write_files(RANGES, tmp_path / "missing")


def test_writing_ends_when_the_run_is_over(tmp_path):
    stop = threading.Event()
    sender = Sender(Database(), DatasetReader(DATASET), stop)
    stop.set()
    with pytest.raises(Stopped):
        sender.write_files(RANGES, tmp_path)
