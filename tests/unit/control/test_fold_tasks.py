"""Workers that have reported fold rows of the dataset; a lost or wrong one changes nothing."""

import asyncio
import threading
from base64 import b64encode

import pytest

from simulator.control import script
from simulator.control.script import Rejected
from simulator.control.workers import coordinator
from simulator.data.ranges import lane_range
from simulator.load.fold_tasks import Folder
from simulator.protocol.folding import Folded, FoldReply, FoldRequest
from simulator.protocol.spec import Ask, ChangeTask, InsertTask, QueryLoad, Work
from simulator.protocol.verdict import VerifyMode
from simulator.verify.truth import folding as fold_tasks
from simulator.verify.truth.folding import FoldTasks, fold_here, truths
from tests.unit.control.run import SQLITE, gate_of, needed, uid_of, within_a_moment
from tests.unit.specs import dataset, run_spec

SPECS = {
    Work.INSERT: lambda rows: run_spec(
        workers=tuple(
            InsertTask(timed=(lane_range(i, 0, size),)) for i, size in enumerate((rows // 2, 100))
        ),
        dataset=dataset(ranges=(lane_range(2, 0, rows - rows // 2 - 100),)),
    ),
    Work.CHANGE: lambda rows: run_spec(
        work=Work.CHANGE,
        workers=(
            ChangeTask(correct=(lane_range(0, rows // 4, rows // 4),)),
            ChangeTask(correct=(lane_range(0, rows // 2, rows // 8),)),
        ),
        dataset=dataset(ranges=(lane_range(0, 0, rows),), params={"devices": 7}),
    ),
    Work.QUERY: lambda rows: run_spec(
        work=Work.QUERY,
        workers=tuple(Ask(place=i, every=2, runs=1) for i in range(2)),
        dataset=dataset(ranges=(lane_range(0, 0, rows),), params={"devices": 7}),
        load=QueryLoad(
            queries=dict.fromkeys(("temperature-stats-per-device", "newest-per-device"), "")
        ),
    ),
}


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(coordinator, "hold_s", lambda _: 0.05)
    for module in (script, fold_tasks):
        monkeypatch.setattr(module, "FOLD_TASK_ROWS", 500)
    monkeypatch.setattr(fold_tasks, "_LEAST_ROWS", 100)


class Run:
    """A run whose two workers have reported, and whose truth is needed."""

    def __init__(self, work=Work.INSERT, rows=4000, **changes):
        self.spec = SPECS[work](rows).model_copy(update=changes)
        self.gate = gate_of(self.spec)
        for index in range(2):
            self.gate.run.uids[index] = uid_of(index)
        self.names = needed(self.spec)
        self.tasks = FoldTasks([*self.names], self.spec.after)
        self.shared = self.gate.fold_tasks

    def ask(self, index=0, folded=None):
        request = FoldRequest(index=index, folded=folded)
        return within_a_moment(self.gate.fold_task(request, uid_of(index)))

    def fold(self, given):
        folder = Folder(self.spec, given.queries, threading.Event(), SQLITE)
        return folder.fold(given.number, given.ranges)

    def truths(self):
        fold_here(self.tasks, 1)
        return {query: self.tasks.truth(query) for query in self.names}

    @property
    def true(self):
        return truths([*self.names], self.spec.after)


@pytest.fixture(params=SPECS)
def run(request):
    made = Run(request.param)
    made.shared.offer(made.names, made.tasks)
    return made


def test_the_workers_fold_everything_between_them(run):
    folded, shares = [None, None], [0, 0]
    over = set()
    while len(over) < 2:
        for index in {0, 1} - over:
            given = run.ask(index, folded[index])
            if given.over:
                over.add(index)
            else:
                folded[index] = run.fold(given)
                shares[index] += 1
    left = [*run.tasks._left, *run.tasks._taken]

    assert (shares, left) == ([4, 4], [])
    assert run.truths() == run.true


def test_what_comes_back_late_is_not_merged_again(run):
    late = run.fold(run.ask(0))
    found = run.truths()

    assert run.ask(0, late).over
    assert run.truths() == found == run.true


def test_a_request_whose_reply_was_lost_gets_the_same_task(run):
    first = run.ask(0)
    assert run.ask(0) == first
    assert run.ask(1).number != first.number
    folded = run.fold(first)
    second = run.ask(0, folded)

    assert run.ask(0, folded) == second
    assert run.truths() == run.true


def test_a_fold_that_is_too_large_makes_tasks_smaller(run):
    given = run.ask(0)
    smaller = run.ask(0, Folded(number=given.number, content=None))

    assert sum(map(len, given.ranges)) == 500
    assert sum(map(len, smaller.ranges)) == 250
    assert run.truths() == run.true


def test_a_helper_says_that_a_fold_is_too_large(run, monkeypatch):
    monkeypatch.setattr("simulator.load.fold_tasks.FOLD_BYTES", 100)

    assert run.fold(run.ask(0)).content is None


@pytest.mark.parametrize("content", ["", "AAAA", "A", b64encode(b"{}\n").decode()])
def test_what_is_no_fold_is_rejected_and_folded_by_another(run, content):
    given = run.ask(0)
    with pytest.raises(Rejected, match="worker 0: no fold for task 0: "):
        run.ask(0, Folded(number=given.number, content=content))
    assert run.ask(0) == given

    assert run.truths() == run.true


@pytest.mark.parametrize("number", [0, 1, 99])
def test_a_worker_brings_back_only_what_it_was_given(run, number):
    given = run.ask(1)
    with pytest.raises(Rejected, match=f"worker 0 has not been given fold task {number}"):
        run.ask(0, run.fold(given).model_copy(update={"number": number}))

    assert run.truths() == run.true


def test_a_worker_is_held_until_it_is_known_whether_help_is_needed():
    made = Run()
    assert made.ask() == FoldReply()

    async def scenario():
        asked = asyncio.create_task(made.gate.fold_task(FoldRequest(index=0), uid_of(0)))
        await asyncio.sleep(0)
        made.shared.offer(made.names, made.tasks)
        return await asked

    assert within_a_moment(scenario()).number == 0


def test_workers_end_when_the_truth_is_known_or_the_run_is_over():
    made = Run()
    made.gate.run.stop("enough")
    assert made.ask().over
    made = Run()
    made.shared.offer(made.names, made.tasks)
    made.ask(1)
    made.shared.dismiss()

    assert made.ask(0).over


@pytest.mark.parametrize(
    ("work", "changes"),
    [
        (Work.INSERT, {"verify": VerifyMode.NONE}),
        (Work.INSERT, {"rows": 500}),
        (Work.QUERY, {"rows": 500}),
    ],
)
def test_workers_end_at_once_if_there_is_little_to_fold(work, changes):
    made = Run(work, **changes)
    assert made.ask().over
    made.shared.offer(made.names, made.tasks)

    assert made.ask().over


def test_a_query_run_is_helped_whatever_an_insert_would_verify():
    assert not Run(Work.QUERY, verify=VerifyMode.NONE).ask().over
