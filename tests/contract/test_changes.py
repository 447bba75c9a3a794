"""Changes of stored rows, on every database: what is left is what should be left, row by row."""

import threading
import time

import pytest

from simulator.data.changes import Deleting, portion, since
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.ranges import LANE_ROWS, RowRange
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import workload_class
from simulator.load.changing import CORRECTIONS, DELETION, Changer
from simulator.load.sender import Sender
from simulator.modules.base import BATCH
from simulator.protocol.spec import Change, RunSpec, Work
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.comparison import verify
from tests.contract.harness import drop
from tests.contract.targets import STORING

ROWS, BATCH_ROWS, TICK_MS = 600, 70, 1000
START_MS = (int(time.time()) - 7200) * 1000
TARGETS = [
    pytest.param(target, id=name)
    for name, target in STORING.items()
    if not (target.stand_in and name.startswith("cratedb"))  # its times are wide's only
]


CHUNKS = {"timescaledb": {"chunk_interval_s": 20}}
"""Module -> options with which the rows have many chunks."""


def dataset_of(key, workload="iot", **params):
    cls = workload_class(workload)
    return Dataset(
        workload=cls.name, workload_version=cls.version, seed=3, start_ms=START_MS, parts=2,
        params={"devices": 4, "tick_ms": TICK_MS, **params}, primary_key=key,
        ranges=(RowRange(start=0, stop=ROWS), RowRange(start=LANE_ROWS, stop=LANE_ROWS + ROWS)),
    )  # fmt: skip


def half_of(dataset):
    """The time of the row in the middle of the first lane."""
    return DatasetReader(dataset).time_at(dataset.ranges[0], ROWS // 2)


def stored(database, dataset):
    """Store a dataset's rows."""
    reader = DatasetReader(dataset)
    drop(database, reader.tables)
    database.create(reader.tables, BATCH_ROWS)
    sender = Sender(database, reader, threading.Event())
    sender.start()
    for item in dataset.ranges:
        sender.insert([item], BATCH, BATCH_ROWS)
    sender.close()
    database.visible(reader.tables)


def changed(database, dataset, task):
    """Carry out a task; return what it measured, by name, and the dataset as it should be."""
    spec = RunSpec(
        run_id="r", work=Work.CHANGE, target="t", module="m", options={}, dataset=dataset,
        workers=(task,), batch_rows=BATCH_ROWS,
    )  # fmt: skip
    with database.connect() as session:
        changer = Changer(database, session, spec, threading.Event())
        times = changer.carry_out(task, lambda instant_ns: instant_ns / 1e9)
    database.visible(DatasetReader(dataset).tables)
    return {each.name: each for each in times}, spec.after


def parts_of(database, dataset):
    return (
        dataset
        if database.capabilities.multiple_tables
        else dataset.model_copy(update={"parts": 1})
    )


@pytest.mark.parametrize("by", list(Deleting))
@pytest.mark.parametrize("target", TARGETS)
def test_a_deletion_by_time_leaves_every_row_that_is_not_older(target, request, by):
    database = target.open(request, **CHUNKS.get(target.module, {}))
    if not database.changes.how(by):
        assert database.changes.why_not(by)
        pytest.skip(database.changes.why_not(by))
    dataset = parts_of(database, dataset_of(database.capabilities.default_key))
    stored(database, dataset)
    half_ms = half_of(dataset)
    steps = [database.drops_until(each) if by is Deleting.RETENTION else each
             for each in (half_ms - 15_500, half_ms)]  # fmt: skip
    times, left = changed(database, dataset, Change(delete_ms=tuple(steps), by=by))

    assert times[DELETION].count == len(steps)
    assert left == since(dataset, steps[-1])
    assert ROWS // 4 < left.rows < dataset.rows
    verdict = verify(database, left, (), VerifyMode.FULL)
    assert verdict.status is Status.VERIFIED, verdict


@pytest.mark.parametrize("target", TARGETS)
def test_corrected_rows_have_their_new_fields_and_the_others_their_own(target, request):
    database = target.open(request)
    changes = database.changes
    if not changes.corrects:
        assert changes.no_corrections
        pytest.skip(changes.no_corrections)
    for key in sorted(changes.keys):
        dataset = parts_of(database, dataset_of(PrimaryKey(key)))
        stored(database, dataset)
        ranges = portion(dataset.ranges, 0.2)
        times, now = changed(database, dataset, Change(correct=tuple(ranges)))

        assert times[CORRECTIONS].rows == sum(map(len, ranges)) == 2 * ROWS // 5
        verdict = verify(database, now, (), VerifyMode.FULL)
        assert verdict.status is Status.VERIFIED, verdict
        before = verify(database, dataset, (), VerifyMode.FULL)
        assert before.status is Status.MISMATCH  # the fields are others

        half_ms = half_of(now)
        again = portion(since(now, half_ms).ranges, 0.5)
        task = Change(delete_ms=(half_ms,) * bool(changes.deletes), correct=tuple(again))
        _, left = changed(database, now, task)
        verdict = verify(database, left, (), VerifyMode.FULL)
        assert verdict.status is Status.VERIFIED, verdict
