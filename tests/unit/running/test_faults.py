"""Faults on real processes: they are made in time, and undone whatever happens."""

import subprocess
import sys
import time
from contextlib import ExitStack
from types import SimpleNamespace

import psutil
import pytest

from cli.host.interrupts import Interrupts
from cli.planning.faults import Faults
from cli.running.faults import Injector
from cli.running.shell import Shell
from simulator.errors import SetupError
from simulator.protocol.events import PhaseEvent
from simulator.protocol.spec import Clocking
from tests.unit.running.test_shell import CLUSTER, GIVEN, TARGET

INSERT = PhaseEvent(phase="insert")
SPEC = SimpleNamespace(barrier="insert", clocking=Clocking(duration_s=60.0))
WAIT = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"


@pytest.fixture
def server():
    """A process with a child, in place of a database."""
    with subprocess.Popen([sys.executable, "-c", WAIT], stdin=subprocess.PIPE) as process:
        main = psutil.Process(process.pid)
        while not main.children():
            time.sleep(0.01)
        yield [main, *main.children()]
        for each in main.children(recursive=True):
            each.kill()
        process.kill()


@pytest.fixture
def injector(tmp_path, server):
    """Return what makes the process fail by options; it is ended with the test."""
    with ExitStack() as stack:
        shell = Shell(
            [TARGET], tmp_path / "x.log", GIVEN, CLUSTER, Interrupts(), stack=stack, folder=tmp_path
        )

        def of(processes=lambda: server, **options):
            found = Injector(Faults.model_validate(options), shell, processes)
            stack.callback(found.injected)
            return found

        yield of


def state(server):
    return {each.status() if each.is_running() else "gone" for each in server}


def reach(server, wanted):
    deadline_s = time.monotonic() + 20
    while state(server) != wanted:
        assert time.monotonic() < deadline_s, state(server)
        time.sleep(0.01)


def test_all_processes_are_paused_and_go_on(injector, server):
    pausing = injector(fault="pause-database", at="0.1s", **{"for": "0.5s"})
    pausing.follow(SPEC, PhaseEvent(phase="prefill"))
    pausing.follow(SPEC, INSERT)
    reach(server, {psutil.STATUS_STOPPED})
    reach(server, {psutil.STATUS_SLEEPING})
    (found,) = pausing.injected()

    assert (found.fault, found.problem) == ("pause-database", "")
    assert 0.5 <= found.undone_s - found.began_s < 5


def test_a_run_that_ends_before_lets_it_go_on_at_once(injector, server):
    pausing = injector(fault="pause-database", at="0s", **{"for": "50s"})
    pausing.follow(SPEC, INSERT)
    reach(server, {psutil.STATUS_STOPPED})
    began_s = time.monotonic()
    (found,) = pausing.injected()

    assert time.monotonic() - began_s < 10
    assert found.undone_s - found.began_s < 10
    reach(server, {psutil.STATUS_SLEEPING})


def test_all_processes_are_killed_and_the_command_starts_them(injector, server, tmp_path):
    killing = injector(
        fault="kill-database", at="0s", restart_with="echo up >> ran", **{"for": "0.2s"}
    )
    killing.follow(SPEC, INSERT)
    reach(server, {psutil.STATUS_ZOMBIE, "gone"})
    while not (tmp_path / "ran").exists():
        time.sleep(0.01)
    (found,) = killing.injected()

    assert found.problem == ""
    assert (tmp_path / "ran").read_text() == "up\n"
    assert killing.injected() == ()


def test_it_fails_again_and_in_each_run(injector, tmp_path):
    restarting = injector(
        fault="restart-database", at="0s", every="0.3s", restart_with="echo up >> ran",
        **{"for": "0s"},
    )  # fmt: skip
    for runs in (1, 2):
        restarting.follow(SPEC, INSERT)
        while not (tmp_path / "ran").exists() or len((tmp_path / "ran").read_text()) < 6 * runs:
            time.sleep(0.01)
        assert len(restarting.injected()) >= 1


def test_a_command_that_fails_is_named(injector):
    restarting = injector(fault="restart-database", at="0s", restart_with="false")
    restarting.follow(SPEC, INSERT)
    time.sleep(0.2)
    (found,) = restarting.injected()

    assert found.problem == "`false`: exit code 1"


def test_a_server_that_is_not_found_is_named(injector):
    def nothing():
        raise SetupError("nobody listens")

    pausing = injector(nothing, fault="pause-database", at="0s")
    pausing.follow(SPEC, INSERT)
    time.sleep(0.2)
    (found,) = pausing.injected()

    assert found.problem == "--fault: the database cannot be made to fail: nobody listens"
