"""A folder of results of a stranger's: a plan that goes on in it runs, writes and shows no more."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.integration.conftest import CommandLine

PLAN = """
name: tiny
targets:
  - {name: one, install: [mkdir sub], remove: [rm -r sub, echo removed >> ../removals]}
repeats: 2
settings:
  - {name: bulk, insert: {workload: iot, workers: 1, num_inserts: 500, batch: 500}}
"""
HARM = {"before-run": ["touch ../harm"], "junit": ["../harm"], "config": ["../harm"]}


def _commands(folder: Path, _: Path) -> None:
    for path in folder.glob("*-insert-*.json"):
        content = json.loads(path.read_text())
        content["command"] = {"name": "insert", "options": HARM}
        path.write_text(json.dumps(content))


def _record_elsewhere(folder: Path, _: Path) -> None:
    (path,) = folder.glob("plan-*.json")
    content = json.loads(path.read_text())
    content["items"][0]["files"] = ["../outside.json"]
    path.write_text(json.dumps(content))


def _installed(folder: Path, _: Path) -> None:
    (folder / ".one.installed").touch()


def _links(folder: Path, outside: Path) -> None:
    (log,) = folder.glob("plan-*.log")
    log.unlink()
    log.symlink_to(outside)
    for path in folder.glob("*-insert-*.json"):
        path.unlink()
        path.symlink_to(outside)


def _pipes(folder: Path, _: Path) -> None:
    for path in (*folder.glob("*-insert-*.json"), folder / ".index.json"):
        path.unlink(missing_ok=True)
        os.mkfifo(path)


def _index(folder: Path, _: Path) -> None:
    index = json.loads((folder / ".index.json").read_text())
    for each in index["files"].values():
        each["entry"] |= {"what": "a lie", "tags": ["lie"]}
    (folder / ".index.json").write_text(json.dumps(index))
    for path in folder.glob("*-insert-*.json"):  # as if they had been unpacked
        path.rename(path.with_suffix(".new"))
        path.write_bytes(path.with_suffix(".new").read_bytes())
        path.with_suffix(".new").unlink()


ATTACKS: dict[str, Callable[[Path, Path], None]] = {
    "commands": _commands,
    "a record that leads elsewhere": _record_elsewhere,
    "a mark that something is installed": _installed,
    "links": _links,
    "pipes": _pipes,
    "an index": _index,
}
EVERY_DAY = ("links", "an index")


@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    "attack",
    [pytest.param(n, marks=[] if n in EVERY_DAY else [pytest.mark.rare]) for n in ATTACKS],
)
def test_a_strangers_folder_makes_a_plan_run_write_and_show_nothing_else(
    cli: CommandLine, attack: str
) -> None:
    (work := cli.folder / "work").mkdir()
    cli.config = work / "config.yaml"
    cli.config.write_text(
        f"targets: {{one: {{module: sqlite, runner: local, path: {work / 'sub/one.db'}}}}}\n"
    )
    (work / "plan.yaml").write_text(
        PLAN.replace("../", f"{cli.folder}/").replace(" sub", f" {work}/sub")
    )
    place = f"--output={cli.output}"
    done = cli.run("run", str(work / "plan.yaml"), "--trust", place)
    assert done.code == 0, done.err
    assert cli.run("results", "list", place).code == 0
    outside = cli.folder / "outside.json"
    outside.write_text('{"mine": 1}')
    ATTACKS[attack](cli.output, outside)
    before = {path.name for path in cli.folder.iterdir()}

    again = cli.run("run", str(work / "plan.yaml"), "--trust", place)
    shown = [
        cli.run(*words)
        for words in (
            ("results", "list", place), ("show", "last", place),
            ("report", "last", f"--page={cli.folder / 'asked.html'}", place),
            ("compare", "last", "last", place), ("history", place),
            ("publish", "last", f"--folder={cli.folder / 'asked'}", place),
        )
    ]  # fmt: skip

    assert {path.name for path in cli.folder.iterdir()} - before <= {"asked.html", "asked"}
    assert outside.read_text() == '{"mine": 1}'
    assert (cli.folder / "removals").read_text() == "removed\n" * _removals(attack, again.code)
    assert "a lie" not in shown[0].out
    assert "was left by a command line that was killed" not in again.err
    assert all(each.code in (0, 1, 2, 3) for each in (again, *shown))
    if attack == "links":
        assert "this program did not write it" in again.err + again.out


def _removals(attack: str, code: int) -> int:
    """Return how often the plan's own database was removed: once for each time it was installed."""
    measures_again = attack in ("links", "pipes") and code == 0
    return 2 if measures_again else 1
