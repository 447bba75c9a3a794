"""Serves the pipes of many processes in one thread, so that no pipe blocks the caller."""

import asyncio
import os
import threading
from collections.abc import Callable
from typing import IO, Self

_READ_BYTES = 1 << 16


class Pipes:
    """Serves our ends of pipes until the context ends; the pipes stay open."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._unsent: dict[int, bytearray] = {}
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def read(self, pipe: IO[bytes], take: Callable[[str], object], end: Callable[[], None]) -> None:
        """Call `take` with each line of a pipe and `end` at the end, both in the serving thread."""
        os.set_blocking(pipe.fileno(), False)
        self._loop.call_soon_threadsafe(self._read, pipe.fileno(), take, end)

    def write(self, pipe: IO[bytes], data: bytes) -> None:
        """Write to a pipe as fast as it is read; drop the data if its reader has ended."""
        os.set_blocking(pipe.fileno(), False)
        self._loop.call_soon_threadsafe(self._write, pipe.fileno(), data)

    # --- in the serving thread -----------------------------------------------------------------

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
                self._loop.remove_reader(fd)
                end()

        self._loop.add_reader(fd, receive)

    def _write(self, fd: int, data: bytes) -> None:
        unsent = self._unsent.setdefault(fd, bytearray())
        if not unsent:
            self._loop.add_writer(fd, self._send, fd)
        unsent += data

    def _send(self, fd: int) -> None:
        unsent = self._unsent[fd]
        try:
            del unsent[: os.write(fd, unsent[:_READ_BYTES])]
        except BrokenPipeError:
            unsent.clear()
        if not unsent:
            self._loop.remove_writer(fd)
