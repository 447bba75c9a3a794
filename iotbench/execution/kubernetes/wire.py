"""The connection to a cluster, requests to its API server, and errors for failed requests."""

import copy
import json
import os
import re
import ssl
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Self

import yaml

from iotbench.config.options.choice import ClusterOptions
from iotbench.machine.program import command_line
from iotbench.machine.scratch import scratch_folder
from simulator.errors import BenchError, ConfigError, SetupError


def connect(options: ClusterOptions) -> Any:
    """Return a client of the cluster that kubectl would use; ConfigError if none is configured."""
    from kubernetes import client, config  # noqa: PLC0415 - slow to load, and optional

    settings = client.Configuration()
    files = _list_kubeconfigs(options)
    try:
        if not files and os.environ.get("KUBERNETES_SERVICE_HOST"):
            config.load_incluster_config(settings)  # type: ignore[no-untyped-call]
            tls = _make_tls(settings)
        else:
            # The library writes a kubeconfig's certificates and private key to files, and removes
            # them when the process ends, unless it is killed.
            with scratch_folder("kubeconfig") as folder:
                config.load_kube_config(  # type: ignore[no-untyped-call]
                    config_file=os.pathsep.join(map(str, files)) or None,
                    context=options.context or _read_current_context(files),
                    client_configuration=settings,
                    temp_file_path=str(folder),
                )
                tls = _make_tls(settings)
                config.kube_config._cleanup_temp_files()  # type: ignore[no-untyped-call]  # noqa: SLF001
    except (config.ConfigException, OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(
            f"no Kubernetes cluster is configured: {' '.join(str(error).split())}; set KUBECONFIG"
            " or --kubeconfig, and --context for one of its clusters; without a cluster,"
            " --runner local"
        ) from error
    settings.retries = False
    settings.ssl_ca_cert = settings.cert_file = settings.key_file = None  # `tls` has them
    made = client.ApiClient(settings)
    made.rest_client.pool_manager.connection_pool_kw["ssl_context"] = tls
    return made


def _make_tls(settings: Any) -> ssl.SSLContext:
    from urllib3.util.ssl_ import create_urllib3_context  # noqa: PLC0415 - see `connect`

    context = create_urllib3_context()
    if not settings.verify_ssl:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    elif settings.ssl_ca_cert:
        context.load_verify_locations(settings.ssl_ca_cert)
    else:
        context.load_default_certs()
    if settings.cert_file:
        context.load_cert_chain(settings.cert_file, settings.key_file)
    return context


def _list_kubeconfigs(options: ClusterOptions) -> list[Path]:
    """Return the kubeconfig files that kubectl would read."""
    if options.kubeconfig:
        return [options.kubeconfig]
    named = [Path(name) for name in os.environ.get("KUBECONFIG", "").split(os.pathsep) if name]
    return named or [path for path in [Path.home() / ".kube" / "config"] if path.exists()]


def _read_current_context(files: Sequence[Path]) -> str | None:
    """Return the current context of the first file that has a current context."""
    for path in files:
        if path.exists():
            content = yaml.safe_load(path.read_text())
            if content is not None and not isinstance(content, dict):
                raise ValueError(f"{path} is not a kubeconfig file")
            if content and content.get("current-context"):
                return str(content["current-context"])
    return None


def kubectl_flags(options: ClusterOptions, context: str = "--context") -> list[str]:
    """Return the options that select the cluster; `context` is the option for the context."""
    flags = [f"--kubeconfig={options.kubeconfig}"] if options.kubeconfig else []
    return [*flags, f"{context}={options.context}"] if options.context else flags


JSON = "application/json"
METADATA = f"{JSON};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
"""Media type of requests for metadata only.
https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches"""
PATIENCE_S = 60.0
"""Time for which the API server may be unreachable during a sweep."""
_CONNECT_S = 5.0
_AGAIN_S = 0.5
READ_S = 10.0
STREAM_READ_S = 30.0
"""Maximum silence of a watch; a watch that has died unnoticed starts again after this time."""


class NotFound(BenchError):
    """The object does not exist."""


class Exists(BenchError):
    """An object with this name exists."""


class NotYet(BenchError):
    """The object exists, but is not ready for the request."""


class Expired(BenchError):
    """The watch expired and must start again."""


class Unreachable(SetupError):
    """The API server does not answer."""


class ApiServer:
    """The API server of a cluster."""

    patience_s = 0.0
    """Time for which a request is repeated while the server does not answer."""

    def __init__(self, options: ClusterOptions) -> None:
        """Find the server in the same way as kubectl; SetupError if there is none."""
        self.now = datetime.now(UTC)
        """Time on the server's clock at its last answer, since this machine's clock may be
        wrong."""
        self._client = connect(options)
        self.address = str(self._client.configuration.host)
        """URL of the server."""

    def with_patience(self, patience_s: float) -> Self:
        """Return a copy of the server that repeats requests for this time."""
        found = copy.copy(self)
        found.patience_s = patience_s
        return found

    def json(  # noqa: PLR0913
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        having: str = "",
        accept: str = JSON,
    ) -> dict[str, Any]:
        """Return the JSON object of an answer, which must have the field `having`."""
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
        until = time.monotonic() + self.patience_s
        while True:
            try:
                with _name_errors(self.address):
                    response = self._call(method, path, query=query, body=body, accept=accept)
                    found: bytes = response.read()
                    return found
            except Unreachable:
                if time.monotonic() >= until:
                    raise
            time.sleep(_AGAIN_S)

    def lines(
        self, path: str, query: Mapping[str, str], read_s: float = STREAM_READ_S
    ) -> Iterator[str]:
        """Yield the lines of an answer as they arrive."""
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
                raise _name_refusal(method, path, response.status, response.read())
            return response


@contextmanager
def _name_errors(server: str) -> Iterator[None]:
    """Raise Unreachable with a remedy if the connection breaks."""
    from kubernetes.client import ApiException  # noqa: PLC0415 - see `connect`
    from urllib3.exceptions import HTTPError  # noqa: PLC0415

    try:
        yield
    except (HTTPError, OSError, ApiException) as error:
        cause = getattr(error, "reason", None) or error
        raise Unreachable(
            f"the cluster at {server} cannot be reached: {' '.join(str(cause).split())}; is it"
            " up, and does `kubectl version` reach it? --kubeconfig and --context choose another"
        ) from error


def parse_quantity(quantity: str) -> float:
    """Return a quantity of Kubernetes as a number: 250m is 0.25, 1Ki is 1024."""
    from kubernetes import utils  # noqa: PLC0415 - see `connect`

    return float(utils.parse_quantity(quantity))  # type: ignore[no-untyped-call]


REFUSALS = {
    r"exceeded quota": "take fewer workers, ask for less (--set worker.resources...), have the"
    " quota raised, or remove what earlier runs left with `cleanup`",
    r"failed quota": "the quota of the namespace requires resource limits: --set"
    " worker.resources.limits..., and those of the collector",
    r"being terminated": "the namespace is being deleted; choose another with --namespace",
    r"violates PodSecurity": "a value of --set or --values violates the policy of the namespace",
    r"admission|denied the request": "an admission policy of the cluster refuses it",
}
"""Reasons other than a missing permission why the cluster refuses an object -> remedy."""


def find_remedies(remedies: Mapping[str, str], words: str) -> str:
    """Return the remedies for a message, to be added to it."""
    found = [remedy for pattern, remedy in remedies.items() if re.search(pattern, words)]
    return f"; {'; '.join(found)}" if found else ""


def _name_refusal(method: str, path: str, status: int, body: bytes) -> BenchError:
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
        if remedies := find_remedies(REFUSALS, words):
            return SetupError(f"{words}{remedies}")
        return SetupError(
            f"permission denied: {words}; deployment/rbac.yaml has the permissions that a run"
            f" needs, and `{command_line(['check'])}` lists those that are missing"
        )
    return SetupError(f"{method} {path}: {status}: {words}")
