"""Processes of a local sweep that are forks: their exit codes, names, files and ends."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from iotbench.execution.local.forks import Fork, Forks
from simulator.errors import Interrupted, SetupError
from tests.processes import part_of

WORKER = ["worker", "--collector=http://127.0.0.1:1", "--index=7"]
WITHIN_S = 30.0


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    with Forks() as found:
        yield found


def start(forks: Forks, name: str = "worker-7") -> Fork:
    """Start a worker, which waits for its input."""
    return forks.start(name, WORKER, {})


def server() -> psutil.Process:
    """Return the process that forks: the newest, if a test has one of its own."""
    found = [c for c in psutil.Process().children() if "fork-server" in c.cmdline()]
    return max(found, key=lambda each: each.create_time())


def pipes_of(pid: int) -> set[str]:
    found = {str(path.readlink()) for path in Path(f"/proc/{pid}/fd").iterdir()}
    return {each for each in found if each.startswith(("pipe", "socket"))}


def ended(fork: Fork) -> int | None:
    try:
        return fork.wait(WITHIN_S)
    finally:
        fork.kill()
        fork.close()


def test_a_fork_reads_its_input_and_its_exit_code_is_known(forks: Forks) -> None:
    fork = start(forks)
    fork.stdin.close()
    assert ended(fork) == Interrupted.exit_code


def test_what_it_writes_comes_by_its_own_pipe(forks: Forks) -> None:
    fork = start(forks)
    fork.stdin.write(b"not json\n")
    assert fork.wait(WITHIN_S) == 2
    assert b"cannot read the run's input" in fork.stderr.read()
    assert ended(fork) == 2


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_signal_is_a_negative_exit_code(forks: Forks, number: signal.Signals) -> None:
    fork = start(forks)
    assert fork.wait() is None
    os.kill(fork.pid, number)
    assert ended(fork) == -number


def test_a_killed_one_has_ended_and_is_gone(forks: Forks) -> None:
    fork = start(forks)
    fork.kill()
    assert ended(fork) == -signal.SIGKILL
    fork.kill()
    fork.terminate()
    deadline_s = time.monotonic() + WITHIN_S
    while psutil.pid_exists(fork.pid):
        assert time.monotonic() < deadline_s


def test_each_has_its_name_its_session_and_no_file_of_another(forks: Forks) -> None:
    names = ["collector", "worker-0", "worker-1"]
    found = [start(forks, name) for name in names]
    try:
        deadline_s = time.monotonic() + WITHIN_S
        while [part_of(psutil.Process(each.pid)) for each in found] != names:
            assert time.monotonic() < deadline_s
        assert [os.getsid(each.pid) for each in found] == [each.pid for each in found]
        pipes = [pipes_of(each.pid) for each in found]
        assert [len(each) for each in pipes] == [3, 3, 3]
        assert len(set.union(*pipes, pipes_of(server().pid))) > 9
        assert not any(each & pipes_of(server().pid) for each in pipes)
        assert server().num_threads() == 1  # a fork has only the thread that forks
        assert len(set.union(*pipes)) == 9
    finally:
        for each in found:
            each.kill()
            ended(each)


def test_an_open_file_is_an_option(forks: Forks, tmp_path: Path) -> None:
    with (tmp_path / "journal").open("w+b") as journal:
        fork = forks.start("collector", ["collector", "--port=0"], {"--journal": journal.fileno()})
        try:
            opened = [each.readlink() for each in Path(f"/proc/{fork.pid}/fd").iterdir()]
            assert opened.count(tmp_path / "journal") == 1
        finally:
            fork.kill()
            ended(fork)


def test_once_the_server_is_gone_its_forks_end_and_no_other_starts() -> None:
    gone = "the process that starts collector and workers has ended"
    with Forks() as others:
        fork = start(others)
        server().kill()
        assert fork.wait(WITHIN_S) == -signal.SIGKILL
        with pytest.raises(SetupError, match=gone):
            start(others)
        assert ended(fork) == -signal.SIGKILL


def test_a_program_that_cannot_be_loaded_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("raise SystemExit('broken')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Forks() as forks, pytest.raises(SetupError, match=r"has ended: .*broken"):
        start(forks)


def test_the_server_ends_with_its_context_and_leaves_its_forks() -> None:
    with Forks() as others:
        fork = start(others)
        pid = psutil.Process(fork.pid).ppid()
    assert not psutil.pid_exists(pid)
    assert psutil.pid_exists(fork.pid)
    assert ended(fork) == -signal.SIGKILL


def test_a_limit_of_processes_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import errno, os\ndef fork(): raise BlockingIOError(errno.EAGAIN, '')\nos.fork = fork"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    message = "cannot start worker-7: Resource temporarily unavailable: see ulimit -u"
    with Forks() as forks:
        for _ in range(2):
            with pytest.raises(SetupError, match=message):
                start(forks)
        assert len(pipes_of(server().pid)) == 3


def test_another_system_is_refused_with_what_to_do_instead(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")

    with pytest.raises(SetupError, match="expected Linux for local workers, got darwin; use --run"):
        Forks().__enter__()
