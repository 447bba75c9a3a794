"""Results for Python programs: `iotbench.load`."""

import csv
import io
import subprocess
import sys

import pandas as pd
import polars as pl
import pytest

import iotbench
from iotbench.plans.record import ItemRecord
from iotbench.results import result_files
from iotbench.store import export
from simulator.errors import ConfigError
from tests import ROOT
from tests.unit.output.terminal import made
from tests.unit.store.made import FIRST, id_of, plan_of, store


@pytest.fixture
def folder(tmp_path):
    two = [made.run(), made.run(made.outcome(made.worker(0), made.worker(1)))]
    store(tmp_path, 0, found=made.result(two))
    store(tmp_path, 1, target="other")
    return tmp_path


def test_a_frame_has_the_values_of_the_csv_in_a_row_for_each_place(folder):
    loaded = iotbench.load("last~1", "last", folder=folder)
    found = [(each.id, each.result) for each in loaded.results]
    lines = [*csv.DictReader(io.StringIO(export.export(found, "csv")))]
    frame = loaded.frame()

    expected = {(line["id"], line["workers"], line["figure"]): line["value"] for line in lines}
    measured = [name for name in frame.columns if name not in lines[0]]
    assert {
        (row["id"], str(row["workers"]), name): str(row[name])
        for row in frame.to_dict("records")
        for name in measured
        if pd.notna(row[name])
    } == expected
    shared = [name for name in frame.columns if name not in measured]
    assert shared == [name for name in lines[0] if name not in export.FIGURE]
    assert [*frame["target"]] == ["lite", "lite", "other"]
    assert [*frame["batch"]] == [10, 10, 10]
    assert frame["created"].dt.tz is not None


def test_a_plan_stands_for_its_results(folder):
    files = sorted(path.name for path in folder.iterdir())
    items = [
        ItemRecord(id="i", target="lite", setting="s", repeat=n, verdict="verified", files=(file,))
        for n, file in enumerate(files, 1)
    ]
    result_files.write(folder / "plan-nightly-0123abcd.json", plan_of(items, last=FIRST))

    columns = iotbench.load(folder / "plan-nightly-0123abcd.json").columns()

    assert columns["repeat"] == [1, 1, 2]
    assert {*columns["part_of"]} == {"plan-nightly-0123abcd"}


def test_without_a_name_the_last_result_is_loaded(folder):
    assert [each.id for each in iotbench.load(folder=folder).results] == [id_of(1)]
    with pytest.raises(ConfigError, match=r"last~7: .* has 2 results"):
        iotbench.load("last~7", folder=folder)


def test_polars_gives_the_same_columns(folder):
    loaded = iotbench.load(folder=folder)
    frame = loaded.frame("polars")

    assert isinstance(frame, pl.DataFrame)
    assert frame.columns == [*loaded.columns()]


def test_a_missing_library_is_one_line_with_the_command(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)

    with pytest.raises(ConfigError, match=r"polars cannot be imported: run \S+ -m pip install pol"):
        iotbench.load(folder=folder).frame("polars")


def test_importing_the_package_imports_nothing_else():
    script = "import sys, iotbench; print(*(n for n in sys.modules if n in ('numpy', 'pydantic')))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )

    assert done.stdout == "\n"
