"""Files for a database's import: what is in them, and what their batches say."""

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
    """Encodes rows as CSV for a file, beside a statement; keeps the content of what is sent."""

    def __init__(self, contents):
        super().__init__(NullOptions().encode)
        self.contents = contents

    def encoder(self, table, name, mode):
        assert mode == IMPORT
        text = TextEncoder.of(table.columns, table.time_unit, CSV)
        return lambda block, rows: [(name, content) for content in text.encode(block, rows)]

    def send(self, payload):
        name, path = payload.data
        self.contents.append((name, payload.rows, path.read_bytes()))


class Database(Null):
    def __init__(self):
        super().__init__(NullOptions())
        self.contents = []

    def connect(self):
        return Importing(self.contents)


def dataset(parts=1):
    return specs.dataset(
        workload="devops", params={"scale": 30, "duration_ms": 7_200_000}, seed=3, parts=parts
    )


RANGES = [RowRange(start=1, stop=20_000, take=7, every=9), RowRange(start=0, stop=999, table=4)]


@pytest.mark.parametrize("parts", [1, 3])
def test_each_physical_table_has_one_file_with_all_its_rows_in_order(tmp_path, parts):
    database, reader = Database(), DatasetReader(dataset(parts))
    sender = Sender(database, reader, threading.Event())
    files = sender.write_files(RANGES, tmp_path)
    sender.start()
    sender.send(files, 0)

    expected = {}
    for turn in reader.blocks(RANGES):
        for block in turn:
            text = TextEncoder.of(block.table.columns, block.table.time_unit, CSV)
            rows, content = expected.get(block.name, (0, b""))
            content += b"".join(text.encode(block, len(block)))
            expected[block.name] = rows + len(block), content
    assert len(expected) == 2 * parts
    assert {name: (rows, content) for name, rows, content in database.contents} == expected
    assert len(files) == len(expected) == sender.meter.sends
    sizes = {held.payload.size_bytes for held in files}
    assert sizes == {len(content) for _, content in expected.values()}
    held = {(each.table, row) for batch in files for each in batch.list_held() for row in each.rows}
    assert held == {(item.table, row) for item in RANGES for row in item.numbers().tolist()}


def test_what_was_written_follows_from_the_files(tmp_path):
    sender = Sender(Database(), DatasetReader(dataset()), threading.Event())
    files = sender.write_files(RANGES, tmp_path)
    sender.start()
    sender.send(files[:1], 0)

    (held,) = files[0].list_held()
    sent = sender.preparer.list_written(RANGES)
    assert sent == tuple(each for each in RANGES if each.table == held.table)
    assert (sender.spent.generate_ns, sender.spent.encode_ns) == (0, 0)


def test_files_that_cannot_be_written_end_the_run_with_a_remedy(tmp_path):
    sender = Sender(Database(), DatasetReader(dataset()), threading.Event())
    with pytest.raises(RunError, match=r"(?s)--import: .*No such file.*; set TMPDIR to a folder"):
        sender.write_files(RANGES, tmp_path / "missing")


def test_writing_ends_when_the_run_is_over(tmp_path):
    stop = threading.Event()
    sender = Sender(Database(), DatasetReader(dataset()), stop)
    stop.set()
    with pytest.raises(Stopped):
        sender.write_files(RANGES, tmp_path)
