"""Makes the database fail in the measured part of each run, and always undoes the fault."""

import shlex
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from iotbench.config.options.choice import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.execution.kubernetes.api import cluster_of
from iotbench.execution.kubernetes.kubelet import database_pods
from iotbench.execution.shell import Later, Shell
from iotbench.machine.disk import fill
from iotbench.machine.listener import server_of
from iotbench.measurements.shared.faults import Fault, Faults
from iotbench.results.faults import Injected
from simulator.clock import now_s
from simulator.errors import BenchError, SetupError
from simulator.protocol.events import Event, Outcome, PhaseEvent, SampleEvent
from simulator.protocol.spec import RunSpec


class ServerProcesses:
    """The processes of a server on this machine."""

    def __init__(self, found: Callable[[], Sequence[psutil.Process]]) -> None:
        """Prepare to find the processes with `found`, which may raise a SetupError."""
        self._find = found
        self._found: Sequence[psutil.Process] = ()

    def find(self) -> str:
        """Find the processes, also after a restart; return the command that resumes them."""
        self._found = self._find()
        return f"kill -CONT {' '.join(str(each.pid) for each in self._found)} || true"

    def pause(self) -> None:
        """Stop the processes (SIGSTOP)."""
        self._act_on_all(psutil.Process.suspend)

    def kill(self) -> None:
        """Kill the processes (SIGKILL)."""
        self._act_on_all(psutil.Process.kill)

    def _act_on_all(self, act: Callable[[psutil.Process], object]) -> None:
        for each in self._found:
            with suppress(psutil.NoSuchProcess):
                act(each)


class Pods:
    """The pods of a database; their controller replaces each killed pod."""

    def __init__(self, target: Target, options: ClusterOptions) -> None:
        """Find the pods; SetupError if the pods are not known."""
        self._target = target
        self._cluster = cluster_of(target, options)
        self.find()

    def find(self) -> str:
        """Find the pods that are running now; return no command, because nothing resumes them."""
        found = database_pods(self._cluster, self._target)
        if isinstance(found, str):
            raise SetupError(found)
        self._found = found
        return ""

    def kill(self) -> None:
        """Delete the pods without a grace period."""
        for pod in self._found:
            self._cluster.delete("pods", pod.name, 0, namespace=pod.namespace)


def _find_server(target: Target) -> list[psutil.Process]:
    """Return the server's main process and its descendants; SetupError if they are not known."""
    first = server_of(target.open())
    if isinstance(first, str):
        raise SetupError(first)
    return [first, *first.children(recursive=True)]


_UNDONE_WITHIN_S = 1800.0


def injector_of(
    faults: Faults, target: Target, shell: Shell, cluster: ClusterOptions, stack: ExitStack
) -> "Injector | OfWorkers":
    """Return the injector of the faults of a sweep; closing the stack ends the injector."""
    fault = faults.fault
    if fault and fault.is_of_workers:
        return OfWorkers(fault)
    victims: ServerProcesses | Pods | None = None
    if fault is Fault.KILL and target.runner == "kubernetes":
        victims = Pods(target, cluster)
    elif fault in (Fault.PAUSE, Fault.KILL):
        victims = ServerProcesses(lambda: _find_server(target))
    injector = Injector(faults, shell, victims)
    stack.callback(injector.end)
    return injector


@dataclass(frozen=True, slots=True)
class OfWorkers:
    """Faults that the workers cause in their own connections or processes."""

    fault: Fault

    def follow(self, spec: RunSpec, event: Event) -> None:
        """Do nothing, because the workers know when their measured part begins."""

    def collect_injected(self, outcome: Outcome) -> tuple[Injected, ...]:
        """Return the faults that workers report; a fault spans the faults of all workers."""
        each = [worker.faults for worker in outcome.workers if worker.faults]
        return tuple(
            Injected(
                fault=self.fault,
                began_s=min(span.began_s for span in spans),
                undone_s=max(span.ended_s for span in spans),
            )
            for spans in zip(*each, strict=False)
        )


class Injector:
    """Makes a database fail, in a thread that runs in parallel to the run."""

    def __init__(
        self, faults: Faults, shell: Shell, victims: ServerProcesses | Pods | None
    ) -> None:
        """Prepare the faults; `victims` are the processes or pods to pause or kill."""
        self._faults, self._shell, self._victims = faults, shell, victims
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._found: list[Injected] = []
        self._ahead_s: float | None = None
        """Seconds by which the clock of the run's collector is ahead of the clock of this
        process."""

    def follow(self, spec: RunSpec, event: Event) -> None:
        """Start the faults when the measured part of a run begins."""
        match event:
            case PhaseEvent(phase=spec.barrier) if not self._thread:
                began_s = time.monotonic()
                instants_s = self._faults.instants_s(spec.clocking.duration_s)
                self._over.clear()
                self._thread = threading.Thread(
                    target=self._run, args=([began_s + each for each in instants_s],), daemon=True
                )
                self._thread.start()
            case SampleEvent(at_s=at_s):
                # The sample with the shortest delay gives the best estimate.
                ahead_s = at_s - now_s()
                self._ahead_s = max(self._ahead_s or ahead_s, ahead_s)

    def collect_injected(self, outcome: Outcome) -> tuple[Injected, ...]:
        """Stop injecting at the end of the run; return the injected faults."""
        self.end()
        found, self._found, self._ahead_s = tuple(self._found), [], None
        return found

    def end(self) -> None:
        """Undo a fault in progress."""
        self._over.set()
        if self._thread:
            self._thread.join(_UNDONE_WITHIN_S)
            self._thread = None

    def _run(self, instants_s: Sequence[float]) -> None:
        for instant_s in instants_s:
            if self._over.wait(max(instant_s - time.monotonic(), 0.0)):
                return
            self._found.append(self._fail())
            if self._found[-1].problem:
                return

    def _fail(self) -> Injected:
        """Make the database fail for the configured time; return the fault with its times."""
        fault = self._faults.fault
        assert fault
        began_s = self._now_s()
        try:
            undo = self._begin()
        except (BenchError, psutil.Error, OSError) as error:
            problem = f"--fault {fault}: could not be made: {error}"
            return Injected(fault=fault, began_s=began_s, undone_s=began_s, problem=problem)
        if fault is not Fault.RESTART:
            self._over.wait(self._faults.for_s)
        undone_s = self._now_s()  # a paused database continues at once
        problem = undo.now(stops=False).problem if undo else ""
        if fault is not Fault.PAUSE:
            undone_s = self._now_s()
        return Injected(fault=fault, began_s=began_s, undone_s=undone_s, problem=problem)

    def _begin(self) -> Later | None:
        """Begin the fault; return the command that undoes the fault even if this program dies."""
        faults, shell = self._faults, self._shell
        resume = self._victims.find() if self._victims else ""
        file = (faults.disk or Path()) / f"iotbench-{uuid.uuid4().hex}.fill"
        command = faults.restart_with or ""
        if faults.fault is Fault.PAUSE:
            command = resume
        elif faults.fault is Fault.FILL:
            command = f"rm -f {shlex.quote(str(file.absolute()))}\n{command}"
        undo = shell.later(command) if command else None
        match faults.fault:
            case Fault.CRASH:
                assert undo
                if problem := shell.run(faults.crash_with or "", stops=False).problem:
                    undo.now(stops=False)
                    raise SetupError(problem)
            case Fault.FILL:
                fill(file)
            case Fault.PAUSE:
                assert isinstance(self._victims, ServerProcesses)
                self._victims.pause()
            case Fault.KILL:
                assert self._victims
                self._victims.kill()
        return undo

    def _now_s(self) -> float:
        """Return the time on the clock of the collector."""
        return now_s() + (self._ahead_s or 0.0)
