"""`python -m simulator.load.write.sending FD`: the process that `SendingProcess` starts and kills.

The process encodes and sends rows that the worker passes over a pipe, and ends with the worker.
"""

import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from multiprocessing.connection import Connection as Pipe
from typing import Any

from simulator.errors import BenchError
from simulator.load.connecting import connect, may_pass, session_of
from simulator.load.write.batch import Mixer
from simulator.load.write.sending_messages import (
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
from simulator.modules.contract import Database, Payload, Session
from simulator.redaction import RedactedStream


class _Sending:
    """Sends for the worker, with one session."""

    def __init__(self, pipe: Pipe, database: Database, session: Session) -> None:
        self._pipe, self._database, self._session = pipe, database, session
        self._lock = threading.Lock()
        self._payloads: dict[int, dict[int, Payload]] = {}
        """Number of an `Encode` -> place -> payload that has not been acknowledged."""
        self._mixer = Mixer()

    def do(self, asked: Encode | SendMessage) -> None:
        """Answer a message; the answer to a `SendMessage` may come later, from another thread."""
        if isinstance(asked, Encode):
            self._encode(asked)
            return
        payload = self._payloads.get(asked.encoded, {}).get(asked.place)
        done = partial(self._done, asked)
        try:
            if payload is None:
                self._answer(
                    Ended(asked.number, Problem("it was not encoded"), time.process_time())
                )
            elif self._session.in_flight > 1:
                self._session.begin(payload, done)
            else:
                self._session.send(payload)
                done(None)
        except Exception as error:  # noqa: BLE001 - the module classifies it
            done(error)

    def _encode(self, asked: Encode) -> None:
        try:
            match asked.arguments:
                case BlockMessage(block, mode, batch_rows):
                    payloads = self._session.encode(block, mode, batch_rows)
                case BlocksMessage(blocks, places):
                    payloads = self._mixer.encode(self._session, blocks, places)
        except Exception as error:  # noqa: BLE001 - the worker raises it
            self._answer(Encoded(asked.number, (), Problem(_explain(self._database, error))))
            return
        self._payloads[asked.number] = dict(enumerate(payloads))
        self._answer(Encoded(asked.number, [each.size_bytes for each in payloads]))

    def _done(self, asked: SendMessage, error: Exception | None) -> None:
        """Report the outcome of a batch; free its payload if it was acknowledged."""
        if error is not None:
            problem = Problem(
                _explain(self._database, error),
                self._session.classify(error),
                may_pass(self._database, error),
                self._session.alive,
            )
            self._answer(Ended(asked.number, problem, time.process_time()))
            return
        with self._lock:  # several connections may end at once
            own = self._payloads[asked.encoded]
            del own[asked.place]
            if not own:
                del self._payloads[asked.encoded]
        self._answer(Ended(asked.number, None, time.process_time()))

    def _answer(self, answer: Encoded | Ended) -> None:
        with self._lock:
            self._pipe.send(answer)


def serve(pipe: Pipe) -> None:
    """Connect, and answer messages from the pipe until the worker closes its end."""
    begin: Begin = pipe.recv()
    database = begin.database(begin.options)
    sys.stderr = RedactedStream(sys.stderr, database.options.redact)
    open_one = partial(connect, database, threading.Event(), time.monotonic, begin.within_s)
    asked: queue.SimpleQueue[Encode | SendMessage | None] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(pipe, asked.put), daemon=True).start()
    try:
        session = session_of(open_one, begin.several, {})
    except Exception as error:  # noqa: BLE001 - the worker raises it
        pipe.send(Problem(_explain(database, error)))
        return
    opened_ns = getattr(session, "opened_ns", [])
    pipe.send(Ready(session.in_flight, session.makes_objects, opened_ns))
    with session:
        sending = _Sending(pipe, database, session)
        while (message := asked.get()) is not None:
            sending.do(message)


def _explain(database: Database, error: Exception) -> str:
    """Return the text of an error of this program or of the driver, without credentials."""
    text = str(error) if isinstance(error, BenchError) else database.explain(error)
    return database.options.redact(text)


def _receive(pipe: Pipe, put: Callable[[Any], object]) -> None:
    """Pass messages on; end this process if the worker is gone."""
    try:
        while (message := pipe.recv()) is not None:
            put(message)
        put(None)
    except (EOFError, OSError):
        os._exit(0)


if __name__ == "__main__":
    serve(Pipe(int(sys.argv[1])))
