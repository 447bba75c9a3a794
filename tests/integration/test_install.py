"""The program installed as a package: it works from an empty folder, without the checkout."""

import os
import re
import runpy
import subprocess
import sys
import sysconfig
import venv
from email import message_from_string
from email.message import Message
from pathlib import Path

import pytest

from simulator import __version__
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


def test_the_contract_is_run_without_the_checkout(installed: Path, tmp_path: Path) -> None:
    done = run(installed, tmp_path, "contract", "--target", "sqlite:rooms.db")

    (file,) = tmp_path.iterdir()
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(": 23 passed\n")
    assert str(ROOT) not in done.stdout + file.read_text()


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


def test_it_goes_by_its_name_and_says_what_it_is(installed: Path) -> None:
    shown = run(installed, installed.parent, "insert", "--help")
    version = run(installed, installed.parent, "--version")
    found = metadata_of(installed)

    assert "Usage: iotbench insert" in shown.stdout
    assert "iotbench insert --target sqlite" in shown.stdout
    assert version.stdout == f"iotbench, version {__version__}\n"
    assert (found["Name"], found["Version"]) == ("iotbench", __version__)
    assert (found["License-Expression"], found["License-File"]) == ("MIT", "LICENSE")


def metadata_of(program: Path) -> Message:
    """Return the metadata of the installed package, as an index page shows them."""
    code = "from importlib.metadata import metadata; print(metadata('iotbench').as_string())"
    return message_from_string(run(program.parent / "python", program.parent, "-c", code).stdout)


def test_no_link_of_the_index_page_leads_into_the_checkout(installed: Path) -> None:
    links = re.findall(r"\]\(([^)]+)\)", metadata_of(installed).get_payload())

    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_links_lead_to_the_source_once_it_has_an_address() -> None:
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))
    text = "![a picture](a.svg) of [`b`](docs/b.md#c), [here](#d) and [there](https://e.example)"

    assert hook["rewrite"](text, "https://f.example/main") == (
        "![a picture](https://f.example/main/a.svg) of [`b`](https://f.example/main/docs/b.md#c),"
        " [here](#d) and [there](https://e.example)"
    )
    assert (
        hook["rewrite"](text, "") == "a picture of `b`, [here](#d) and [there](https://e.example)"
    )


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


@pytest.mark.rare
@pytest.mark.timeout(600)
@pytest.mark.parametrize("form", ["wheel", "sdist"])
def test_wheel_and_sdist_install_from_an_index_what_the_first_commands_need(
    tmp_path: Path, form: str
) -> None:
    index, folder = tmp_path / "index", tmp_path / "environment"
    index.mkdir()
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    pinned = ["--constraint", str(ROOT / "requirements.txt")]
    build = "from hatchling.build import build_{0} as build; import sys; build(sys.argv[1])"
    for words in (
        [sys.executable, "-c", build.format(form), str(index)],
        [*pip, "download", *pinned, f"--dest={index}", str(ROOT), "hatchling==1.33.0"],
    ):
        subprocess.run(words, check=True, cwd=ROOT, timeout=300)
    (built,) = index.glob(f"iotbench-*{'.whl' if form == 'wheel' else '.tar.gz'}")
    venv.create(folder, with_pip=True)
    here = [
        str(folder / "bin" / "python"),
        *pip[1:],
        "install",
        "--no-index",
        f"--find-links={index}",
    ]
    subprocess.run([*here, str(built)], check=True, cwd=tmp_path, timeout=300)
    program = folder / "bin" / "iotbench"
    size = sum(path.lstat().st_size for path in folder.rglob("*") if path.is_file())

    inserted = run(program, tmp_path, "insert", "-t", "sqlite", "-w1", "-r1", "--num-inserts=1k")
    asked = run(program, tmp_path, "query", "-t", "sqlite")
    reported = run(program, tmp_path, "report", "last")

    assert size < 150e6
    assert inserted.returncode == asked.returncode == 0, inserted.stderr + asked.stderr
    assert reported.returncode == 2
    assert reported.stderr.endswith(f"run {folder}/bin/python -m pip install 'iotbench[pages]'\n")
