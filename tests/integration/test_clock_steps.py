"""A step of the system's clock during a run, by a library that alters what processes read of it."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import CommandLine

SOURCE = r"""
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long step(void) {
    static int stepped;
    if (!stepped) stepped = access(getenv("STEP_FILE"), F_OK) == 0;
    return stepped ? atol(getenv("STEP_S")) : 0;
}
int clock_gettime(clockid_t clock, struct timespec *found) {
    int failed = syscall(SYS_clock_gettime, clock, found);
    if (!failed && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        found->tv_sec += step();
    return failed;
}
int gettimeofday(struct timeval *found, void *zone) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    found->tv_sec = now.tv_sec;
    found->tv_usec = now.tv_nsec / 1000;
    return 0;
}
time_t time(time_t *found) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (found) *found = now.tv_sec;
    return now.tv_sec;
}
"""
_STEP_S = 3600
_LONGEST_S = 300
"""No phase, latency or pause of such a run takes longer."""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if not compiler:
        pytest.skip("no C compiler for the library that steps the clock")
    folder = tmp_path_factory.mktemp("clock")
    (folder / "step.c").write_text(SOURCE)
    subprocess.run(
        [compiler, "-shared", "-fPIC", "-O1", "-o", "step.so", "step.c"], cwd=folder, check=True
    )
    return folder / "step.so"


def _durations(found: Any, name: str = "") -> Iterator[tuple[str, float]]:
    """Yield every number of a result that is in seconds or ms, but for instants."""
    if isinstance(found, dict):
        for key, value in found.items():
            shown = f"{name}.{key}" if name else key
            unit = name if name.rpartition(".")[2].endswith(("_s", "_ms")) else shown
            yield from _durations(value, shown if isinstance(value, dict | list) else unit)
    elif isinstance(found, list):
        for value in found:
            yield from _durations(value, name)
    elif isinstance(found, int | float) and not isinstance(found, bool):
        factor = {"s": 1.0, "ms": 1e-3}.get(name.rpartition("_")[2])
        if factor and abs(found) * factor < 1e8:
            yield name, found * factor


@pytest.mark.parametrize("step_s", [pytest.param(_STEP_S, marks=pytest.mark.rare), -_STEP_S])
def test_no_figure_changes_if_the_clock_of_the_system_steps(
    cli: CommandLine, library: Path, step_s: int
) -> None:
    file, moment = cli.folder / "bench.db", cli.folder / "step"
    cli.environment |= {
        "LD_PRELOAD": str(library), "STEP_S": str(step_s), "STEP_FILE": str(moment),
    }  # fmt: skip
    running = cli.start(
        "insert", "--target=sqlite", f"--extra-option=path={file}", "--workers=2", "--runs=1",
        "--batch=10", "--rate=500", "--duration=2s", "--warmup=1s", "--quiet",
    )  # fmt: skip
    while not _rows(file) and running.poll() is None:
        time.sleep(0.05)
    moment.touch()
    seen = subprocess.run(
        [sys.executable, "-c", "import time; print(time.time())"],
        env={**os.environ, **cli.environment}, capture_output=True, check=True, text=True,
    )  # fmt: skip
    assert abs(float(seen.stdout) - time.time() - step_s) < 60
    done = cli.finish(running, within_s=120)

    assert done.code == 0, done.err
    (result,) = cli.results()
    (run,) = result["runs"]
    read = [*_durations(run["outcome"])]
    assert len(read) > 20
    assert [each for each in read if not -0.001 <= each[1] < _LONGEST_S] == []
    assert run["outcome"]["verdict"]["status"] == "verified"
    assert 1.5 < run["outcome"]["phases_s"]["insert"] < 30


def _rows(file: Path) -> int:
    """Return the rows of the table; 0 before it exists."""
    if not file.exists():
        return 0
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])
        except sqlite3.OperationalError:
            return 0
