"""The part of the Kubernetes API that the benchmark needs, in plain JSON.

Hundreds of pods are watched, and only a few of their fields are read.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeAlias

from kubernetes.client import ApiException
from urllib3.exceptions import HTTPError

from cli.cluster.connection import connected, kubectl_flags
from cli.cluster.options import ClusterOptions
from cli.cluster.permissions import PERMISSIONS, Permission
from cli.host.program import program
from simulator.errors import BenchError, SetupError

Object: TypeAlias = dict[str, Any]

_CONNECT_S = 5.0
_READ_S = 10.0
_STREAM_READ_S = 30.0
"""After a suspend of this machine, a watch that is no longer connected is silent for this long."""
_LOG_READ_S = 12.0
"""The collector writes at least every 5 s: a stream without two of its lines is broken."""
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


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


class Cluster:
    """One namespace of one cluster."""

    def __init__(self, options: ClusterOptions, namespace: str) -> None:
        """Find the cluster in the same way as kubectl; SetupError if there is none."""
        self.namespace = namespace
        self.flags = kubectl_flags(options)
        """The options with which kubectl and helm use the same cluster."""
        self.now = datetime.now(UTC)
        """The API server's clock at its last answer; the clock of this machine may be wrong."""
        self._client = connected(options)

    @property
    def server(self) -> str:
        """The API server's address."""
        return str(self._client.configuration.host)

    # --- requests ------------------------------------------------------------------------------

    def version(self) -> str:
        """Return the cluster's version; SetupError if it cannot be reached."""
        return str(self._json("GET", "/version", having="gitVersion")["gitVersion"])

    def objects(self, resource: str, selector: str) -> tuple[list[Object], str]:
        """Return the objects with these labels, and the version from which to watch them."""
        found = self._json("GET", self._path(resource), query={"labelSelector": selector})
        return found["items"], found["metadata"]["resourceVersion"]

    def watch(self, resource: str, selector: str, version: str) -> Iterator[tuple[str, Object]]:
        """Yield changes as (ADDED | MODIFIED | DELETED, object) for a while; then call it again."""
        query = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(_STREAM_READ_S) - 10),
        }
        if selector:
            query["labelSelector"] = selector
        for line in self._lines(self._path(resource), query):
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise Expired(str(event["object"].get("message")))
            yield event["type"], event["object"]

    def present(self, resource: str) -> str:
        """Return the current version of a resource's list, from which to watch it."""
        found = self._json("GET", self._path(resource), query={"limit": "1"})
        return str(found["metadata"]["resourceVersion"])

    def log(self, pod: str, since: str = "", *, follow: bool = True) -> Iterator[tuple[str, str]]:
        """Yield (time, text) of the lines of a pod's log, from a line's time on.

        Followed, it ends with the container. NotYet while there is no log.
        """
        query = {"timestamps": "true"}
        if follow:
            query["follow"] = "true"
        if since:
            query["sinceTime"] = since
        read_s = _LOG_READ_S if follow else _READ_S
        for line in self._lines(self._path(f"pods/{pod}/log"), query, read_s):
            stamp, _, text = line.partition(" ")
            yield stamp, text

    def log_tail(self, pod: str, lines: int) -> str:
        """Return the last lines of a pod's log, or nothing."""
        try:
            with _named_errors(self.server):
                path, query = self._path(f"pods/{pod}/log"), {"tailLines": str(lines)}
                content = self._call("GET", path, query=query).read()
        except (NotFound, NotYet, SetupError):
            return ""
        return str(content.decode(errors="replace")).strip()

    def create_secret(
        self, name: str, labels: Mapping[str, str], data: Mapping[str, str], job: str
    ) -> None:
        """Create a Secret that Kubernetes deletes together with a Job, which must exist.

        Its values are only in the body of the request.
        """
        uid = self.object("jobs", job)["metadata"]["uid"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid}
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        metadata = {"name": name, "labels": dict(labels), "ownerReferences": [owner]}
        self._create("secrets", "Secret", metadata, encoded)

    def create_config_map(
        self, name: str, labels: Mapping[str, str], data: Mapping[str, str]
    ) -> None:
        """Create a ConfigMap; Exists if one of that name exists."""
        self._create("configmaps", "ConfigMap", {"name": name, "labels": dict(labels)}, data)

    def _create(
        self, resource: str, kind: str, metadata: Mapping[str, Any], data: Mapping[str, str]
    ) -> None:
        body = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": dict(data)}
        self._json("POST", self._path(resource), body=body)

    def object(self, resource: str, name: str) -> Object:
        """Return an object; NotFound if there is none of that name."""
        found: Object = self._json("GET", self._path(f"{resource}/{name}"))
        return found

    def patch(self, resource: str, name: str, changes: Mapping[str, Any]) -> None:
        """Merge changes into an object."""
        self._json("PATCH", self._path(f"{resource}/{name}"), body=dict(changes))

    def delete(self, resource: str, name: str, grace_s: int | None = None) -> None:
        """Delete an object if it exists."""
        body: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace_s is not None:
            body["gracePeriodSeconds"] = grace_s
        body["propagationPolicy"] = "Background"
        with suppress(NotFound):
            self._json("DELETE", self._path(f"{resource}/{name}"), body=body)

    def node(self, name: str) -> Object | None:
        """Return a node; None if it cannot be read, NotFound if it is gone."""
        try:
            found: Object = self._json("GET", f"/api/v1/nodes/{name}")
        except NotFound:
            raise
        except BenchError:
            return None
        return found

    def lease(self, node: str) -> Object | None:
        """Return the lease that a node renews; None if there is none, or it cannot be read."""
        try:
            found: Object = self._json("GET", f"{_LEASES}/{node}")
        except BenchError:
            return None
        return found

    def nodes(self, selector: str) -> list[str] | None:
        """Return the names of the nodes with a label; None if they cannot be read."""
        try:
            found = self._json("GET", "/api/v1/nodes", query={"labelSelector": selector})
        except BenchError:
            return None
        return [node["metadata"]["name"] for node in found["items"]]

    def endpoints(self, service: str, namespace: str) -> list[Object]:
        """Return the endpoints of a Service; none if it does not exist."""
        path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        query = {"labelSelector": f"kubernetes.io/service-name={service}"}
        found = self._json("GET", path, query=query)
        return [each for part in found["items"] for each in part.get("endpoints") or ()]

    def pods_anywhere(self, selector: str) -> list[Object]:
        """Return the pods with these labels in all namespaces."""
        found: list[Object] = self._json("GET", "/api/v1/pods", query={"labelSelector": selector})[
            "items"
        ]
        return found

    def statistics(self, node: str) -> Object:
        """Return CPU and memory of a node and its pods, as its kubelet last read them.

        Afterwards `now` is the clock of the node.
        """
        path = f"/api/v1/nodes/{node}/proxy/stats/summary"
        found: Object = self._json("GET", path, query={"only_cpu_and_memory": "true"})
        return found

    def missing_permissions(self, needed: Sequence[Permission] = PERMISSIONS) -> list[str]:
        """Return the verbs and resources that this user may not use."""
        missing = []
        for permission in needed:
            resource, _, sub = permission.resource.partition("/")
            refused = []
            for verb in permission.verbs:
                where = "" if permission.everywhere else self.namespace
                asked = {"namespace": where, "verb": verb, "group": permission.group,
                         "resource": resource, "subresource": sub}  # fmt: skip
                body = {
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SelfSubjectAccessReview",
                    "spec": {"resourceAttributes": asked},
                }
                path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
                if not self._json("POST", path, body=body)["status"].get("allowed"):
                    refused.append(verb)
            if refused:
                missing.append(f"{', '.join(refused)} {permission.shown} ({permission.why})")
        return missing

    # --- the wire ------------------------------------------------------------------------------

    def _path(self, resource: str) -> str:
        group = "/apis/batch/v1" if resource.startswith("jobs") else "/api/v1"
        return f"{group}/namespaces/{self.namespace}/{resource}"

    def _json(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        having: str = "",
    ) -> Any:
        """Return the object of an answer; `having` is a field that it must have."""
        with _named_errors(self.server):
            content = self._call(method, path, query=query, body=body).read()
        try:
            found = json.loads(content)
        except ValueError:
            found = None
        if not isinstance(found, dict) or (having and having not in found):
            shown = " ".join(content[:200].decode(errors="replace").split())
            raise SetupError(
                f"the server at {self.server} is not a Kubernetes API: GET {path} gave {shown!r};"
                " --kubeconfig and --context choose another cluster"
            )
        return found

    def _lines(
        self, path: str, query: Mapping[str, str], read_s: float = _STREAM_READ_S
    ) -> Iterator[str]:
        response = self._call("GET", path, query=query, read_s=read_s)
        rest = b""
        try:
            with _named_errors(self.server):
                for portion in response.response.stream(65536, decode_content=True):
                    *lines, rest = (rest + portion).split(b"\n")
                    yield from (line.decode(errors="replace") for line in lines)
        finally:
            response.response.close()

    def _call(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        read_s: float = _READ_S,
    ) -> Any:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        request = self._client.param_serialize(
            method,
            path,
            query_params=list((query or {}).items()),
            header_params={"Accept": "application/json", "Content-Type": kind},
            body=body,
            auth_settings=["BearerToken"],
        )
        with _named_errors(self.server):
            response = self._client.call_api(*request, _request_timeout=(_CONNECT_S, read_s))
            with suppress(KeyError, TypeError, ValueError):
                self.now = parsedate_to_datetime(response.headers["Date"])
            if response.status >= 400:
                raise _refusal(method, path, response.status, response.read())
            return response


@contextmanager
def _named_errors(server: str) -> Iterator[None]:
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
            f" needs, and `{program()} check` lists those that are missing"
        )
    return SetupError(f"{method} {path}: {status}: {words}")
