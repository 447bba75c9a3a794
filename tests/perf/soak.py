"""An hour of load: what the program's own processes use of memory, files and disk, as slopes.

    python tests/perf/soak.py [TARGET ...] [--minutes 20] [--insert-rate 2000] [--query-rate 20]

Three databases in turn: some rows are inserted, then `mixed` adds others and asks about them for
so many minutes. Memory, threads and open files of the command line, the collector and the workers
are read each second, from outside. What they gain in an hour is the slope of a straight line, with
its 95 % interval, in each half of the time after the first two fifths. A process is said to grow if
both intervals are above 1 MiB an hour: a leak goes on, and what takes memory once does not. The
result is also given with its size, beside that of everything that was written. Ends with 1 if a
process grows, or a run does not end verified.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import psutil

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.perf.on_servers import ROOT, Line, print_table
from tests.processes import part_of

TARGETS = ("postgresql", "elasticsearch", "questdb")
HEAD = (
    "| Target | Process | MiB after 1 min, at the end | MiB an hour, first and second half"
    " | Threads | Open files | CPU, s | What it writes | Verdict |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
_GROWS_MIB = 1.0
_SETTLED = 0.4
"""Part of the time that is not looked at: buffers and caches fill."""
_INTERVALS = 30
"""Means of so many equal times are fitted: samples that follow each other are alike."""
_T = 2.0
"""Of a 95 % interval with so many degrees of freedom."""
_MIB = 2**20


@dataclass(frozen=True)
class Sample:
    """What a process uses at a time."""

    at_s: float
    memory_bytes: int
    threads: int
    files: int
    cpu_s: float


def rows(problems: list[str], line: Line, given: argparse.Namespace) -> str:
    """Return the rows of a target, one for each process of the program; add what is wrong."""
    line.run("insert", "--workers=1", "--runs=1", "--num-inserts=100k", "--batch=1000", "--quiet")
    words = [
        "mixed", "--target", line.target, f"--duration={given.minutes}m", "--insert-workers=2",
        f"--insert-rate={given.insert_rate}", "--query-workers=1",
        f"--query-rate={given.query_rate}", "--batch=10", "--quiet", "--verify=counts",
        f"--config={line.config}", f"--output={line.folder}", "--format=json",
    ]  # fmt: skip
    with subprocess.Popen(
        [sys.executable, str(ROOT / "run.py"), *words], stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, text=True, cwd=ROOT, env={**os.environ, **line.environment},
    ) as process:  # fmt: skip
        found = watched(psutil.Process(process.pid), 60.0 * float(given.minutes))
        printed = process.communicate()[0]
    status = json.loads(printed)["status"] if printed.startswith("{") else "failed"
    result = max(line.folder.glob("*-mixed-*.json"))
    run = json.loads(result.read_text())["runs"][0]["outcome"]
    verdict = run["rows_verdict"]["status"] if status == "done" else run["cause"]
    size = sum(path.stat().st_size for path in line.folder.rglob("*") if path.is_file())
    written = f"{result.stat().st_size / 1e3:,.0f} kB, of {size / 1e3:,.0f} kB in all"
    shown = [row(line.target, name, each, written, verdict) for name, each in found.items()]
    grown = [name for (_, grows), name in zip(shown, found, strict=True) if grows]
    problems += [f"{line.target}: {name}: more than {_GROWS_MIB:g} MiB an hour" for name in grown]
    problems += [f"{line.target}: {verdict}"] * (verdict != "verified")
    return "\n".join(text for text, _ in shown)


def watched(main: psutil.Process, seconds: float) -> dict[str, list[Sample]]:
    """Return what each process used, a sample a second, while load is there."""
    found: dict[str, list[Sample]] = defaultdict(list)
    began_s = time.monotonic()
    while main.is_running() and main.status() != psutil.STATUS_ZOMBIE:
        elapsed_s = time.monotonic() - began_s
        if elapsed_s < seconds:
            for process in (main, *main.children(recursive=True)):
                with suppress(psutil.Error):
                    if name := named(process, main):
                        found[name].append(sample(process, elapsed_s))
        time.sleep(1.0)
    return found


def named(process: psutil.Process, main: psutil.Process) -> str:
    """Return what a process is; empty: it is not ours."""
    if process == main:
        return "command line"
    return part_of(process)


def sample(process: psutil.Process, at_s: float) -> Sample:
    """Return what a process uses now; shared pages of libraries do not count."""
    with process.oneshot():
        times = process.cpu_times()
        return Sample(
            at_s, process.memory_full_info().uss, process.num_threads(), process.num_fds(),
            times.user + times.system,
        )  # fmt: skip


def row(
    target: str, name: str, samples: Sequence[Sample], written: str, verdict: str
) -> tuple[str, bool]:
    """Return the row of a process, and whether it grows."""
    settled = [each for each in samples if each.at_s >= _SETTLED * samples[-1].at_s]
    middle = len(settled) // 2
    slopes = [growth(half) for half in (settled[:middle], settled[middle:])]
    first = next((each for each in samples if each.at_s >= 60), samples[0])
    last = samples[-1]
    shown = ", ".join(f"{slope:+.2f} ±{within:.2f}" for slope, within in slopes)
    text = (
        f"| {target} | {name} | {first.memory_bytes / _MIB:.1f}, {last.memory_bytes / _MIB:.1f}"
        f" | {shown} | {first.threads}, {last.threads}"
        f" | {first.files}, {last.files} | {last.cpu_s:.0f} | {written} | {verdict} |"
    )
    return text, all(slope - within > _GROWS_MIB for slope, within in slopes)


def growth(samples: Sequence[Sample]) -> tuple[float, float]:
    """Return the slope of memory over time, and half of its 95 % interval, in MiB an hour."""
    parts = min(_INTERVALS, len(samples))
    x, y = (
        np.array([part.mean() for part in np.array_split(np.array(values, np.float64), parts)])
        for values in ([s.at_s / 3600 for s in samples], [s.memory_bytes / _MIB for s in samples])
    )
    x = x - x.mean()
    slope = float(x @ y / (x @ x))
    left = y - y.mean() - slope * x
    error = np.sqrt(left @ left / max(parts - 2, 1) / (x @ x))
    return slope, _T * float(error)


def main() -> int:
    """Print the table; return 1 if something grows."""
    options = {"--minutes": "20", "--insert-rate": "2000", "--query-rate": "20"}
    problems: list[str] = []
    print_table(HEAD, partial(rows, problems), __doc__, options, TARGETS)
    for problem in problems:
        print(f"soak: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
