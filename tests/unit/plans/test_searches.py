"""A setting with shards is measured with 1, 2, 4, ... tables; its figure is that of the best."""

from iotbench.plans.items import MeasuredItem, Pair, items_of
from iotbench.plans.searches import all_pairs, curves, first_pairs, keep_best, next_pairs
from simulator.data.dataset import PartsBy
from simulator.protocol.verdict import Status, Verdict
from tests.unit.output.terminal import made
from tests.unit.plans.made import finished, measured, pairs_of, plan_of, target

PLAN = plan_of("plain", {"name": "best", "shards": 8}, repeats=2)
TARGET = target()
PAIRS = pairs_of(PLAN)
RATES = {1: 100.0, 2: 300.0, 4: 200.0}
"""Rows/s by number of shards."""


def measure(item):
    seconds = 1000 / RATES[item.setting.insert.tables] * (1 + item.repeat / 100)
    failed = item.setting.insert.tables == 4 and item.repeat == 2
    verdict = Verdict(status=Status.INCOMPLETE if failed else Status.VERIFIED)
    worker = made.worker(0, rows=1000, ended=10 + seconds)
    return measured(made.run(made.outcome(worker, verdict=verdict)))


def rounds(refusal=lambda *_: ""):
    pairs, found, refused = first_pairs(PAIRS), [], {}
    numbers = []
    while pairs:
        numbers.append([pair.setting.insert.tables for pair in pairs])
        found += [(item, measure(item)) for item in items_of(PLAN, pairs)]
        pairs = next_pairs(pairs, found, refusal, refused)
    return numbers, found, refused


def test_each_round_doubles_what_still_rises():
    numbers, found, refused = rounds()

    assert numbers == [[1, 1], [2], [4]]
    assert refused == {}
    assert len({item.id for item, _ in found}) == len(found) == 8
    inserts = [item.setting.insert for item, _ in found if item.setting.insert.tables == 2]
    assert [(each.workers, each.tables_by) for each in inserts] == [((2,), PartsBy.WORKER)] * 2
    assert found[4][0].name == "lite, best with 2 shards, repeat 1"


def test_the_figure_is_that_of_the_best_number_and_the_curve_has_all():
    _, found, _ = rounds()

    kept = [(item.setting.name, item.setting.insert.tables) for item, _ in keep_best(found)]
    assert sorted(kept) == [("best", 2)] * 2 + [("plain", 1)] * 2
    (curve,) = curves(found)
    assert (curve.setting, curve.target, curve.best) == ("best", "lite", 2)
    assert [point.number for point in curve.points] == [1, 2, 4]
    assert [len(point.values) for point in curve.points] == [2, 2, 2]
    assert [point.verdict for point in curve.points] == ["verified", "verified", "incomplete"]


def test_a_number_that_the_target_refuses_ends_the_search_and_is_named():
    numbers, _, refused = rounds(lambda setting, _: "too many" * (setting.insert.workers[0] > 1))

    assert numbers == [[1, 1]]
    assert refused == {("best with 2 shards", "lite"): "too many"}


def test_ids_do_not_depend_on_where_a_search_ends():
    further = PLAN.settings[1].model_copy(update={"shards": 16})
    ids = [item.id for item in items_of(PLAN, [Pair(further, TARGET)])]

    assert ids == [item.id for item in items_of(PLAN, PAIRS[1:])]


BATCHED = plan_of(
    {"name": "find", "batches": 30_000}, {"name": "taken", "batch_of": "find"}, repeats=2
)
BY_BATCH = {1000: 100.0, 3000: 310.0, 10_000: 300.0, 30_000: 200.0}


def sent(pairs, rates, missing=()):
    found = []
    for item in items_of(BATCHED, pairs):
        seconds = 1000 / rates[item.setting.insert.batch] * (1 + item.repeat / 10)
        is_missing = item.repeat in missing
        each = MeasuredItem(cause="no server") if is_missing else finished(seconds)
        found.append((item, each))
    return found


def batch_rounds(rates, refusal=lambda *_: "", missing=()):
    group = pairs_of(BATCHED)
    pairs, found, refused, seen = first_pairs(group), [], {}, []
    while pairs:
        seen.append([(pair.setting.name, pair.setting.insert.batch) for pair in pairs])
        found += sent(pairs, rates, missing)
        pairs = next_pairs(group, found, refusal, refused)
    return seen, found, refused


def test_what_takes_a_batch_is_measured_once_the_search_is_over():
    seen, found, refused = batch_rounds(BY_BATCH)

    assert seen == [
        [("find", 1000)], [("find", 3000)], [("find", 10_000)], [("find", 30_000)],
        [("taken", 3000)],
    ]  # fmt: skip
    assert refused == {}
    (curve,) = curves(found)
    assert (curve.sought, curve.best) == ("batch", 3000)
    assert found[-1][0].name == "lite, taken, repeat 2"
    assert found[0][0].name == "lite, find with batches of 1,000, repeat 1"


def test_a_batch_that_the_target_refuses_ends_the_search_with_the_one_before():
    seen, _, refused = batch_rounds(
        BY_BATCH, lambda setting, _: "too large" * (setting.insert.batch > 1000)
    )

    assert seen == [[("find", 1000)], [("taken", 1000)]]
    assert refused == {("find with batches of 3,000", "lite"): "too large"}


def test_without_any_rate_there_is_no_batch_to_take():
    seen, _, refused = batch_rounds(BY_BATCH, missing=(1, 2))

    assert seen == [[("find", 1000)]]
    assert refused == {("taken", "lite"): "find has found no batch for it"}


def test_a_forecast_has_all_numbers_and_the_batch_that_was_found():
    group = pairs_of(BATCHED)

    assert [pair.setting.insert.batch for pair in all_pairs(group)] == [
        1000, 3000, 10_000, 30_000, 30_000
    ]  # fmt: skip
    _, found, _ = batch_rounds(BY_BATCH)
    assert [pair.setting.insert.batch for pair in all_pairs(group, found)][-1] == 3000
