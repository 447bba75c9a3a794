"""Names of results, as people type them."""

from pathlib import Path

import pytest

from iotbench.results import result_files
from iotbench.results.names import id_of
from iotbench.store.lookup import find_results
from simulator.errors import ConfigError
from tests.unit.store.made import store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(3):
        store(tmp_path, number)
    (tmp_path / "other.json").write_text("{}")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("last", 2),
        ("last~0", 2),
        ("last~2", 0),
        ("20261123-025110-0001", 1),
        ("20261123-0252", 2),
        ("2026…-0001", 1),
    ],
)
def test_a_name_means_one_result(folder: Path, name: str, number: int) -> None:
    ((path, result),) = find_results(folder, [name])
    assert result.sweep_id.endswith(f"-000{number}")
    assert id_of(path) == result.sweep_id


def test_a_file_is_a_name(folder: Path) -> None:
    path = next(folder.glob("*-0001.json"))
    assert find_results(Path("/nowhere"), [str(path)]) == [(path, result_files.read(path))]


def test_the_id_of_a_sweep_of_a_plan_is_a_name(folder: Path) -> None:
    store(folder, 0, sweep_id="demo-sqlite-1-beef")
    ((_, meant),) = find_results(folder, ["demo-sqlite-1-beef"])
    assert meant.sweep_id == "demo-sqlite-1-beef"


def test_every_wrong_name_is_listed_with_the_nearest(folder: Path) -> None:
    with pytest.raises(ConfigError) as error:
        find_results(folder, ["last~3", "20261123-025210-0012", "2026", "last"])
    far, wrong, several = error.value.problems
    assert far == f"last~3: {folder} has 3 results"
    assert wrong.endswith("; did you mean 20261123-025210-0002?")
    assert "beginning of 3 ids" in several
