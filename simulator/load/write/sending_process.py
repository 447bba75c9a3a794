"""The sending process, which has the connections of a worker with --fault kill-worker.

When it is killed, driver, connections, encoded batches and batches in flight are lost, as in an
application. The worker itself draws the rows, and records the acknowledgements.
"""

import multiprocessing
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from multiprocessing.connection import Connection as Pipe
from queue import SimpleQueue
from typing import Any, NamedTuple, TypeAlias

from simulator.data.block import Block, Rows
from simulator.data.schema import Table
from simulator.errors import RunError, SetupError
from simulator.load.connecting import FailedElsewhere, Stopped, was_rotated
from simulator.load.connections import Done
from simulator.load.faults.outages import FaultSpells
from simulator.load.write.sending_messages import (
    Arguments,
    Begin,
    BlockMessage,
    BlocksMessage,
    Encode,
    Encoded,
    Ended,
    Problem,
    Ready,
    SendMessage,
)
from simulator.modules.contract import (
    Database,
    Encoder,
    Failure,
    MixedEncoder,
    Payload,
    Session,
)
from simulator.protocol.spec import PlannedFault, Several

_LOOK_S = 0.05
_END_S = 5.0
"""Time that a process may take to close its connections."""
_KILLED = "the process that had the connection was killed"

_Process: TypeAlias = "subprocess.Popen[bytes]"


class SendingProcess:
    """Opens sessions in a separate process, and kills it at the times of a fault."""

    def __init__(
        self,
        database: Database,
        several: Several,
        fault: PlannedFault,
        stop: threading.Event,
    ) -> None:
        """Store the connections of a session, and the event that ends the run."""
        self._database, self._several, self._stop = database, several, stop
        self._may_run = threading.Event()
        self._may_run.set()
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._cpu_s = self._ended_cpu_s = 0.0
        self.spells = FaultSpells(fault, self._kill, self._may_run.set)

    def session(self, within_s: float) -> Session:
        """Start a process that connects within this time; return its session.

        During a fault, wait for its end first. Raises Stopped if the run ends meanwhile, and
        SetupError if the process cannot connect.
        """
        while True:
            self._end()
            while not self._may_run.wait(_LOOK_S):
                self._expect_go()
            if not (started := self._start_process()):
                continue
            process, pipe = started
            database, options = self._database, self._database.options
            try:
                pipe.send(Begin(type(database), options, self._several, within_s))
                while not pipe.poll(_LOOK_S):
                    self._expect_go()
                ready: Ready | Problem = pipe.recv()
            except (EOFError, OSError):
                pipe.close()
                if (code := _exit_code(process)) >= 0:
                    raise SetupError(
                        f"the process that was to connect ended with exit code {code}"
                    ) from None
                continue  # a fault has killed it
            except Stopped:
                pipe.close()
                raise
            if isinstance(ready, Problem):
                pipe.close()
                raise SetupError(ready.cause)
            session = SessionElsewhere(pipe, ready, partial(_exit_code, process), self._note_cpu)
            session.is_outdated = partial(was_rotated, database, options)
            return session

    def _expect_go(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def _start_process(self) -> tuple[_Process, Pipe] | None:
        """Start a process; return the process and a pipe to it, or None during a fault."""
        with self._lock:
            if not self._may_run.is_set():
                return None
            own, other = multiprocessing.Pipe()
            program = [*["-P"] * sys.flags.safe_path, "-m", "simulator.load.write.sending"]
            with other:
                self._process = subprocess.Popen(
                    [sys.executable, *program, str(other.fileno())],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, pass_fds=[other.fileno()],
                )  # fmt: skip
            return self._process, own

    def _kill(self) -> None:
        """Kill the process, and prevent a new one from starting."""
        with self._lock:
            self._may_run.clear()
            if self._process:
                self._process.kill()

    def _end(self) -> None:
        if self._process:
            self._process.kill()
            self._process.wait()
        self._ended_cpu_s += self._cpu_s
        self._cpu_s = 0.0

    def _note_cpu(self, cpu_s: float) -> None:
        self._cpu_s = cpu_s

    def cpu_s(self) -> float:
        """Return the CPU time of the worker, including its sending process."""
        return time.process_time() + self._ended_cpu_s + self._cpu_s

    def close(self) -> None:
        """End the process and its faults."""
        self.spells.close()
        self._end()


def _exit_code(process: _Process) -> int:
    """Return the exit code of a process that has ended, or is about to end."""
    try:
        return process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


class _Kept:
    """Encoded blocks, kept as long as one of their payloads may be sent or repeated."""

    __slots__ = ("arguments", "encoded", "number", "sizes_bytes")

    def __init__(self, arguments: Arguments, sizes_bytes: Sequence[int | None]) -> None:
        self.arguments, self.sizes_bytes = arguments, sizes_bytes
        self.encoded: SessionElsewhere | None = None
        """The session that has the payloads; another session encodes them again."""
        self.number = 0


class _Place(NamedTuple):
    """The data of a payload: its place in the sending process."""

    kept: _Kept
    place: int


class SessionElsewhere(Session):
    """A session in another process, over a pipe."""

    alive = True

    def __init__(
        self, pipe: Pipe, ready: Ready, wait: Callable[[], int], note_cpu: Callable[[float], None]
    ) -> None:
        """Store the parts; `wait` returns the exit code once the process has ended."""
        self._pipe, self._wait, self._note_cpu = pipe, wait, note_cpu
        self.opened_ns = list(ready.opened_ns)
        self._lock = threading.Lock()
        self._last = 0
        self._sends: dict[int, Done] = {}
        self._encodes: dict[int, SimpleQueue[Encoded | None]] = {}
        self.in_flight, self.makes_objects = ready.in_flight, ready.makes_objects
        self._is_gone = False
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        try:
            while True:
                self._take(self._pipe.recv())
        except (EOFError, OSError):
            code = self._wait()
        cause = _KILLED if code < 0 else f"the process that had it ended with exit code {code}"
        with self._lock:
            self.alive, self._is_gone = False, True
            sends, self._sends = self._sends, {}
        for waiting in self._encodes.values():
            waiting.put(None)
        for done in sends.values():
            done(FailedElsewhere(cause, Failure.UNKNOWN))

    def _take(self, answer: Encoded | Ended) -> None:
        if isinstance(answer, Encoded):
            if waiting := self._encodes.pop(answer.number, None):
                waiting.put(answer)
            return
        self._note_cpu(answer.cpu_s)
        done, problem = self._sends.pop(answer.number), answer.problem
        if problem is None:
            done(None)
            return
        self.alive = self.alive and problem.alive
        done(FailedElsewhere(problem.cause, problem.failure, may_pass=problem.may_pass))

    def close(self) -> None:
        """Close the session in the process, which exits."""
        with self._lock:
            if not self._is_gone:
                self._is_gone = True
                self._write(None)
        self._wait()
        self._reader.join()
        self._pipe.close()

    # --- encoding ---------------------------------------------------------------------------------

    def encode(self, block: Block, mode: str, batch_rows: int) -> Sequence[Payload]:
        """Encode a block in the process; the returned payloads hold their places in the process."""
        whole, rest = divmod(len(block), batch_rows)
        rows = [batch_rows] * whole + [rest] * bool(rest)
        places = self._await_encoded(BlockMessage(block, mode, batch_rows), len(rows))
        return [
            Payload(count, mode, place, self.size_of(place))
            for count, place in zip(rows, places, strict=True)
        ]

    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Raise an error: only the process encodes."""
        raise NotImplementedError

    def make_mixed_encoder(self, tables: Sequence[Table]) -> MixedEncoder:
        """Return a function that has the process encode blocks of several tables."""

        def encode(blocks: Sequence[Block], places: Sequence[Rows]) -> Sequence[_Place]:
            return self._await_encoded(BlocksMessage(blocks, places), len(places[0]) - 1)

        return encode

    def size_of(self, data: Any) -> int | None:
        """Return how many bytes of a payload's data are sent; None if the size is unknown."""
        kept, place = data
        size: int | None = kept.sizes_bytes[place]
        return size

    def _await_encoded(self, arguments: Arguments, payloads: int) -> Sequence[_Place]:
        """Wait until blocks are encoded; if the process ends, `begin` encodes them again."""
        kept = _Kept(arguments, [None] * payloads)
        waiting: SimpleQueue[Encoded | None] = SimpleQueue()
        with self._lock:
            if not self._is_gone:
                self._encode(kept, waiting)
        answer = waiting.get() if kept.encoded else None
        if answer and answer.problem:
            raise RunError(answer.problem.cause)
        if answer:
            kept.sizes_bytes = answer.sizes_bytes
        return [_Place(kept, place) for place in range(payloads)]

    def _encode(self, kept: _Kept, waiting: "SimpleQueue[Encoded | None] | None" = None) -> None:
        self._last += 1
        kept.encoded, kept.number = self, self._last
        if waiting:
            self._encodes[self._last] = waiting
        self._write(Encode(self._last, kept.arguments))

    def _write(self, message: Encode | SendMessage | None) -> None:
        try:
            self._pipe.send(message)
        except OSError:
            return  # the reader finds that it is gone

    # --- sending ----------------------------------------------------------------------------------

    def send(self, payload: Payload) -> None:
        """Send a payload, and wait for its acknowledgement."""
        ended: SimpleQueue[Exception | None] = SimpleQueue()
        self.begin(payload, ended.put)
        if (error := ended.get()) is not None:
            raise error

    def begin(self, payload: Payload, done: Done) -> None:
        """Start to send a payload; first encode it again if the process is new."""
        kept, place = payload.data
        with self._lock:
            if self._is_gone:
                raise FailedElsewhere(_KILLED, Failure.NOT_APPLIED)
            if kept.encoded is not self:
                self._encode(kept)
            self._last += 1
            self._sends[self._last] = done
            self._write(SendMessage(self._last, kept.number, place))

    def classify(self, error: Exception) -> Failure:
        """Return the classification by the session of the process."""
        return error.failure if isinstance(error, FailedElsewhere) else Failure.UNKNOWN

    def run(self, statement: object) -> Sequence[Sequence[Any]]:
        """Raise an error: queries have separate sessions."""
        raise NotImplementedError
