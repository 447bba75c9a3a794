"""Plans of `mixed`: every problem at once, rows after all others, queries before these."""

from dataclasses import replace

import numpy as np
import pytest

from iotbench.config.input.quantities import Mix, parse_mix
from iotbench.config.targets.config import Target
from iotbench.measurements.mixed.plan import MOST_INSTANCES, option_problems, plan_mixed_runs
from iotbench.measurements.query.options import MixedOptions
from iotbench.results.result import Manifest
from simulator.data.ranges import LANE_ROWS, RowRange, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.workloads import GENERATORS
from simulator.errors import ConfigError
from simulator.modules.duckdb.database import DuckDbOptions
from simulator.modules.null import NullOptions
from simulator.modules.questdb.database import QuestDbOptions
from simulator.modules.sqlite import SqliteOptions
from simulator.protocol.spec import Work
from tests.unit.measurements.options import changed, wanted
from tests.unit.specs import dataset

SQLITE = Target("lite", "sqlite", "local", SqliteOptions(path="x.db"), {})
HOUR_MS = 3_600_000
STORED = dataset().with_ranges([lane_range(0, 0, 50), lane_range(1, 0, 80)])
OPTIONS = MixedOptions(insert_workers=3, query_workers=2, batch=10, duration_s=60.0)


def planned(stored=STORED, target=SQLITE, **changes):
    return runs(stored, target, **changes)[0].spec


def runs(stored=STORED, target=SQLITE, **changes):
    options = changed(OPTIONS, **changes)
    if found := option_problems(options):
        raise ConfigError(found)
    return plan_mixed_runs(wanted(stored, target, options))


def problems(stored=STORED, target=SQLITE, **changes):
    with pytest.raises(ConfigError) as caught:
        planned(stored, target, **changes)
    return caught.value.problems


def fleet(rows, **params):
    return dataset(
        workload="cpu", params={"scale": 10, "duration_ms": 24 * HOUR_MS, **params}
    ).with_ranges([RowRange(start=0, stop=rows)])


def test_the_workers_that_write_come_first_and_the_others_ask_in_turn():
    spec = planned()

    assert (len(spec.inserts), len(spec.asks), spec.work) == (3, 2, Work.MIXED)
    assert spec.workers == (*spec.inserts, *spec.asks)
    assert [(ask.place, ask.every, ask.runs, ask.most) for ask in spec.asks] == [
        (0, 2, 0, MOST_INSTANCES),
        (1, 2, 0, MOST_INSTANCES),
    ]
    assert (spec.clean, spec.barrier) == (False, "mixed")
    assert spec.clocking.duration_s == 60


def test_new_rows_come_after_the_rows_of_all_lanes_also_in_time():
    spec = planned()
    starts = [task.timed[0].start for task in spec.inserts]
    assert starts == [80, LANE_ROWS + 80, 2 * LANE_ROWS + 80]

    reader, until_ms = DatasetReader(STORED), spec.load.until_ms
    stored = [block for item in STORED.ranges for turn in reader.blocks([item]) for block in turn]
    new = [reader.draw_rows(reader.tables[0], item.numbers(0, 100)) for t in spec.inserts
           for item in t.timed]  # fmt: skip
    assert max(block.data["timestamp"].values().max() for block in stored) < until_ms
    assert min(block.data["timestamp"].values().min() for block in new) == until_ms


def test_every_query_ends_where_the_new_rows_begin():
    load = planned().load
    types = DatasetReader(STORED).query_types(until_ms=load.until_ms)

    assert len(types) == len(load.queries) == 5
    found = {types[name].instance(0).selection.until for name in load.queries}
    assert found == {load.until_ms}


def test_windows_of_a_fleet_lie_in_the_time_that_is_stored():
    spec = planned(fleet(7204), types=("single-groupby-*",))  # two hours, and part of a tick
    types = DatasetReader(spec.dataset).query_types(until_ms=spec.load.until_ms)
    asked = [types["single-groupby-1-1-1"].instance(number).selection for number in range(300)]

    assert spec.load.until_ms == 720 * 10_000
    assert [*spec.load.queries] == [
        f"single-groupby-{n}" for n in ("1-1-1", "1-8-1", "5-1-1", "5-8-1")
    ]
    assert {each.until - each.since for each in asked} == {HOUR_MS}
    assert max(each.until for each in asked) <= spec.load.until_ms
    (refused,) = problems(fleet(7200), types=("single-groupby-1-1-12",))
    assert refused.endswith("it asks about 12 h, and the data has 2 h")


def test_a_warmup_is_that_of_rows_and_queries_and_has_rows_of_its_own():
    spec = planned(insert_rate=300.0, warmup_s=10.0, retry_for_s=90.0)

    assert (spec.warmup_s, spec.retry_s) == (10, 90)
    assert len(spec.inserts[0].timed[0]) == 70 * 300 + 10


def test_each_run_asks_about_the_rows_that_the_one_before_has_left():
    first, *others = runs(runs=3)
    written = [RowRange(start=task.timed[0].start, stop=task.timed[0].start + 40 * (1 + worker))
               for worker, task in enumerate(first.spec.inserts)]  # fmt: skip
    left = first.spec.dataset.with_ranges([*first.spec.dataset.ranges, *written])
    second = others[0].again(Manifest.of(left, complete=False))

    assert first.again is None
    assert [each.spec.run_id for each in (first, *others)] == [
        "sweep-5-m1",
        "sweep-5-m2",
        "sweep-5-m3",
    ]
    assert (second.spec.run_id, second.run, second.level) == ("sweep-5-m2", 2, 130 + 240)
    assert (second.spec.dataset, second.spec.complete) == (left, False)
    assert {task.timed[0].start % LANE_ROWS for task in second.spec.inserts} == {80 + 120}
    assert second.spec.load.until_ms > first.spec.load.until_ms


def test_a_run_without_rows_left_says_so_when_it_is_its_turn():
    stored = fleet(80_000, scale=10)
    _, second = runs(stored, runs=2)

    with pytest.raises(ConfigError, match="already hold all 86,400 rows"):
        second.again(Manifest.of(fleet(86_400, scale=10), complete=True))


def test_a_mix_divides_operations_into_batches_and_queries():
    spec = planned(rate=50.0, mix=parse_mix("insert=80, query=20"))

    clocking = spec.clocking
    assert (clocking.rows_per_s, clocking.queries_per_s) == pytest.approx((400, 10))
    single = planned(rate=50.0, mix=Mix(0.5, 0.5), batch=0)
    assert (single.clocking.rows_per_s, single.clocking.queries_per_s) == (25, 25)


@pytest.mark.parametrize(
    "text", ["", "insert=80", "insert=80,query=0", "insert=1,insert=2", "query=a,insert=2", "4:1"]
)
def test_a_mix_has_a_share_of_each(text):
    with pytest.raises(ValueError, match=r"expected two shares above 0, such as insert=80"):
        parse_mix(text)


def test_a_schedule_bounds_the_rows_and_the_year_9999_does():
    assert len(planned(insert_rate=300.0).inserts[0].timed[0]) == 60 * 300 + 10

    spec = planned(duration_s=366 * 86400.0)
    last_ms = DatasetReader(STORED).begin_ms(
        RowRange(start=item.stop - 1, stop=item.stop) for t in spec.inserts for item in t.timed
    )
    assert last_ms < 253_402_300_800_000


def test_all_wrong_options_are_named_together():
    found = option_problems(
        changed(OPTIONS, insert_workers=0, query_workers=0, batch=-1, duration_s=0.0,
                query_rate=1e12, rate=5.0, runs=0)
    )  # fmt: skip

    options = [each.partition(":")[0] for each in found]
    assert options == [
        "--insert-workers", "--query-workers", "--duration", "--batch", "--runs",
        "--query-rate", "--rate", "--query-rate",
    ]  # fmt: skip


def test_rows_that_are_not_in_the_order_of_time_are_refused():
    again = dataset(params={"restart_rows": 40}).with_ranges([lane_range(0, 0, 50)])
    late = dataset(workload="trucks", params={"scale": 5}).with_ranges([RowRange(start=0, stop=9)])

    for stored in (again, late):
        (found,) = problems(stored)
        assert f"workload {stored.workload}, as they were inserted, are not in the order" in found


@pytest.mark.parametrize("workload", [name for name in GENERATORS if name != "trucks"])
def test_the_time_of_every_other_workload_rises(workload):
    reader = DatasetReader(dataset(workload=workload, start_ms=1_700_000_000_123))
    for place, table in enumerate(reader.tables):
        size = reader.sizes[place] if reader.sizes else 10_000
        block = reader.draw_rows(table, RowRange(start=0, stop=min(size, 10_000)).numbers())
        times = block.data[table.time.name].values()
        assert (np.diff(times) >= 0).all()
        middle = RowRange(start=len(times) // 2, stop=len(times), table=place)
        begin = reader.begin_ms([middle]) * table.time_unit.per_second // 1000
        assert begin == times[len(times) // 2]


def test_a_query_with_a_text_of_its_own_is_refused_and_others_are_not():
    target = replace(SQLITE, tuned={"count-events": "SELECT count(*) FROM events"})

    (found,) = problems(target=target)
    assert "queries: count-events has its own text" in found
    assert [*planned(target=target, types=("temperature-stats",)).load.queries] == [
        "temperature-stats"
    ]


def test_a_target_that_stores_nothing_or_takes_one_worker_is_refused():
    assert "stores nothing" in problems(target=Target("n", "null", "local", NullOptions(), {}))[0]
    duck = Target("duck", "duckdb", "local", DuckDbOptions(path="x"), {})
    assert problems(target=duck)[0] == (
        "--insert-workers, --query-workers: duckdb takes at most 1, got 5; this takes another"
        " database"
    )


def test_a_window_of_fresh_rows_has_a_length():
    found = option_problems(changed(OPTIONS, fresh_s=0.0005))

    assert found == ["--fresh: expected 1ms at least, got 0.0005s"]


def test_an_aligned_window_of_fresh_rows_begins_with_an_interval_of_the_aggregates():
    options = QuestDbOptions(url="http://localhost:1", aggregate_intervals_s="3600,60")
    quest = Target("quest", "questdb", "local", options, {})
    until_ms = planned(target=quest, fresh_s=60.0).load.until_ms
    aligned_ms = planned(target=quest, fresh_s=60.0, aligned=True).load.until_ms

    assert until_ms % 60_000
    assert aligned_ms == until_ms - until_ms % 60_000
    (found,) = problems(fresh_s=60.0, aligned=True)
    assert found.startswith("--align: lite keeps no aggregates with which windows of fresh rows")


def test_an_option_with_the_name_of_a_field_of_the_clocking_reaches_the_workers():
    class Steady(MixedOptions):
        warmup_until_steady_s: float = 0.0

    options = Steady(**dict(OPTIONS), warmup_until_steady_s=60.0)
    (run,) = plan_mixed_runs(wanted(STORED, SQLITE, options))

    assert run.spec.clocking.warmup_until_steady_s
    assert not planned().clocking.warmup_until_steady_s
