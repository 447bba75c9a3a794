"""The lock of a database: held by one process, and free as soon as that process has ended."""

import os
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from iotbench.machine.lock import hold_lock, remove_free_locks
from iotbench.machine.program import state_folder
from simulator.errors import ConfigError
from tests import ROOT

HOLDER = """
import sys
from iotbench.machine.lock import hold_lock
with hold_lock("k", "insert --target pg"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return state_folder() / "locks"


@pytest.fixture
def holder():
    """Another process that holds the lock `k` until its standard input is closed."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_lock_leaves_nothing_even_after_an_error(state):
    with suppress(KeyError), hold_lock("k", "insert"):
        assert [path.name for path in state.iterdir()] == ["k.lock"]
        raise KeyError

    assert list(state.iterdir()) == []


def test_a_held_lock_is_refused_with_its_holder(holder):
    with pytest.raises(ConfigError) as refused, hold_lock("k", "query"):
        pass
    message = str(refused.value)

    assert "`insert --target pg`" in message
    assert f"process {holder.pid}" in message
    assert "UTC" in message
    assert refused.value.exit_code == 2


def test_the_lock_of_a_killed_process_is_taken_over(holder, state):
    holder.kill()
    holder.wait(10)
    assert (state / "k.lock").exists()

    with hold_lock("k", "query"):
        pass
    assert list(state.iterdir()) == []


def test_cleanup_removes_the_locks_of_the_dead_and_leaves_those_of_the_living(holder, state):
    (state / "left.lock").touch()

    assert remove_free_locks() == [state / "left.lock"]
    assert [path.name for path in state.iterdir()] == ["k.lock"]
    assert holder.poll() is None


def test_of_many_that_take_turns_never_two_hold_it():
    held, most, taken = 0, 0, 0
    counting = threading.Lock()

    def take():
        nonlocal held, most, taken
        for _ in range(200):
            try:
                with hold_lock("k", "insert"):
                    with counting:
                        held, taken = held + 1, taken + 1
                        most = max(most, held)
                    with counting:
                        held -= 1
            except ConfigError:
                continue

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert most == 1
    assert taken > 1


@pytest.mark.usefixtures("holder")
@pytest.mark.parametrize(
    "content",
    [b"", b"[]", b'{"command": "insert"}', b"\xff\x00", b"[" * 4096],
    ids=["empty", "list", "half", "bytes", "nested"],
)
def test_a_lock_that_is_being_written_or_damaged_is_refused_too(state, content):
    (state / "k.lock").write_bytes(content)

    with pytest.raises(ConfigError, match="it has just started"), hold_lock("k", "query"):
        pass


def test_without_a_state_folder_the_temporary_folder_serves(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    with hold_lock("k", "insert"):
        assert (tmp_path / f"iotbench-locks-{os.getuid()}" / "k.lock").exists()


def test_without_any_folder_the_remedy_is_named(monkeypatch):
    monkeypatch.setenv("XDG_STATE_HOME", "/dev/null")
    monkeypatch.setattr("tempfile.tempdir", "/dev/null")

    with pytest.raises(ConfigError, match="set XDG_STATE_HOME"), hold_lock("k", "insert"):
        pass
