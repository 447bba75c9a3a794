"""The matrix on the test cluster: pods deleted, containers killed, nodes crashed, the API away.

    python -m tests.faults.cluster [--seed N] [--cells N] [--cell N]

It starts the test cluster of tests/cluster unless that is up; each cell then measures the
PostgreSQL of one namespace. Where no such cluster can run, it says why and exits with 0.
"""

import argparse
import contextlib
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import yaml

from tests.e2e.harness import (
    SMALL,
    STATE,
    ClusterLine,
    Kubernetes,
    Namespace,
    cluster,
    kill_container,
    new_namespace,
)
from tests.faults.network import listen
from tests.faults.processes import is_root
from tests.faults.proxy import Proxy
from tests.integration.conftest import Finished

LIMIT_S = 20.0
NODE_LIMIT_S = 45.0
"""A node renews its lease every 10 s; it is lost after two that are missing."""
_ROWS, _RATE = 10_000, 1000
_PHASES = ("start", "init", "insert", "settle")
_FAULTS = {
    "collector": ("delete", "kill", "crash"),
    "worker": ("delete", "kill", "crash"),
    "database": ("delete",),
    "command": ("kill",),
    "api": ("cut", "blink"),
}
"""delete: the pod. kill: its container. crash: its node. cut: the command line does not reach the
API server any more. blink: the same for some seconds."""
_CAUSES = {
    "delete": "deleted|SIGTERM",
    "kill": "137|killed",
    "crash": "its node {node}",
    "database": "connect|closed|terminat|refused|no answer|resolve|translate",
    "api": "cannot be reached|API",
}


@dataclass(frozen=True)
class ClusterCell:
    """One cell on the cluster."""

    seed: int
    number: int
    victim: str
    fault: str
    phase: str
    delay_s: float
    pause_s: float

    def __str__(self) -> str:
        return f"{self.number} cluster/{self.victim}/{self.fault}/{self.phase}"


@dataclass
class Judged:
    """A cell, and what is wrong with it."""

    cell: ClusterCell
    problems: list[str] = field(default_factory=list)
    ended_s: float = 0.0
    cause: str = ""
    code: int | None = None


def cells(seed: int) -> Iterator[ClusterCell]:
    """Yield the cells of a seed without end, every kind of fault in turn."""
    kinds = [(victim, fault) for victim, faults in _FAULTS.items() for fault in faults]
    number = 0
    while True:
        for victim, fault in Random(f"{seed}/{number}").sample(kinds, len(kinds)):
            number += 1
            rng = Random(f"{seed}/{number}/cell")
            phase, delay_s = rng.choice(_PHASES), rng.uniform(0, 2)
            yield ClusterCell(seed, number, victim, fault, phase, delay_s, rng.uniform(2, 8))


class _Trial:
    def __init__(self, cell: ClusterCell, namespace: Namespace, folder: Path) -> None:
        self.cell, self.namespace = cell, namespace
        self.line = ClusterLine(folder, namespace=namespace)
        self.judged = Judged(cell)
        self.node = ""

    def run(self) -> Judged:
        nodes = self.namespace.kube.client_nodes()
        self.line.values = {
            part: {**SMALL[part], "nodeSelector": {"kubernetes.io/hostname": node}}
            for part, node in zip(("worker", "collector"), nodes, strict=False)
        }
        with contextlib.ExitStack() as stack:
            proxy = stack.enter_context(self._api()) if self.cell.victim == "api" else None
            stack.callback(self._tidy)
            self._measured(proxy)
        return self.judged

    def _measured(self, proxy: Proxy | None) -> None:
        cell, judged = self.cell, self.judged
        arguments = ["--target=postgresql", "--workers=1", "--runs=1", "--batch=100"]
        arguments += [f"--num-inserts={_ROWS}", f"--rate={_RATE}", "--verify=full"]
        if proxy:
            arguments.append(f"--kubeconfig={self.line.folder / 'kubeconfig'}")
        process = self.line.start("insert", *arguments)
        if not self._reached(process.poll):
            judged.problems.append(f"not tried: {cell.phase} was not seen")
            return
        time.sleep(cell.delay_s)
        began = time.monotonic()
        limit_s = NODE_LIMIT_S if cell.fault == "crash" else LIMIT_S
        if cell.fault == "blink":
            limit_s += cell.pause_s + _ROWS / _RATE
        with contextlib.ExitStack() as fault:  # at its end nodes are booted, and the API is back
            self._strike(fault, process, proxy)
            try:
                done = self.line.finish(process, limit_s + 30)
            except Exception as error:  # noqa: BLE001 - a timeout, or a traceback in its output
                judged.problems.append(f"it did not end: {error}")
                return
            judged.ended_s, judged.code = time.monotonic() - began, done.code
        if judged.ended_s > limit_s:
            judged.problems.append(f"it ended after {judged.ended_s:.1f} s; {limit_s:.0f} allowed")
        judged.problems += self._killed() if cell.victim == "command" else self._ended(done)
        judged.problems += self._next()

    def _reached(self, ended: Callable[[], int | None]) -> bool:
        """Wait for the phase, by the collector's log."""
        wanted = f'"phase":"{self.cell.phase}"'
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline and ended() is None:
            pods = self.namespace.pods("collector")
            if pods and self.cell.phase == "start":
                return True
            if any(wanted in self.namespace.log(pod["metadata"]["name"]) for pod in pods):
                return True
            time.sleep(0.2)
        return False

    def _strike(self, stack: contextlib.ExitStack, process: Any, proxy: Proxy | None) -> None:
        cell, namespace = self.cell, self.namespace
        if cell.victim == "command":
            process.kill()
        elif proxy:
            proxy.hold()
            stack.callback(proxy.release)
            if cell.fault == "blink":
                time.sleep(cell.pause_s)
                proxy.release()
        elif cell.victim == "database":
            namespace.kubectl("delete", "pod", "postgres-0", "--wait=false")
        elif cell.fault == "delete":
            name = namespace.pods(cell.victim)[0]["metadata"]["name"]
            namespace.kubectl("delete", "pod", name, "--wait=false")
        elif cell.fault == "kill":
            kill_container(namespace.pods(cell.victim)[0])
        else:
            self.node = namespace.pods(cell.victim)[0]["spec"]["nodeName"]
            stack.enter_context(_crashed(namespace.kube, self.node))

    @contextlib.contextmanager
    def _api(self) -> Iterator[Proxy]:
        """Let the command line reach the API server only through a proxy."""
        kube = self.namespace.kube
        content = yaml.safe_load(Path(kube.environment["KUBECONFIG"]).read_text())
        server = content["clusters"][0]["cluster"]["server"]
        host, _, port = server.removeprefix("https://").partition(":")
        proxy = Proxy(int(port), listen, host)
        content["clusters"][0]["cluster"]["server"] = f"https://127.0.0.1:{proxy.port}"
        (self.line.folder / "kubeconfig").write_text(yaml.safe_dump(content))
        try:
            yield proxy
        finally:
            proxy.close()

    # --- afterwards

    def _killed(self) -> Iterator[str]:
        """The command line itself was killed."""
        if any(result["status"] == "done" for result in self.line.results()):
            yield "its result says done, and it was killed"

    def _ended(self, done: Finished) -> Iterator[str]:
        """The command ended by itself."""
        cell, results = self.cell, self.line.results()
        if not results:
            yield "there is no result file"
            return
        result = results[-1]
        self.judged.cause = cause = result["cause"]
        if cell.fault != "cut" and self.namespace.leftovers():
            yield f"left: {', '.join(self.namespace.leftovers())}"
        if done.code == 0:
            yield from self._survived(result)
        elif cell.fault == "blink":
            yield f"exit code {done.code} after a pause that does no harm: {cause}"
        elif done.code != 1:
            yield f"exit code {done.code}; a failed run has 1: {cause}"
        else:
            yield from self._cause(cause)

    def _survived(self, result: Any) -> Iterator[str]:
        verdict = result["runs"][-1]["outcome"]["verdict"]["status"]
        if verdict != "verified" or not result["manifest"]["complete"]:
            yield f"exit code 0, and its verdict is {verdict}"
        if self.cell.fault != "blink" and self.cell.phase != "settle":
            yield "exit code 0 after a fault that nothing can survive"

    def _cause(self, cause: str) -> Iterator[str]:
        cell = self.cell
        words = _CAUSES.get(cell.victim) or _CAUSES[cell.fault]
        named = words.format(node=self.node).split("|")
        if not any(word in cause for word in named):
            yield f"the cause is not named (expected {words!r}): {cause!r}"
        if cell.victim in ("collector", "worker") and cell.victim not in cause:
            yield f"the {cell.victim} is not named: {cause!r}"

    def _next(self) -> Iterator[str]:
        """What the next commands say is true."""
        self.line.run("cleanup")
        if left := self.namespace.leftovers():
            yield f"left after `cleanup`: {', '.join(left)}"
        self.namespace.kubectl("wait", "--for=condition=Ready", "pod/postgres-0", "--timeout=90s")
        before = self.line.results()
        asked = self.line.run("verify", "--target=postgresql")
        whole = bool(before) and before[-1]["status"] == "done"
        if asked.code == 3 or (whole and asked.code):
            yield f"a false accusation: exit code {asked.code}: {asked.err.strip()[-300:]}"
        elif asked.code == 0 and not whole and self.judged.code != 0:
            stored = self.namespace.sql("SELECT count(*) FROM events")
            if stored != str(_ROWS):
                yield f"`verify` says that {stored} rows are whole"
        small = ("--workers=1", "--runs=1", "--batch=100", "--num-inserts=500", "--verify=full")
        done = self.line.insert("--target=postgresql", *small)
        stored = self.namespace.sql("SELECT count(*) FROM events")
        if done.code or stored != "500":
            yield f"the next insert: exit code {done.code}, {stored} rows: {done.err[-300:]}"

    def _tidy(self) -> None:
        self.line.end()
        self.line.run("cleanup")
        self.namespace.remove_leftovers()


@contextlib.contextmanager
def _crashed(kube: Kubernetes, node: str) -> Iterator[None]:
    """Crash a node; boot it at the end."""
    kube.script("crash", node)
    last = kube.renewed(node)
    try:
        yield
    finally:
        kube.script("boot", node)
        deadline = time.monotonic() + 60
        while not kube.renewed_since(node, last) and time.monotonic() < deadline:
            time.sleep(0.5)
        kube.kubectl("wait", "--for=condition=Ready", f"node/{node}", "--timeout=60s")


def unavailable() -> str:
    """Return why the test cluster cannot run here, or nothing."""
    if STATE.is_dir():
        return ""
    if not is_root():
        return "the test cluster needs root"
    missing = [program for program in ("go", "ip", "iptables") if shutil.which(program) is None]
    return f"the test cluster needs {', '.join(missing)}" if missing else ""


def main() -> int:
    """Run the cells one after another; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.cluster", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1, 10**6))
    parser.add_argument("--cells", type=int, default=10)
    parser.add_argument("--cell", type=int, metavar="N", help="repeat one cell of --seed")
    arguments = parser.parse_args()
    if why := unavailable():
        print(f"skipped: {why}")
        return 0
    print(f"seed {arguments.seed}", flush=True)
    wrong = tried = 0
    with cluster() as kube, new_namespace(kube, postgres=True) as namespace:
        if not kube.own:
            print("skipped: KUBECONFIG names a cluster whose nodes are not to be crashed")
            return 0
        run = partial(_run, namespace=namespace)
        for cell in cells(arguments.seed):
            if tried == (1 if arguments.cell else arguments.cells):
                break
            if arguments.cell in (None, cell.number):
                tried += 1
                wrong += not run(cell)
    print(f"seed {arguments.seed}: {tried} tried, {tried - wrong} right")
    return 1 if wrong else 0


def _run(cell: ClusterCell, namespace: Namespace) -> bool:
    """Run a cell and print it; return whether it is right."""
    with tempfile.TemporaryDirectory(prefix=f"faults-cluster-{cell.number}-") as folder:
        judged = _Trial(cell, namespace, Path(folder)).run()
    what = f"ended after {judged.ended_s:.1f} s, exit {judged.code}: {judged.cause[:140]}"
    print(f"{'WRONG' if judged.problems else 'ok   '} {cell}, {what}", flush=True)
    for problem in judged.problems:
        print(f"      {problem}")
    if judged.problems:
        again = f"--seed {cell.seed} --cell {cell.number}"
        print(f"      python -m tests.faults.cluster {again}", flush=True)
    return not judged.problems


if __name__ == "__main__":
    sys.exit(main())
