"""The vendor's client, without the two checks that keep it from OpenSearch.

`elasticsearch.Elasticsearch` refuses a server that does not name itself Elasticsearch, and it asks
for media types of its major version, which OpenSearch rejects. Both happen in one public
method, `perform_request`. Everything else is the vendor's: transport, TLS, authentication, and a
method for each API.
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

_MEDIA_TYPES = {"accept": "application/json", "content-type": "application/json"}


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
        meta, content = self.transport.perform_request(
            method,
            f"{path}?{_query(params)}" if params else path,
            headers={**self._headers, **_MEDIA_TYPES, **_lines_of(headers)},
            body=body,
            request_timeout=self._request_timeout,
            max_retries=0,
        )
        if not 200 <= meta.status < 300:
            kind = HTTP_EXCEPTIONS.get(meta.status, ApiError)
            raise kind(message=str(meta.status), meta=meta, body=content)
        return ObjectApiResponse(body=content, meta=meta)


def _lines_of(headers: Mapping[str, str] | None) -> Mapping[str, str]:
    """Return the media type of a request with a body of JSON lines, such as a bulk request."""
    given = {name.lower(): value for name, value in (headers or {}).items()}
    lines = "x-ndjson" in given.get("content-type", "")
    return {"content-type": "application/x-ndjson"} if lines else {}


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


def _query(parameters: Mapping[str, Any]) -> str:
    return urlencode({name: _format(value) for name, value in parameters.items()})


def _format(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ",".join(map(_format, value))
    return json.dumps(value) if isinstance(value, bool) else str(value)
