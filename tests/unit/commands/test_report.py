"""The command `report`: one page, or one clear error and nothing half written."""

import subprocess
import sys

import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from iotbench.machine import outfile
from iotbench.results import result_files
from simulator.errors import ConfigError
from tests import ROOT
from tests.unit.output.page import shown


@pytest.fixture
def folder(tmp_path):
    for number, result in enumerate((shown.insert(counts=(1,)), shown.verify())):
        result.sweep_id = f"20261121-000000-000{number}"
        result_files.write(result_files.path_of(tmp_path, result), result)
    return tmp_path


def report(folder, *arguments):
    given = ["report", f"--output={folder}", *map(str, arguments)]
    return CliRunner().invoke(commands, given, catch_exceptions=False, standalone_mode=False)


def test_a_page_is_written_and_replaced(folder):
    page = folder / "page.html"
    first = report(folder, "last", "-o", page)
    before = page.read_text()
    report(folder, *folder.glob("*.json"), "-o", page)

    assert first.stdout.startswith(f"{page}: ")
    assert "checks" in before or "check" in before
    assert len(page.read_text()) > len(before)
    assert [path.name for path in folder.glob(".*")] == []


def test_results_of_format_1_have_a_page(folder):
    page = folder / "page.html"
    report(folder, *(ROOT / "tests/files/results").glob("*.json"), "-o", page)

    assert "Inserts over fill level" in page.read_text()


def test_a_damaged_result_is_named(folder):
    result = shown.insert(counts=(1,))
    (worker, *_) = result.runs[0].outcome.workers
    broken = result.runs[0].outcome.model_copy(
        update={"workers": (worker.model_copy(update={"latency": "AAAA"}),)}
    )
    result.runs[0] = result.runs[0].model_copy(update={"outcome": broken})
    path = folder / "damaged.json"
    result_files.write(path, result)

    with pytest.raises(ConfigError, match=r"damaged\.json: is damaged, so it cannot be shown"):
        report(folder, path, "-o", folder / "page.html")


@pytest.mark.parametrize("content", ["{}", "[", '{"format_version": 1, "lines": 3}'])
def test_a_file_that_is_no_reproduction_is_named(folder, content):
    path = folder / "reproduce-iot-demo-1234.json"
    path.write_text(content)

    with pytest.raises(ConfigError, match=r"reproduce-iot-demo-1234\.json: is not"):
        report(folder, path, "-o", folder / "page.html")


@pytest.mark.parametrize(
    ("name", "problem"),
    [("none/page.html", "cannot be written: No such file"), (".", "is a folder")],
)
def test_a_page_that_cannot_be_written_is_an_error(folder, name, problem):
    with pytest.raises(ConfigError, match=problem):
        report(folder, "last", "-o", folder / name)


def test_a_disk_that_is_full_leaves_the_earlier_page(folder, monkeypatch):
    page = folder / "page.html"
    report(folder, "last", "-o", page)
    before = page.read_bytes()

    def full(*_arguments, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outfile.os, "write", full)
    with pytest.raises(ConfigError, match="cannot be written: No space left on device"):
        report(folder, "last", "-o", page)
    assert page.read_bytes() == before
    assert [path.name for path in folder.glob(".*")] == []


def test_other_commands_load_no_library_for_pictures():
    code = "import iotbench.commands.main, sys; print({'vl_convert', 'jinja2'} & {*sys.modules})"
    found = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)

    assert found == "set()\n"
