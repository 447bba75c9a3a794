"""Processes that are stopped for a while, which a run survives, and several that are for ever.

The fault matrix stops one process for ever.
"""

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.integration.conftest import CommandLine, Finished, combined
from tests.integration.short_silence import SILENCE_S

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet", "--workers=2", "--runs=1")
STEADY = (*SQLITE, "--batch=100", "--rate=4000")
"""Two workers that write 20 batches a second each."""
SHORT = (*STEADY, "--num-inserts=10000")
"""Takes 5 s."""
LONG = (*STEADY, "--num-inserts=1000000")
Wait = Callable[[Callable[[], Any]], Any]


@pytest.fixture
def cli(cli: CommandLine) -> CommandLine:
    cli.program = Path(__file__).with_name("short_silence.py")
    return cli


@pytest.fixture
def inserting(cli: CommandLine, eventually: Wait) -> Callable[..., subprocess.Popen[str]]:
    """Start an insert; return once its workers are writing."""

    def start(*arguments: str) -> subprocess.Popen[str]:
        running = cli.start("insert", *arguments)
        eventually(lambda: len(cli.processes("worker")) == 2)
        eventually((cli.folder / "bench.db-wal").exists)
        time.sleep(1)
        return running

    return start


def pause(processes: list[psutil.Process], seconds: float) -> None:
    for process in processes:
        process.send_signal(signal.SIGSTOP)
    time.sleep(seconds)
    for process in processes:
        process.send_signal(signal.SIGCONT)


def ended(cli: CommandLine, running: subprocess.Popen[str]) -> tuple[Finished, Any, float]:
    """Return the outcome of a command, its result, and how long it took to end."""
    began = time.monotonic()
    done = cli.finish(running, within_s=30)
    (result,) = cli.results()
    assert cli.leftovers() == []
    return done, result, time.monotonic() - began


@pytest.mark.parametrize("role", combined(["collector", "worker-1"], often=[("collector",)]))
def test_a_short_pause_of_a_process_is_survived_and_reported(
    cli: CommandLine, inserting: Callable[..., subprocess.Popen[str]], role: str
) -> None:
    running = inserting(*SHORT)
    pause(cli.processes(role), 1.6)
    done, result, _ = ended(cli, running)

    assert done.code == 0, done.out
    name = "the collector" if role == "collector" else "worker 1"
    (warning,) = [text for text in result["warnings"] if "stood still" in text]
    assert re.match(rf"2 workers: {name} stood still for \d s while the clock ran", warning)


def test_a_suspend_of_everything_is_survived_and_reported(
    cli: CommandLine, inserting: Callable[..., subprocess.Popen[str]]
) -> None:
    running = inserting(*SHORT)
    pause([psutil.Process(running.pid), *cli.processes()], SILENCE_S + 2)
    done, result, _ = ended(cli, running)

    assert done.code == 0, done.out
    assert result["runs"][0]["outcome"]["verdict"]["status"] == "verified"
    (warning,) = [text for text in result["warnings"] if "stood still" in text]
    found = re.search(r"stood still for (\d+) s while the clock ran", warning)
    assert found
    assert SILENCE_S < int(found[1]) < SILENCE_S + 5
    assert warning in " ".join(cli.run("show", "last").out.split())


@pytest.mark.rare
def test_workers_end_without_collector_and_command_line(
    cli: CommandLine, inserting: Callable[..., subprocess.Popen[str]], eventually: Wait
) -> None:
    running = inserting(*LONG)
    (collector,) = cli.processes("collector")
    running.send_signal(signal.SIGSTOP)
    collector.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    eventually(lambda: not cli.processes("worker"))
    assert time.monotonic() - began < SILENCE_S + 5

    running.send_signal(signal.SIGCONT)
    done, result, _ = ended(cli, running)

    assert done.code == 1
    assert "the collector has been silent" in result["cause"]
    assert result["runs"][0]["metrics"]["rows"] > 0


@pytest.mark.rare
@pytest.mark.skipif(sys.platform != "linux", reason="other kernels have no PR_SET_PDEATHSIG")
def test_stopped_processes_end_with_a_command_line_that_is_killed(
    cli: CommandLine, inserting: Callable[..., subprocess.Popen[str]], eventually: Wait
) -> None:
    running = inserting(*LONG)
    for role in ("collector", "worker-1"):
        (victim,) = cli.processes(role)
        victim.send_signal(signal.SIGSTOP)
    running.kill()
    running.communicate()

    eventually(lambda: not cli.processes())


@pytest.mark.rare
def test_the_timeout_is_kept_without_the_collector(cli: CommandLine, eventually: Wait) -> None:
    cli.program = CommandLine.program
    running = cli.start("insert", *LONG, "--timeout=2s")
    eventually(lambda: len(cli.processes("worker")) == 2)
    eventually((cli.folder / "bench.db-wal").exists)
    (collector,) = cli.processes("collector")
    collector.send_signal(signal.SIGSTOP)
    done, result, took_s = ended(cli, running)

    assert done.code == 1
    assert result["cause"] == (
        "--timeout: the run was not done after 2 s, and the collector did not end it; its process"
        " is stopped (SIGSTOP)"
    )
    assert took_s < 12
