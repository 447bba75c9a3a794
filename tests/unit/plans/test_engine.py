"""The items of a plan: their order, their ids, and going on after a kill at any moment."""

import random
import re
from datetime import UTC, datetime, timedelta

import pytest

from iotbench.plans.items import MeasuredItem, complete_results, items_of, measure_items
from iotbench.results import result_files
from tests.unit.output.terminal import made
from tests.unit.plans.made import pairs_of, plan_of, target

PLAN = plan_of("bulk", {"name": "asked", "query": {"runs": 2}}, repeats=3)


class Killed(BaseException):
    """The process has ended."""


def test_every_other_repeat_goes_backwards():
    items = items_of(PLAN, pairs_of(PLAN, target("a"), target("b")))

    there = [("a", "bulk"), ("a", "asked"), ("b", "bulk"), ("b", "asked")]
    found = [(item.target.name, item.setting.name) for item in items]
    assert found == [*there, *there[::-1], *there]
    assert [item.repeat for item in items] == [1] * 4 + [2] * 4 + [3] * 4


def test_ids_follow_from_the_plan_and_differ_if_a_result_might():
    ids = [item.id for item in items_of(PLAN, pairs_of(PLAN, target("a")))]
    other_batch = PLAN.model_copy(
        update={"settings": (PLAN.settings[0].model_copy(update={"options": {"x": 1}}),)}
    )

    assert ids == [item.id for item in items_of(PLAN, pairs_of(PLAN, target("a")))]
    assert len({*ids}) == 6
    assert all(re.fullmatch(r"tiny-[0-9a-f]{12}", each) for each in ids)
    for others in (
        items_of(PLAN, pairs_of(PLAN, target("b"))),
        items_of(PLAN, pairs_of(PLAN, target("a", synchronous="full"))),
        items_of(other_batch, pairs_of(other_batch, target("a"))),
    ):
        assert not {*ids} & {item.id for item in others}


def test_a_change_of_one_setting_leaves_the_others_as_they_were():
    changed = PLAN.settings[1].model_copy(update={"query": None})
    plan = PLAN.model_copy(update={"settings": (PLAN.settings[0], changed)})
    ids = {item.id for item in items_of(PLAN, pairs_of(PLAN))}

    assert len(ids & {item.id for item in items_of(plan, pairs_of(plan))}) == 3


class Runs:
    """Writes result files as sweeps do, and is killed when its steps are used up."""

    def __init__(self, folder, steps):
        self.folder, self.steps = folder, steps
        self.now = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=steps)
        self.begun = []

    def measure(self, item):
        self.begun.append(item.id)
        kinds = [*item.setting.sweeps]
        return MeasuredItem(tuple(self._sweep(item, kind) for kind in kinds))

    def _sweep(self, item, kind):
        self.now += timedelta(seconds=1)
        found = made.result([], kind=kind, target=item.target.name, sweep_id=item.id,
                            created=self.now, status="running")  # fmt: skip
        path = result_files.path_of(self.folder, found)
        for status in ("running", "done"):
            if not self.steps:
                raise Killed
            self.steps -= 1
            found.status = status
            result_files.write(path, found)
        return path, found


@pytest.mark.parametrize("seed", range(20))
def test_after_a_kill_at_any_moment_only_what_is_not_complete_is_measured(tmp_path, seed):
    items = items_of(PLAN, pairs_of(PLAN, target("a"), target("b")))
    # Not sorted by chance: each attempt dates its files after those of the attempts before.
    drawn = random.Random(seed)
    attempts, finished = 0, []
    complete = set()
    while len(finished) < len(items):
        attempts += 1
        runs = Runs(tmp_path, drawn.randrange(1, 12))
        runs.now = datetime(2026, 1, attempts, tzinfo=UTC)
        finished = []
        try:
            for item, found, is_new in measure_items(items, tmp_path, runs.measure):
                assert is_new == (item.id in runs.begun)
                assert found.is_complete
                finished.append(item.id)
        except Killed:
            pass
        assert not complete & {*runs.begun}, "measured again"
        complete = {item.id for item in items if complete_results(tmp_path, item)}

    assert finished == [item.id for item in items]
    assert attempts > 1


def test_queries_count_with_the_insert_before_them_only(tmp_path):
    item = items_of(PLAN, pairs_of(PLAN))[1]
    runs = Runs(tmp_path, 100)
    runs.measure(item)
    assert complete_results(tmp_path, item)

    runs.now += timedelta(hours=1)
    runs._sweep(item, "insert")
    assert complete_results(tmp_path, item) is None


def test_a_failed_item_is_measured_again(tmp_path):
    (item, *_) = items_of(PLAN, pairs_of(PLAN))
    failed = made.result([], sweep_id=item.id, status="failed", cause="disk full")
    result_files.write(result_files.path_of(tmp_path, failed), failed)

    assert complete_results(tmp_path, item) is None
    assert MeasuredItem(((None, failed),)).failure == "disk full"
    assert MeasuredItem(cause="in use").failure == "in use"


def test_a_setting_may_have_repeats_of_its_own():
    plan = plan_of({"name": "once", "repeats": 1}, "twice", repeats=2)
    items = items_of(plan, pairs_of(plan))

    repeats = [(item.setting.name, item.repeat) for item in items]
    assert repeats == [("once", 1), ("twice", 1), ("twice", 2)]
