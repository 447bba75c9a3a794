"""A relay between a worker and its database: a network that can be cut or slowed down.

The relay is a separate process, and imports nothing that takes much memory. The first line of its
standard input is a list of servers, each a host and a port; the relay answers with the list of
addresses on which it listens. Each further line is a `Weather`; the relay answers with an empty
line once the weather is in effect. The relay exits at the end of its standard input, and therefore
also when the worker dies.
"""

import asyncio
import json
import os
import sys
import threading
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final, NoReturn, TypeAlias

from simulator.host import allow_open_files

_HOST: Final = "127.0.0.1"
_MOST_WAITING_BYTES = 1 << 20
"""Maximum number of bytes that wait in each direction; then the sender has to wait."""
_Address: TypeAlias = tuple[str, int]


@dataclass(frozen=True, slots=True)
class _Weather:
    """See simulator.protocol.spec.Weather."""

    is_cut: bool = False
    delay_s: float = 0.0
    bytes_per_s: float = 0.0


class _Network:
    """The weather, and the ways on which it acts."""

    def __init__(self) -> None:
        self.weather = _Weather()
        self.ways: set[_Way] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_open = asyncio.Event()
        self._is_open.set()

    def do(self, work: Coroutine[Any, Any, None]) -> None:
        """Run work concurrently."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def change(self, weather: _Weather) -> None:
        """Change the weather; waiting bytes wait no longer than the new weather requires."""
        self.weather = weather
        if weather.is_cut:
            self._is_open.clear()
        else:
            self._is_open.set()
        for way in [*self.ways]:
            way.hurry()

    async def passable(self) -> None:
        """Wait until a packet has passed each way, as when a connection is opened or closed."""
        await self._is_open.wait()
        if self.weather.delay_s:
            await asyncio.sleep(2 * self.weather.delay_s)  # a packet there, and one back


class _Way:
    """One direction of a connection: bytes of the source reach the sink when they are due."""

    def __init__(
        self, network: _Network, source: asyncio.Transport, sink: asyncio.Transport
    ) -> None:
        self._network, self._source, self._sink = network, source, sink
        self._waiting: deque[tuple[float, bytes | None]] = deque()
        """Due time of each piece, and the piece; None: the source has ended."""
        self._waiting_bytes = 0
        self._free_s = 0.0
        """Time until which the line is busy with earlier bytes."""
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        self.has_ended = False
        """True if the sink was sent the end of the stream."""
        self.back: _Way | None = None
        """The other direction."""
        network.ways.add(self)

    def put(self, piece: bytes | None) -> None:
        """Queue a piece that the source has sent."""
        weather = self._network.weather
        if weather == _CLEAR and not self._waiting:
            self._deliver(piece)
            return
        size, now_s = len(piece or b""), self._loop.time()
        busy_s = size / weather.bytes_per_s if weather.bytes_per_s else 0.0
        self._free_s = max(self._free_s, now_s) + busy_s
        self._waiting.append((self._free_s + weather.delay_s, piece))
        self._waiting_bytes += size
        if self._waiting_bytes > _MOST_WAITING_BYTES:
            self._source.pause_reading()
        self._schedule()

    def hurry(self) -> None:
        """Apply the new weather to the waiting bytes."""
        if self._timer:
            self._timer.cancel()
            self._timer = None
        weather, now_s = self._network.weather, self._loop.time()
        if not weather.is_cut:
            latest_s = now_s + weather.delay_s
            if not weather.bytes_per_s:
                self._free_s = now_s
                self._waiting = deque((min(due_s, latest_s), each) for due_s, each in self._waiting)
            self._schedule()

    def close(self) -> None:
        """Discard the waiting bytes."""
        self._waiting.clear()
        if self._timer:
            self._timer.cancel()
        self._network.ways.discard(self)

    def _schedule(self) -> None:
        if self._waiting and not self._timer and not self._network.weather.is_cut:
            self._timer = self._loop.call_at(self._waiting[0][0], self._pass)

    def _pass(self) -> None:
        self._timer = None
        while self._waiting and self._waiting[0][0] <= self._loop.time():
            _, piece = self._waiting.popleft()
            self._waiting_bytes -= len(piece or b"")
            self._deliver(piece)
        if self._waiting_bytes <= _MOST_WAITING_BYTES and not self._source.is_closing():
            self._source.resume_reading()
        self._schedule()

    def _deliver(self, piece: bytes | None) -> None:
        if piece is not None:
            self._sink.write(piece)
            return
        self.has_ended = True
        if self.back and self.back.has_ended:
            self._sink.close()
            self._source.close()
        elif not self._sink.is_closing():
            self._sink.write_eof()


_CLEAR = _Weather()


class _End(asyncio.Protocol):
    """One end of a connection; it passes everything on to the other end."""

    def __init__(self, network: _Network, server: _Address | None = None) -> None:
        """Store the network, and for the client's end the server to connect to."""
        self._network, self._server = network, server
        self.transport: asyncio.Transport
        self.way: _Way | None = None
        """Way from this end to the other end."""
        self.other: _End | None = None
        self._early: list[bytes | None] = []
        """Bytes that arrived before the other end was connected."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self._server:
            # Python 3.11.2 starts reading after this call, even if reading was paused in it.
            asyncio.get_running_loop().call_soon(transport.pause_reading)
            self._network.do(self._join(self._server))

    async def _join(self, server: _Address) -> None:
        """Connect to the server; break the connection if the server does not answer."""
        await self._network.passable()
        far = _End(self._network)
        try:
            await asyncio.get_running_loop().create_connection(lambda: far, *server)
        except OSError:
            self.transport.abort()
            return
        if self.transport.is_closing():
            far.transport.abort()
            return
        self.other, far.other = far, self
        self.way = _Way(self._network, self.transport, far.transport)
        far.way = _Way(self._network, far.transport, self.transport)
        self.way.back, far.way.back = far.way, self.way
        for piece in self._early:
            self.way.put(piece)
        self._early.clear()
        self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        """Pass the bytes on."""
        self._pass(data)

    def eof_received(self) -> bool:
        """Pass the end of the stream on; keep the other direction open."""
        self._pass(None)
        return True

    def _pass(self, piece: bytes | None) -> None:
        if self.way:
            self.way.put(piece)
        else:
            self._early.append(piece)

    def connection_lost(self, exc: Exception | None) -> None:
        """Break the other end as well."""
        if self.way and self.other:
            self.way.close()
            self._network.do(self.other.break_end())
        self.way = self.other = None

    async def break_end(self) -> None:
        """Break this end once the loss of the other end has passed the network."""
        await self._network.passable()
        if self.way:
            self.way.close()
        self.transport.abort()

    def pause_writing(self) -> None:
        """Stop the other end from reading, because this end is full."""
        if self.other:
            self.other.transport.pause_reading()

    def resume_writing(self) -> None:
        """Let the other end continue to read."""
        if self.other:
            self.other.transport.resume_reading()


def relay() -> NoReturn:
    """Run as a relay until the standard input ends."""
    allow_open_files()
    asyncio.run(_serve())
    raise SystemExit(0)


async def _serve() -> None:
    network, loop = _Network(), asyncio.get_running_loop()
    stream = open(0, "rb", closefd=False)  # noqa: SIM115, ASYNC230 - before anything is served
    servers = [
        await loop.create_server(lambda server=server: _End(network, server), _HOST, 0)  # type: ignore[misc]
        for server in map(tuple, json.loads(stream.readline()))
    ]
    _answer(json.dumps([each.sockets[0].getsockname() for each in servers]))

    def change(line: bytes) -> None:
        network.change(_Weather(**json.loads(line)))
        _answer("")

    def listen() -> None:
        for line in stream:
            loop.call_soon_threadsafe(change, line)
        os._exit(0)

    threading.Thread(target=listen, daemon=True).start()
    await loop.create_future()


def _answer(line: str) -> None:
    with suppress(BrokenPipeError):  # the worker is gone, and this process will end too
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    relay()
