"""A plan installs databases one at a time, and leaves nothing behind."""

import json
import os
import signal
import time

import pytest

from tests.integration.conftest import CommandLine

PLAN = """
name: tiny
targets:
  - one
  - {name: two, install: [mkdir sub, "echo made $SECRET"], remove: [rm -r sub, echo gone]}
  - {name: three, install: ["mkdir x; echo no disk >&2; exit 3", echo never], remove: [rmdir x]}
repeats: 2
settings:
  - {name: bulk, insert: {workload: iot, workers: 1, num_inserts: 500, batch: 500}}
"""
SLOW = """
name: slow
targets:
  - {name: two, install: [mkdir sub, "test -e quick || sleep 15"], remove: [rm -r sub]}
repeats: 1
settings:
  - {name: bulk, insert: {workload: iot, workers: 1, num_inserts: 500, batch: 500}}
"""


@pytest.fixture
def planned(cli: CommandLine) -> CommandLine:
    paths = {"one": "one.db", "two": "sub/two.db", "three": "x/three.db"}
    cli.configure(**{
        name: {"module": "sqlite", "path": str(cli.folder / path)} for name, path in paths.items()
    })  # fmt: skip
    (cli.folder / "plan.yaml").write_text(PLAN)
    (cli.folder / "slow.yaml").write_text(SLOW)
    return cli


def test_databases_are_installed_and_removed_one_at_a_time(planned: CommandLine) -> None:
    planned.environment["SECRET"] = "of-the-user"
    done = planned.run("run", "plan.yaml", "--dry-run", f"--output={planned.output}")
    assert "  mkdir sub\n" in done.out
    assert "needs --trust: target two: install, remove\n" in done.out
    assert not planned.output.exists()
    said = planned.refuse("run", "plan.yaml", f"--output={planned.output}")
    assert "plan.yaml: target three: install, remove" in said
    assert sorted(planned.folder.glob("sub")) == []

    done = planned.run("run", "plan.yaml", "--trust", f"--output={planned.output}", "--format=json")
    assert done.code == 1, done.err  # `three` could not be measured
    record = done.json
    order = [(item["target"], item["repeat"], item["verdict"]) for item in record["items"]]
    assert order == [
        ("one", 1, "verified"), ("one", 2, "verified"),
        ("two", 1, "verified"), ("two", 2, "verified"),
        ("three", 1, "failed"), ("three", 2, "failed"),
    ]  # fmt: skip
    two, three = record["installs"]
    assert (two["target"], two["cause"], two["left"]) == ("two", "", "")
    cause = "not installed: `mkdir x; echo no disk >&2; exit 3`: exit code 3"
    assert three["cause"].startswith(cause)
    assert all(item["cause"] == three["cause"] for item in record["items"][4:])
    log = (planned.output / two["log"]).read_text()
    assert log == (
        "$ mkdir sub\n$ echo made $SECRET\nmade of-the-user\n$ rm -r sub\n$ echo gone\ngone\n"
    )
    log = (planned.output / three["log"]).read_text()
    assert "no disk" in log
    assert "never" not in log
    for name in ("sub", "x"):
        assert not (planned.folder / name).exists()
    assert planned.leftovers() == []

    stored = [each for each in planned.results() if each.get("target") == "two"]
    command = stored[0]["command"]
    assert command["name"] == "insert"
    options = {"target": ["two"], "config": [str(planned.config)], "runner": ["local"]}
    assert options.items() <= command["options"].items()


TAKEN = """
name: taken
targets:
  - {name: postgresql, install: [touch made], remove: [touch gone, kubectl delete secret mine]}
repeats: 1
settings:
  - {name: bulk, insert: {workload: iot, workers: 1, num_inserts: 500, batch: 500}}
"""
KUBECTL = """#!/bin/sh
echo "kubectl $*" >> {log}
echo secret/mine
"""


def test_what_somebody_else_has_installed_is_neither_installed_nor_removed(
    cli: CommandLine,
) -> None:
    programs = cli.folder / "bin"
    programs.mkdir()
    stub = programs / "kubectl"
    stub.write_text(KUBECTL.format(log=cli.folder / "kubectl.log"))
    stub.chmod(0o755)
    cli.environment["PATH"] = f"{programs}:{os.environ['PATH']}"
    cli.configure(postgresql={"module": "sqlite", "path": "x.db"})
    (cli.folder / "taken.yaml").write_text(TAKEN)

    done = cli.run("run", "taken.yaml", "--trust", f"--output={cli.output}", "--format=json")

    assert done.code == 1, done.err
    (install,) = done.json["installs"]
    assert "already present, and not from this program: secret/mine" in install["cause"]
    assert not (cli.folder / "made").exists()
    assert not (cli.folder / "gone").exists()
    calls = (cli.folder / "kubectl.log").read_text().splitlines()
    assert calls == ["kubectl get secret mine --ignore-not-found --output=name"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_behind_after_an_interruption(
    planned: CommandLine, number: signal.Signals
) -> None:
    sub = planned.folder / "sub"
    process = planned.start("run", "slow.yaml", "--trust", f"--output={planned.output}")
    deadline_s = time.monotonic() + 50
    while not sub.exists() and time.monotonic() < deadline_s:
        time.sleep(0.05)
    assert sub.exists()
    process.send_signal(number)
    done = planned.finish(process)
    if number == signal.SIGINT:
        assert done.code == 130, done.err
        assert not sub.exists()
        (path,) = planned.output.glob("plan-slow-*.json")
        assert json.loads(path.read_text())["status"] == "interrupted"
        assert planned.leftovers() == []
        return
    assert sub.exists()  # nobody could remove it
    (planned.folder / "quick").touch()
    done = planned.run("run", "slow.yaml", "--trust", f"--output={planned.output}")
    assert done.code == 0, done.err
    assert "was left by a command line that was killed; it is removed first" in done.err
    assert not sub.exists()
    assert planned.leftovers() == []
