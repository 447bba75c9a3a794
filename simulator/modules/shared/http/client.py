"""An HTTP client with one persistent connection.

`classify` determines what an error means for the rows of a request: without a connection nothing
was sent; a request without an answer may have been applied; otherwise the status decides.
"""

import base64
import json
import re
import socket
import ssl
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from http.client import (
    HTTPConnection,
    HTTPException,
    HTTPMessage,
    HTTPResponse,
    HTTPSConnection,
    IncompleteRead,
    responses,
)
from select import POLLIN, poll
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import quote, urlsplit

from pydantic import Field, SecretStr, field_validator

from simulator.errors import SetupError
from simulator.modules.contract import Failure, Options
from simulator.modules.shared.http.tls import (
    CA,
    CA_FILE,
    CONNECT_S,
    INSECURE,
    certificate_remedy,
    socket_options,
    tls_context,
)

Body: TypeAlias = bytes | memoryview
"""The body of a request."""
Parts: TypeAlias = Sequence[Body]
"""Parts of a body, sent in order; the caller sets Content-Length."""

_PIECE_BYTES = 1 << 16
_SHOWN_BYTES = 1000
_FIRST_FAILURE = 300
_PATH = "/%:@!$&'()*+,;="
_BROKEN = (OSError, HTTPException)
"""Errors of a connection that breaks, hangs or receives something other than HTTP."""


class HttpOptions(Options):
    """Options of every module for a database with an HTTP interface."""

    url: str = Field(description="URL of the server: http or https, host and port")
    ca_file: str | None = CA_FILE
    ca: SecretStr | None = CA
    insecure: bool = INSECURE
    timeout_s: float = Field(30, gt=0, description="timeout for an answer to a write")
    query_timeout_s: float = Field(3600, gt=0, description="timeout for an answer to a query")

    @field_validator("url")
    @classmethod
    def _url(cls, url: str) -> str:
        return check_url(url)


def check_url(url: str) -> str:
    """Return a valid URL without a slash at its end; ValueError if it is invalid."""
    try:
        parsed = urlsplit(url)
        known = parsed.scheme in ("http", "https") and parsed.hostname and parsed.port != 0
        known = known and url.isprintable() and " " not in url
    except ValueError:
        known = False
    if not known:
        raise ValueError("expected http://host:port or https://host:port")
    if parsed.query or parsed.fragment:
        raise ValueError(
            "expected no more than http://host:port/path; credentials are options of their own"
        )
    return url.rstrip("/")


class HttpReply(NamedTuple):
    """A complete answer."""

    status: int
    headers: HTTPMessage
    body: bytes

    def __str__(self) -> str:
        return f"{self.headers}{self.body.decode(errors='replace')}"

    def json(self) -> Any:
        """Return the body as JSON; HttpError if it is not JSON."""
        try:
            # QuestDB does not escape control characters in texts.
            return json.loads(self.body, strict=False)
        except ValueError as error:
            raise HttpError(f"expected JSON, got {self.body[:200]!r}", "check the URL") from error


class HttpError(Exception):
    """A failed request: what failed and where, then the remedy."""

    def __init__(self, text: str, remedy: str = "") -> None:
        super().__init__(f"{text}; {remedy}" if remedy else text)
        self.text, self.remedy = text, remedy


class NotConnected(HttpError):
    """There was no connection, so nothing was sent."""

    def __init__(self, text: str, remedy: str, *, permanent: bool = False) -> None:
        super().__init__(text, remedy)
        self.permanent = permanent
        """Trying again cannot help: an untrusted certificate, a server without TLS."""


class NoAnswer(HttpError):
    """The request was sent, at least in part, but no complete answer arrived."""


class Refused(HttpError):
    """The server answered with a status other than success."""

    def __init__(self, where: str, reply: HttpReply) -> None:
        self.status, self.reply = reply.status, reply
        message = words(reply.body)
        self.words = message or responses.get(reply.status, "")
        """The server's message, or else the standard phrase of the status."""
        remedy = _REMEDIES.get(reply.status, "")
        if reply.status == FORBIDDEN and message and not _ABOUT_CREDENTIALS.search(message):
            remedy = ""
        super().__init__(f"{where} answered {reply.status}: {self.words}", remedy)


FORBIDDEN = 403
_REMEDIES = {
    **dict.fromkeys((301, 302, 303, 307, 308), "use the address that it redirects to"),
    401: "check the credentials",
    FORBIDDEN: "check the credentials, and their permissions",
    413: "use a smaller --batch, or let the server take larger requests",
}
_ABOUT_CREDENTIALS = re.compile(
    r"(?i)auth|credential|token|password|permission|privilege|denied|not allowed|\b(user|role)\b"
)
"""A 403 may also be a block: a full disk, a read-only table, an expired licence."""


def classify(error: Exception) -> Failure:
    """Return the meaning of an error for the rows that were being sent."""
    match error:
        case NotConnected():
            return Failure.FATAL if error.permanent else Failure.NOT_APPLIED
        case Refused(status=429 | 503):
            return Failure.NOT_APPLIED
        case Refused() if error.status < 500:
            return Failure.FATAL
        case _:
            return Failure.UNKNOWN


class Http:
    """One connection, opened on first use and reopened after a loss."""

    def __init__(self, options: HttpOptions, headers: Mapping[str, str] | None = None) -> None:
        """Store headers for every request; SetupError if a header or the CA is unusable."""
        self.alive = True
        """False after a failed connection attempt or a lost connection."""
        self._where = options.url
        self._timeout_s, self._query_timeout_s = options.timeout_s, options.query_timeout_s
        self._headers = dict(headers or {})
        for name, value in self._headers.items():
            if not (value.isascii() and value.isprintable()):
                raise SetupError(
                    f"{options.url}: header {name}: expected printable ASCII; remove line ends and "
                    "non-ASCII letters from the credentials"
                )
        url = urlsplit(options.url)
        self._path = quote(url.path, safe=_PATH)
        self.tls: ssl.SSLContext | None = None
        self._connection: HTTPConnection
        if url.scheme == "https":
            self.tls = tls_context(options.ca_file, options.ca, insecure=options.insecure)
            self._connection = HTTPSConnection(url.hostname or "", url.port, context=self.tls)
        else:
            self._connection = HTTPConnection(url.hostname or "", url.port)

    def close(self) -> None:
        """Close the connection; never raises."""
        with suppress(*_BROKEN):
            self._connection.close()

    def request(
        self,
        method: str,
        path: str,
        body: Body | Parts | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float | None = None,
    ) -> HttpReply:
        """Send a request and return the complete answer; Refused unless it succeeded."""
        response = self._send(method, path, body, headers, timeout_s or self._timeout_s)
        reply = self._read_whole(response)
        if reply.status >= _FIRST_FAILURE:
            raise Refused(self._where, reply)
        return reply

    def query(
        self,
        method: str,
        path: str,
        body: Body | Parts | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpReply:
        """Send a request that may take as long as a query, and return the complete answer."""
        return self.request(method, path, body, headers, self._query_timeout_s)

    def stream(
        self,
        method: str,
        path: str,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Iterator[bytes]:
        """Send a query and yield pieces of the answer as they arrive, in bounded memory."""
        response = self._send(method, path, body, headers, self._query_timeout_s)
        if response.status >= _FIRST_FAILURE:
            raise Refused(self._where, self._read_whole(response))
        finished = False
        try:
            while piece := self._read(response, _PIECE_BYTES):
                yield piece
            finished = True
        finally:
            if not finished:  # the rest would be read as the next answer
                self.close()

    def _send(
        self,
        method: str,
        path: str,
        body: Body | Parts | None,
        headers: Mapping[str, str] | None,
        timeout_s: float,
    ) -> HTTPResponse:
        """Send a request and return the answer when its head has arrived."""
        self._connect()
        connection = self._connection
        connection.timeout = timeout_s
        connection.sock.settimeout(timeout_s)
        all_headers = {**self._headers, **headers} if headers else self._headers
        try:
            # A server that refuses a long request may answer and close before reading all of it.
            with suppress(BrokenPipeError, ConnectionResetError):
                connection.request(method, self._path + path, body, all_headers)
            return connection.getresponse()
        except _BROKEN as error:
            raise self._lose(error) from error

    def _connect(self) -> None:
        connection = self._connection
        if connection.sock:
            unasked = poll()
            unasked.register(connection.sock, POLLIN)
            if not unasked.poll(0):
                return
        self.close()  # the server closed the idle connection, or sent data unasked
        connection.timeout = CONNECT_S
        try:
            connection.connect()
            for option in socket_options():
                connection.sock.setsockopt(*option)
        except (*_BROKEN, UnicodeError) as error:
            self.alive = False
            self.close()
            raise not_connected(self._where, error) from error

    def _read_whole(self, response: HTTPResponse) -> HttpReply:
        return HttpReply(response.status, response.headers, self._read(response, None))

    def _read(self, response: HTTPResponse, limit: int | None) -> bytes:
        try:
            found = response.read(limit)
            if limit and not found and response.length:
                raise IncompleteRead(b"", response.length)  # read(n) does not raise it
        except _BROKEN as error:
            raise self._lose(error) from error
        return found

    def _lose(self, error: Exception) -> NoAnswer:
        self.alive = False
        timeout_s = self._connection.timeout
        self.close()
        # With an errno the operating system gave up, because the server's node is gone.
        if isinstance(error, TimeoutError) and error.errno is None:
            return NoAnswer(
                f"{self._where}: no answer within {timeout_s:g} s",
                "raise the target's timeout_s or query_timeout_s, or look at the server's log",
            )
        cause = f"{type(error).__name__}: {error}"
        return NoAnswer(f"{self._where}: the connection was lost before an answer came ({cause})")


def not_connected(where: str, error: Exception) -> NotConnected:
    """Return the error of a failed connection attempt, with its reason and remedy."""
    match error:
        case ssl.SSLCertVerificationError():
            remedy = certificate_remedy(error.verify_message)
            return NotConnected(f"{where}: {error.verify_message}", remedy, permanent=True)
        case ssl.SSLError(reason="WRONG_VERSION_NUMBER" | "HTTP_REQUEST" | "RECORD_LAYER_FAILURE"):
            text = f"{where}: the server does not use TLS there"
            return NotConnected(text, "try http://", permanent=True)
        case socket.gaierror() | UnicodeError():
            reason, remedy = "the host's name is not known", "check the host"
        case TimeoutError():
            reason, remedy = f"no connection within {CONNECT_S:g} s", _CHECK
        case OSError(strerror=str(reason)):
            remedy = _CHECK
        case _:
            reason, remedy = f"{type(error).__name__}: {error}", _CHECK
    return NotConnected(f"{where}: {reason}", remedy)


_CHECK = "check that the server runs, and host and port"


def words(body: bytes) -> str:
    """Return the message in a refusal's body if it is JSON, else the start of the body."""
    with suppress(ValueError):
        content = json.loads(body)
        if message := _find_message(content):
            return message + _find_detail(content)
    text = body[:_SHOWN_BYTES].decode(errors="replace")
    return " ".join(text.split())


def _find_detail(content: Any) -> str:
    """Return the detail that InfluxDB 3 adds about the first refused line."""
    data = content.get("data") if isinstance(content, dict) else None
    first = data[0] if isinstance(data, list) and data else data
    detail = first.get("error_message") if isinstance(first, dict) else None
    return f": {detail}" if isinstance(detail, str) else ""


def _find_message(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        for key in ("message", "error", "errorMessage", "reason", "text"):
            if found := _find_message(content.get(key)):
                return found
    return ""


def lines(pieces: Iterable[bytes]) -> Iterator[str]:
    """Yield the lines, with their line ends, of a text that arrives in pieces."""
    rest = b""
    for piece in pieces:
        *whole, rest = (rest + piece).split(b"\n")
        for line in whole:
            yield line.decode() + "\n"
    if rest:
        yield rest.decode()


def basic(user: str, password: str) -> str:
    """Return the Authorization header for a user and a password."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def gzip_body(body: Body) -> bytes:
    """Compress a body for `Content-Encoding: gzip`, at the fastest level to save client time."""
    compressor = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()
