"""A package that is not installed is one line with the command that installs it."""

import os
import subprocess
import sys
from importlib import metadata

import pytest

from simulator import packages
from simulator.packages import describe, describe_missing
from tests import ROOT


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(packages, "version", lambda _: "0.1.0")


@pytest.mark.usefixtures("installed")
def test_the_command_names_each_extra_once():
    text = describe_missing(["pyarrow", "duckdb", "jinja2", "vl_convert"])

    assert text == (
        "the Python packages pyarrow, duckdb, jinja2, vl_convert cannot be imported: run"
        f" {sys.executable} -m pip install 'iotbench[duckdb,files,pages]'"
    )


def test_without_an_installation_the_requirements_are_named(monkeypatch):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(packages, "version", missing)

    assert describe_missing(["psycopg2"]).endswith(" -m pip install -r requirements.txt")


def test_a_package_of_a_module_of_ones_own_has_no_extra():
    assert "the documentation of the module" in describe_missing(["no_such_driver"])
    assert describe(ModuleNotFoundError(name="no_such_driver")) == ""


START = """
import runpy, sys
_, script, blocked, *words = sys.argv
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == blocked:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Blocked())
sys.argv = [script, *words]
runpy.run_path(script, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("arguments", "blocked"),
    [
        (["insert", "--target=sqlite", "--data=rows.parquet", "--workers=1"], "pyarrow"),
        (["cleanup"], "kubernetes"),
        (["insert", "--target=sqlite", "--metrics-out=otlp"], "opentelemetry"),
    ],
)
def test_a_command_ends_with_one_line(tmp_path, arguments, blocked):
    (tmp_path / "rows.parquet").write_bytes(b"PAR1")
    words = [sys.executable, "-c", START, str(ROOT / "run.py"), blocked, *arguments]
    folders = {"XDG_STATE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        words,
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, **folders},
    )

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: the Python package {blocked} cannot be imported: run ")
