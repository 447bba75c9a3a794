"""Calibrations: kept in the state folder, replaced by later ones, refused if damaged."""

import pytest

from iotbench.comparison.calibration import (
    calibration_from,
    calibration_of,
    calibrations_file,
    keep,
    read_calibrations,
)
from simulator.errors import ConfigError
from tests.unit.comparison.test_comparison import calibrated, sweep


@pytest.fixture(autouse=True)
def _own_state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))


def test_a_machine_without_calibrations_has_none():
    assert read_calibrations() == ()


def test_calibrations_are_kept_and_replaced_by_those_of_the_same_machine_module_and_load():
    keep(calibrated(1, 2))
    keep(calibrated(2, spread=0.1))
    keep(calibrated(1, module="null"))

    assert [*read_calibrations()] == [
        *calibrated(1), *calibrated(2, spread=0.1), *calibrated(1, module="null")
    ]  # fmt: skip


@pytest.mark.parametrize("content", ["", "{}", "[{}]", "[" * 100_000, '[{"rates": [[-1]]}]'])
def test_a_damaged_file_is_named_with_what_to_do(content):
    calibrations_file().parent.mkdir()
    calibrations_file().write_text(content)

    with pytest.raises(ConfigError, match=r"calibrations.json: .* run `calibrate` again"):
        read_calibrations()


def test_a_folder_that_cannot_be_made_is_named(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))

    with pytest.raises(ConfigError, match=r"calibrations.json: "):
        keep(calibrated(1))


def test_runs_that_follow_each_other_are_the_sweeps():
    results = [sweep(f"s{n}", 1.0 + n / 100) for n in range(15)]
    found = calibration_from(results, 3)

    rates = [result.runs[0].metrics.rows_per_s for result in results]
    assert found.rates == tuple(tuple(rates[n : n + 3]) for n in range(0, 15, 3))
    assert calibration_of([found], results[0], 1) == found
    assert calibration_of([found], results[0], 2) is None
    elsewhere = results[0].model_copy(update={"runner": "kubernetes"})
    assert calibration_of([found], elsewhere, 1) is None
