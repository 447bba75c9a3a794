"""The IoT workload has the properties that the reference document gives it."""

import re

import numpy as np
import pytest

from simulator.data.ranges import LANE_ROWS, lane_range
from simulator.data.reader import DatasetReader
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.iot import EVENTS, Iot, IotParams
from tests.unit import specs

START_MS = 1_795_232_700_000


def drawn(lane=0, rows=20_000, devices=1, seed=1):
    workload = Iot(IotParams(devices=devices), seed, START_MS)
    return workload.draw(EVENTS, lane * LANE_ROWS + np.arange(rows))


@pytest.mark.parametrize("lane", [0, 3])
def test_time_rises_by_5_to_10_times_60_in_every_lane(lane):
    time = drawn(lane)["timestamp"].values()
    steps = np.unique(np.diff(time))

    assert steps.tolist() == [60 * n for n in (5, 6, 7, 8, 9, 10)]


def test_a_tick_of_a_second_puts_every_event_on_a_second():
    workload = Iot(IotParams(tick_ms=1000), 1, START_MS)
    time = workload.draw(EVENTS, np.arange(20_000))["timestamp"].values()

    assert np.unique(time % 1000).tolist() == [0]
    assert np.unique(np.diff(time)).tolist() == [1000 * n for n in (5, 6, 7, 8, 9, 10)]


def test_time_starts_again_a_millisecond_later_and_no_time_is_used_twice():
    rows, restarts = 500, 60
    workload = Iot(IotParams(restart_rows=rows), 1, START_MS)
    time = workload.draw(EVENTS, np.arange(rows * restarts))["timestamp"].values()
    epochs = time.reshape(restarts, rows)

    assert workload.lane_rows == rows * restarts == len(np.unique(time))
    assert np.abs(np.diff(epochs - np.arange(restarts)[:, None], axis=0)).max() <= 120
    assert (np.diff(epochs, axis=1) > 0).all()
    assert START_MS <= time.min() <= time.max() <= workload.last_ms(len(time))


def test_temperatures_fill_the_range_from_minus_20_to_35_in_64ths():
    temperature = drawn(rows=200_000)["temperature"].values()

    assert temperature.dtype == np.float32
    assert np.unique(temperature).tolist() == [n / 64 for n in range(-20 * 64, 35 * 64)]


@pytest.mark.parametrize("lane", [0, 7, 9999, 12345])
def test_a_device_is_4_characters_the_lane_and_4_characters(lane):
    names = drawn(lane, rows=1, devices=50)["device_id"].levels.tolist()
    form = re.compile(rb"[0-9A-Za-z]{4}%04d[0-9A-Za-z]{4}" % lane)

    assert [name for name in names if not form.fullmatch(name)] == []
    assert len(names) == 50


def test_device_names_are_unique_over_lanes():
    names = [drawn(lane, rows=1, devices=10_000)["device_id"].levels for lane in range(4)]

    assert len(np.unique(np.concatenate(names))) == 40_000


def test_the_clients_key_is_device_time_and_sequence_number_joined():
    dataset = specs.dataset(
        workload_version=Iot.version,
        params={"devices": 3},
        start_ms=START_MS,
        primary_key=PrimaryKey.CLIENT,
    )
    ((batch,),) = DatasetReader(dataset).blocks([lane_range(2, 95, 10)])
    columns = [batch.data[c].values().tolist() for c in ("device_id", "timestamp")]
    expected = [
        device + str(time).encode() + str(sequence).encode()
        for device, time, sequence in zip(*columns, range(95, 105), strict=True)
    ]

    assert list(batch.data) == ["id", "timestamp", "device_id", "sequence_number", "temperature"]
    assert batch.data["id"].values().tolist() == expected
