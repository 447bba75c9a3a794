"""Batches of several tables: each row once, in the order of time, and uncertain where they are."""

import threading
from contextlib import suppress
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from iotbench.measurements.shared.distribution import RunLoad, Split, worker_plans
from simulator.data.block import Block, Values, edges
from simulator.data.dataset import Dataset
from simulator.data.ranges import merge
from simulator.data.reader import DatasetReader
from simulator.data.schema import Column, PrimaryKey, Role, Table, Type
from simulator.load.write.sender import Sender, Stopped
from simulator.modules.contract import BATCH, SINGLE, Capabilities, Failure, Payload
from simulator.modules.null import Null, NullOptions
from tests.unit.load import test_sender

SCALE, TICKS = 7, 60
ROWS = 9 * SCALE * TICKS


def block(times):
    table = Table("t", (Column("time", Type.INT64, Role.TIME),), ("time",))
    return Block(table, 0, np.arange(len(times)), {"time": Values(np.array(times, np.int64))})


@given(
    st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=30).map(sorted), min_size=1),
    st.integers(1, 40),
)
def test_batches_are_full_and_hold_every_row_once_in_the_order_of_time(times, batch_rows):
    found = edges([block(each) for each in times], batch_rows)
    pieces = [
        [each[a:b] for a, b in pairwise(places.tolist())]
        for each, places in zip(times, found, strict=True)
    ]
    batches = [sorted(sum(share, [])) for share in zip(*pieces, strict=True)]  # noqa: RUF017

    assert [sum(each, []) for each in pieces] == times  # noqa: RUF017
    assert all(len(batch) == batch_rows for batch in batches[:-1])
    assert 1 <= len(batches[-1]) <= batch_rows
    assert sum(batches, []) == sorted(sum(times, []))  # noqa: RUF017


def test_rows_of_the_same_time_are_in_the_order_of_the_tables():
    found = edges([block([1, 1, 2]), block([1, 2, 2])], 2)

    assert [places.tolist() for places in found] == [[0, 2, 3, 3], [0, 0, 1, 3]]


class Failed(Exception):
    """Rows of unknown outcome."""


class Database(Null):
    """Takes payloads of several tables; those of `lost` have no known outcome."""

    capabilities = Capabilities(
        modes=Null.capabilities.modes,
        primary_keys=Null.capabilities.primary_keys,
        acknowledged="",
        mixes_tables=True,
    )

    def __init__(self, lost=(), stop=None, stop_after=-1):
        super().__init__(NullOptions())
        self.lost, self.stop, self.stop_after = lost, stop, stop_after
        self.sent = []

    def connect(self):
        return _Session(self)


class _Session(test_sender.Session):
    def encode(self, block, mode, batch_rows):
        starts = range(0, len(block), batch_rows)
        pieces = [block.slice(start, start + batch_rows) for start in starts]
        return [Payload(len(piece), mode, [_rows(piece)]) for piece in pieces]

    def size_of(self, data):
        return None

    def make_mixed_encoder(self, tables):
        def encode(blocks, places):
            assert [block.table for block in blocks] == tables
            spans = zip(*(pairwise(each.tolist()) for each in places), strict=True)
            mixed = [[b.slice(*ends) for b, ends in zip(blocks, s, strict=True)] for s in spans]
            return [[_rows(block) for block in each if len(block)] for each in mixed]

        return encode

    def send(self, payload):
        self.database.sent.append(payload.data)
        if len(self.database.sent) - 1 in self.database.lost:
            raise Failed
        if len(self.database.sent) == self.database.stop_after:
            self.database.stop.set()

    def classify(self, error):
        assert isinstance(error, Failed)
        return Failure.UNKNOWN


def _rows(block):
    return block.table.name, block.rows.tolist(), block.data["time"].values().tolist()


def dataset(**changes):
    fields = {
        "workload": "devops", "workload_version": 1, "seed": 1, "start_ms": 0, "parts": 1,
        "params": {"scale": SCALE, "duration_ms": TICKS * 10_000}, "primary_key": PrimaryKey.NONE,
    }  # fmt: skip
    return Dataset(**(fields | changes))


def insert(database, *, workers=1, worker=0, batch=50, mode=BATCH, stop=None, **changes):
    source = dataset(**changes)
    reader = DatasetReader(source)
    load = RunLoad(workers, 0, 0, None, batch, Split.BATCH)
    ranges = worker_plans(reader, source, load)[worker].timed
    sender = Sender(database, reader, stop or threading.Event())
    sender.start()
    with suppress(Stopped):
        sender.insert(ranges, mode, batch)
    return sender, ranges


def rows_of(payloads, tables):
    """Return the (table, row) pairs of payloads."""
    return sorted((tables[n], row) for data in payloads for n, rows, _ in data for row in rows)


PLACES = {table.name: place for place, table in enumerate(DatasetReader(dataset()).tables)}


@pytest.mark.parametrize("batch", [5, 13, 50, 1000, 5000])
def test_a_worker_sends_full_batches_of_all_tables_in_the_order_of_time(batch):
    database = Database()
    sender, _ = insert(database, batch=batch)

    sizes = [sum(len(rows) for _, rows, _ in data) for data in database.sent]
    assert sum(sizes) == sender.meter.rows == ROWS
    assert [size for size in sizes if size != batch] == ([ROWS % batch] if ROWS % batch else [])
    spans = [[time for _, _, times in data for time in times] for data in database.sent]
    assert all(max(one) <= min(next_) for one, next_ in pairwise(spans))
    assert rows_of(database.sent, PLACES) == [
        (table, row) for table in range(9) for row in range(SCALE * TICKS)
    ]


def test_workers_together_send_every_row_once():
    sent = []
    for worker in range(3):
        database = Database()
        sender, ranges = insert(database, workers=3, worker=worker)
        assert merge(sender.preparer.list_written(ranges)) == merge(ranges)
        sent += database.sent

    assert any(len(data) == 9 for data in sent)
    assert rows_of(sent, PLACES) == [
        (table, row) for table in range(9) for row in range(SCALE * TICKS)
    ]


@pytest.mark.parametrize("workers", [1, 3])
def test_the_uncertain_rows_of_a_mixed_batch_are_those_of_all_its_tables(workers):
    database = Database(lost=(3, 4, 20))
    sender, ranges = insert(database, workers=workers, worker=workers - 1)

    failures = sender.failures
    uncertain = sorted((r.table, n) for r in failures.uncertain for n in r.numbers().tolist())
    assert uncertain == rows_of([database.sent[place] for place in (3, 4, 20)], PLACES)
    assert failures.uncertain_rows == len(uncertain) == 150
    assert all(any(item in own for own in ranges) for item in failures.uncertain)


@pytest.mark.parametrize("workers", [1, 3])
def test_the_rows_that_were_sent_until_a_stop_are_known(workers):
    stop = threading.Event()
    database = Database(stop=stop, stop_after=17)
    sender, ranges = insert(database, workers=workers, stop=stop)

    written = sender.preparer.list_written(ranges)
    found = sorted((r.table, n) for r in written for n in r.numbers().tolist())
    assert found == rows_of(database.sent, PLACES)
    assert len(found) == 17 * 50


@pytest.mark.parametrize("changes", [{"mode": SINGLE, "batch": 1}, {"parts": 4}])
def test_single_rows_and_tables_in_parts_are_not_mixed(changes):
    database = Database()
    insert(database, **changes)

    assert {len(data) for data in database.sent} == {1}
    assert rows_of(database.sent, PLACES) == [
        (table, row) for table in range(9) for row in range(SCALE * TICKS)
    ]
