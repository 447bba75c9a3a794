"""A run that changes rows: what its tasks leave, and what marks say of it."""

from simulator.data.changes import since
from simulator.data.dataset import Retag
from simulator.data.ranges import LANE_ROWS, RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.protocol import mark as marks
from simulator.protocol.mark import Mark, State
from simulator.protocol.spec import ChangeTask, InsertTask, RunSpec, Work
from tests.unit import specs

STORED = specs.dataset(
    start_ms=10**12, primary_key=PrimaryKey.CLIENT, ranges=(RowRange(start=0, stop=100),)
)


def spec_of(*workers):
    return RunSpec(
        run_id="r", work=Work.CHANGE, target="t", module="m", options={}, dataset=STORED,
        workers=workers,
    )  # fmt: skip


def test_what_is_left_follows_from_the_tasks_of_all_workers():
    half_ms = DatasetReader(STORED).time_at(STORED.ranges[0], 50)
    new = RowRange(start=LANE_ROWS, stop=LANE_ROWS + 10)
    spec = spec_of(
        InsertTask(timed=(new,)),
        ChangeTask(delete_ms=(half_ms - 5, half_ms), correct=(RowRange(start=60, stop=70),)),
        ChangeTask(correct=(RowRange(start=70, stop=80),)),
    )
    assert spec.changed.ranges == (RowRange(start=50, stop=100),) == since(STORED, half_ms).ranges
    (correction,) = spec.after.corrections
    assert (correction.number, correction.ranges) == (1, (RowRange(start=60, stop=80),))
    assert spec.after.ranges == (RowRange(start=50, stop=100), new)
    assert spec.barrier == "change"


def test_a_mark_keeps_corrections_and_without_them_is_as_earlier_versions_wrote_it():
    def mark_of(dataset):
        return Mark(
            sweep_id="s", run_id="r", state=State.CHANGING, tables=("events",), dataset=dataset,
            version="0.1.0", by="me", at_ms=7,
        )  # fmt: skip

    retag = Retag(table=0, tag="rack", by="hostname", values={"host_1": "7"})
    updated = STORED.model_copy(update={"retags": (retag,)})
    for dataset in (
        STORED,
        updated,
        spec_of(ChangeTask(correct=(RowRange(start=0, stop=9),))).after,
    ):
        assert marks.decode(marks.encode(mark_of(dataset)), 7) == mark_of(dataset)
    assert marks.same_rows(STORED, STORED)
    assert not marks.same_rows(STORED, spec_of(ChangeTask(correct=STORED.ranges)).after)
    assert "being changed" in mark_of(STORED).describe()
