"""One cell from beginning to end: prepare, disturb, watch the end, heal, look, ask again."""

import contextlib
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from iotbench.output.terminal import tables
from iotbench.results.result import Result
from tests.faults import processes
from tests.faults.cells import TIMEOUT_S, Cell
from tests.faults.line import Finished, Line, Running
from tests.faults.network import Network, listen
from tests.faults.terminal import START, Shown
from tests.faults.worlds import Counts, Served, World, world_of
from tests.processes import alive
from tests.servers import Server

NOTHING = Counts(None, None)
LIMIT_S = 20.0
"""After the fault, the command has ended within this time."""
_TRIES = 6
_BEFORE_ROWS = 300
_ONE = ("--workers=1", "--runs=1")
_SMALL = ("--batch=100", "--verify=full")
_HELD = ("init", "compact")
"""Phases in which the database does not answer until the fault, so that they are not missed."""
_AGAIN_S = 0.5
_LATE_S = 0.3
"""For how much longer after the fault."""


class Missed(Exception):
    """The command was over, or in another phase, before the fault."""


class Broken(Exception):
    """The cell could not be prepared: a fault of the product or of the harness without a fault."""


@dataclass
class Seen:
    """What a cell showed."""

    at: Shown = START
    """The progress at the moment of the fault."""
    victim: str = ""
    fault_at: float = 0.0
    began_at: float = 0.0
    """When the run began, by its progress; 0: it never did."""
    resumed_at: float = 0.0
    """When the process was continued, or the network restored; 0: never."""
    ended_at: float = 0.0
    """When the command line and all its processes had ended; 0: they never did."""
    done: Finished = field(default_factory=lambda: Finished("", 0, "", ""))
    result: Result | None = None
    unreadable: str = ""
    """Why the result file cannot be read."""
    left: list[str] = field(default_factory=list)
    after_cleanup: list[str] = field(default_factory=list)
    exposed: list[str] = field(default_factory=list)
    used_by: str = ""
    neighbour: tuple[str, str] = ("", "")
    """What the user had stored beside, before and after all commands."""
    before: Counts = field(default_factory=lambda: NOTHING)
    stored: Counts = field(default_factory=lambda: NOTHING)
    parts_seen: bool = False
    """True if collector or workers had been started."""
    then: Finished = field(default_factory=lambda: Finished("", 0, "", ""))
    found_then: int | None = None
    """Rows that the next `verify` found of an insert that did not end."""
    stored_then: Counts = field(default_factory=lambda: NOTHING)
    insert: Finished = field(default_factory=lambda: Finished("", 0, "", ""))
    stored_last: Counts = field(default_factory=lambda: NOTHING)


def run(cell: Cell, server: Callable[[str], Server], keep: Path | None = None) -> Seen:
    """Run a cell; again, with a shorter delay, if the command was faster."""
    for attempt in range(_TRIES):
        with contextlib.ExitStack() as stack:
            if keep:
                folder = keep / f"cell-{cell.number}-{attempt}"
                folder.mkdir(parents=True)
            else:
                made = tempfile.TemporaryDirectory(prefix=f"faults-{cell.number}-")
                folder = Path(stack.enter_context(made))
            try:
                return _Trial(cell, 0.5**attempt * cell.delay_s, folder, stack, server).run()
            except Missed:
                if attempt + 1 == _TRIES:
                    raise
    raise AssertionError("unreachable")


class _Trial:
    def __init__(
        self,
        cell: Cell,
        delay_s: float,
        folder: Path,
        stack: contextlib.ExitStack,
        server: Callable[[str], Server],
    ) -> None:
        self.cell, self.place, self.delay_s = cell, cell.place, delay_s
        self.seen = Seen()
        self.mark = uuid.uuid4().hex
        self.network: Network | None = None
        if self.place.victim == "collector" and self.place.fault in ("cut", "blink"):
            self.network = stack.enter_context(Network())
        way = self.network.listen if self.network else listen
        self.world: World = stack.enter_context(world_of(self.place.target, folder, server, way))
        stack.callback(lambda: processes.end(processes.marked(self.mark)))
        entry = self.network.entry if self.network else ()
        self.line = Line(folder, self.mark, self.world, entry)
        self.before: Path | None = None
        self.found: psutil.Process | None = None
        """The victim, if it was looked for before the phase began."""

    @property
    def _part(self) -> str:
        """The part of the command that is the victim."""
        victim = self.place.victim
        return f"worker-{self.cell.index}" if victim == "worker" else victim

    def run(self) -> Seen:
        seen, place = self.seen, self.place
        self._prepare()
        running = self._start()
        try:
            with self._disturbed(running):
                self._strike(running)
            self._await_end(running)
        finally:
            seen.done = running.wait_finished(place.command)
        seen.began_at = running.terminal.began.get(self.cell.run, 0.0)
        self._look()
        processes.end(self.line.running())
        self.world.heal()
        if self.network:
            self.network.join()
        seen.stored = self._counts()
        self._ask_again()
        return seen

    # --- before

    def _prepare(self) -> None:
        cell = self.cell
        self.seen.neighbour = (self.world.neighbour(), "")
        if cell.before:
            rows: tuple[str, ...] = (f"--num-inserts={_BEFORE_ROWS}", "--seed=7", *_SMALL)
            if self.place.command == "query":
                rows = (f"--num-inserts={cell.prefill}", "--batch=1000", "--verify=counts")
            done = self.line.run("insert", *_ONE, *rows)
            if done.code != 0:
                raise Broken(f"the insert before the fault failed: {done}\n{done.err[-2000:]}")
            self.seen.before = self.world.counts()
            newest = self.line.newest("insert")
            assert isinstance(newest, tuple)
            self.before = newest[0]

    def _start(self) -> Running:
        cell, arguments = self.cell, [f"--workers={self.cell.workers}"]
        if cell.waits_for_timeout:
            arguments.append(f"--timeout={TIMEOUT_S}")
        if self.place.command == "query":
            repeats = 10 if self.place.target == "sqlite" else 6  # two or three seconds
            return self.line.start("query", *arguments, f"--runs={repeats}")
        return self.line.start(
            "insert",
            *arguments,
            f"--runs={cell.runs}",
            f"--batch={cell.batch}",
            f"--num-inserts={cell.rows}",
            f"--prefill={cell.prefill}",
            f"--rate={cell.rate}",
            f"--verify={cell.verify}",
        )

    # --- the fault

    @contextlib.contextmanager
    def _disturbed(self, running: Running) -> Iterator[None]:
        """Make the phase last until the fault: a slow database, or a late worker."""
        cell, phase = self.cell, self.place.phase
        running.terminal.wait_for_run(cell.run, 40)  # the runs before it are not slowed
        if phase in ("prefill", "query") or (phase == "verify" and self.place.target != "sqlite"):
            self.world.slow()
        if phase == "verify" and self.place.victim in ("collector", "worker"):
            self.found = processes.await_part(self.mark, self._part, 10)  # it is soon over
        late = None
        if phase == "barrier":
            name = f"worker-{cell.workers - 1}"
            if running.terminal.wait_for_run(cell.run, 40):
                late = processes.await_part(self.mark, name, 10)
            processes.send([late] if late else [], signal.SIGSTOP)
        if phase == "init" and self.place.target == "sqlite" and cell.run == 1:
            self.world.hold(reads=self.place.command == "query")
        try:
            if not running.terminal.wait_for(cell.run, phase, 40):
                shown = running.terminal.shown
                raise Missed(f"{phase} of run {cell.run} was not seen, but {shown}")
            if phase in _HELD:
                self.world.hold()
            yield
            time.sleep(_LATE_S)
        finally:
            processes.send([late] if late else [], signal.SIGCONT)
            self.world.release() if not self._cuts_database else None

    @property
    def _cuts_database(self) -> bool:
        return self.place.fault in ("cut", "reset") and self.place.victim in ("worker", "server")

    @property
    def _ends_by_itself(self) -> bool:
        return self.place.fault in ("pause", "blink", "reset")

    def _strike(self, running: Running) -> None:
        """Find the victim, wait, and apply the fault."""
        seen, place = self.seen, self.place
        victims = self._victims(running)
        time.sleep(self.delay_s)
        if place.victim == "server":
            victims = self._victims(running)  # it may have started more processes
        if running.process.poll() is not None:
            raise Missed(f"it ended before the fault, with {running.process.poll()}")
        if place.victim not in ("command", "server") and not alive(victims[0]):
            raise Missed(f"the {seen.victim} has ended before the fault")
        seen.parts_seen = bool(processes.parts(self.mark))
        secret = self.world.secret.encode()
        if secret and secret in processes.shown_commands():
            seen.exposed.append("the list of processes")
        seen.at = running.terminal.shown
        match place.fault:
            case "kill":
                self._kill(victims)
            case "stop" | "pause":
                processes.send(victims, signal.SIGSTOP)
            case "cut" | "blink" | "reset":
                self._cut(victims)
        seen.fault_at = time.monotonic()

    def _victims(self, running: Running) -> list[psutil.Process]:
        place, seen = self.place, self.seen
        seen.victim = place.victim
        if place.victim == "command":
            return [psutil.Process(running.process.pid)]
        if place.victim == "server":
            assert isinstance(self.world, Served)
            return self.world.processes()
        seen.victim = self._part
        found = self.found or processes.await_part(self.mark, seen.victim, 10)
        if found is None:
            raise Missed(f"no {seen.victim} was found")
        return [found]

    def _kill(self, victims: list[psutil.Process]) -> None:
        if self.place.victim == "server":
            assert isinstance(self.world, Served)
            self.world.server.kill()
            self.world.proxy.refuse(reset=False)
        else:
            processes.send(victims, signal.SIGKILL)

    def _cut(self, victims: list[psutil.Process]) -> None:
        if self.place.victim == "collector":
            assert self.network
            collector = processes.await_part(self.mark, "collector", 5)
            if collector is None:
                raise Missed("no collector was found")
            self.network.cut(processes.listening_port(collector))
            return
        assert isinstance(self.world, Served)
        if self.place.fault == "reset":
            self.world.proxy.refuse(reset=True)
        elif self.place.victim == "worker":
            proxy, victim = self.world.proxy, victims[0].pid
            # A connection that is closed already may have been the victim's, too.
            proxy.hold(lambda port: processes.owner_of(port, proxy.port) in (victim, None))
        else:
            self.world.proxy.hold()

    # --- the end

    def _await_end(self, running: Running) -> None:
        """Wait for the end; meanwhile undo what lasts only for a while."""
        seen, place, cell = self.seen, self.place, self.cell
        if place.victim == "command" and place.fault == "stop":
            time.sleep(cell.pause_s)
            running.process.kill()
            seen.fault_at = time.monotonic()
        elif self._ends_by_itself and not running.ended(seen.fault_at + cell.pause_s):
            self._undo(running)
            seen.resumed_at = time.monotonic()
        latest = max(seen.fault_at, seen.resumed_at) + LIMIT_S + 5
        if self._ends_by_itself:
            latest += cell.length_s
        if not running.ended(latest):
            return
        ended_at = time.monotonic()
        while self.line.running() and time.monotonic() < latest:
            time.sleep(0.02)
            ended_at = time.monotonic()
        seen.ended_at = ended_at

    def _undo(self, running: Running) -> None:
        place = self.place
        if place.fault == "blink":
            assert self.network
            self.network.join()
        elif place.fault == "reset":
            assert isinstance(self.world, Served)
            self.world.proxy.accept_again()
        elif place.victim == "server":
            assert isinstance(self.world, Served)
            processes.send(self.world.processes(), signal.SIGCONT)
        elif place.victim == "command":
            processes.send([psutil.Process(running.process.pid)], signal.SIGCONT)
        else:
            found = processes.parts(self.mark).get(self.seen.victim)
            processes.send([found] if found else [], signal.SIGCONT)

    # --- afterwards

    def _look(self) -> None:
        """Note what the command has left."""
        seen, line = self.seen, self.line
        seen.left = line.left()
        seen.exposed += line.exposed()
        found = line.newest(self.place.command, self.before)
        if isinstance(found, tuple):
            path, seen.result = found
            tables.format_record(seen.result, path, "table")
        elif found:
            seen.unreadable = found
        if seen.left and not line.running():
            line.run("cleanup")
            seen.after_cleanup = line.left()
        until = time.monotonic() + 5
        held = self.place.victim == "server" and not seen.resumed_at
        if self.place.fault == "kill" or (self.place.fault == "pause" and not held):
            while (used := self.world.used_by()) and time.monotonic() < until:
                time.sleep(0.05)
            seen.used_by = used

    def _counts(self) -> Counts:
        """Count the rows; a server that was stopped may still have had some to store."""
        found = self.world.counts()
        while self.place.victim == "server" and self.place.fault in ("stop", "pause"):
            time.sleep(_AGAIN_S)
            before, found = found, self.world.counts()
            if before == found:
                break
        return found

    def _ask_again(self) -> None:
        """Run the next commands."""
        seen, line = self.seen, self.line
        more = ("--runs=1",) if self.cell.then == "query" else ()
        seen.then = line.run(self.cell.then, *more)
        newest = line.newest("verify") if self.cell.then == "verify" else None
        if isinstance(newest, tuple) and (verdict := newest[1].runs[-1].outcome.verdict):
            seen.found_then = verdict.uncertain_present if verdict.uncertain_absent else None
        seen.stored_then = self.world.counts()
        seen.insert = line.run("insert", *_ONE, *_SMALL, "--num-inserts=500", "--seed=99")
        seen.stored_last = self.world.counts()
        seen.neighbour = (seen.neighbour[0], self.world.neighbour())
