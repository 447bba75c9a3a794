"""The vendor's client, without the two checks that keep it from OpenSearch.

`elasticsearch.Elasticsearch` refuses a server that does not name itself Elasticsearch, and asks for
media types of its major version, which OpenSearch rejects. Both happen in `perform_request`, a
public method. The vendor does everything else: transport, TLS, authentication, a method for each
API.
"""

import json
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from elastic_transport import ApiResponse, NodeConfig, ObjectApiResponse, Urllib3HttpNode
from elastic_transport.client_utils import url_to_node_config
from elasticsearch import ApiError, Elasticsearch
from elasticsearch.exceptions import HTTP_EXCEPTIONS
from typing_extensions import override

from simulator.modules.shared.http.tls import socket_options

_JSON = {"accept": "application/json", "content-type": "application/json"}
_LINES = {**_JSON, "content-type": "application/x-ndjson"}
"""Headers of a request with a body of JSON lines, such as a bulk request."""


class Client(Elasticsearch):
    """A client for any version of Elasticsearch and OpenSearch."""

    @override
    def perform_request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        body: Any = None,
        endpoint_id: str | None = None,
        path_parts: Mapping[str, Any] | None = None,
    ) -> ApiResponse[Any]:
        """Make a request with plain media types; ApiError unless the answer is a success."""
        query = urlencode({name: _format(value) for name, value in (params or {}).items()})
        given = {name.lower(): value for name, value in (headers or {}).items()}
        types = _LINES if "x-ndjson" in given.get("content-type", "") else _JSON
        meta, content = self.transport.perform_request(
            method,
            f"{path}?{query}" if query else path,
            headers={**self._headers, **types},
            body=body,
            request_timeout=self._request_timeout,
            max_retries=0,
        )
        if not 200 <= meta.status < 300:
            kind = HTTP_EXCEPTIONS.get(meta.status, ApiError)
            raise kind(message=str(meta.status), meta=meta, body=content)
        return ObjectApiResponse(body=content, meta=meta)


class _Node(Urllib3HttpNode):
    """A connection that notices within 30 s that the server's node is gone."""

    def __init__(self, config: NodeConfig) -> None:
        super().__init__(config)
        self.pool.conn_kw["socket_options"] = socket_options()
        if config.ssl_context:
            # The context has its authorities: do not add the default ones.
            self.pool.ca_certs = None  # type: ignore[attr-defined]


def client(
    url: str, context: ssl.SSLContext | None, timeout_s: float, credentials: Mapping[str, Any]
) -> Client:
    """Return a client; `credentials` are the vendor's arguments `basic_auth` or `api_key`."""
    node = url_to_node_config(url, use_default_ports_for_scheme=True).replace(
        connections_per_node=1,
        ssl_context=context,
        verify_certs=context is None or context.verify_mode is not ssl.CERT_NONE,
        ssl_show_warn=False,
    )
    return Client([node], node_class=_Node, request_timeout=timeout_s, **credentials)


def _format(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_format, value))
    return json.dumps(value) if isinstance(value, bool) else str(value)
