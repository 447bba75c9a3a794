"""Serves the pipes of many processes in one thread, so that no pipe blocks the caller."""

import os
import queue
import selectors
import threading
from collections.abc import Callable
from typing import IO, Self

_READ_BYTES = 1 << 16


class Pipes:
    """Serves our ends of pipes until the context ends; the pipes stay open."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._changes: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._woken, self._waker = os.pipe()
        self._unsent: dict[int, bytearray] = {}
        self._closed = False
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._selector.register(self._woken, selectors.EVENT_READ, self._change)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._soon(lambda: setattr(self, "_closed", True))
        self._thread.join()
        self._selector.close()
        os.close(self._woken)
        os.close(self._waker)

    def read(self, pipe: IO[bytes], take: Callable[[str], object], end: Callable[[], None]) -> None:
        """Call `take` with each line of a pipe and `end` at the end, both in the serving thread."""
        os.set_blocking(pipe.fileno(), False)
        self._soon(lambda: self._read(pipe.fileno(), take, end))

    def write(self, pipe: IO[bytes], data: bytes) -> None:
        """Write to a pipe as fast as it is read; drop the data if its reader has ended."""
        os.set_blocking(pipe.fileno(), False)
        self._soon(lambda: self._write(pipe.fileno(), data))

    # --- in the serving thread -----------------------------------------------------------------

    def _serve(self) -> None:
        while not self._closed:
            for key, _ in self._selector.select():
                key.data()

    def _soon(self, change: Callable[[], None]) -> None:
        """Pass a change to the serving thread, because only this thread uses the selector."""
        self._changes.put(change)
        os.write(self._waker, b"\0")

    def _change(self) -> None:
        os.read(self._woken, 1)
        self._changes.get()()

    def _read(self, fd: int, take: Callable[[str], object], end: Callable[[], None]) -> None:
        rest = b""

        def receive() -> None:
            nonlocal rest
            found = os.read(fd, _READ_BYTES)
            *lines, rest = (rest + found).split(b"\n")
            if not found and rest:
                lines.append(rest)
            for line in lines:
                take(line.decode(errors="replace"))
            if not found:
                self._selector.unregister(fd)
                end()

        self._selector.register(fd, selectors.EVENT_READ, receive)

    def _write(self, fd: int, data: bytes) -> None:
        unsent = self._unsent.setdefault(fd, bytearray())
        if not unsent:
            self._selector.register(fd, selectors.EVENT_WRITE, lambda: self._send(fd))
        unsent += data

    def _send(self, fd: int) -> None:
        unsent = self._unsent[fd]
        try:
            del unsent[: os.write(fd, unsent[:_READ_BYTES])]
        except BrokenPipeError:
            unsent.clear()
        if not unsent:
            self._selector.unregister(fd)
