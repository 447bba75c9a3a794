"""The HTTP server of the collector: uvicorn, with limits for connections that send nothing useful.

A thousand workers hold two connections each, one of them waiting at a barrier.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

import uvicorn
from starlette.applications import Starlette
from uvicorn.protocols.http.h11_impl import H11Protocol

_REQUEST_S = 10.0
"""Time that a new connection may take until its first request."""
_KEPT_ALIVE_S = 3600
"""A worker is silent on one of its connections while it inserts."""
_CONNECTIONS_PER_WORKER = 4
_SPARE_CONNECTIONS = 256
_HEADER_BYTES = 8 << 10


class _Connection(H11Protocol):
    """A connection that ends unless its first request comes soon."""

    most: ClassVar[int]
    """Limit of connections; a further one is closed, and its worker tries again."""
    _deadline: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(_REQUEST_S, self._end_unless_asked)
        if len(self.connections) > self.most:
            transport.abort()

    def _end_unless_asked(self) -> None:
        if self.cycle is None:
            self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._deadline.cancel()
        super().connection_lost(exc)


class _Server(uvicorn.Server):
    """uvicorn without signal handlers: the collector handles signals."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def server_of(app: Starlette, workers: int) -> uvicorn.Server:
    """Return the server that connects this many workers to an application."""

    class Connection(_Connection):
        most = _CONNECTIONS_PER_WORKER * workers + _SPARE_CONNECTIONS

    config = uvicorn.Config(
        app,
        http=Connection,
        ws="none",
        lifespan="off",
        log_level="error",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=_KEPT_ALIVE_S,
        h11_max_incomplete_event_size=_HEADER_BYTES,
    )
    return _Server(config)
