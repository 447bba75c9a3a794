"""A thousand workers on kwok's fake nodes: their pods run and end, and never register."""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.e2e.harness import (
    NULL,
    SMALL,
    STATE,
    ClusterLine,
    Kubernetes,
    interrupted,
    report,
    waited,
)

pytestmark = pytest.mark.rare

WORKERS = 1_000
MOST_MEMORY_BYTES = 300 * 2**20
_LASTING = {"type": "kwok", "pods": "stay"}
"""Nodes of pods that run until they are made to fail."""
_FAKE: dict[str, Any] = {
    **SMALL,
    "worker": {
        **SMALL["worker"],
        "nodeSelector": {"type": "kwok"},
        "tolerations": [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}],
    },
}


@pytest.fixture(scope="module")
def fake_nodes(kube: Kubernetes) -> Iterator[None]:
    """Fake nodes and kwok; both are removed afterwards."""
    if not kube.own:
        pytest.skip("only on the test cluster: this adds fake nodes")
    running = STATE / "pids" / "kwok"
    was_there = running.exists()
    kube.script("kwok", "5")
    yield
    kube.kubectl("delete", "nodes", "--selector=type=kwok")
    if not was_there:
        with contextlib.suppress(psutil.Error):
            os.kill(int(running.read_text().split()[0]), signal.SIGKILL)
        running.unlink()


class Watched:
    """Records the output of a command line, its times and its memory."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.lines: list[str] = []
        self.times: list[float] = [time.monotonic()]
        self.peak_bytes = 0
        self._threads = [threading.Thread(target=work) for work in (self._read, self._weigh)]
        for thread in self._threads:
            thread.start()

    def _read(self) -> None:
        assert self.process.stderr
        for line in self.process.stderr:
            self.lines.append(line)
            self.times.append(time.monotonic())

    def _weigh(self) -> None:
        """Read the kernel's record of the peak while the process exists."""
        status = Path(f"/proc/{self.process.pid}/status")
        while self.process.poll() is None:
            found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
            if found:
                self.peak_bytes = int(found[1]) * 1024
            time.sleep(0.05)

    def ended(self, within_s: float) -> int:
        """Wait for the end; return the exit code."""
        code = self.process.wait(within_s)
        for thread in self._threads:
            thread.join()
        self.times.append(time.monotonic())
        report(f"{WORKERS} workers: {self.peak_bytes / 2**20:.0f} MB, longest silence"
             f" {self.silence_s:.1f} s")  # fmt: skip
        assert "Traceback" not in self.said, self.said
        return code

    @property
    def said(self) -> str:
        return "".join(self.lines)

    @property
    def silence_s(self) -> float:
        return max(b - a for a, b in zip(self.times, self.times[1:], strict=False))


@pytest.fixture
def crowd(empty: ClusterLine) -> ClusterLine:
    empty.values = _FAKE
    empty.write_config(NULL)
    return empty


def started(line: ClusterLine) -> Watched:
    words = ("--target=null", f"--workers={WORKERS}", "--runs=1", "--num-inserts=1000")
    return Watched(line.start("insert", *words))


def requests(kube: Kubernetes) -> Counter[str]:
    """Return how many requests the API server has answered, by verb, for pods and in all."""
    found: Counter[str] = Counter()
    metrics = kube.kubectl("get", "--raw=/metrics")
    counters = re.findall(r"(?m)^apiserver_request_total\{(.+)\} (\S+)$", metrics)
    for labels, count in counters:
        of = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        found["all"] += int(float(count))
        if of["resource"] == "pods":
            found[f"{of['verb']} {of['subresource'] or 'pods'}"] += int(float(count))
    return found


def faked(line: ClusterLine) -> int:
    """Return how many of the workers run, or have run."""
    words = ("--selector=app.kubernetes.io/component=worker", "--no-headers")
    listed = line.namespace.kubectl("get", "pods", *words)
    return len(re.findall(r"\b(Running|Completed|Succeeded)\b", listed))


@pytest.mark.usefixtures("fake_nodes")
def test_workers_that_end_early_are_named(crowd: ClusterLine) -> None:
    began = time.monotonic()
    watched = started(crowd)
    assert watched.ended(within_s=240) == 1
    assert "ended before it joined the run" in crowd.result()["cause"]
    assert time.monotonic() - began < 180
    assert watched.silence_s < 45  # 9 s on an idle machine
    assert watched.peak_bytes < MOST_MEMORY_BYTES


@pytest.mark.usefixtures("fake_nodes")
@pytest.mark.timeout(600, func_only=True)
def test_a_tenth_of_the_workers_fails(crowd: ClusterLine, kube: Kubernetes) -> None:
    crowd.values = {**_FAKE, "worker": {**_FAKE["worker"], "nodeSelector": _LASTING}}
    before, began_s = requests(kube), time.monotonic()
    watched = started(crowd)
    waited("all workers run", lambda: faked(crowd) == WORKERS, within_s=240)
    created_s = time.monotonic() - began_s
    listed = crowd.namespace.kubectl(
        "get", "pods", "--selector=app.kubernetes.io/component=worker", "--output=name"
    )
    failing = listed.split()[: WORKERS // 10]
    failed_s = time.monotonic()
    crowd.namespace.kubectl("label", *failing, "fate=fail")
    assert watched.ended(within_s=240) == 1
    ended_s = time.monotonic() - failed_s

    assert re.search(r"worker \d+ .*137", crowd.result()["cause"]), crowd.result()["cause"]
    waited("everything is gone", lambda: crowd.namespace.leftovers() == [], within_s=120)
    used = requests(kube) - before
    report(f"{WORKERS} workers ran after {created_s:.0f} s; a tenth failed, and {ended_s:.0f} s"
           f" later all was cleaned up; requests: {dict(used.most_common())}")  # fmt: skip
    assert created_s < 180
    assert ended_s < 120
    assert watched.peak_bytes < MOST_MEMORY_BYTES
    assert used["LIST pods"] < WORKERS / 5  # each is one of a thousand pods


@pytest.mark.usefixtures("fake_nodes")
def test_ctrl_c_among_many(crowd: ClusterLine) -> None:
    watched = started(crowd)
    waited("half of the workers run", lambda: faked(crowd) >= WORKERS / 2, within_s=120)
    began = time.monotonic()
    interrupted(watched.process)
    assert watched.ended(within_s=90) == 130
    assert time.monotonic() - began < 60
    assert crowd.result()["status"] == "interrupted"
    assert watched.peak_bytes < MOST_MEMORY_BYTES
