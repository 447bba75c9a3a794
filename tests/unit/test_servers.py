"""How the tests' real servers are fetched, started, stopped and crashed; on a server of our own."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from tests.processes import living_with
from tests.servers import QUICK, SERVERS, NotInstalled, free_port, named, packages
from tests.servers.base import Program, Server, _has_ended, answers, open_port
from tests.servers.packages import BuildFailed

PYTHON = "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable


class Web(Server):
    """Two web servers, of which the second starts once the first answers, and has a child."""

    name = "web"
    version = "1"
    ready_s = 20
    stop_s = 10

    @classmethod
    def build(cls, folder):
        (folder / "page").write_text("built")

    def prepare(self):
        self.write("first/page", "one")
        self.write("second/page", "two")

    def programs(self):
        yield [self._program("first", "")]
        self.write("second/page", answers(self._url("first")).decode() + " two")
        yield [self._program("second", "import subprocess; subprocess.Popen(['sleep', '1000']); ")]

    def _program(self, name, before):
        serve = "import http.server as web; web.test(web.SimpleHTTPRequestHandler, port="
        code = f"{before}{serve}{self.port(name)})"
        command = ["sh", "-c", 'cd "$1" && exec "$2" -c "$3"', "sh", name, PYTHON, code]
        return Program(name, command, lambda: answers(self._url(name)), {"WHO": name})

    def _url(self, name):
        return f"http://127.0.0.1:{self.port(name)}/page"

    def options(self, database):
        return {"url": self._url("second")}


@pytest.fixture(autouse=True)
def _cache(tmp_path, monkeypatch):
    """A cache folder that no other test uses, and that a server's user may look into."""
    monkeypatch.setattr(packages, "cache", lambda: tmp_path / "servers")


@pytest.fixture
def web():
    Web.install()
    with Web() as server:
        yield server


def processes(server):
    return living_with("HOME", str(server.folder))


def alive(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


# --- running -------------------------------------------------------------------------------------


def test_a_server_starts_in_order_and_leaves_nothing_behind(web):
    assert answers(web.options("x")["url"]) == b"one two"
    assert len(processes(web)) == 3

    web.close()
    assert not web.folder.exists()
    assert processes(web) == []


def test_a_crash_takes_the_children_along_and_start_brings_all_back(web):
    url = web.options("x")["url"]
    web.kill()
    assert processes(web) == []
    assert not web.running

    web.start()
    assert answers(url) == b"one two"


def test_a_process_whose_first_thread_has_ended_is_still_there():
    rest = "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start()"
    program = f"{rest}; ctypes.CDLL(None).pthread_exit(None)"
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        seen = psutil.Process(process.pid)
        try:
            while seen.status() != psutil.STATUS_ZOMBIE:
                time.sleep(0.01)
            assert not _has_ended(seen)
        finally:
            process.kill()
            while not _has_ended(seen):
                time.sleep(0.01)


def test_a_server_does_not_run_as_root_and_knows_nothing_of_the_tests(web):
    (first,) = (p for p in processes(web) if p.environ().get("WHO") == "first")
    assert first.uids().effective != 0
    of_the_shell = {"PWD", "OLDPWD", "_"}
    given = {"PATH", "JAVA_HOME", "HOME", "JAVA_TOOL_OPTIONS", "TMPDIR", "LANG", "WHO"}
    assert set(first.environ()) - of_the_shell <= given


def test_a_server_that_does_not_get_ready_is_reported(monkeypatch):
    Web.install()
    monkeypatch.setattr(Web, "ready_s", 0.2)
    monkeypatch.setattr(Web, "_url", lambda *_: f"http://127.0.0.1:{free_port()}/")
    with pytest.raises(RuntimeError, match=r"not ready within 0.2 s.*refused"):
        Web().__enter__()


def test_a_server_does_not_outlive_the_tests():
    Web.install()
    code = (
        "import os, tests.servers.packages as p, pathlib\n"
        f"p.cache = lambda: pathlib.Path({str(packages.cache())!r})\n"
        "from tests.unit.test_servers import Web\n"
        "server = Web().__enter__()\n"
        "print('folder:', server.folder)\n"
        "print('pids:', *(process.pid for _, process in server._running.values()), flush=True)\n"
        "os._exit(9)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 9
    shutil.rmtree(done.stdout.split("folder:")[1].split()[0])
    pids = [int(word) for word in done.stdout.split("pids:")[1].split()]
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(map(alive, pids))


def test_a_port_is_free_on_every_address_and_below_those_of_clients():
    limits = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    port = free_port()
    assert 1024 < port < int(limits[0])
    with socket.socket() as taken:
        taken.bind(("127.0.0.3", port))
        taken.listen()
        with pytest.raises(OSError, match="in use"):
            open_port(port)


# --- fetching ------------------------------------------------------------------------------------


def test_a_server_that_is_not_there_says_how_to_get_it():
    with pytest.raises(NotInstalled, match="web 1 is not installed: make servers NAME=web"):
        Web()


def test_a_build_that_fails_is_not_taken_for_a_server_and_can_be_repeated():
    def fails(folder):
        (folder / "half").touch()
        raise BuildFailed("no luck")

    with pytest.raises(BuildFailed, match="no luck"):
        packages.install("web", "1", fails)
    with pytest.raises(NotInstalled):
        packages.installed("web", "1")
    folder = packages.install("web", "1", Web.build)
    assert sorted(path.name for path in folder.iterdir()) == ["complete", "page"]


def test_two_that_install_at_once_build_once():
    built = []

    def slow(folder):
        built.append(folder)
        threading.Event().wait(0.3)
        assert not (folder / "complete").exists()

    threads = [threading.Thread(target=packages.install, args=("web", "1", slow)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(built) == 1
    packages.install("web", "1", lambda _: pytest.fail("it is there"))


def test_servers_are_named_one_by_one_or_in_groups():
    assert named("mysql,postgres") == ["mysql", "postgres"]
    assert named("quick") == list(QUICK)
    assert named("all") == list(SERVERS)
    with pytest.raises(ValueError, match=r"no such server: oracle; known: .*quick, all"):
        named("mysql,oracle")


def test_one_process_runs_all_tests_of_a_file_or_server(request):
    """Otherwise each process starts every server, and makes every module's fixture."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("one process runs all tests")
    assert request.node.nodeid.endswith(f"@{request.node.path}")
