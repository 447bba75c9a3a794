"""The program installed as a package: it works from an empty folder, without the checkout."""

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests import ROOT


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`pip install .` in a fresh environment, which borrows the dependencies of this one."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    (own / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    subprocess.run(
        [
            sys.executable, "-m", "pip", f"--python={python}", "install", "--quiet", "--no-deps",
            "--no-build-isolation", "--disable-pip-version-check", str(ROOT),
        ],
        check=True,
        timeout=120,
    )  # fmt: skip
    return folder / "bin" / "iotbench"


def run(
    program: Path, folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=folder,
        env={**clean, "XDG_STATE_HOME": str(folder / "state"), **environment},
    )


def test_an_insert_runs_from_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    inserted = run(
        installed,
        tmp_path,
        "insert",
        "-t",
        "sqlite",
        "-w1",
        "-r1",
        "--num-inserts=1k",
        "--batch=100",
    )
    verified = run(installed, tmp_path, "verify", "-t", "sqlite")
    reported = run(installed, tmp_path, "report", "last", "last~1")

    assert reported.returncode == 0, reported.stderr
    assert (tmp_path / "report.html").stat().st_size > 20_000
    assert inserted.returncode == 0, inserted.stderr
    assert "verified" in inserted.stdout
    assert verified.returncode == 0, verified.stderr
    assert len(list((tmp_path / "results").glob("*.json"))) == 2
    assert not (tmp_path / "config.yaml").exists()


def test_a_configuration_in_the_folder_comes_first(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("targets: {mine: {module: 'null', runner: local}}\n")
    listed = run(installed, tmp_path, "targets")

    assert "mine" in listed.stdout
    assert "sqlite" not in listed.stdout


def test_the_chart_and_the_configuration_are_installed(installed: Path) -> None:
    python = installed.parent / "python"
    code = (
        "from iotbench.machine.program import find_shipped as find;"
        " print(find('config.yaml'), find('deployment'))"
    )
    done = run(python, installed.parent, "-c", code)

    config, chart = map(Path, done.stdout.split())
    assert config.read_text() == (ROOT / "config.yaml").read_text()
    assert (chart / "Chart.yaml").read_text() == (ROOT / "deployment" / "Chart.yaml").read_text()
    assert str(installed.parent.parent) in str(chart)


def test_it_goes_by_its_name_and_has_the_dependencies_of_the_requirements(installed: Path) -> None:
    shown = run(installed, installed.parent, "insert", "--help")
    python = installed.parent / "python"
    code = "from importlib.metadata import requires; print(*requires('iot-database-benchmark'))"
    needed = run(python, installed.parent, "-c", code).stdout

    assert "Usage: iotbench insert" in shown.stdout
    assert "iotbench insert --target sqlite" in shown.stdout
    for file in ("requirements.txt", "simulator/requirements.txt", "requirements-embedded.txt"):
        lines = (ROOT / file).read_text().splitlines()
        pinned = [line.split()[0] for line in lines if "==" in line and line[0] not in "#-"]
        assert [name for name in pinned if name.lower() not in needed.lower()] == []


@pytest.mark.parametrize(("words", "found"), [("ins", "insert"), ("insert -t sqli", "sqlite")])
def test_the_shell_completes_commands_and_targets(
    installed: Path, tmp_path: Path, words: str, found: str
) -> None:
    asked = {"COMP_WORDS": f"iotbench {words}", "COMP_CWORD": str(len(words.split()))}
    completed = run(installed, tmp_path, **asked, _IOTBENCH_COMPLETE="bash_complete")
    script = run(installed, tmp_path, _IOTBENCH_COMPLETE="bash_source")

    assert f"plain,{found}" in completed.stdout.split()
    assert "complete -o nosort -F" in script.stdout


def test_editors_find_the_schema_that_a_new_configuration_names(
    installed: Path, tmp_path: Path
) -> None:
    written = run(installed, tmp_path, "init")
    first = (tmp_path / "config.yaml").read_text().partition("\n")[0]

    assert written.returncode == 0, written.stderr
    assert Path(first.partition("$schema=")[2]).is_file()
