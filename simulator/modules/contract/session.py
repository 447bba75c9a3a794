"""A connection to a database, through which a worker sends rows and queries."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self, TypeVar

from simulator.data.block import Block
from simulator.data.query import Statement
from simulator.data.schema import Table
from simulator.modules.contract.abilities import Changing, Explaining, Sending
from simulator.modules.contract.records import Encoder, Failure, Payload

Item = TypeVar("Item")


class Waits:
    """Counts the client's time: time within `in_client`, without time within `waiting`.

    `in_client` surrounds all work on an answer, `waiting` each call in it that waits for the
    database. While the client works on one part of an answer, the database may compute the next.
    """

    client_s: float = 0.0
    """Time spent in the client since the session was opened."""
    _is_client = False
    _since_s = 0.0

    @contextmanager
    def in_client(self) -> Iterator[None]:
        """Count the time of the block as time in the client."""
        before = self._turn(is_client=True)
        try:
            yield
        finally:
            self._turn(is_client=before)

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time of the block as waiting for the database, even inside `in_client`."""
        before = self._turn(is_client=False)
        try:
            yield
        finally:
            self._turn(is_client=before)

    def await_parts(self, parts: Iterable[Item]) -> Iterator[Item]:
        """Yield parts as they arrive from the database, and count the time between as waiting.

        Lazy readers of answers need it, because they are consumed within `in_client`.
        """
        arriving = iter(parts)
        while True:
            with self.waiting():
                try:
                    part = next(arriving)
                except StopIteration:
                    return
            yield part

    def _turn(self, *, is_client: bool) -> bool:
        """Count the time since the last turn; return whether it was the client's."""
        now_s, before = time.perf_counter(), self._is_client
        if before:
            self.client_s += now_s - self._since_s
        self._is_client, self._since_s = is_client, now_s
        return before


class Session(Waits, Sending, Explaining, Changing, ABC):
    """One connection; a context manager that closes it."""

    is_outdated: Callable[[], bool] = staticmethod(lambda: False)
    """Returns whether credentials were rotated after the session was opened; its opener sets it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Close the connection; never raises, even if it is already broken."""

    @property
    @abstractmethod
    def alive(self) -> bool:
        """True if the connection works; if not, the worker opens a new one."""

    @property
    def is_usable(self) -> bool:
        """True if the connection works and its credentials are current."""
        return self.alive and not self.is_outdated()

    def encode(self, block: Block, mode: str, batch_rows: int) -> Sequence[Payload]:
        """Return the block encoded as payloads of `batch_rows` rows; the last may be smaller.

        It does no I/O, and its time counts as the client's. A block is much larger than a small
        batch, so encoding is vectorised for any batch size.
        """
        key = (block.name, mode)
        encoder = self._known_encoders.get(key)
        if encoder is None:
            encoder = self._known_encoders[key] = self.encoder(block.table, block.name, mode)
        whole, rest = divmod(len(block), batch_rows)
        rows = [batch_rows] * whole + [rest] * bool(rest)
        size_of = self.size_of
        return [
            Payload(count, mode, data, size_of(data))
            for count, data in zip(rows, encoder(block, batch_rows), strict=True)
        ]

    @cached_property
    def _known_encoders(self) -> dict[tuple[str, str], Encoder]:
        return {}

    @abstractmethod
    def encoder(self, table: Table, name: str, mode: str) -> Encoder:
        """Return the encoder of one physical table; the session keeps it.

        In mode IMPORT the data of a payload is a tuple that ends with bytes. The bytes of all
        blocks are written to one file, and `send` gets the tuple with the file's path instead.
        """

    def size_of(self, data: Any) -> int | None:
        """Return how many bytes of a payload's data are sent; None if the driver encodes it.

        Data is bytes, a file, or a list of these; or a tuple that ends with one of them, such as
        (path, body).
        """
        body = data[-1] if isinstance(data, tuple) else data
        if isinstance(body, list):
            is_known = bool(body) and self.size_of(body[0]) is not None
            return sum(self.size_of(each) or 0 for each in body) if is_known else None
        if isinstance(body, bytes | bytearray | memoryview):
            return len(body)
        return body.stat().st_size if isinstance(body, Path) else None

    @abstractmethod
    def send(self, payload: Payload) -> None:
        """Send one payload; return once it is acknowledged. Raises the driver's own errors."""

    def gave_up(self, error: Exception) -> bool:
        """Return whether the server stopped a query only because of its size or time."""
        return False

    @abstractmethod
    def classify(self, error: Exception) -> Failure:
        """Return the meaning of an error of the last `send`, or of `done`, for its rows."""

    @abstractmethod
    def run(self, statement: Statement) -> Sequence[Sequence[Any]]:
        """Run a statement and return all rows, with values as the driver returns them.

        Python's work on the answer, beyond the driver's, is done within `in_client`, and
        `Capabilities.in_client` describes it.
        """

    def read_only(self) -> None:
        """Make the database refuse writes of this session; do nothing if it has no such mode."""

    def stream(self, statement: Statement, rows: int) -> Iterator[Sequence[Sequence[Any]]]:
        """Run a statement and yield portions of about `rows` rows, in bounded memory."""
        result = self.run(statement)
        for start in range(0, len(result), rows):
            yield result[start : start + rows]
