"""Packages of a module are found missing before anything starts."""

import importlib.util
import sys

import pytest

from iotbench.config.targets import packages
from iotbench.config.targets.packages import missing_packages
from simulator.modules import MODULES, database_class


@pytest.mark.parametrize("module", MODULES)
def test_the_requirements_install_what_every_module_needs(module):
    assert missing_packages(database_class(module)) == []


DRIVERS = {
    "duckdb": "duckdb",
    "clickhouse_embedded": "chdb",
    "postgres": "psycopg2",
    "timescaledb": "psycopg2",
    "cassandra": "cassandra",
    "mysql": "pymysql",
}


@pytest.mark.parametrize(("module", "driver"), DRIVERS.items())
def test_a_missing_driver_is_found_without_being_imported(monkeypatch, module, driver):
    found = importlib.util.find_spec
    monkeypatch.setattr(packages, "find_spec", lambda name: None if name == driver else found(name))
    loaded = driver in sys.modules

    assert driver in missing_packages(database_class(module))
    assert (driver in sys.modules) == loaded


def test_a_module_of_ones_own_counts_with_its_parents(tmp_path, monkeypatch):
    (tmp_path / "my_module.py").write_text(
        "from typing import TYPE_CHECKING\n"
        "from simulator.modules.null import Null\n"
        "if TYPE_CHECKING:\n    import only_for_types\n"
        "class Mine(Null):\n"
        "    def connect(self):\n        import no_such_driver.deep\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))

    assert missing_packages(database_class("my_module:Mine")) == ["no_such_driver"]
