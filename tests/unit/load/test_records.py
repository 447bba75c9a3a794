"""A worker finds the batches of its part of a file, and notices that the file has changed."""

import pytest

from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.errors import RunError
from simulator.load.write.records import RecordReader
from simulator.protocol.records import RecordFormat, RecordsFile
from simulator.protocol.spec import InsertTask
from simulator.records.formats import FORMATS
from tests.unit.specs import dataset

ROWS = 100
FORM = RecordFormat.INFLUX


@pytest.fixture
def lines():
    reader = DatasetReader(dataset())
    turns = reader.blocks([RowRange(start=0, stop=ROWS)])
    content = b"".join(FORMATS[FORM].stream(reader.tables, turns))
    return content.splitlines(keepends=True)


def opened(tmp_path, lines, *, skip=False, tick=lambda: None):
    """Open the part of a worker that has the lines 10..90 of the file as it was."""
    path = tmp_path / "rows"
    path.write_bytes(b"".join(lines))
    span = len(b"".join(lines[:10])), len(b"".join(lines[:90]))
    file = RecordsFile(path=str(path), format=FORM, tables=(0,), skip=skip)

    def read(rows=80):
        task = InsertTask(timed=(RowRange(start=10, stop=10 + rows),), span=span)
        return RecordReader(file, task, DatasetReader(dataset()), 7, tick)

    return path, read


def test_a_part_is_read_batch_by_batch(tmp_path, lines):
    _, read = opened(tmp_path, lines)
    with read() as records:
        batches = [(content, held[0].rows.tolist()) for content, held in records]

    assert batches == [
        (b"".join(lines[first : min(first + 7, 90)]), [*range(first, min(first + 7, 90))])
        for first in range(10, 90, 7)
    ]


def test_damaged_records_are_left_out_of_the_batches(tmp_path, lines):
    damaged = {10, 20, 21, 50, 89}
    found = [b"#" + line[1:] if n in damaged else line for n, line in enumerate(lines)]
    _, read = opened(tmp_path, found, skip=True)
    with read(rows=75) as records:
        batches = [content for content, _ in records]

    kept = [line for n, line in enumerate(lines) if 10 <= n < 90 and n not in damaged]
    assert batches == [b"".join(kept[first : first + 7]) for first in range(0, 75, 7)]


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content[:-2000],
        lambda content: content.replace(b"\n", b"\n\n", 50),
        lambda content: content.replace(b"events,", b"event5,"),
        lambda content: b"#" + content,
    ],
    ids=["shorter", "more lines", "other records", "shifted"],
)
def test_a_file_that_was_changed_is_refused_before_the_clock_starts(tmp_path, lines, change):
    path, read = opened(tmp_path, lines)
    path.write_bytes(change(path.read_bytes()))

    with pytest.raises(RunError, match=r"was changed after the sweep was started \("):
        read()


def test_a_file_that_is_gone_is_named(tmp_path, lines):
    path, read = opened(tmp_path, lines)
    path.unlink()

    with pytest.raises(RunError, match="rows: cannot be read: No such file"):
        read()


def test_a_scan_ends_when_the_run_does(tmp_path, lines):
    class Over(Exception):
        pass

    def tick():
        raise Over

    _, read = opened(tmp_path, lines, tick=tick)
    with pytest.raises(Over):
        read()
