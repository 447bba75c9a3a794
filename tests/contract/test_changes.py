"""Changes of stored rows, on every database: what is left is what should be left, row by row."""

import threading
import time

import pytest

from simulator.data.changes import Deleting, portion, retags_of, since
from simulator.data.ranges import LANE_ROWS, RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.data.workloads import workload_class
from simulator.errors import RunError
from simulator.load.changing import Changer
from simulator.load.write.sender import Sender
from simulator.modules.contract import BATCH
from simulator.protocol.messages import CORRECTIONS, DELETION, TAGS
from simulator.protocol.spec import ChangeTask, RunSpec, Work
from simulator.protocol.verdict import Status, VerifyMode
from simulator.verify.stored.comparison import verify
from tests.contract.harness import drop
from tests.contract.targets import STORING
from tests.unit import specs

ROWS, BATCH_ROWS, TICK_S = 600, 70, 3
START_MS = (int(time.time()) - 4 * 3600) * 1000
"""Graphite's test server keeps six hours."""
TARGETS = [
    pytest.param(target, id=name)
    for name, target in STORING.items()
    if not (target.stand_in and name.startswith("cratedb"))  # its times are wide's only
]


OPTIONS = {
    "timescaledb": {"chunk_interval_s": 600},
    "questdb": {"partition_by": "HOUR", "dedup": True},
}
"""Module -> options with which rows have many chunks, and replace others."""


def events(key):
    """Events of two workers, whose times are integers."""
    return dataset_of(
        "iot",
        key,
        {"devices": 4, "tick_ms": TICK_S * 1000},
        (RowRange(start=0, stop=ROWS), RowRange(start=LANE_ROWS, stop=LANE_ROWS + ROWS)),
    )


def fleet(key):
    """A fleet, whose times are instants."""
    params = {"scale": 2, "duration_ms": ROWS * TICK_S * 7500 // 2}
    every = dataset_of("cpu", key, params, ())
    sizes = DatasetReader(every).sizes
    return every.with_ranges(RowRange(start=0, stop=n, table=t) for t, n in enumerate(sizes))


def dataset_of(workload, key, params, ranges):
    cls = workload_class(workload)
    return specs.dataset(
        workload=cls.name,
        workload_version=cls.version,
        seed=3,
        start_ms=START_MS,
        parts=2,
        params=params,
        primary_key=key,
        ranges=ranges,
    )


def half_of(dataset):
    """The time, in ms, of the row in the middle of the first range."""
    rows, reader = dataset.ranges[0], DatasetReader(dataset)
    unit = reader.tables[rows.table].time_unit
    return reader.time_at(rows, len(rows) // 2) * 1000 // unit.per_second


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
    database.compact(DatasetReader(dataset).tables)
    return {each.name: each for each in times}, spec.after


LACKING = "the test server comes without the module reindex, and so without _delete_by_query"


def lacks_deletion(target, database, dataset):
    """Return whether the server says that it has no deletion, when asked for one of no rows."""
    if target.server != "elasticsearch":  # what others lack is a fault
        return False
    try:
        changed(database, dataset, ChangeTask(delete_ms=(dataset.start_ms,)))
    except RunError as error:
        if "no handler found" not in str(error):
            raise
        return True
    return False


@pytest.mark.parametrize("target", TARGETS)
def test_a_tag_of_some_series_has_its_new_value_in_all_of_their_rows(target, request):
    database = target.open(request, **OPTIONS.get(target.module, {}))
    if not database.changes.retags:
        assert database.changes.no_retags
        pytest.skip(database.changes.no_retags)
    dataset = parts_of(database, fleet(database.capabilities.default_key))
    stored(database, dataset)
    retags = retags_of(dataset, 0.5)
    times, now = changed(database, dataset, ChangeTask(retags=tuple(retags)))

    tables = len(DatasetReader(dataset).tables)
    assert {each.tag for each in retags} == {"region"}
    assert (len(retags), times[TAGS].count) == (tables, tables)
    assert times[TAGS].rows == dataset.rows // 2
    verdict = verify(database, now, (), VerifyMode.FULL)
    assert verdict.status is Status.VERIFIED, verdict
    before = verify(database, dataset, (), VerifyMode.FULL)
    assert before.status is Status.MISMATCH


def parts_of(database, dataset):
    return (
        dataset
        if database.capabilities.multiple_tables
        else dataset.model_copy(update={"parts": 1})
    )


@pytest.mark.parametrize("made", [events, fleet])
@pytest.mark.parametrize("by", list(Deleting))
@pytest.mark.parametrize("target", TARGETS)
def test_a_deletion_by_time_leaves_every_row_that_is_not_older(target, request, by, made):
    database = target.open(request, **OPTIONS.get(target.module, {}))
    if not database.changes.how(by):
        assert database.changes.why_not(by)
        pytest.skip(database.changes.why_not(by))
    dataset = parts_of(database, made(database.capabilities.default_key))
    stored(database, dataset)
    if lacks_deletion(target, database, dataset):
        pytest.skip(LACKING)
    half_ms = half_of(dataset)
    steps = [database.drops_until(each) if by is Deleting.RETENTION else each
             for each in (half_ms - 3_600_500, half_ms)]  # fmt: skip
    times, left = changed(database, dataset, ChangeTask(delete_ms=tuple(steps), by=by))

    assert times[DELETION].count == len(steps)
    assert left == since(dataset, steps[-1])
    assert dataset.rows // 4 < left.rows < dataset.rows
    verdict = verify(database, left, (), VerifyMode.FULL)
    assert verdict.status is Status.VERIFIED, verdict


@pytest.mark.parametrize("target", TARGETS)
def test_corrected_rows_have_their_new_fields_and_the_others_their_own(target, request):
    database = target.open(request, **OPTIONS.get(target.module, {}))
    changes = database.changes
    if not changes.corrects:
        assert changes.no_corrections
        pytest.skip(changes.no_corrections)
    for key in sorted(changes.keys):
        dataset = parts_of(database, events(PrimaryKey(key)))
        stored(database, dataset)
        ranges = portion(dataset.ranges, 0.2)
        times, now = changed(database, dataset, ChangeTask(correct=tuple(ranges)))

        assert times[CORRECTIONS].rows == sum(map(len, ranges)) == 2 * ROWS // 5
        verdict = verify(database, now, (), VerifyMode.FULL)
        assert verdict.status is Status.VERIFIED, verdict
        before = verify(database, dataset, (), VerifyMode.FULL)
        assert before.status is Status.MISMATCH  # the fields are others

        half_ms = half_of(now)
        again = portion(since(now, half_ms).ranges, 0.5)
        deletes = changes.deletes and not lacks_deletion(target, database, now)
        task = ChangeTask(delete_ms=(half_ms,) * bool(deletes), correct=tuple(again))
        _, left = changed(database, now, task)
        verdict = verify(database, left, (), VerifyMode.FULL)
        assert verdict.status is Status.VERIFIED, verdict
