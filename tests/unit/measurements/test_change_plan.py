"""Plans of `change`: what is deleted, what is corrected by whom, and every problem at once."""

import pytest

from iotbench.config.targets.config import Target
from iotbench.measurements.change.options import ChangeOptions
from iotbench.measurements.change.plan import change_run, option_problems
from simulator.data.changes import Deleting
from simulator.data.ranges import LANE_ROWS, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.errors import ConfigError
from simulator.modules.influxdb.database import InfluxOptions
from simulator.modules.null import NullOptions
from simulator.modules.questdb.database import QuestDbOptions
from simulator.modules.questdb.query import partition_start_ms
from simulator.modules.sqlite import SqliteOptions
from simulator.modules.timescaledb.database import TimescaledbOptions
from tests.unit.measurements.options import changed, wanted
from tests.unit.specs import dataset

SQLITE = Target("lite", "sqlite", "local", SqliteOptions(path="x.db"), {})
SCALE = Target(
    "scale",
    "timescaledb",
    "local",
    TimescaledbOptions(connection_string="host=h", chunk_interval_s=60),
    {},
)
DAY_MS = 86_400_000
STORED = dataset(primary_key=PrimaryKey.CLIENT, params={"tick_ms": 1000}).with_ranges(
    [lane_range(0, 0, 100), lane_range(1, 0, 200)]
)
OPTIONS = ChangeOptions(batch=10)


def planned(stored=STORED, target=SQLITE, **changes):
    options = changed(OPTIONS, **changes)
    if found := option_problems(options):
        raise ConfigError(found)
    return change_run(wanted(stored, target, options)).spec


def problems(stored=STORED, target=SQLITE, **changes):
    with pytest.raises(ConfigError) as caught:
        planned(stored, target, **changes)
    return caught.value.problems


def times(stored=STORED):
    reader = DatasetReader(stored)
    ends = [reader.time_at(item, place) for item in stored.ranges for place in (0, len(item) - 1)]
    return min(ends), max(ends)


def test_half_of_the_time_is_deleted_in_steps_that_end_there():
    spec = planned(delete_oldest=0.5, delete_steps=4)
    begin, end = times()
    (task,) = spec.changes
    assert task.delete_ms[-1] == begin + round(0.5 * (end + 1 - begin))
    assert len(task.delete_ms) == 4 == len({*task.delete_ms})
    assert [*task.delete_ms] == sorted(task.delete_ms)
    assert spec.after.rows == spec.changed.rows < STORED.rows


def test_workers_share_corrections_of_rows_that_are_left_and_the_first_one_deletes():
    spec = planned(delete_oldest=0.5, correct=0.1, correct_workers=3)
    deleting, *others = spec.changes
    assert deleting.delete_ms
    assert not any(task.delete_ms for task in others)
    counts = [sum(map(len, task.correct)) for task in spec.changes]
    assert max(counts) - min(counts) <= 1
    assert abs(sum(counts) - spec.changed.rows / 10) <= 2
    for task in spec.changes:
        for item in task.correct:
            assert spec.changed.holds(0, item.numbers()).all()
    pieces = [row for task in spec.changes for item in task.correct for row in item.numbers()]
    assert len(pieces) == len({*pieces})


def test_rows_are_inserted_after_all_others_meanwhile():
    spec = planned(delete_oldest=0.5, insert_workers=2, duration_s=5.0, insert_rate=100.0, at_s=1.0)
    assert [task.task for task in spec.workers] == ["insert", "insert", "change"]
    starts = [item.start % LANE_ROWS for task in spec.inserts for item in task.timed]
    assert min(starts) >= 200
    assert (spec.changes[0].at_s, spec.clocking.duration_s, spec.clocking.rows_per_s) == (1, 5, 100)


def test_a_retention_drops_whole_chunks():
    spec = planned(target=SCALE, delete_oldest=0.5, delete_by=Deleting.RETENTION, delete_steps=3)
    (task,) = spec.changes
    begin, end = times()
    assert all(each % 60_000 == 0 for each in task.delete_ms)
    assert begin < task.delete_ms[-1] <= begin + (end - begin) / 2 + 1
    large = Target(
        "scale",
        "timescaledb",
        "local",
        TimescaledbOptions(connection_string="host=h", chunk_interval_s=31_000_000),
        {},
    )
    (problem,) = problems(target=large, delete_oldest=0.5, delete_by=Deleting.RETENTION)
    assert "its chunk or partition ends" in problem
    assert "--delete-by statement" in problem


@pytest.mark.parametrize(
    ("span", "time", "start"),
    [
        ("HOUR", 3_600_000 * 7 + 5, 3_600_000 * 7),
        ("DAY", DAY_MS * 3, DAY_MS * 3),
        ("DAY", DAY_MS * 3 - 1, DAY_MS * 2),
        ("WEEK", DAY_MS * 20, DAY_MS * 18),
        ("WEEK", DAY_MS * 3, -DAY_MS * 3),
        ("MONTH", DAY_MS * 40, DAY_MS * 31),
        ("YEAR", DAY_MS * 400, DAY_MS * 365),
    ],
)
def test_partitions_begin_with_hours_days_mondays_months_and_years(span, time, start):
    assert partition_start_ms(time, span) == start


def test_what_a_database_cannot_change_is_said_with_the_reason():
    influx = Target(
        "flux", "influxdb", "local", InfluxOptions(url="http://h:1", token="t", org="o"), {}
    )
    quest = Target("quest", "questdb", "local", QuestDbOptions(url="http://h:1"), {})
    null = Target("null", "null", "local", NullOptions(), {})
    with_key = dataset(primary_key=PrimaryKey.DB).with_ranges(STORED.ranges)
    found = {
        "stores nothing that can be changed": problems(target=null, correct=0.1),
        "run insert with --primary-key client first": problems(with_key, correct=0.1),
        "QuestDB has no DELETE; use --delete-by retention": problems(
            target=quest, delete_oldest=0.1
        ),
        "set dedup=true": problems(target=quest, correct=0.1),
        "enforces a bucket's retention every 30 minutes": problems(
            target=influx, delete_oldest=0.1, delete_by=Deleting.RETENTION
        ),
    }
    for text, sentences in found.items():
        assert any(text in sentence for sentence in sentences), (text, sentences)


def test_all_problems_of_options_are_named_together():
    assert len(option_problems(changed(OPTIONS, insert_rate=5.0, at_s=3.0, duration_s=1.0))) == 4
    assert not option_problems(changed(OPTIONS, correct=0.5))
