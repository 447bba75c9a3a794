"""A command line that is killed, stopped or cut off: what remains, and what is blamed."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest
import yaml

from tests.e2e.harness import STATE, ClusterLine, Kubernetes, Namespace, waited
from tests.e2e.short_lifetime import UNATTENDED_S
from tests.e2e.test_failures import PAUSED, POSTGRES, QUICK, ROWS, failed, next_run
from tests.integration.conftest import ROOT
from tests.processes import alive

WITHIN_S = 2 * UNATTENDED_S + 60
"""The controllers of a loaded machine act some seconds late."""
SHORT_LIVED = ROOT / "tests" / "e2e" / "short_lifetime.py"
HALF_A_MINUTE = (
    *("--workers=2", "--runs=1", "--batch=100", "--num-inserts=15000", "--rate=1000"),
    "--verify=full",
)


def verdict(line: ClusterLine) -> str:
    (run,) = line.results()[-1]["runs"]
    status: str = run["outcome"]["verdict"]["status"]
    return status


# --- killed ---------------------------------------------------------------------------------------


def credentials(namespace: Namespace) -> list[str]:
    """Return the Secrets of runs, and the pods, which have their content mounted."""
    words = ("get", "secret,pod,job", "--selector=iot-bench/run,owner!=helm", "--output=name")
    return namespace.kubectl(*words).split()


def started(line: ClusterLine) -> list[str]:
    return line.namespace.kubectl("get", "jobs", "--output=name").split()


def has_secret(line: ClusterLine) -> bool:
    return any(name.startswith("secret/") for name in credentials(line.namespace))


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(started, id="jobs", marks=pytest.mark.rare),
        pytest.param(has_secret, id="secret", marks=pytest.mark.rare),
        pytest.param(None, id="insert"),
    ],
)
def test_no_credential_outlives_a_killed_command_line_for_long(
    cli: ClusterLine, moment: Callable[[ClusterLine], object] | None
) -> None:
    cli.program = SHORT_LIVED
    if moment is None:
        process = cli.inserting(workers=2)
    else:
        process = cli.start("insert", POSTGRES, *HALF_A_MINUTE)
        waited("the moment has come", lambda: moment(cli))
    process.kill()
    process.wait()

    waited("nothing with a credential is left", lambda: not credentials(cli.namespace), WITHIN_S)

    cli.program = ROOT / "run.py"
    cleaned = cli.run("cleanup")
    assert cleaned.code == 0, cleaned.err
    assert not cli.namespace.leftovers()


@pytest.mark.rare
def test_the_time_of_a_run_is_extended_while_its_command_line_lives(cli: ClusterLine) -> None:
    cli.program = SHORT_LIVED
    done = cli.insert(POSTGRES, *HALF_A_MINUTE)
    assert done.code == 0, done.err
    (run,) = cli.result()["runs"]
    assert run["outcome"]["phases_s"]["insert"] > UNATTENDED_S + 2


@pytest.mark.rare
def test_a_run_that_kubernetes_ended_says_so(cli: ClusterLine) -> None:
    cli.program = SHORT_LIVED
    process = cli.inserting()
    process.send_signal(signal.SIGSTOP)
    waited("no pod is left", lambda: not cli.namespace.pods(), WITHIN_S)
    process.send_signal(signal.SIGCONT)
    done = cli.finish(process)
    failed(cli, done, "Kubernetes ended the run", "did not extend its deadline")


def test_the_next_run_removes_the_pods_of_a_killed_one(cli: ClusterLine) -> None:
    """They would go on to write to its tables."""
    process = cli.inserting(workers=2)
    process.kill()
    process.wait()
    done = cli.insert(POSTGRES, *QUICK)
    assert done.code == 0, done.err
    assert verdict(cli) == "verified"


# --- killed while helm works ----------------------------------------------------------------------

HELM_WORKS = {"pending-install": "--runs=1", "pending-upgrade": "--runs=2"}
"""Status of a release while helm works -> how many runs a sweep needs to get there."""


def halted_helm(line: ClusterLine, process: subprocess.Popen[str], status: str) -> psutil.Process:
    """Stop helm once its record of the release has a status; until then let it work in steps."""

    def has(status: str) -> str:
        selector = f"--selector=owner=helm,status={status}"
        return line.namespace.kubectl("get", "secrets", selector, "--output=name")

    if status == "pending-upgrade":
        waited("helm has installed the release", lambda: has("deployed"), 60)

    def step() -> psutil.Process | None:
        assert process.poll() is None, process.communicate()
        for helm in psutil.Process(process.pid).children():
            with contextlib.suppress(psutil.NoSuchProcess):
                while helm.cmdline()[:2] == ["helm", "upgrade"]:
                    helm.suspend()
                    if has(status):
                        return helm
                    helm.resume()
                    time.sleep(0.01)
        return None

    found: psutil.Process = waited(f"helm writes {status}", step, 120)
    return found


def kill_with_helm(line: ClusterLine, status: str) -> None:
    """Kill a command line while helm works."""
    process = line.start("insert", POSTGRES, "--workers=1", HELM_WORKS[status], *ROWS)
    helm = halted_helm(line, process, status)
    process.kill()
    process.wait()
    waited("helm ends with its command line", lambda: not alive(helm), 10)
    assert line.namespace.leftovers()


@pytest.mark.rare
@pytest.mark.parametrize("status", HELM_WORKS)
def test_a_killed_helm_ends_the_run_with_the_cause(cli: ClusterLine, status: str) -> None:
    process = cli.start("insert", POSTGRES, "--workers=1", "--runs=2", *ROWS)
    halted_helm(cli, process, status).kill()
    done = cli.finish(process)
    failed(cli, done, "helm upgrade was killed by SIGKILL")


@pytest.mark.parametrize("status", HELM_WORKS)
def test_cleanup_removes_a_release_that_helm_did_not_finish(cli: ClusterLine, status: str) -> None:
    kill_with_helm(cli, status)
    cleaned = cli.run("cleanup")
    assert cleaned.code == 0, cleaned.err
    assert "removed folder" in cleaned.out
    assert not cli.namespace.leftovers()
    time.sleep(3)  # longer than a helm that goes on needs for what it has still to create
    assert not cli.namespace.leftovers()
    done = cli.insert(POSTGRES, *QUICK)
    assert done.code == 0, done.err
    assert verdict(cli) == "verified"
    assert "the remains of a command" not in done.err


@pytest.mark.rare
@pytest.mark.parametrize("status", HELM_WORKS)
def test_the_next_run_removes_a_release_that_helm_did_not_finish(
    cli: ClusterLine, status: str
) -> None:
    kill_with_helm(cli, status)
    done = cli.insert(POSTGRES, *QUICK)
    assert done.code == 0, done.err
    assert verdict(cli) == "verified"
    assert "the remains of a command that has ended" in done.err
    cleaned = cli.run("cleanup")
    assert cleaned.code == 0, cleaned.err
    assert "removed folder" in cleaned.out


# --- stopped, and cut off -------------------------------------------------------------------------


@pytest.mark.parametrize("pause_s", [5, pytest.param(25, marks=pytest.mark.rare)])
def test_a_command_line_that_is_stopped_for_a_while_blames_nobody(
    cli: ClusterLine, pause_s: int
) -> None:
    process = cli.start("insert", POSTGRES, *HALF_A_MINUTE)
    waited("the workers write", lambda: cli.namespace.pods("worker"), 60)
    time.sleep(5)
    process.send_signal(signal.SIGSTOP)
    time.sleep(pause_s)
    process.send_signal(signal.SIGCONT)
    done = cli.finish(process)
    assert done.code == 0, done.err
    assert verdict(cli) == "verified"


@pytest.mark.rare
def test_an_api_server_that_stands_still_for_a_while_costs_nothing(
    cli: ClusterLine, powers: Kubernetes
) -> None:
    del powers
    pid = int((STATE / "pids" / "kube-apiserver").read_text().split()[0])
    process = cli.start("insert", POSTGRES, *HALF_A_MINUTE)
    waited("the workers write", lambda: cli.namespace.pods("worker"), 60)
    time.sleep(5)
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(20)
    finally:
        os.kill(pid, signal.SIGCONT)
    done = cli.finish(process)
    assert done.code == 0, done.err
    assert verdict(cli) == "verified"


class Proxy:
    """A way to the API server that can be cut; TLS passes through it."""

    def __init__(self, server: str) -> None:
        where = urlsplit(server)
        assert where.hostname
        self._to = (where.hostname, where.port or 443)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self.cut = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                if self.cut:
                    near.close()
                    continue
                far = socket.create_connection(self._to)
                self._open |= {near, far}
                for pair in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        self._close(source, sink)

    def _close(self, *sockets: socket.socket) -> None:
        for each in sockets:
            self._open.discard(each)
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def disconnect(self) -> None:
        self.cut = True
        self._close(*tuple(self._open))

    def end(self) -> None:
        self._listener.close()
        self.disconnect()


@pytest.fixture
def proxy(cli: ClusterLine, tmp_path: Path) -> Iterator[Proxy]:
    """The command line reaches the cluster through this proxy."""
    assert cli.namespace.kubeconfig
    content = yaml.safe_load(cli.namespace.kubeconfig.read_text())
    cluster = content["clusters"][0]["cluster"]
    made = Proxy(cluster["server"])
    host = urlsplit(cluster["server"]).hostname
    cluster |= {"server": f"https://127.0.0.1:{made.port}", "tls-server-name": host}
    path = tmp_path / "through-the-proxy"
    path.write_text(yaml.safe_dump(content))
    path.chmod(0o600)
    cli.environment = {"KUBECONFIG": str(path)}
    yield made
    made.end()


def cut_off(cli: ClusterLine) -> subprocess.Popen[str]:
    process = cli.start("insert", POSTGRES, *HALF_A_MINUTE)
    waited("the workers write", lambda: cli.namespace.pods("worker"), 60)
    time.sleep(5)
    return process


def test_a_connection_that_is_lost_for_a_while_costs_nothing(
    cli: ClusterLine, proxy: Proxy
) -> None:
    process = cut_off(cli)
    proxy.disconnect()
    time.sleep(25)
    proxy.cut = False
    done = cli.finish(process)
    assert done.code == 0, done.err
    assert verdict(cli) == "verified"


@pytest.mark.rare
def test_an_api_server_that_is_away_between_runs_and_at_removal_costs_nothing(
    cli: ClusterLine, proxy: Proxy
) -> None:
    def vanish() -> None:
        proxy.disconnect()
        time.sleep(30)
        proxy.cut = False

    def ended() -> bool:
        names = [pod["metadata"]["name"] for pod in cli.namespace.pods("collector")]
        return any('"event":"outcome"' in cli.namespace.log(n) for n in names if "-1-2-" in n)

    process = cli.start("insert", POSTGRES, "--workers=1", "--runs=2", *ROWS, *PAUSED)
    next_run(cli)()
    next_run(cli)()
    vanish()
    waited("the second run is over", ended, 90)
    vanish()
    done = cli.finish(process)
    assert done.code == 0, done.err
    statuses = [run["outcome"]["verdict"]["status"] for run in cli.result()["runs"]]
    assert statuses == ["verified", "verified"]
    assert not cli.namespace.leftovers()


@pytest.mark.rare
def test_a_connection_that_stays_lost_ends_the_run_and_says_what_remains(
    cli: ClusterLine, proxy: Proxy
) -> None:
    process = cut_off(cli)
    proxy.disconnect()
    began = time.monotonic()
    done = cli.finish(process, 120)
    assert time.monotonic() - began < 110  # a minute of its own time, on a loaded machine
    failed(cli, done, "no answer from the cluster for 60 s", f"127.0.0.1:{proxy.port}")
    assert "Traceback" not in done.err
    assert "Kubernetes itself ends the run within 30 min" in done.err
    words = done.err.partition("python run.py cleanup")[2].split()
    assert words[:2] == ["-n", cli.namespace.name]

    cli.environment = {}
    cleaned = cli.run("cleanup", *words[2:4])
    assert cleaned.code == 0, cleaned.err
    assert not cli.namespace.leftovers()
