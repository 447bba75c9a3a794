"""`--ui`: serves the live page and its events by HTTP, from threads of this process.

The page can only look. A browser that connects later gets what it has missed.
"""

import json
import os
import secrets
import threading
from collections import deque
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from cli.host.streams import say
from cli.live.address import Address
from cli.live.messages import heading_of, message_of
from cli.report.course import Moment
from cli.results.result import Result
from simulator.errors import ConfigError

_KEPT = 10_000
"""Messages for a browser that connects later; about three hours."""
_PULSE_S = 10.0
_LAST_S = 1.0
"""How long browsers may take to receive the last message."""
_MOST_BROWSERS = 20
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; connect-src 'self';"
    " script-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class _Messages:
    """The messages so far, for any number of readers."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self._kept: deque[tuple[int, str]] = deque(maxlen=_KEPT)
        self._heading = ""
        self._number = 0
        self.is_over = False
        self.readers = 0

    def begin(self, heading: dict[str, Any]) -> None:
        self._heading = json.dumps(heading)

    def add(self, message: dict[str, Any], *, last: bool = False) -> None:
        with self.changed:
            self._number += 1
            self._kept.append((self._number, json.dumps(message)))
            self.is_over = last
            self.changed.notify_all()

    def after(self, number: int) -> tuple[int, str]:
        """Wait a while for messages after this number; return the last number, and their text."""
        with self.changed:
            self.changed.wait_for(lambda: self._number > number or self.is_over, _PULSE_S)
            new = [(each, text) for each, text in self._kept if each > number]
            texts = ([self._heading] if not number else []) + [text for _, text in new]
            last = new[-1][0] if new else number
        return last, "".join(f"id: {last}\ndata: {text}\n\n" for text in texts) or ": \n\n"


class LivePage:
    """The page of one sweep, while it runs."""

    def __init__(self, address: Address, result: Result, runs: int) -> None:
        self._address = address
        self._messages = _Messages()
        self._messages.begin(heading_of(result, runs))
        self._result = result
        self._server: _Server | None = None

    def __enter__(self) -> Self:
        """Listen; ConfigError if that is not possible."""
        self._server = _Server(self._address, self._messages)
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        say(f"live page: {self._address.url(self._server.server_address[1])}", err=True)
        return self

    def take(self, moment: Moment) -> None:
        """Show a moment."""
        if message := message_of(moment):
            self._messages.add(message)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._server
        self._messages.add({"kind": "over", "status": self._result.status}, last=True)
        with self._messages.changed:
            self._messages.changed.wait_for(lambda: not self._messages.readers, _LAST_S)
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, address: Address, messages: _Messages) -> None:
        super().__init__((address.host, address.port), _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listener(address)
        self.server_address = self.socket.getsockname()
        self.messages = messages
        self.is_local = address.is_local

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a browser has gone."""


def listener(address: Address) -> Any:
    """Return a socket that listens at an address; ConfigError if that is not possible."""
    try:
        return address.listener()
    except OSError as error:
        cause = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise ConfigError(
            f"--ui: cannot listen on {address}: {cause}; choose another port, or :0 for a free one"
        ) from error


class _Handler(BaseHTTPRequestHandler):
    timeout = 10
    server_version = "live"
    sys_version = ""
    server: _Server

    def do_GET(self) -> None:
        if self.server.is_local and not self._names_this_machine():
            # A name that another site has made to mean this machine must not read the page.
            self.send_error(HTTPStatus.FORBIDDEN, "open the page by the address that was printed")
        elif self.path == "/":
            self._page()
        elif self.path == "/events":
            self._events()
        else:
            self.send_error(HTTPStatus.NOT_FOUND)

    def _names_this_machine(self) -> bool:
        try:
            name = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        except ValueError:
            return False
        return Address(name or "", 0).is_local

    def _page(self) -> None:
        nonce = secrets.token_urlsafe(16)
        content = _template().replace("NONCE", nonce).encode()
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Content-Security-Policy", _POLICY.format(nonce=nonce))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(content)

    def _events(self) -> None:
        messages = self.server.messages
        with messages.changed:
            messages.readers += 1
        try:
            if messages.readers > _MOST_BROWSERS:
                self.send_error(HTTPStatus.SERVICE_UNAVAILABLE, "too many pages are open")
                return
            self.send_response(HTTPStatus.OK)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            known = self.headers.get("Last-Event-ID") or ""
            number, is_over = int(known) if known.isdecimal() else 0, False
            while not is_over:
                is_over = messages.is_over  # read first: what is last is sent below
                number, text = messages.after(number)
                self.wfile.write(text.encode())
                self.wfile.flush()
        finally:
            with messages.changed:
                messages.readers -= 1
                messages.changed.notify_all()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's name
        """Write nothing on standard error."""


@cache
def _template() -> str:
    page = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    colours = Path(__file__).parent.parent.joinpath("page", "page.css").read_text(encoding="utf-8")
    return page.replace("/* colours */", colours.partition("@media print")[0])
