"""Signals, terminals, pipes and disks that end: the measurement is kept, and nothing is left."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from iotbench.machine.owner import Owner
from tests import ROOT
from tests.integration.conftest import CommandLine, combined

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db")
RUN = (*SQLITE, "--quiet", "--workers=2", "--runs=1", "--batch=100")
LONG = (*RUN, "--rate=4000", "--num-inserts=1000000")
SHORT = (*RUN, "--num-inserts=500")
STOPS = combined(
    [signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP],
    often=[(signal.SIGINT,), (signal.SIGTERM,)],
)
Wait = Callable[[Callable[[], Any]], Any]


def expect_kept(cli: CommandLine) -> None:
    """The one result has what was measured until the user stopped the run."""
    (result,) = cli.results()
    assert (result["status"], result["cause"]) == ("interrupted", "stopped by the user")
    assert result["runs"][0]["metrics"]["rows"] > 0
    assert cli.leftovers() == []


@pytest.mark.parametrize("number", STOPS)
def test_a_signal_ends_the_run_tidily(
    cli: CommandLine, eventually: Wait, number: signal.Signals
) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    running.send_signal(number)

    assert cli.finish(running).code == 130
    expect_kept(cli)


def test_a_second_signal_stops_at_once(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    (collector,) = cli.processes("collector")
    collector.send_signal(signal.SIGSTOP)
    running.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    running.send_signal(signal.SIGQUIT)
    began = time.monotonic()

    assert cli.finish(running).code == 130
    assert time.monotonic() - began < 3
    assert cli.results()[0]["status"] == "interrupted"
    assert cli.leftovers() == []


def test_under_nohup_the_end_of_the_terminal_stops_nothing(cli: CommandLine) -> None:
    started = [sys.executable, str(ROOT / "run.py"), "insert", f"--config={cli.config}", *SHORT]
    running = subprocess.Popen(
        ["nohup", *started], cwd=cli.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    time.sleep(1.5)
    running.send_signal(signal.SIGHUP)
    running.communicate(timeout=60)

    assert running.returncode == 0


def test_a_terminal_that_is_closed_ends_the_run_tidily(cli: CommandLine, eventually: Wait) -> None:
    """As when the window is closed: SIGHUP, and input and output fail from then on."""
    cli.temporary.mkdir()
    child, terminal = pty.fork()
    if not child:
        os.chdir(cli.folder)
        words = [sys.executable, str(ROOT / "run.py"), "insert", f"--output={cli.output}"]
        settings = {"TMPDIR": str(cli.temporary), "XDG_STATE_HOME": str(cli.state.parent)}
        arguments = [*words, f"--config={cli.config}", *[word for word in LONG if word[2] != "q"]]
        os.execve(sys.executable, arguments, {**os.environ, **settings})
    cli.await_both_writing(eventually)
    os.close(terminal)

    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 130
    expect_kept(cli)


@pytest.mark.parametrize("stream", ["stdout", "stderr", "both"])
def test_a_full_device_as_output_keeps_the_measurement(cli: CommandLine, stream: str) -> None:
    with Path("/dev/full").open("w") as full:
        places = {name: full for name in ("stdout", "stderr") if stream in (name, "both")}
        done = cli.finish(cli.start("insert", *[w for w in SHORT if w != "--quiet"], **places))

    assert done.code == (0 if stream == "stderr" else 1)
    assert cli.results()[0]["status"] == "done"
    assert cli.leftovers() == []
    if stream == "stdout":
        assert "error: standard output: No space left on device" in done.err
        assert "show results/" in done.err or f"show {cli.output}" in done.err


def test_a_reader_that_goes_away_in_mid_run_changes_nothing(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *SHORT, "--rate=300")
    cli.await_both_writing(eventually)
    assert running.stdout
    running.stdout.close()
    running.stdout = None
    done = cli.finish(running)

    assert done.code == 1
    assert cli.results()[0]["status"] == "done"
    assert cli.leftovers() == []


def test_an_encoding_for_people_is_none_for_processes(cli: CommandLine) -> None:
    cli.environment["PYTHONIOENCODING"] = "utf-16"
    done = cli.run("insert", *SHORT)

    assert done.code == 0, done.err
    assert cli.results()[0]["status"] == "done"


# --- folders ------------------------------------------------------------------------------------


@pytest.fixture
def full_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder on a disk without any free space."""
    if os.getuid() != 0:
        pytest.skip("only root can mount a small disk")
    folder = tmp_path / "full"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)], check=True)
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)


def fill(folder: Path) -> None:
    with (folder / "filler").open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(4096))
        except OSError:
            pass


def test_a_full_temporary_folder_does_not_matter(cli: CommandLine, full_folder: Path) -> None:
    fill(full_folder)
    cli.environment["TMPDIR"] = str(full_folder)
    done = cli.run("insert", *SHORT)

    assert done.code == 0, done.err
    assert [path.name for path in full_folder.iterdir()] == ["filler"]


def test_a_disk_that_is_full_of_everything_still_prints_the_result(
    cli: CommandLine, full_folder: Path, eventually: Wait
) -> None:
    (full_folder / "tmp").mkdir()
    cli.environment |= {"TMPDIR": str(full_folder / "tmp"), "XDG_STATE_HOME": str(full_folder)}
    cli.environment |= {"TEMP": "/dev/null", "TMP": "/dev/null"}
    arguments = (*SHORT, "--rate=300", "--format=json", f"--output={full_folder / 'results'}")
    running = cli.start("insert", *arguments)
    eventually((cli.folder / "bench.db-wal").exists)
    fill(full_folder)
    done = cli.finish(running)

    assert done.code == 1
    assert "No space left on device" in done.err
    whole = done.out[done.out.index('{\n "format_version"') :]
    assert json.loads(whole)["status"] == "done"
    (stale,) = full_folder.rglob("*.json")  # written while there was space
    assert json.loads(stale.read_text())["status"] == "running"
    assert [*full_folder.rglob("*.tmp"), *full_folder.rglob("*.lock")] == []


def test_a_folder_of_results_that_is_removed_in_mid_run_loses_nothing(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *SHORT, "--rate=300")
    cli.await_both_writing(eventually)
    shutil.rmtree(cli.output)
    done = cli.finish(running)

    kept = [*cli.output.glob("*.json"), *(cli.state / "results").glob("*.json")]
    assert [json.loads(path.read_text())["status"] for path in kept] == ["done"]
    assert str(kept[0]) in done.out
    assert done.code == (0 if kept[0].parent == cli.output else 1)


# --- commands that measure nothing --------------------------------------------------------------

QUIET_COMMANDS = {
    "help": ["--help"],
    "show": ["show", "RESULT"],
    "check": ["check", "--target=sqlite"],
    "cleanup": ["cleanup"],
}
UNWRITABLE = ("> /dev/full", ">&-", "| true", "<&- >&- 2>&-")
OFTEN = (
    ("help", UNWRITABLE[0]), ("help", UNWRITABLE[2]),
    ("show", UNWRITABLE[0]), ("show", UNWRITABLE[3]),
    ("check", UNWRITABLE[1]), ("cleanup", UNWRITABLE[2]),
)  # fmt: skip


@pytest.fixture(scope="module")
def inserted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inserted")
    arguments = ["--target=sqlite", "--workers=1", "--runs=1", "--num-inserts=10", "--quiet"]
    subprocess.run(
        [sys.executable, str(ROOT / "run.py"), "insert", *arguments],
        cwd=folder,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder


@pytest.mark.parametrize(("command", "output"), combined(QUIET_COMMANDS, UNWRITABLE, often=OFTEN))
def test_an_output_that_cannot_be_written_is_one_line(
    inserted: Path, tmp_path: Path, command: str, output: str
) -> None:
    (result,) = (inserted / "results").glob("*-insert-*.json")
    words = [str(result) if word == "RESULT" else word for word in QUIET_COMMANDS[command]]
    line = f"{sys.executable} {ROOT / 'run.py'} {' '.join(words)} {output}"
    done = subprocess.run(
        ["bash", "-c", f"{line}; exit ${{PIPESTATUS[0]}}"],
        cwd=inserted,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr
    if output in ("> /dev/full", ">&-"):
        assert done.stderr.startswith("error: standard output: ")


def test_cleanup_removes_everything_even_if_it_cannot_print(tmp_path: Path) -> None:
    for number in range(3):
        folder = tmp_path / f"iot-bench-data-{number}"
        folder.mkdir(mode=0o700)
        (folder / ".owner").write_text(str(replace(Owner.this(), pid=999_999_999)))
    done = subprocess.run(
        ["bash", "-c", f"{sys.executable} {ROOT / 'run.py'} cleanup > /dev/full"],
        env={**os.environ, "TMPDIR": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr == "error: standard output: No space left on device\n"
    assert list(tmp_path.glob("iot-bench-*")) == []
