"""The vendor's client, over connections with this project's TLS and socket options.

python-arango takes both from an HTTP client that a caller may replace.
"""

import ssl
from typing import Any

from arango.client import ArangoClient
from arango.http import DefaultHTTPAdapter, DefaultHTTPClient
from requests import Session

from simulator.modules.shared.http.tls import socket_options


class _Adapter(DefaultHTTPAdapter):
    """A connection that notices within 30 s that the server's node is gone."""

    def __init__(self, context: ssl.SSLContext | None, timeout_s: float) -> None:
        self._context = context
        super().__init__(connection_timeout=timeout_s, pool_connections=1, pool_maxsize=1)

    def init_poolmanager(self, *sizes: Any, **options: Any) -> None:
        super().init_poolmanager(
            *sizes, ssl_context=self._context, socket_options=socket_options(), **options
        )

    def build_connection_pool_key_attributes(self, *request: Any, **options: Any) -> Any:
        host, _ = super().build_connection_pool_key_attributes(*request, **options)
        return host, {}  # TLS is the context's

    def cert_verify(self, *connection: Any, **options: Any) -> None:
        """Leave it to the context."""


class _Connections(DefaultHTTPClient):
    """Sends each request once."""

    def __init__(self, context: ssl.SSLContext | None, timeout_s: float) -> None:
        super().__init__(request_timeout=timeout_s)
        self._adapter = _Adapter(context, timeout_s)

    def create_session(self, host: str) -> Session:
        session = Session()
        session.trust_env = False  # no proxy, and no compression: as the timed send
        session.headers["Accept-Encoding"] = "identity"
        session.mount(host, self._adapter)
        return session


def client(url: str, context: ssl.SSLContext | None, timeout_s: float) -> ArangoClient:
    """Return a client of the server at this address."""
    return ArangoClient(url, http_client=_Connections(context, timeout_s), resolver_max_tries=1)
