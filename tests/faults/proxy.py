"""A TCP proxy between the benchmark and a server, which can hold, delay, reset, refuse and lie."""

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tests.servers.base import free_port

_CHUNK = 65536
_RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with which close() resets the connection."""


def _reset(connection: socket.socket) -> None:
    with contextlib.suppress(OSError):
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        connection.shutdown(socket.SHUT_RD)  # wakes up the thread that reads
    connection.close()


class Passed(NamedTuple):
    """What is sent on instead of a piece, and whether both connections then end."""

    to_server: bytes = b""
    to_client: bytes = b""
    ends: bool = False


class Between(Protocol):
    """What changes the bytes of one connection."""

    def forth(self, piece: bytes) -> Passed:
        """Return what takes the place of a piece from the client."""

    def back(self, piece: bytes) -> Passed:
        """Return what takes the place of a piece from the server."""


@dataclass(eq=False)
class Pair:
    """A connection to the proxy, and the one from there to the server."""

    client: socket.socket
    server: socket.socket
    port: int
    """Of the client, by which its process is found."""
    between: Between | None = None
    turn: threading.Lock = field(default_factory=threading.Lock)
    passes: threading.Event = field(default_factory=threading.Event)
    open_ways: int = 2
    lost: bool = False
    """What has not passed yet never will."""

    def reset(self) -> None:
        """Reset both connections."""
        self.lost = True
        self.passes.set()
        _reset(self.client)
        _reset(self.server)

    def hang_up(self) -> None:
        """End both connections; the client still reads what it was sent."""
        self.lost = True
        with contextlib.suppress(OSError):
            self.client.shutdown(socket.SHUT_RDWR)
        _reset(self.server)


class Proxy:
    """Forwards connections to a port of this machine; a context manager."""

    def __init__(
        self,
        to_port: int,
        listen: Callable[[int], socket.socket],
        host: str = "127.0.0.1",
        between: Callable[[int], Between] | None = None,
    ) -> None:
        """Take makers of a socket that listens on a port (0: a free one), and of a liar."""
        self._to, self._listen, self._between = (host, to_port), listen, between
        self._listener: socket.socket | None = listen(free_port())
        self.port: int = self._listener.getsockname()[1]  # stays free while nobody listens
        self.delay_s = 0.0
        """By how much each piece is late."""
        self._held: Callable[[int], bool] = lambda _: False
        self._pairs: set[Pair] = set()
        self._lock = threading.Lock()
        self._closed = False
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def connections(self) -> int:
        """How many are open."""
        with self._lock:
            return len(self._pairs)

    def hold(self, chosen: Callable[[int], bool] = lambda _: True) -> None:
        """Let nothing pass, or nothing of the clients' ports that `chosen` names."""
        with self._lock:
            self._held = chosen
            for pair in self._pairs:
                if chosen(pair.port):
                    pair.passes.clear()

    def release(self) -> None:
        """Let everything pass again, without delay."""
        self.delay_s = 0.0
        with self._lock:
            self._held = lambda _: False
            for pair in self._pairs:
                pair.passes.set()

    def drop(self) -> None:
        """Reset the connections that are held: the network has lost what they hold."""
        with self._lock:
            held = [pair for pair in self._pairs if not pair.passes.is_set()]
        for pair in held:
            pair.reset()

    def refuse(self, *, reset: bool) -> None:
        """Refuse new connections, and reset those that are open if wanted."""
        with self._lock:
            listener, self._listener = self._listener, None
            pairs = list(self._pairs) if reset else []
        if listener:
            listener.close()
        for pair in pairs:
            pair.reset()

    def accept_again(self) -> None:
        """Take new connections after `refuse`."""
        with self._lock:
            if self._listener is None:
                self._listener = self._listen(self.port)

    def close(self) -> None:
        """End everything."""
        self._closed = True
        self.refuse(reset=True)
        self.release()

    def _accept(self) -> None:
        while not self._closed:
            listener = self._listener
            if listener is None:
                time.sleep(0.01)
                continue
            try:
                listener.settimeout(0.05)
                client, (_, port) = listener.accept()
            except OSError:  # none within that time, or closed meanwhile
                continue
            threading.Thread(target=self._begin, args=(client, port), daemon=True).start()

    def _begin(self, client: socket.socket, port: int) -> None:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            server = socket.create_connection(self._to, timeout=30)
        except OSError:
            _reset(client)
            return
        server.settimeout(None)
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        pair = Pair(client, server, port, self._between and self._between(port))
        with self._lock:
            if not self._held(port):
                pair.passes.set()
            self._pairs.add(pair)
        threading.Thread(target=self._pump, args=(pair, server, client), daemon=True).start()
        self._pump(pair, client, server)

    def _is_over(self, pair: Pair, between: Between, piece: bytes, source: socket.socket) -> bool:
        """Pass on what takes the place of a piece; return whether the connections ended."""
        with pair.turn:
            passed = (between.forth if source is pair.client else between.back)(piece)
            pair.server.sendall(passed.to_server)
            pair.client.sendall(passed.to_client)
        if passed.ends:
            pair.hang_up()
        return passed.ends

    def _pump(self, pair: Pair, source: socket.socket, sink: socket.socket) -> None:
        try:
            while piece := source.recv(_CHUNK):
                if self.delay_s:
                    time.sleep(self.delay_s)
                pair.passes.wait()
                if pair.lost:
                    break
                if not pair.between:
                    sink.sendall(piece)
                elif self._is_over(pair, pair.between, piece, source):
                    break
            pair.passes.wait()
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pair.reset()
        with self._lock:
            pair.open_ways -= 1
            if pair.open_ways:
                return
            self._pairs.discard(pair)
        pair.client.close()
        pair.server.close()
