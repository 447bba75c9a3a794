"""Commands of the user's: what is kept and shown of them, and when they are given up."""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack

import pytest
from pydantic import SecretStr

from iotbench.config.options.choice import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.execution import collector
from iotbench.execution import shell as shells
from iotbench.execution.shell import Shell
from iotbench.machine.interrupts import Interrupts
from simulator.modules.contract import Options


class Secretive(Options):
    password: SecretStr = SecretStr("sesame open")


TARGET = Target("far", "null", "local", Secretive(), {})
CLUSTER = ClusterOptions()
GIVEN = {**os.environ, "SECRET": "sesame open"}


@pytest.fixture
def stack():
    with ExitStack() as found:
        yield found


@pytest.fixture
def shell(tmp_path, stack):
    log = tmp_path / "x.log"
    return Shell([TARGET], log, GIVEN, CLUSTER, Interrupts(), stack=stack, folder=tmp_path)


def test_a_command_has_the_credentials_that_are_shown_nowhere(shell, tmp_path):
    ran = shell.run(
        'test "$SECRET" = "sesame open"; echo "$SECRET"; false "sesame open"', stops=True
    )

    assert ran.problem.endswith('false "***"`: exit code 1')
    assert ran.last_lines == "***"
    log = (tmp_path / "x.log").read_text()
    assert log.endswith('false "***"\n***\n')
    assert "sesame" not in ran.problem + log


def test_a_command_is_not_waited_for_without_end(shell, monkeypatch):
    monkeypatch.setattr(shells, "_LONGEST_S", 0.2)

    assert shell.run("sleep 60", stops=True).problem == "`sleep 60`: not done after 0.2 s"


@pytest.fixture
def before(shell):
    return lambda command="echo done; touch ran": shell.before_run(command, quiet=True)


def test_the_target_has_a_while_to_answer_after_the_command(before, monkeypatch, tmp_path):
    asked = []

    def silent(target, _):
        asked.append(target.name)
        return "" if len(asked) == 3 else "connection refused"

    monkeypatch.setattr(collector, "explain_silence", silent)
    assert before() == ""
    assert (asked, (tmp_path / "ran").exists()) == (["far"] * 3, True)


def test_a_target_that_does_not_answer_is_named(before, monkeypatch):
    monkeypatch.setattr(collector, "explain_silence", lambda *_: "connection refused")
    monkeypatch.setattr(collector, "READY_S", 0.2)

    cause = before()
    assert cause.startswith(
        "--before-run: done, and the target does not answer: connection refused"
    )
    assert cause.endswith("x.log")


def test_a_command_waits_until_it_is_to_run(shell, tmp_path):
    later = shell.later("echo done > ran; echo said")
    assert not (tmp_path / "ran").exists()
    ran = later.now(stops=False)

    assert (ran.problem, ran.output) == ("", ("said",))
    assert (tmp_path / "ran").read_text() == "done\n"


def test_a_command_that_waits_runs_if_the_program_dies(tmp_path):
    program = f"""
import os, signal
from tests.unit.execution import test_shell as t
from pathlib import Path
shell = t.Shell([t.TARGET], Path({str(tmp_path / "x.log")!r}), t.GIVEN, t.CLUSTER, t.Interrupts(),
                stack=None, folder=Path({str(tmp_path)!r}))
later = shell.later("echo done > ran")
os.kill(os.getpid(), signal.SIGKILL)
"""
    died = subprocess.run([sys.executable, "-c", program], check=False, timeout=60)
    deadline_s = time.monotonic() + 10

    assert died.returncode == -signal.SIGKILL
    while not (tmp_path / "ran").exists() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert (tmp_path / "ran").exists()
