"""A small web server with a function that answers, for tests of HTTP and for stand-ins."""

import gzip
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self

import trustme


@dataclass(frozen=True)
class Request:
    """A client's request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes
    client: tuple[str, int]

    @property
    def content(self) -> bytes:
        """The body, decompressed."""
        zipped = self.headers.get("Content-Encoding") == "gzip"
        return gzip.decompress(self.body) if zipped else self.body


@dataclass(frozen=True)
class Response:
    """The server's answer."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    truncated: bool = False
    """The connection ends before the body does."""
    pause_s: float = 0.0
    """Delay of the second half of the body."""
    close: bool = False
    """The connection ends after the answer, without a header that announces it."""


class Reset(Exception):
    """Raised instead of an answer: reset the connection."""


class Web:
    """A server on a free port that answers with the result of `answer`; a context manager."""

    def __init__(
        self, answer: Callable[[Request], Response], issued: trustme.LeafCert | None = None
    ) -> None:
        """With a certificate for `localhost`, use TLS."""
        self.requests: list[Request] = []
        handler = type("Handler", (_Handler,), {"web": self, "answer": staticmethod(answer)})
        self._server = _Server(("127.0.0.1", 0), handler)
        self.port = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        if issued:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            issued.configure_cert(context)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
            self.url = f"https://localhost:{self.port}"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client may keep its connection

    def handle_error(self, request, client_address):
        """Print nothing: tests break connections on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def _any(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        request = Request(
            self.command, self.path, dict(self.headers), body, self.client_address[:2]
        )
        self.web.requests.append(request)
        try:
            response = self.answer(request)
        except Reset:
            linger = struct.pack("ii", 1, 0)  # closing sends RST, not FIN
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            self.close_connection = True
            self.connection.close()
            return
        self.send_response_only(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status != 204:
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        half = len(response.body) // 2
        self.wfile.write(response.body[:half])
        if response.pause_s:
            self.wfile.flush()
            time.sleep(response.pause_s)
        if not response.truncated:
            self.wfile.write(response.body[half:])
        self.wfile.flush()
        if response.truncated or response.close:
            self.close_connection = True

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _any  # noqa: N815  # as the base class asks
