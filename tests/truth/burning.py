"""Modules with a known CPU time: of the client for each row, and of its driver for each row."""

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from simulator.data.block import Block
from simulator.modules import database_class
from simulator.modules.contract import Database, Payload, Session

CLIENT_S, DRIVER_S = 60e-6, 100e-6
"""CPU time to encode a row, and to send it."""
LOG = "encoding"
"""File in the folder of temporary files: how long each block was encoded, in seconds."""


def burned(session: Session) -> Session:
    """Return the session, which computes for longer."""
    encode, send = session.encode, session.send

    def long_encode(block: Block, mode: str, batch_rows: int) -> Sequence[Payload]:
        took_s = _burn(len(block) * CLIENT_S)
        with (Path(tempfile.gettempdir()) / LOG).open("a") as log:
            print(took_s, file=log)
        return encode(block, mode, batch_rows)

    def long_send(payload: Payload) -> None:
        _burn(payload.rows * DRIVER_S)
        send(payload)

    session.encode, session.send = long_encode, long_send  # type: ignore[method-assign]
    return session


def _burn(cpu_s: float) -> float:
    """Compute for a CPU time; return how long it took."""
    began_s, until_s = time.perf_counter(), time.thread_time() + cpu_s
    while time.thread_time() < until_s:
        pass
    return time.perf_counter() - began_s


class _Burning(Database):
    """Connects to sessions that compute for longer."""

    def connect(self) -> Session:
        """Return such a session."""
        return burned(super().connect())  # type: ignore[safe-super]


def _burning(module: str) -> type[Database]:
    return type(module.title(), (_Burning, database_class(module)), {})


Postgres = _burning("postgres")
Influxdb = _burning("influxdb")
Elasticsearch = _burning("elasticsearch")
Questdb = _burning("questdb")
Victoriametrics = _burning("victoriametrics")
