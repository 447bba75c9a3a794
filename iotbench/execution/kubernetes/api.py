"""The part of the Kubernetes API that the benchmark needs, in plain JSON.

Typed objects would be slow: the benchmark watches hundreds of pods and reads few of their fields.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeAlias

from iotbench.config.options.choice import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.execution.kubernetes.permissions import PERMISSIONS, Permission
from iotbench.execution.kubernetes.wire import (
    METADATA,
    READ_S,
    STREAM_READ_S,
    ApiServer,
    Expired,
    NotFound,
    NotYet,
    kubectl_flags,
)
from iotbench.execution.stream import TAIL_LINES
from simulator.errors import BenchError, SetupError

COLLECTOR, WORKER = "collector", "worker"
"""Names of the components of a run, and of the containers of these components."""
Object: TypeAlias = dict[str, Any]

_LOG_READ_S = 12.0
"""Maximum silence of a log stream: the collector writes at least every 5 s."""
_MOST_NODES = 500
"""A node's object has ten thousand characters or more."""
_LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"


def cluster_of(target: Target, options: ClusterOptions) -> "Cluster":
    """Return the cluster and namespace of the pods of a target."""
    return Cluster(options, options.namespace or target.namespace)


class Cluster(ApiServer):
    """One namespace of one cluster."""

    def __init__(self, options: ClusterOptions, namespace: str) -> None:
        """Find the cluster in the same way as kubectl; SetupError if there is none."""
        super().__init__(options)
        self.namespace = namespace
        self.flags = kubectl_flags(options)
        """Options that make kubectl and helm use the same cluster."""

    def version(self) -> str:
        """Return the cluster's version; SetupError if it cannot be reached."""
        return str(self.json("GET", "/version", having="gitVersion")["gitVersion"])

    def objects(self, resource: str, selector: str) -> tuple[list[Object], str]:
        """Return the objects that match a selector, and the version at which to start a watch."""
        found = self.json("GET", self._path(resource), query={"labelSelector": selector})
        return found["items"], found["metadata"]["resourceVersion"]

    def metadata(self, resource: str, selector: str) -> list[Object]:
        """Return only the metadata of the objects that match a selector."""
        path, query = self._path(resource), {"labelSelector": selector}
        answer = self.json("GET", path, query=query, accept=METADATA)
        return answer["items"] or []  # without objects, the API server returns null here

    def watch(self, resource: str, selector: str, version: str) -> Iterator[tuple[str, Object]]:
        """Yield changes as (ADDED | MODIFIED | DELETED | BOOKMARK, object); end after some time."""
        query = {
            "watch": "true",
            "resourceVersion": version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": str(int(STREAM_READ_S) - 10),
        }
        if selector:
            query["labelSelector"] = selector
        for line in self.lines(self._path(resource), query):
            event = json.loads(line)
            if event["type"] == "ERROR":
                raise Expired(str(event["object"].get("message")))
            yield event["type"], event["object"]

    def present(self, resource: str) -> str:
        """Return the current version of the list of a resource, at which to start a watch."""
        found = self.json("GET", self._path(resource), query={"limit": "1"})
        return str(found["metadata"]["resourceVersion"])

    def log(self, pod: str, since: str = "", *, follow: bool = True) -> Iterator[tuple[str, str]]:
        """Yield (time, text) of the lines of a collector's log, from the time `since`.

        With `follow`, the lines end when the container ends. NotYet if no log exists yet.
        """
        query = {"container": COLLECTOR, "timestamps": "true"}
        if follow:
            query["follow"] = "true"
        if since:
            query["sinceTime"] = since
        read_s = _LOG_READ_S if follow else READ_S
        for line in self.lines(self._path(f"pods/{pod}/log"), query, read_s):
            stamp, _, text = line.partition(" ")
            yield stamp, text

    def log_tail(self, pod: str, container: str) -> str:
        """Return the last lines of a container's log; empty if it cannot be read."""
        try:
            path = self._path(f"pods/{pod}/log")
            query = {"container": container, "tailLines": str(TAIL_LINES)}
            content = self.content("GET", path, query=query)
        except (NotFound, NotYet, SetupError):
            return ""
        return content.decode(errors="replace").strip()

    def create_secret(
        self, name: str, labels: Mapping[str, str], data: Mapping[str, str], job: str
    ) -> None:
        """Create a Secret that Kubernetes deletes together with an existing Job.

        The values of the Secret are only in the body of the request.
        """
        uid = self.object("jobs", job)["metadata"]["uid"]
        owner = {"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": uid}
        encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
        metadata = {"name": name, "labels": dict(labels), "ownerReferences": [owner]}
        self._create("secrets", "Secret", metadata, encoded)

    def create_config_map(
        self, name: str, labels: Mapping[str, str], data: Mapping[str, str]
    ) -> None:
        """Create a ConfigMap; Exists if the name is in use."""
        self._create("configmaps", "ConfigMap", {"name": name, "labels": dict(labels)}, data)

    def _create(
        self, resource: str, kind: str, metadata: Mapping[str, Any], data: Mapping[str, str]
    ) -> None:
        body = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "data": dict(data)}
        self.json("POST", self._path(resource), body=body)

    def object(self, resource: str, name: str) -> Object:
        """Return an object; NotFound if no object has the name."""
        return self.json("GET", self._path(f"{resource}/{name}"))

    def patch(self, resource: str, name: str, changes: Mapping[str, Any]) -> None:
        """Merge changes into an object."""
        self.json("PATCH", self._path(f"{resource}/{name}"), body=dict(changes))

    def delete(
        self, resource: str, name: str, grace_s: int | None = None, *, namespace: str = ""
    ) -> None:
        """Delete an object if it exists; `namespace` overrides the namespace of the cluster."""
        body: Object = {"apiVersion": "v1", "kind": "DeleteOptions"}
        if grace_s is not None:
            body["gracePeriodSeconds"] = grace_s
        body["propagationPolicy"] = "Background"
        with suppress(NotFound):
            path = self._path(f"{resource}/{name}", namespace)
            self.json("DELETE", path, body=body)

    def own_namespace(self) -> Object | None:
        """Return the namespace: empty if it does not exist, None if it cannot be read."""
        try:
            return self._look(f"/api/v1/namespaces/{self.namespace}")
        except NotFound:
            return {}

    def node(self, name: str) -> Object | None:
        """Return a node; None if it cannot be read, NotFound if it is gone."""
        return self._look(f"/api/v1/nodes/{name}")

    def _look(self, path: str) -> Object | None:
        try:
            return self.json("GET", path)
        except NotFound:
            raise
        except BenchError:
            return None

    def lease(self, node: str) -> Object | None:
        """Return the lease that a node renews; None if no lease exists, or it cannot be read."""
        with suppress(BenchError):
            return self.json("GET", f"{_LEASES}/{node}")
        return None

    def nodes(self) -> list[Object] | None:
        """Return the nodes; None if they cannot be read, or if there are very many."""
        with suppress(BenchError):
            found = self.json("GET", "/api/v1/nodes", query={"limit": str(_MOST_NODES)})
            return None if found["metadata"].get("continue") else list(found["items"])
        return None

    def quotas(self) -> list[Object] | None:
        """Return the quotas of the namespace; None if they cannot be read."""
        with suppress(BenchError):
            return list(self.json("GET", self._path("resourcequotas"))["items"])
        return None

    def endpoints(self, service: str, namespace: str) -> list[Object]:
        """Return the endpoints of a Service; none if it does not exist."""
        path = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
        query = {"labelSelector": f"kubernetes.io/service-name={service}"}
        found = self.json("GET", path, query=query)
        return [each for part in found["items"] for each in part.get("endpoints") or ()]

    def pods_anywhere(self, selector: str) -> list[Object]:
        """Return the pods of all namespaces that match a selector."""
        found = self.json("GET", "/api/v1/pods", query={"labelSelector": selector})
        return list(found["items"])

    def statistics(self, node: str) -> Object:
        """Return the kubelet's last readings of CPU and memory of a node and its pods.

        After this call, `now` is the time on the clock of the node.
        """
        path = f"/api/v1/nodes/{node}/proxy/stats/summary"
        return self.json("GET", path, query={"only_cpu_and_memory": "true"})

    def missing_permissions(self, needed: Sequence[Permission] = PERMISSIONS) -> list[str]:
        """Return the needed verbs and resources for which this user has no permission."""
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
                if not self.json("POST", path, body=body)["status"].get("allowed"):
                    refused.append(verb)
            if refused:
                missing.append(f"{', '.join(refused)} {permission.shown} ({permission.why})")
        return missing

    def _path(self, resource: str, namespace: str = "") -> str:
        group = "/apis/batch/v1" if resource.startswith("jobs") else "/api/v1"
        return f"{group}/namespaces/{namespace or self.namespace}/{resource}"
