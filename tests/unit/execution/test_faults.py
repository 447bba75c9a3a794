"""Faults on real processes: they are made in time, and undone whatever happens."""

import subprocess
import sys
import time
from contextlib import ExitStack
from types import SimpleNamespace

import psutil
import pytest

from iotbench.execution.faults import Injector, OfWorkers, ServerProcesses
from iotbench.execution.shell import Shell
from iotbench.machine.interrupts import Interrupts
from iotbench.measurements.shared.faults import Fault, Faults
from simulator.errors import SetupError
from simulator.protocol.events import Outcome, PhaseEvent
from simulator.protocol.messages import Span, WorkerReport
from simulator.protocol.pace import Clocking
from tests.unit.execution.test_shell import CLUSTER, GIVEN, TARGET

INSERT = PhaseEvent(phase="insert")
ENDED = Outcome(status="done", cause="", exit_code=0)
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
            found = Injector(Faults.model_validate(options), shell, ServerProcesses(processes))
            stack.callback(found.end)
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
    (found,) = pausing.collect_injected(ENDED)

    assert (found.fault, found.problem) == ("pause-database", "")
    assert 0.5 <= found.undone_s - found.began_s < 5


def test_a_run_that_ends_before_lets_it_go_on_at_once(injector, server):
    pausing = injector(fault="pause-database", at="0s", **{"for": "50s"})
    pausing.follow(SPEC, INSERT)
    reach(server, {psutil.STATUS_STOPPED})
    began_s = time.monotonic()
    (found,) = pausing.collect_injected(ENDED)

    assert time.monotonic() - began_s < 10
    assert found.undone_s - found.began_s < 10
    reach(server, {psutil.STATUS_SLEEPING})


def test_it_fails_again_and_in_each_run(injector, tmp_path):
    restarting = injector(
        fault="restart-database", at="0s", every="0.3s", restart_with="echo up >> ran",
        **{"for": "0s"},
    )  # fmt: skip
    for runs in (1, 2):
        restarting.follow(SPEC, INSERT)
        while not (tmp_path / "ran").exists() or len((tmp_path / "ran").read_text()) < 6 * runs:
            time.sleep(0.01)
        assert len(restarting.collect_injected(ENDED)) >= 1


def test_a_server_that_is_not_found_is_named(injector):
    def nothing():
        raise SetupError("nobody listens")

    pausing = injector(nothing, fault="pause-database", at="0s")
    pausing.follow(SPEC, INSERT)
    time.sleep(0.2)
    (found,) = pausing.collect_injected(ENDED)

    assert found.problem == "--fault pause-database: could not be made: nobody listens"


def test_a_node_is_crashed_by_a_command_and_booted_by_another(injector, tmp_path):
    crashing = injector(
        fault="crash-node", at="0.05s", **{"for": "0.2s"},
        crash_with="echo down >> log", restart_with="echo up >> log",
    )  # fmt: skip
    crashing.follow(SPEC, INSERT)
    time.sleep(0.15)
    assert (tmp_path / "log").read_text() == "down\n"
    time.sleep(0.4)

    (found,) = crashing.collect_injected(ENDED)

    assert (tmp_path / "log").read_text() == "down\nup\n"
    assert 0.2 <= found.undone_s - found.began_s < 5


def test_a_node_that_does_not_crash_is_booted_all_the_same(injector, tmp_path):
    crashing = injector(
        fault="crash-node", at="0s", **{"for": "9s"},
        crash_with="exit 4", restart_with="echo up > log",
    )  # fmt: skip
    crashing.follow(SPEC, INSERT)
    time.sleep(0.3)

    (found,) = crashing.collect_injected(ENDED)

    assert found.problem == "--fault crash-node: could not be made: `exit 4`: exit code 4"
    assert (tmp_path / "log").read_text() == "up\n"


def test_what_workers_do_lasts_from_the_first_of_them_to_the_last():
    reports = [
        WorkerReport(index=0, faults=(Span(began_s=10, ended_s=12), Span(began_s=20, ended_s=22))),
        WorkerReport(index=1, faults=(Span(began_s=9, ended_s=11), Span(began_s=21, ended_s=23))),
        WorkerReport(index=2),
    ]
    outcome = ENDED.model_copy(update={"workers": tuple(reports)})

    found = OfWorkers(Fault.CUT).collect_injected(outcome)

    assert [(each.began_s, each.undone_s) for each in found] == [(9, 12), (20, 23)]
