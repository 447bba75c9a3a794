"""The matrix on the test cluster: pods deleted, containers killed, nodes crashed, the API away.

    python -m tests.faults.cluster                       22 cells from a random seed
    python -m tests.faults.cluster --seed 7 --cell 12    repeats one cell

It starts the test cluster of tests/cluster unless that is up; each cell then measures the
PostgreSQL of one namespace. Where no such cluster can run, it says why and exits with 0.
"""

import argparse
import contextlib
import itertools
import random
import re
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml
from _pytest.outcomes import Failed

from iotbench.results import result_files
from iotbench.results.result import Result
from simulator.protocol.verdict import Status
from tests.e2e.harness import (
    SMALL,
    STATE,
    ClusterLine,
    Kubernetes,
    Namespace,
    cluster,
    kill_container,
    kill_process,
    new_namespace,
    waited,
)
from tests.faults import judge
from tests.faults.cluster_cells import (
    FAULTS,
    HARMLESS,
    PHASES,
    PREFILL,
    RATE,
    ROWS,
    ClusterCell,
    cells,
)
from tests.faults.network import listen
from tests.faults.processes import is_root
from tests.faults.proxy import Proxy
from tests.faults.trial import Missed
from tests.integration.conftest import Finished

CELLS = 22
_SMALL_ROWS = 500
_TRIES = 3
_CAUSES = {
    "delete": "{victim}.*deleted",
    "kill": "{victim}.*(137|killed)",
    "crash": "{victim}.*its node {node}",
    "database": r"connect|closed|terminat|refused|no answer|resolve|translate|shutting down",
    "api": r"no answer from the cluster for 60 s: .*|helm \w+ did not end",
}

_ANNOUNCED = re.compile(r"not everything was removed; remove the rest with: .* cleanup (.*)")


@dataclass
class Judged:
    """A cell, and what is wrong with it."""

    cell: ClusterCell
    problems: list[str] = field(default_factory=list)
    ended_s: float = 0.0
    cause: str = ""
    code: int | None = None


class _Trial:
    def __init__(
        self, cell: ClusterCell, delay_s: float, namespace: Namespace, folder: Path
    ) -> None:
        self.cell, self.delay_s, self.namespace = cell, delay_s, namespace
        self.line = ClusterLine(folder, namespace=namespace)
        self.judged = Judged(cell)
        self.nodes: dict[str, str] = {}
        """Of the worker and the collector."""
        self.node = ""
        """That was crashed."""
        self.planned = 0
        self.stored_before = self._stored()

    def run(self) -> Judged:
        self.nodes = dict(
            zip(("worker", "collector"), self.namespace.kube.client_nodes(), strict=False)
        )
        self.line.values = {
            part: {**SMALL[part], "nodeSelector": {"kubernetes.io/hostname": node}}
            for part, node in self.nodes.items()
        }
        with contextlib.ExitStack() as stack:
            proxy = stack.enter_context(self._api()) if self.cell.victim == "api" else None
            stack.callback(self._tidy)
            self._measured(proxy)
        return self.judged

    def _measured(self, proxy: Proxy | None) -> None:
        cell, judged = self.cell, self.judged
        arguments = ["--target=postgresql", "--workers=1", "--runs=1", "--batch=100"]
        arguments += [f"--num-inserts={ROWS}", f"--rate={RATE}", "--verify=full"]
        prefill = PREFILL if cell.phase == "verify" else 0  # otherwise it is over too soon
        self.planned = ROWS + prefill
        if proxy:
            arguments.append(f"--kubeconfig={self._kubeconfig}")
        process = self.line.start("insert", *arguments, f"--prefill={prefill}")
        if not self._reached(process.poll):
            raise Missed(f"{cell.phase} was not seen")
        time.sleep(self.delay_s)
        if process.poll() is not None:
            raise Missed("the command was over before the fault")
        began = time.monotonic()
        with contextlib.ExitStack() as fault:  # at its end nodes are booted, and the API is back
            self._strike(fault, process, proxy)
            try:
                done = self.line.finish(process, cell.limit_s + 30)
            except Exception as error:  # noqa: BLE001 - a timeout, or a traceback in its output
                judged.problems.append(f"it did not end: {error}")
                return
            judged.ended_s, judged.code = time.monotonic() - began, done.code
        if judged.ended_s > cell.limit_s:
            allowed = f"{cell.limit_s:.0f} s are allowed"
            judged.problems.append(f"it ended after {judged.ended_s:.1f} s; {allowed}")
        killed = (cell.victim, cell.fault) == ("command", "kill")
        judged.problems += self._killed() if killed else self._ended(done)
        judged.problems += self._next(done)

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
        return False

    def _strike(self, stack: contextlib.ExitStack, process: Any, proxy: Proxy | None) -> None:
        cell, namespace = self.cell, self.namespace
        if cell.fault == "pause":
            process.send_signal(signal.SIGSTOP)
            time.sleep(cell.pause_s)
            process.send_signal(signal.SIGCONT)
        elif cell.victim == "command":
            process.kill()
        elif proxy:
            proxy.hold()
            stack.callback(proxy.release)
            if cell.fault == "blink":
                time.sleep(cell.pause_s)
                proxy.release()
        elif cell.victim == "database":
            namespace.kubectl("delete", "pod", "postgres-0", "--wait=false")
        else:
            self._strike_pod(stack)

    def _strike_pod(self, stack: contextlib.ExitStack) -> None:
        fault, namespace = self.cell.fault, self.namespace
        (pod,) = waited("its pod exists", lambda: namespace.pods(self.cell.victim), 10)
        if fault == "crash":
            self.node = self.nodes[self.cell.victim]
            stack.enter_context(_crashed(namespace.kube, self.node))
        elif fault == "delete":
            namespace.kubectl("delete", "pod", pod["metadata"]["name"], "--wait=false")
        else:
            kill = kill_process if fault == "kill-process" else kill_container
            waited("its container runs", lambda: kill(pod), 10)

    @contextlib.contextmanager
    def _api(self) -> Iterator[Proxy]:
        """Let the command line reach the API server only through a proxy."""
        assert self.namespace.kubeconfig
        content = yaml.safe_load(self.namespace.kubeconfig.read_text())
        reached = content["clusters"][0]["cluster"]
        where = urlsplit(reached["server"])
        assert where.hostname
        proxy = Proxy(where.port or 443, listen, where.hostname)
        reached |= {
            "server": f"https://127.0.0.1:{proxy.port}",
            "tls-server-name": where.hostname,
        }
        self._kubeconfig.touch(mode=0o600)
        self._kubeconfig.write_text(yaml.safe_dump(content))
        try:
            yield proxy
        finally:
            proxy.close()

    @property
    def _kubeconfig(self) -> Path:
        return self.line.folder / "kubeconfig"

    # --- afterwards

    def _killed(self) -> Iterator[str]:
        """The command line itself was killed."""
        for result in self._results():
            if result.status == "done":  # true if it was killed while it removed the pods
                yield from self._survived(result)

    def _results(self) -> list[Result]:
        """Return the result files, which must be valid."""
        return [result_files.read(path) for path in sorted(self.line.output.glob("*.json"))]

    def _ended(self, done: Finished) -> Iterator[str]:
        """The command ended by itself."""
        cell, found = self.cell, self._results()
        if not found:
            yield f"there is no result file: {done.err.strip()[-300:]}"
            return
        result = found[-1]
        self.judged.cause = result.cause or _reasons(result)
        if cell.fault != "cut" and self.namespace.leftovers():
            yield f"left: {', '.join(self.namespace.leftovers())}"
        if left := self.line.leftovers():
            yield f"left on this machine: {', '.join(left)}"
        # A run that is over stays done if only its pods cannot be removed.
        is_left = cell.fault == "cut" and result.status == "done" and _ANNOUNCED.search(done.err)
        if done.code != (1 if is_left else result.exit_code):
            yield f"exit code {done.code}, and its result file stands for {result.exit_code}"
        yield from self._rows(result)
        if done.code == 0 or is_left:
            yield from self._survived(result)
        elif cell.fault in HARMLESS:
            yield f"exit code {done.code} after a fault that does no harm: {result.cause}"
        elif done.code != 1:
            yield f"exit code {done.code}; a failed run has 1: {result.cause}"
        elif not judge.lacks_rows(result):
            yield from self._named(result.cause, done.err)

    def _rows(self, result: Result) -> Iterator[str]:
        """No acknowledged row is lost."""
        self._await_database()
        reports = result.runs[-1].outcome.workers if result.runs else ()
        acknowledged = sum(report.rows + report.prefill_rows for report in reports)
        if acknowledged > self._stored():
            yield f"{acknowledged} rows were acknowledged, and {self._stored()} are stored"
        yield from judge.wrongly_counted(result, self._stored())

    def _stored(self) -> int:
        if not self.namespace.sql("SELECT to_regclass('events')"):
            return 0
        return int(self.namespace.sql("SELECT count(*) FROM events"))

    def _await_database(self) -> None:
        ready = ("wait", "--for=condition=Ready", "pod/postgres-0", "--timeout=90s")
        waited("the database is back", lambda: self.namespace.kubectl(*ready, check=False), 90)

    def _survived(self, result: Result) -> Iterator[str]:
        verdict = result.runs[-1].outcome.verdict
        complete = result.manifest is not None and result.manifest.complete
        if verdict is None or verdict.status != Status.VERIFIED or not complete:
            yield f"its result says done, and its verdict is {verdict}"
        if not self.cell.may_survive:
            yield "its result says done after a fault that nothing can survive"

    def _named(self, cause: str, err: str) -> Iterator[str]:
        cell = self.cell
        pattern = _CAUSES.get(cell.victim) or _CAUSES[cell.fault]
        named = pattern.format(victim=cell.victim, node=self.node)
        if not re.search(named, cause):
            yield f"the cause is not named (expected {named!r}): {cause!r}"
        if " ".join(cause.split()) not in " ".join(err.split()):
            yield "the cause is not on standard error"

    def _next(self, done: Finished) -> Iterator[str]:
        """Yield the problems of the commands that follow, first of the announced `cleanup`."""
        announced = _ANNOUNCED.search(done.err)
        self.line.run("cleanup", *(shlex.split(announced[1]) if announced else ()))
        if left := self.namespace.leftovers():
            yield f"left after `cleanup`: {', '.join(left)}"
        self._await_database()
        yield from self._then()
        small = (
            "--workers=1",
            "--runs=1",
            "--batch=100",
            f"--num-inserts={_SMALL_ROWS}",
            "--verify=full",
        )
        done = self.line.insert("--target=postgresql", *small)
        if done.code or self._stored() != _SMALL_ROWS:
            shown = f"exit code {done.code}, {self._stored()} rows: {done.err[-300:]}"
            yield f"the next insert: {shown}"

    def _then(self) -> Iterator[str]:
        """The next `query` or `verify` accuses nobody, and calls only whole rows whole."""
        before, stored = self._results(), self._stored()
        whole = bool(before) and before[-1].status == "done" and not judge.lacks_rows(before[-1])
        command = self.cell.then
        asked = self.line.run(command, "--target=postgresql")
        shown = f"exit code {asked.code}: {asked.err.strip()[-300:]}"
        if asked.code == 3:
            yield f"a false accusation by `{command}`: {shown}"
        elif whole and asked.code:
            yield f"the rows are whole, and then `{command}`: {shown}"
        elif asked.code == 0 and not whole and stored not in (self.planned, self.stored_before):
            yield f"`{command}` says that {stored} rows are whole"
        elif asked.code not in (0, 1, 2):
            yield f"`{command}`: {shown}"
        if self._stored() != stored:
            yield f"`{command}` changed the rows: {stored} before, {self._stored()} after"

    def _tidy(self) -> None:
        self.line.end()
        self.line.run("cleanup")
        self.namespace.remove_leftovers()


def _reasons(result: Result) -> str:
    """Return the reasons of the verdicts on a result."""
    verdicts = [run.outcome.verdict for run in result.runs]
    return "; ".join(verdict.reason for verdict in verdicts if verdict)


@contextlib.contextmanager
def _crashed(kube: Kubernetes, node: str) -> Iterator[None]:
    """Crash a node; boot it at the end."""
    last = kube.renewed(node)
    try:
        kube.script("crash", node)
        last = kube.renewed(node)
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
    missing = [program for program in ("go", "apt-get") if shutil.which(program) is None]
    return f"the test cluster needs {', '.join(missing)}" if missing else ""


def main() -> int:
    """Run the cells one after another; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.cluster", description=__doc__)
    parser.add_argument("--seed", type=int, default=random.randrange(1, 10**6))
    parser.add_argument("--cells", type=int, default=CELLS, help="how many cells (%(default)s)")
    parser.add_argument("--cell", type=int, metavar="N", help="repeat one cell of --seed")
    arguments = parser.parse_args()
    if why := unavailable():
        print(f"skipped: {why}")
        return 0
    wanted = itertools.islice(cells(arguments.seed), arguments.cell or arguments.cells)
    picked = [cell for cell in wanted if arguments.cell in (None, cell.number)]
    print(f"seed {arguments.seed}: {len(picked)} cells", flush=True)
    with cluster() as kube, new_namespace(kube, postgres=True) as namespace:
        if not kube.own:
            print("skipped: KUBECONFIG names a cluster whose nodes are not to be crashed")
            return 0
        done = [_run(cell, namespace) for cell in picked]
    print(f"\n{table(done)}\n")
    right = sum(not judged.problems for judged in done)
    print(f"seed {arguments.seed}: {len(done)} tried, {right} right")
    return 0 if right == len(done) else 1


def table(done: Sequence[Judged]) -> str:
    """Return cells right and tried, by victim and fault, and by phase."""
    lines = [f"{'right/tried':<20}" + "".join(f"{phase:>8}" for phase in PHASES)]
    for victim, faults in FAULTS.items():
        for fault in faults:
            own = [each for each in done if (each.cell.victim, each.cell.fault) == (victim, fault)]
            line = f"{f'{victim} {fault}':<20}"
            for phase in PHASES:
                tried = [each for each in own if each.cell.phase == phase]
                right = sum(not each.problems for each in tried)
                line += f"{f'{right}/{len(tried)}' if tried else '-':>8}"
            lines.append(line)
    return "\n".join(lines)


def _run(cell: ClusterCell, namespace: Namespace) -> Judged:
    """Run a cell and print it."""
    for attempt in range(_TRIES):
        with tempfile.TemporaryDirectory(prefix=f"faults-cluster-{cell.number}-") as folder:
            trial = _Trial(cell, 0.5**attempt * cell.delay_s, namespace, Path(folder))
            try:
                judged = trial.run()
                break
            except (Missed, Failed) as error:  # the command was faster
                judged = Judged(cell, [f"not tried: {error}"])
            except Exception as error:  # noqa: BLE001 - the other cells are to be tried
                judged = Judged(cell, [f"the harness failed: {error!r}"])
                break
    what = f"ended after {judged.ended_s:.1f} s, exit {judged.code}: {judged.cause[:140]}"
    print(f"{'WRONG' if judged.problems else 'ok   '} {cell}, {what}", flush=True)
    for problem in judged.problems:
        print(f"      {problem}")
    if judged.problems:
        again = f"--seed {cell.seed} --cell {cell.number}"
        print(f"      python -m tests.faults.cluster {again}", flush=True)
    return judged


if __name__ == "__main__":
    sys.exit(main())
