"""How long and how large a plan is expected to be, by the earlier insert that is most alike."""

import pytest

from iotbench.measurements.query.options import Mixed
from iotbench.measurements.shared.plan import PlannedRun
from iotbench.plans.forecast import forecast, forecast_text
from iotbench.plans.items import Pair
from simulator.data.ranges import lane_range
from simulator.modules.sqlite import SqliteOptions
from simulator.protocol.spec import InsertTask
from tests.unit.output.terminal import made
from tests.unit.plans.made import pairs_of, plan_of, target
from tests.unit.specs import run_spec

PLAN = plan_of(
    {"name": "bulk", "insert": {"workload": "iot", "batch": 10}},
    {"name": "timed", "insert": {"workload": "iot", "batch": 10, "duration": "1m"}},
    repeats=2,
)
FULL, NORMAL = (SqliteOptions(synchronous=name) for name in ("full", "normal"))
BULK, TIMED = pairs_of(PLAN, target(synchronous="full"))
PLANNED = [PlannedRun(run_spec(workers=(InsertTask(timed=(lane_range(0, 0, 5000),)),)), 1, 0)]


def earlier(seconds, options=FULL, **changes):
    phases = {"init": 1.0, "insert": seconds}
    run = made.run(made.outcome(made.worker(0, rows=1000, ended=10 + seconds), phases_s=phases))
    fields = {
        "configuration": {"workload": "iot", "batch": 10, "workers": [1]},
        "target_options": options.public(),
    }
    return made.result([run], **(fields | changes))


def test_time_and_size_grow_with_the_rows():
    found = forecast(BULK, PLANNED, [earlier(2.0)])

    assert (found.rows, found.seconds) == (5000, 11.0)
    assert found.size_bytes == pytest.approx(5000 * 8192 / 200)


def test_the_same_options_count_more_than_the_newest():
    newest_first = [earlier(9.0, NORMAL), earlier(2.0), earlier(3.0)]

    assert forecast(BULK, PLANNED, newest_first).seconds == 11.0
    assert forecast(BULK, PLANNED, newest_first[:1]).seconds == 46.0


@pytest.mark.parametrize(
    "changes",
    [
        {"configuration": {"workload": "iot", "batch": 100}},
        {"configuration": {"workload": "slim", "batch": 10}},
        {"status": "failed"},
    ],
)
def test_another_workload_batch_or_failure_says_nothing(changes):
    found = forecast(BULK, PLANNED, [earlier(2.0, **changes)])

    assert (found.rows, found.seconds, found.size_bytes) == (5000, None, None)
    text = forecast_text("x", PLAN, [found], {"a, bulk": "no", "b": "no"}, 80)
    assert "no earlier insert: lite, bulk" in text
    assert "not measured: a, bulk; b: no" in text
    assert ["lite", "1", "0", "unknown", "-"] in [line.split() for line in text.splitlines()]


def test_what_ends_by_time_takes_it_and_is_as_large_as_its_rate():
    found = forecast(TIMED, PLANNED, [earlier(2.0)])

    assert found.rows is None
    assert found.size_bytes == pytest.approx(500 * 60 * 8192 / 200)
    text = forecast_text("x", PLAN, [found], {}, 80)
    assert "for 0:01:00" in text
    assert "1.2 MB" in text


def test_what_ends_by_time_takes_at_least_that_and_what_is_measured_takes_none():
    """No earlier result is needed to know the duration."""
    found = forecast(TIMED, PLANNED, [], repeats=5, measured=2)

    assert (found.seconds, found.left_s, found.is_least) == (60.0, 180.0, True)
    text = forecast_text("x", PLAN, [found], {}, 80)
    assert "5 items, 2 measured before; time of the rest: at least 0:03:00" in text
    done = forecast(TIMED, PLANNED, [], repeats=2, measured=2)
    assert "time of the rest: 0:00:00" in forecast_text("x", PLAN, [done], {}, 80)


def test_more_repeats_for_a_mean_that_is_not_known_are_named():
    plan = PLAN.model_copy(update={"until_within": 0.1, "most_repeats": 7})
    text = forecast_text("x", plan, [forecast(BULK, PLANNED, [earlier(2.0)])], {}, 80)

    assert (
        "until_within: more repeats, up to 7, where the mean rate is not known to within 10%"
        in (" ".join(text.split()))
    )


def test_a_mixed_load_takes_its_time_besides():
    mixed = BULK.setting.model_copy(update={"mixed": Mixed(duration=30, warmup=5)})
    found = forecast(Pair(mixed, BULK.target), PLANNED, [earlier(2.0)])
    plan = PLAN.model_copy(update={"settings": (mixed, TIMED.setting)})

    assert found.seconds == 11.0 + 35
    text = forecast_text("x", plan, [found], {}, 80)
    assert "Mixed" in text
    assert "for 0:00:30" in text
    assert "Mixed" not in forecast_text("x", PLAN, [found], {}, 80)
