"""`--no-clean`: the last insert is continued, or each option that differs from it is named."""

import pytest

from iotbench.measurements.insert.plan import continue_dataset
from simulator.data.ranges import lane_range
from simulator.data.schema import PrimaryKey
from simulator.errors import ConfigError
from tests.unit.measurements.options import changed
from tests.unit.measurements.test_plan import DEFAULTS, FLEET, dataset_of

SAME = "; --no-clean continues it: give the same, or use --clean"


def problems_of(found, wanted, *, starts=True):
    with pytest.raises(ConfigError) as error:
        continue_dataset(found, wanted, starts=starts)
    return [problem.removesuffix(SAME) for problem in error.value.problems]


def test_without_a_start_time_the_data_keeps_its_own():
    found = dataset_of(DEFAULTS).with_ranges([lane_range(0, 0, 5)])
    wanted = dataset_of(changed(DEFAULTS, start_ms=999_999))

    assert continue_dataset(found, wanted, starts=False) == found


def test_another_start_time_is_refused_and_the_same_one_is_not():
    found = dataset_of(FLEET)
    later = dataset_of(changed(FLEET, start_ms=86_401_000, params={"duration_ms": 86_461_000}))

    assert continue_dataset(found, dataset_of(FLEET), starts=True) == found
    assert problems_of(found, later) == [
        "--start-time: the last insert has 1970-01-01T00:00:01Z, got 1970-01-02T00:00:01Z"
    ]


def test_every_option_that_differs_is_named_as_users_write_it():
    found = dataset_of(DEFAULTS).with_ranges([lane_range(0, 0, 5)])
    wanted = dataset_of(
        changed(
            DEFAULTS,
            seed=2,
            tables=4,
            primary_key=PrimaryKey.NONE,
            params={"devices": 4, "tick_ms": 1000},
        )
    )

    assert problems_of(found, wanted, starts=False) == [
        "--seed: the last insert has 1, got 2",
        "--primary-key: the last insert has db, got none",
        "--tables: the last insert has 1, got 4",
        "--devices: the last insert has 1, got 4",
        "--tick-ms: the last insert has 60, got 1000",
    ]


def test_another_fleet_is_refused_option_by_option():
    params = {"scale": 8, "interval_ms": 500, "duration_ms": 5_090_000, "precision": "full"}
    wanted = dataset_of(changed(FLEET, start_ms=5_000_000, params=params))

    assert problems_of(dataset_of(FLEET), wanted, starts=False) == [
        "--scale: the last insert has 1, got 8",
        "--interval: the last insert has 10s, got 0.5s",
        "--end: the last insert has 1970-01-01T00:01:01Z, got 1970-01-01T00:01:31Z",
        "--precision: the last insert has grid, got full",
    ]


def test_of_another_workload_only_the_workload_is_named():
    assert problems_of(dataset_of(FLEET), dataset_of(DEFAULTS)) == [
        "--workload: the last insert has devops, got iot"
    ]


def test_the_rows_of_another_version_of_the_workload_are_not_continued():
    old = dataset_of(DEFAULTS).model_copy(update={"workload_version": 0})

    with pytest.raises(ConfigError, match="workload iot: the dataset was made by version 0"):
        continue_dataset(old, dataset_of(DEFAULTS), starts=False)


def test_a_parameter_that_is_not_recorded_has_its_default():
    found = dataset_of(DEFAULTS).model_copy(update={"params": {"tick_ms": 60}})

    assert continue_dataset(found, dataset_of(DEFAULTS), starts=False) == found
