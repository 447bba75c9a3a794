"""Plans: how long their runs take at an earlier speed."""

from dataclasses import replace

import pytest

from iotbench.measurements import kind_named
from iotbench.measurements.shared.plan import PlannedRun, estimate_s
from iotbench.output.terminal.plans import plan_text
from simulator.data.ranges import lane_range
from simulator.protocol.events import Outcome
from simulator.protocol.messages import WorkerReport
from simulator.protocol.pace import Clocking
from simulator.protocol.spec import InsertTask
from tests.unit.output.terminal import made
from tests.unit.specs import run_spec


def planned(workers, rows, prefill=0):
    lanes = [
        InsertTask(timed=(lane_range(i, prefill, rows),), prefill=(lane_range(i, 0, prefill),))
        for i in range(workers)
    ]
    return PlannedRun(run_spec(workers=tuple(lanes)), 1, 0)


def done(workers, rows, seconds, prefilled=0):
    reports = (WorkerReport(index=0, rows=rows, prefill_rows=prefilled),)
    outcome = Outcome(status="done", workers=reports, phases_s={"init": 1.0, "insert": seconds - 1})
    found = made.run()
    metrics = found.metrics.model_copy(update={"rows": rows})
    return found.model_copy(update={"workers": workers, "outcome": outcome, "metrics": metrics})


UNMEASURED = made.run().model_copy(update={"metrics": None})


def test_a_run_takes_as_long_as_the_rows_of_the_nearest_worker_count():
    last = made.result([done(1, 100, 10.0), done(4, 400, 8.0)])

    assert estimate_s([planned(1, 50)], last) == pytest.approx(5.5)
    assert estimate_s([planned(5, 80)], last) == pytest.approx(8.0)
    assert estimate_s([planned(1, 50), planned(5, 80)], last) == pytest.approx(13.5)


def test_the_time_before_the_first_row_does_not_grow_with_the_rows():
    assert estimate_s([planned(1, 10_000)], made.result([done(1, 100, 10.0)])) == 901.0


def test_prefilled_rows_take_their_time_too():
    last = made.result([done(1, 100, 10.0, prefilled=100)])

    assert estimate_s([planned(1, 50, prefill=50)], last) == pytest.approx(5.5)


def test_a_run_that_ends_by_time_takes_that_time():
    last = made.result([done(1, 100, 10.0)])
    timed = planned(1, 10**9)
    timed = replace(
        timed, spec=timed.spec.model_copy(update={"clocking": Clocking(duration_s=30.0)})
    )

    assert estimate_s([timed], last) == pytest.approx(31.0)
    assert "for 0:00:30" in plan_text(kind_named("insert"), [timed], "local", last, 100)


@pytest.mark.parametrize("last", [None, made.result([]), made.result([UNMEASURED])])
def test_without_an_earlier_run_nothing_is_estimated(last):
    assert estimate_s([planned(1, 50)], last) is None
