"""Requests to the API server of a cluster, and what is wrong when one fails."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from iotbench.config.options.cluster import ClusterOptions
from iotbench.execution.kubernetes.connection import connect
from iotbench.machine.program import command_line
from simulator.errors import BenchError, SetupError

JSON = "application/json"
METADATA = f"{JSON};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
"""https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches"""
_CONNECT_S = 5.0
READ_S = 10.0
STREAM_READ_S = 30.0
"""After a suspend of this machine, a watch that is no longer connected is silent for this long."""


class NotFound(BenchError):
    """The object does not exist."""


class Exists(BenchError):
    """An object of that name exists."""


class NotYet(BenchError):
    """The object exists, but is not ready for the request."""


class Expired(BenchError):
    """The watch expired and must start again."""


class Unreachable(SetupError):
    """The API server does not answer."""


class ApiServer:
    """The API server of a cluster."""

    def __init__(self, options: ClusterOptions) -> None:
        """Find the server in the same way as kubectl; SetupError if there is none."""
        self.now = datetime.now(UTC)
        """The server's clock at its last answer; the clock of this machine may be wrong."""
        self._client = connect(options)

    @property
    def address(self) -> str:
        """The server's URL."""
        return str(self._client.configuration.host)

    def json(  # noqa: PLR0913
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        having: str = "",
        accept: str = JSON,
    ) -> Any:
        """Return the object of an answer; `having` is a field that it must have."""
        content = self.content(method, path, query=query, body=body, accept=accept)
        try:
            found = json.loads(content)
        except ValueError:
            found = None
        if not isinstance(found, dict) or (having and having not in found):
            shown = " ".join(content[:200].decode(errors="replace").split())
            raise SetupError(
                f"the server at {self.address} is not a Kubernetes API: GET {path} gave {shown!r};"
                " --kubeconfig and --context choose another cluster"
            )
        return found

    def content(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        accept: str = JSON,
    ) -> bytes:
        """Return the whole answer to a request."""
        with _name_errors(self.address):
            found: bytes = self._call(method, path, query=query, body=body, accept=accept).read()
        return found

    def lines(
        self, path: str, query: Mapping[str, str], read_s: float = STREAM_READ_S
    ) -> Iterator[str]:
        """Yield the lines of an answer as they come."""
        response = self._call("GET", path, query=query, read_s=read_s)
        rest = b""
        try:
            with _name_errors(self.address):
                for portion in response.response.stream(65536, decode_content=True):
                    *lines, rest = (rest + portion).split(b"\n")
                    yield from (line.decode(errors="replace") for line in lines)
        finally:
            response.response.close()

    def _call(  # noqa: PLR0913
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        read_s: float = READ_S,
        accept: str = JSON,
    ) -> Any:
        kind = "application/merge-patch+json" if method == "PATCH" else JSON
        request = self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": accept, "Content-Type": kind},
            body=body,
            auth_settings=["BearerToken"],
        )
        with _name_errors(self.address):
            response = self._client.call_api(*request, _request_timeout=(_CONNECT_S, read_s))
            with suppress(KeyError, TypeError, ValueError):
                self.now = parsedate_to_datetime(response.headers["Date"])
            if response.status >= 400:
                raise _refusal(method, path, response.status, response.read())
            return response


@contextmanager
def _name_errors(server: str) -> Iterator[None]:
    """Return the text for a broken connection."""
    try:
        yield
    except (HTTPError, OSError, ApiException) as error:
        cause = getattr(error, "reason", None) or error
        raise Unreachable(
            f"the cluster at {server} cannot be reached: {' '.join(str(cause).split())}; is it"
            " up, and does `kubectl version` reach it? --kubeconfig and --context choose another"
        ) from error


def _refusal(method: str, path: str, status: int, body: bytes) -> BenchError:
    """Return the error for a refusal of the API server."""
    words = body.decode(errors="replace").strip()
    with suppress(ValueError):
        content = json.loads(body)
        if isinstance(content, dict):
            words = str(content.get("message", ""))
    if status == 404:
        return NotFound(words)
    if status == 400 and "/log" in path:
        return NotYet(words)
    if status == 409:
        return Exists(words)
    if status == 410:
        return Expired(words)
    if status == 401:
        return SetupError(
            "the cluster does not accept these credentials (401); log in again, or choose another"
            " user with --context"
        )
    if status == 403:
        return SetupError(
            f"permission denied: {words}; deployment/rbac.yaml has the permissions that a run"
            f" needs, and `{command_line(['check'])}` lists those that are missing"
        )
    return SetupError(f"{method} {path}: {status}: {words}")
