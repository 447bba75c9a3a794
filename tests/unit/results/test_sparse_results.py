"""Result files without some of the figures are read and printed."""

import json

import pytest

from iotbench.config.options.basic import FORMATS
from iotbench.output.terminal.tables import format_record
from iotbench.results import result_files
from tests import ROOT

FILES = sorted((ROOT / "tests/files/results").glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("form", FORMATS)
def test_a_result_file_is_read_and_printed(path, form):
    assert format_record(result_files.read(path), path, form).strip() or path.stem == "failed"


@pytest.mark.parametrize(
    ("name", "rows", "exit_code"),
    [("insert", 2, 0), ("query", 5, 0), ("steps", 2, 0), ("failed", 0, 1)],
)
def test_the_numbers_of_a_result_file_are_kept(name, rows, exit_code):
    result = result_files.read(ROOT / f"tests/files/results/{name}.json")
    shown = json.loads(format_record(result, None, "json"))

    assert len(shown["rows"]) == rows
    assert result.exit_code == shown["exit_code"] == exit_code


@pytest.mark.parametrize(("name", "rate"), [("insert", "Avg rows/s"), ("steps", "Inserts/s")])
def test_what_was_not_measured_is_not_shown_as_a_number(name, rate):
    result = result_files.read(ROOT / f"tests/files/results/{name}.json")
    shown = json.loads(format_record(result, None, "json"))
    values = format_record(result, None, "table").split("\n\n")[0].splitlines()[-1].split()

    assert not any("stored" in figure or "bytes_per_s" in figure for figure in shown["rows"][0])
    assert values[2:4] == ["-", "-"], rate
    assert shown["on_disk"]["bits_per_value"] is None


@pytest.mark.parametrize("name", ["insert", "steps"])
def test_the_manifest_says_what_the_tables_hold(name):
    manifest = result_files.read(ROOT / f"tests/files/results/{name}.json").manifest

    assert manifest.complete
    assert manifest.rows == manifest.dataset.rows > 0


@pytest.mark.parametrize(
    ("module", "ns_per_row", "shown"),
    [
        ("postgres", None, 0.57),
        ("mine:Mine", 90.0, 0.57),
        ("mine:Mine", None, 0.025),
        ("sqlite", None, 0.025),
    ],
)
def test_the_clients_share_is_computed_again_with_the_cpu_of_the_driver(
    tmp_path, module, ns_per_row, shown
):
    content = json.loads((ROOT / "tests/files/results/insert.json").read_text())
    for run in content["runs"]:
        run["metrics"] |= {"client_share": 0.025, "cpu_share": 0.57}
        run["metrics"] |= {"client_ns_per_row": ns_per_row}
    path = tmp_path / "insert.json"
    path.write_text(json.dumps({**content, "module": module}))
    result = result_files.read(path)

    assert {run.metrics.client_share for run in result.runs} == {shown}
    rows = json.loads(format_record(result, None, "json"))["rows"]
    assert [row["client_share"] for row in rows] == pytest.approx([shown] * len(rows))
