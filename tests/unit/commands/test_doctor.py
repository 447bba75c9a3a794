"""The command `doctor`: every line is ok, or a problem with its remedy."""

import json
import os
import time
from importlib import metadata

import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from iotbench.config import health


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text(
        "targets:\n"
        "  lite: {module: sqlite, runner: local, path: x.db}\n"
        "  away: {module: postgres, runner: local, connection_string: 'host=127.0.0.1 port=1'}\n"
    )

    def run(*words):
        return CliRunner().invoke(commands, ["doctor", *words], catch_exceptions=False)

    return run


def problems(done):
    found = {each["name"]: each for each in json.loads(done.stdout)}
    return {name: each for name, each in found.items() if not each["ok"]}


def test_a_machine_that_can_run_has_no_problem(run):
    done = run()

    assert done.exit_code == 0
    assert [line.split()[:2] for line in done.stdout.splitlines()] == [
        ["ok", name]
        for name in "machine packages configuration results temporary memory clock".split()
    ]


def test_another_version_is_named_and_a_package_that_is_not_installed_is_not(run, monkeypatch):
    version = metadata.version

    def found(name):
        if name == "pandas":
            raise metadata.PackageNotFoundError
        return "0.1" if name == "click" else version(name)

    monkeypatch.setattr(metadata, "version", found)
    done = run("--format=json")
    (text,) = [each["text"] for each in json.loads(done.stdout) if each["name"] == "packages"]

    assert done.exit_code == 0
    assert "; click 0.1, tested with " in text
    assert "pandas" not in text


def test_a_folder_that_cannot_be_written_has_a_remedy(run, tmp_path):
    (tmp_path / "file").write_text("")
    (problem,) = problems(run("--format=json", "--output=file/results")).values()

    assert problem["text"] == f"{tmp_path}/file is not a folder"
    assert problem["remedy"] == "name another with --output"


def test_a_full_disk_and_memory_are_problems(run, monkeypatch):
    monkeypatch.setattr(health, "_LEAST_BYTES", 1 << 60)
    monkeypatch.setattr(health, "too_many", lambda *_: ["too many"])

    assert {*problems(run("--format=json"))} == {"results", "temporary", "memory"}


def test_a_clock_behind_an_earlier_result_is_a_problem(run, tmp_path):
    (tmp_path / "results").mkdir()
    later = tmp_path / "results" / "r.json"
    later.write_text("{}")
    os.utime(later, (time.time() + 3600,) * 2)
    (problem,) = problems(run("--format=json")).values()

    assert "when a file here was made" in problem["text"]
    assert problem["remedy"] == "set the clock, for example by NTP"


def test_a_wrong_configuration_is_a_problem_and_no_target_is_asked(run, tmp_path):
    (tmp_path / "config.yaml").write_text("targets: {lite: {module: sqlit}}\n")
    done = run("lite", "--format=json")

    assert {*problems(done)} == {"configuration"}
    assert "unknown module (did you mean 'sqlite'?)" in problems(done)["configuration"]["text"]


def test_every_target_is_checked_and_each_problem_has_a_line(run):
    done = run("lite", "away", "nobody", "--format=json")
    found = problems(done)

    assert done.exit_code == 2
    assert {*found} == {"away", "nobody"}
    assert found["away"]["text"].startswith("not reached: ")
    assert "target 'nobody' is not in" in found["nobody"]["text"]
    names = [each["name"] for each in json.loads(done.stdout)]
    assert {"lite: reached", "lite: permissions", "lite: insert modes"} <= {*names}
