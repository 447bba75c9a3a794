"""PyMySQL's connection, extended to send rows from memory to LOAD DATA LOCAL INFILE.

The driver is imported at the top, because this file is imported only to connect. It uses the
driver's private `_execute_command`, `_read_packet` and `_read_timeout`; the version is pinned.
"""

import ssl
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

from pymysql.connections import Connection as _Connection
from pymysql.constants import CLIENT, COMMAND
from pymysql.cursors import SSCursor
from pymysql.err import OperationalError
from pymysql.protocol import OKPacketWrapper

from simulator.modules.shared.client.contents import Content

_CHUNK_BYTES = 1 << 20


class WireConnection(_Connection):
    """A connection that commits every statement unless BEGIN precedes it."""

    server_version: str
    _execute_command: Callable[[int, bytes], None]

    def __init__(
        self, *, ssl: ssl.SSLContext | None, answer_within_s: float, **options: Any
    ) -> None:
        super().__init__(
            **options,
            ssl=ssl,
            autocommit=True,
            charset="utf8mb4",
            client_flag=CLIENT.LOCAL_FILES | CLIENT.MULTI_STATEMENTS,
            local_infile=False,  # the server cannot request a file
            read_timeout=answer_within_s,  # of the greeting, until `connect` returns
            defer_connect=True,
        )

    def connect(self, sock: Any = None) -> None:
        """Log in; after that an answer has no time limit."""
        super().connect(sock)
        self._read_timeout = None

    def hang_up(self) -> None:
        """Close the connection; never raises."""
        try:
            self.close()
        except Exception:  # noqa: BLE001  # already closed
            return

    def fetch(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def portions(self, statement: str, rows: int) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Run a statement and yield its rows in portions; unread rows are discarded."""
        with closing(SSCursor(self)) as cursor:
            cursor.execute(statement)
            while portion := cursor.fetchmany(rows):
                yield portion

    def load(self, statements: bytes, results: int, content: Content) -> tuple[int, int]:
        """Run statements that end with LOAD DATA LOCAL INFILE, and send the content.

        `results` is the number of statements before it. Return the number of stored rows, and the
        number of warnings.
        """
        self._execute_command(COMMAND.COM_QUERY, statements)
        for _ in range(results):
            self._answer()
        if not self._answer().is_load_local_packet():
            raise OperationalError(0, "expected LOAD DATA LOCAL INFILE to request the rows")
        for start in range(0, len(content), _CHUNK_BYTES):
            self.write_packet(content[start : start + _CHUNK_BYTES])
        self.write_packet(b"")  # the end
        done = OKPacketWrapper(self._answer())
        return done.affected_rows, done.warning_count

    def prepare(self, statement: bytes) -> int:
        """Prepare an INSERT on the server; return the number of the statement."""
        self._execute_command(COMMAND.COM_STMT_PREPARE, statement)
        packet = self._answer()
        packet.advance(1)
        number, _columns, parameters = packet.read_struct("<IHH")
        for _ in range(parameters + 1 if parameters else 0):  # their definitions, and an end
            self._answer()
        return int(number)

    def execute(self, number: int, parameters: bytes) -> int:
        """Run a prepared statement and return the number of stored rows."""
        head = struct.pack("<IBI", number, 0, 1)  # no cursor; one iteration
        self._execute_command(COMMAND.COM_STMT_EXECUTE, head + parameters)
        done = OKPacketWrapper(self._answer())
        return int(done.affected_rows)

    def _answer(self) -> Any:
        return self._read_packet()  # type: ignore[no-untyped-call]
