"""Makes the database fail in the measured part of each run, and undoes it whatever happens."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from cli.cluster.options import ClusterOptions
from cli.host.interrupts import Interrupts
from cli.host.listener import server_of
from cli.planning.faults import Fault, Faults
from cli.results.faults import Injected
from cli.running.shell import Later, Shell
from cli.targets.config import Target
from simulator.errors import SetupError
from simulator.protocol.events import Event, PhaseEvent, SampleEvent
from simulator.protocol.spec import RunSpec

_UNDONE_WITHIN_S = 1800.0


@dataclass(frozen=True, slots=True)
class Failing:
    """How the database is made to fail in the runs of a sweep."""

    faults: Faults
    environment: Mapping[str, str] = field(repr=False)
    """That of the command line, with the variables that hold credentials."""

    def of(
        self,
        target: Target,
        log: Path,
        cluster: ClusterOptions,
        interrupts: Interrupts,
        stack: ExitStack,
    ) -> "Injector":
        """Return what does it; its commands are logged."""
        shell = Shell([target], log, self.environment, cluster, interrupts, stack=stack)
        is_remote = target.runner == "kubernetes"
        injector = Injector(self.faults, shell, lambda: _processes_of(target), is_remote=is_remote)
        stack.callback(injector.injected)
        return injector


class Injector:
    """Makes a database fail, in a thread beside the run."""

    def __init__(
        self,
        faults: Faults,
        shell: Shell,
        processes: Callable[[], Sequence[psutil.Process]],
        *,
        is_remote: bool = False,
    ) -> None:
        """`processes` returns those of the server, or raises a SetupError.

        `is_remote`: the collector has another clock.
        """
        self._faults, self._shell, self._processes = faults, shell, processes
        self._is_remote = is_remote
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._found: list[Injected] = []
        self._ahead_s = 0.0

    def follow(self, spec: RunSpec, event: Event) -> None:
        """Begin with the measured part of a run."""
        match event:
            case PhaseEvent(phase=spec.barrier) if not self._thread:
                began_s = time.monotonic()
                instants_s = self._faults.instants_s(spec.clocking.duration_s)
                self._over.clear()
                self._thread = threading.Thread(
                    target=self._run, args=([began_s + each for each in instants_s],), daemon=True
                )
                self._thread.start()
            case SampleEvent(at_s=at_s) if self._is_remote:
                self._ahead_s = at_s - time.time()

    def injected(self) -> tuple[Injected, ...]:
        """End with the run: undo what still lasts; return what was done."""
        self._over.set()
        if self._thread:
            self._thread.join(_UNDONE_WITHIN_S)
            self._thread = None
        found, self._found = tuple(self._found), []
        return found

    def _run(self, instants_s: Sequence[float]) -> None:
        for instant_s in instants_s:
            if self._over.wait(max(instant_s - time.monotonic(), 0.0)):
                return
            self._found.append(self._fail())
            if self._found[-1].problem:
                return

    def _fail(self) -> Injected:
        """Make the database fail for the given time; return when that was."""
        fault = self._faults.fault
        assert fault
        began_s = self._now_s()
        try:
            undo = self._begin()
        except (SetupError, psutil.Error, OSError) as error:
            problem = f"--fault: the database cannot be made to fail: {error}"
            return Injected(fault=fault, began_s=began_s, undone_s=began_s, problem=problem)
        if fault is not Fault.RESTART:
            self._over.wait(self._faults.for_s)
        undone_s = self._now_s()  # a paused database goes on at once
        problem = undo.now(stops=False).problem if undo else ""
        if fault is not Fault.PAUSE:
            undone_s = self._now_s()
        return Injected(fault=fault, began_s=began_s, undone_s=undone_s, problem=problem)

    def _begin(self) -> Later | None:
        """Make it fail; return what undoes it, which also happens if this program dies."""
        faults, shell = self._faults, self._shell
        if faults.fault is Fault.RESTART:
            return shell.later(faults.restart_with or "")
        processes = self._processes()
        if faults.fault is Fault.PAUSE:
            pids = " ".join(str(each.pid) for each in processes)
            undo = shell.later(f"kill -CONT {pids} || true")
            for each in processes:
                with suppress(psutil.NoSuchProcess):
                    each.suspend()
            return undo
        start = shell.later(faults.restart_with) if faults.restart_with else None
        for each in processes:
            with suppress(psutil.NoSuchProcess):
                each.kill()
        return start

    def _now_s(self) -> float:
        """Return the time of the collector's clock."""
        return time.time() + self._ahead_s


def _processes_of(target: Target) -> list[psutil.Process]:
    """Return the server's processes, the first of which has started the others."""
    first = server_of(target.options, embedded=target.open().capabilities.embedded)
    if isinstance(first, str):
        raise SetupError(first.removeprefix("not measured: "))
    return [first, *first.children(recursive=True)]
