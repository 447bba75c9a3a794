"""Finds problems of a cluster before the first run.

Pure functions compare the pods of a run with the cluster's objects, as the API returns them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import yaml

from iotbench.execution.kubernetes.api import Cluster, Object
from simulator.errors import SetupError

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


@dataclass(frozen=True, slots=True)
class PodGroup:
    """The pods of one Job, which are equal."""

    part: str
    """collector or worker."""
    count: int
    spec: Object


@dataclass(frozen=True, slots=True)
class Seen:
    """The objects that a user may read; None: they cannot be read."""

    namespace: Object | None
    """Empty if it does not exist."""
    nodes: Sequence[Object] | None
    missing: Sequence[str] = ()
    """Permissions that the user does not have."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A problem that is found before the first run."""

    text: str
    refuses: bool = False
    """True if the run cannot start."""


def groups_of(manifests: str) -> list[PodGroup]:
    """Return the pods of rendered manifests."""
    jobs = yaml.load_all(manifests, Loader=yaml.CSafeLoader)
    return [
        PodGroup(pod["containers"][0]["name"], job["spec"].get("completions", 1), pod)
        for job in jobs
        if job and job["kind"] == "Job" and (pod := job["spec"]["template"]["spec"])
    ]


def look(cluster: Cluster) -> Seen:
    """Read the objects that the checks need."""
    return Seen(cluster.own_namespace(), cluster.nodes())


def expect(name: str, seen: Seen, groups: Sequence[PodGroup], *, inside: bool) -> list[str]:
    """Return warnings; SetupError has all reasons why the run cannot start in the namespace.

    `inside`: the database may be in the cluster.
    """
    found = [*findings(name, seen, groups, inside=inside)]
    if problems := [each.text for each in found if each.refuses]:
        raise SetupError("\n".join(problems))
    return [each.text for each in found]


def findings(
    name: str, seen: Seen, groups: Sequence[PodGroup], *, inside: bool
) -> Iterator[Finding]:
    """Yield the problems of the pods of a run in a namespace."""
    problem = next(_check_namespace(name, seen.namespace), None)
    if problem:
        yield problem
        return
    if seen.missing:
        yield Finding(
            f"permissions are missing in namespace {name}:\n  "
            + "\n  ".join(seen.missing)
            + "\ndeployment/rbac.yaml grants the permissions that a run needs",
            refuses=True,
        )
    if seen.nodes is not None and inside:
        yield from _check_separation(seen.nodes, groups)


def database_nodes(nodes: Sequence[Object], groups: Sequence[PodGroup]) -> list[str]:
    """Return the names of the nodes that are reserved for the database."""
    reserved = _find_reserved(groups)
    return [
        node["metadata"]["name"]
        for node in nodes
        if any(_labels_of(node).get(key) == value for key, value in reserved)
    ]


def _check_namespace(name: str, namespace: Object | None) -> Iterator[Finding]:
    if namespace is None:
        return
    if not namespace:
        yield Finding(
            f"namespace {name} does not exist: choose another with --namespace, or create it with"
            f" `kubectl create namespace {name}`",
            refuses=True,
        )
    elif namespace.get("status", {}).get("phase") == "Terminating":
        text = f"namespace {name} is being deleted: choose another with --namespace"
        yield Finding(text, refuses=True)


def _check_separation(nodes: Sequence[Object], groups: Sequence[PodGroup]) -> Iterator[Finding]:
    """Yield a warning if nothing keeps workers off the nodes of the database."""
    reserved = _find_reserved(groups)
    apart = all("podAntiAffinity" in group.spec.get("affinity", {}) for group in groups)
    if reserved and not apart and not database_nodes(nodes, groups):
        labels = " or ".join(f"{key}={value}" for key, value in reserved)
        yield Finding(
            f"no node has the label {labels}: workers may run beside the database, and compete with"
            " it for CPU; label the database's nodes, or set database_pods of the target"
        )


def _find_reserved(groups: Sequence[PodGroup]) -> list[tuple[str, str]]:
    """Return the labels of database.nodeLabels: no pod of the run may use nodes that have one."""
    excluded = [
        {
            (rule["key"], value)
            for rule in term.get("matchExpressions", ())
            if rule["operator"] == "NotIn"
            for value in rule["values"]
        }
        for group in groups
        for term in _terms_of(group.spec)
    ]
    return sorted(set.intersection(*excluded)) if excluded else []


def _terms_of(pod: Object) -> list[Object]:
    """Return the alternatives of a pod's required node affinity."""
    nodes = pod.get("affinity", {}).get("nodeAffinity", {})
    return list(nodes.get(_REQUIRED, {}).get("nodeSelectorTerms", ()))


def _labels_of(node: Object) -> dict[str, str]:
    return dict(node["metadata"].get("labels", {}))
