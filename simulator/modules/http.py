"""HTTP for the databases that speak it: a connection that is kept, bytes in, status and bytes out.

What an error says about the rows is decided in one place (`classify`): what was never sent is not
stored, what was sent and not answered may be.
"""

import ssl
from collections.abc import Mapping
from pathlib import Path
from socket import (
    IPPROTO_TCP,
    SO_KEEPALIVE,
    SOL_SOCKET,
    TCP_KEEPCNT,
    TCP_KEEPIDLE,
    TCP_KEEPINTVL,
    TCP_NODELAY,
    TCP_USER_TIMEOUT,
)
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, field_validator

from simulator.errors import SetupError
from simulator.modules.base import Failure, Options

# A server that is gone without a word, with its node, is missed within 30 s.
_SOCKET_OPTIONS = [
    (IPPROTO_TCP, TCP_NODELAY, 1),
    (SOL_SOCKET, SO_KEEPALIVE, 1),
    (IPPROTO_TCP, TCP_KEEPIDLE, 10),
    (IPPROTO_TCP, TCP_KEEPINTVL, 5),
    (IPPROTO_TCP, TCP_KEEPCNT, 4),
    (IPPROTO_TCP, TCP_USER_TIMEOUT, 30_000),
]
_SHOWN_BYTES = 500
_TRY_AGAIN = (429, 503)


class HttpOptions(Options):
    """Options of every database that is reached by HTTP."""

    url: str = Field(description="how to reach the database: http(s)://host:port")
    ca: SecretStr | None = Field(
        None,
        description="certificates (PEM) one of which must have signed the server's, as text or as "
        "a file's path; default: those that the machine trusts",
    )
    insecure: bool = Field(
        default=False, description="take any certificate: who listens is not checked"
    )
    connect_timeout_s: float = Field(10, gt=0, le=30, description="how long to wait to connect")
    timeout_s: float = Field(
        60, gt=0, description="how long to wait for the answer to a write; its rows then count as "
        "uncertain"
    )  # fmt: skip

    @field_validator("url")
    @classmethod
    def _url(cls, url: str) -> str:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be http://host:port or https://host:port")
        if parts.username or parts.password:
            raise ValueError("must not hold a credential, which would be shown; use the options")
        return url.rstrip("/")


class Reply(NamedTuple):
    """A server's answer."""

    status: int
    content: bytes


class HttpError(Exception):
    """A request that failed."""


class NotSentError(HttpError):
    """There was no connection; nothing was sent."""


class NoAnswerError(HttpError):
    """It was sent, at least in part, and not answered."""


class StatusError(HttpError):
    """It was answered by an error."""

    def __init__(self, reply: Reply, words: str = "") -> None:
        self.status = reply.status
        self.content = reply.content
        shown = reply.content[:_SHOWN_BYTES].decode(errors="replace")
        super().__init__(words or f"HTTP {reply.status}: {' '.join(shown.split())}")


def classify(error: Exception) -> Failure:
    """Say what an error means for the rows that were to be written."""
    if isinstance(error, NotSentError):
        return Failure.NOT_APPLIED
    if isinstance(error, StatusError):
        if error.status in _TRY_AGAIN:
            return Failure.NOT_APPLIED
        return Failure.FATAL if 400 <= error.status < 500 else Failure.UNKNOWN
    return Failure.UNKNOWN


class Http:
    """One connection, opened by the first request and again after a failure."""

    def __init__(self, options: HttpOptions, headers: Mapping[str, str]) -> None:
        import urllib3  # noqa: PLC0415  # a client is imported only when a module connects

        parts = urlsplit(options.url)
        self._options = options
        self._base = parts.path
        self._headers = {"Accept-Encoding": "identity", **headers}
        self.alive = True
        reach: dict[str, Any] = {
            "host": parts.hostname,
            "port": parts.port,
            "maxsize": 1,
            "block": True,
            "retries": False,
            "timeout": urllib3.Timeout(connect=options.connect_timeout_s, read=options.timeout_s),
            "socket_options": _SOCKET_OPTIONS,
        }
        if parts.scheme == "http":
            self._pool = urllib3.HTTPConnectionPool(**reach)
        else:
            context = _tls(options)
            self._pool = urllib3.HTTPSConnectionPool(
                **reach, ssl_context=context, assert_hostname=False if options.insecure else None
            )

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def request(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
        *,
        patient: bool = False,
    ) -> Reply:
        """Send a request and return the answer, whatever its status; see HttpError.

        `patient` waits for the answer as long as the server's machine lives.
        """
        import urllib3  # noqa: PLC0415
        from urllib3 import exceptions  # noqa: PLC0415

        options = self._options
        limit = urllib3.Timeout(
            connect=options.connect_timeout_s, read=None if patient else options.timeout_s
        )
        try:
            reply = self._pool.urlopen(
                method, self._base + path, body, {**self._headers, **(headers or {})}, timeout=limit
            )
        except (exceptions.NewConnectionError, exceptions.ConnectTimeoutError) as error:
            self.alive = False
            raise NotSentError(_words(error)) from error
        except exceptions.SSLError as error:
            self.alive = False
            refused = isinstance(error.args[0], ssl.SSLCertVerificationError)
            raise (NotSentError if refused else NoAnswerError)(_words(error)) from error
        except exceptions.HTTPError as error:
            self.alive = False
            raise NoAnswerError(_words(error)) from error
        return Reply(reply.status, reply.data)


def _words(error: Exception) -> str:
    """Return what happened without the client's own objects in the text."""
    text = str(error)
    return text.split(": ", 1)[1] if text.startswith(("<", "HTTP")) and ": " in text else text


def _tls(options: HttpOptions) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if options.ca is not None:
        given = options.ca.get_secret_value()
        try:
            text = given if "-----BEGIN" in given else Path(given).read_text()
            context = ssl.create_default_context(cadata=text)
        except (OSError, ssl.SSLError, ValueError) as error:
            words = "no such file" if isinstance(error, FileNotFoundError) else str(error)
            raise SetupError(
                f"ca: neither certificates (PEM) nor a file of them: {words}"
            ) from None
    if options.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
