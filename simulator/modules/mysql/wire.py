"""PyMySQL's connection, that sends rows out of memory where LOAD DATA LOCAL INFILE wants a file.

The driver is imported at the top: this file is imported only to connect. Of its inner parts
`_execute_command`, `_read_packet` and `_read_timeout` are used; the version is pinned.
"""

import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import Any

from pymysql.connections import Connection as _Connection
from pymysql.constants import CLIENT, COMMAND
from pymysql.cursors import SSCursor
from pymysql.err import OperationalError
from pymysql.protocol import OKPacketWrapper

_CHUNK_BYTES = 1 << 20


class Connection(_Connection):
    """A connection that commits every statement unless BEGIN stands before it."""

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
            local_infile=False,  # whatever file the server may ask for: it gets none
            read_timeout=answer_within_s,  # for the greeting, until `connect` has returned
            defer_connect=True,
        )

    def connect(self, sock: Any = None) -> None:
        """Log in; from then on an answer may take as long as it takes."""
        super().connect(sock)
        self._read_timeout = None

    def hang_up(self) -> None:
        """Close the connection; never raises."""
        try:
            self.close()
        except Exception:  # noqa: BLE001  # it is closed already
            return

    def fetch(self, statement: str) -> Sequence[tuple[Any, ...]]:
        """Run a statement and return its rows."""
        with self.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def portions(self, statement: str, rows: int) -> Iterator[Sequence[tuple[Any, ...]]]:
        """Run a statement and yield its rows in portions; what is left of them is read and lost."""
        with closing(SSCursor(self)) as cursor:
            cursor.execute(statement)
            while portion := cursor.fetchmany(rows):
                yield portion

    def load(self, statements: bytes, results: int, content: bytes) -> tuple[int, int]:
        """Run statements of which the last one is LOAD DATA LOCAL INFILE, and give it the content.

        `results` is how many statements stand before it. Returns how many rows were stored, and the
        number of warnings.
        """
        self._execute_command(COMMAND.COM_QUERY, statements)
        for _ in range(results):
            self._answer()
        if not self._answer().is_load_local_packet():
            raise OperationalError(0, "expected to be asked for rows by LOAD DATA LOCAL INFILE")
        for start in range(0, len(content), _CHUNK_BYTES):
            self.write_packet(content[start : start + _CHUNK_BYTES])
        self.write_packet(b"")  # that was all
        done = OKPacketWrapper(self._answer())
        return done.affected_rows, done.warning_count

    def _answer(self) -> Any:
        return self._read_packet()  # type: ignore[no-untyped-call]
