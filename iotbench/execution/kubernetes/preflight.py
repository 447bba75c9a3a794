"""Finds problems of a cluster before the first run.

Pure functions compare the pods of a run with the cluster's objects, as the API returns them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import yaml

from iotbench.execution.kubernetes.api import COLLECTOR, WORKER, Cluster, Object
from iotbench.execution.kubernetes.wire import parse_quantity
from simulator.errors import SetupError, counted

_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_REPELLENT = ("NoSchedule", "NoExecute")
"""Effects of taints that keep new pods off a node."""
_KINDS = ("", "requests", "limits")
_ROUNDING = 1e-6
"""Added before rounding down: sums of 0.1 CPU are not exact."""
_REMEDY = "take fewer workers, or ask for less with --set worker.resources..."


@dataclass(frozen=True, slots=True)
class PodGroup:
    """The pods of one Job, which are equal."""

    part: str
    """collector or worker."""
    count: int
    spec: Object


@dataclass(frozen=True, slots=True)
class VisibleObjects:
    """The objects that a user may read; None: they cannot be read."""

    namespace: Object | None
    """Empty if it does not exist."""
    nodes: Sequence[Object] | None
    quotas: Sequence[Object] | None
    missing: Sequence[str] = ()
    """Permissions that the user does not have."""


def groups_of(manifests: str) -> list[PodGroup]:
    """Return the pods of rendered manifests."""
    jobs = yaml.load_all(manifests, Loader=yaml.CSafeLoader)
    return [
        PodGroup(pod["containers"][0]["name"], job["spec"].get("completions", 1), pod)
        for job in jobs
        if job and job["kind"] == "Job" and (pod := job["spec"]["template"]["spec"])
    ]


def look(cluster: Cluster) -> VisibleObjects:
    """Read what the checks need."""
    return VisibleObjects(
        cluster.own_namespace(), cluster.nodes(), cluster.quotas(), cluster.missing_permissions()
    )


def expect(
    name: str, seen: VisibleObjects, groups: Sequence[PodGroup], *, inside: bool
) -> list[str]:
    """Return warnings; if the run cannot start in the namespace, SetupError has all problems.

    `inside`: the database may be in the cluster.
    """
    expect_namespace(name, seen.namespace)
    problems: list[str] = []
    warnings: list[str] = []
    if seen.missing:
        problems.append(
            f"permissions are missing in namespace {name}:\n  "
            + "\n  ".join(seen.missing)
            + "\ndeployment/rbac.yaml grants the permissions that a run needs"
        )
    for quota in seen.quotas or ():
        for text, refuses in _check_quota(quota, groups):
            (problems if refuses else warnings).append(text)
    if seen.nodes is not None:
        warnings += _check_room(seen.nodes, groups)
        warnings += _check_separation(seen.nodes, groups) if inside else ()
    if problems:
        raise SetupError("\n".join([*problems, *warnings]))
    return warnings


def database_nodes(nodes: Sequence[Object], groups: Sequence[PodGroup]) -> list[str]:
    """Return the names of the nodes that are reserved for the database."""
    reserved = _find_reserved(groups)
    return [
        _name_of(node)
        for node in nodes
        if any(_labels_of(node).get(key) == value for key, value in reserved)
    ]


def expect_namespace(name: str, namespace: Object | None) -> None:
    """Raise SetupError if a namespace does not exist, or is being deleted; None: unknown."""
    if namespace == {}:
        raise SetupError(
            f"namespace {name} does not exist: choose another with --namespace, or create it with"
            f" `kubectl create namespace {name}`"
        )
    if namespace and namespace.get("status", {}).get("phase") == "Terminating":
        raise SetupError(f"namespace {name} is being deleted: choose another with --namespace")


def _check_separation(nodes: Sequence[Object], groups: Sequence[PodGroup]) -> Iterator[str]:
    """Yield a warning if nothing keeps workers off the nodes of the database."""
    reserved = _find_reserved(groups)
    apart = all("podAntiAffinity" in group.spec.get("affinity", {}) for group in groups)
    if reserved and not apart and not database_nodes(nodes, groups):
        labels = " or ".join(f"{key}={value}" for key, value in reserved)
        yield (
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


def _name_of(node: Object) -> str:
    return str(node["metadata"]["name"])


def _labels_of(node: Object) -> dict[str, str]:
    return dict(node["metadata"].get("labels", {}))


# --- quotas -------------------------------------------------------------------------------------


def _check_quota(quota: Object, groups: Sequence[PodGroup]) -> Iterator[tuple[str, bool]]:
    """Yield each resource of a quota that is too small, and whether the run cannot start.

    It cannot if the whole quota is too small; what others use of it may become free.
    """
    spec, used = quota["spec"], quota.get("status", {}).get("used", {})
    if spec.get("scopes") or spec.get("scopeSelector"):  # it may not apply to the pods
        return
    for resource, hard in spec.get("hard", {}).items():
        each = {group.part: _quota_cost(group.spec, resource) for group in groups}
        needed = sum(group.count * each[group.part] for group in groups)
        whole, taken = parse_quantity(hard), parse_quantity(used.get(resource, "0"))
        if not needed or needed <= whole - taken:
            continue
        uses = f", of which {used[resource]} are in use" if taken else ""
        fit = int(
            (whole - taken - each.get(COLLECTOR, 0.0)) / (each.get(WORKER) or needed) + _ROUNDING
        )
        text = (
            f"quota {quota['metadata']['name']} of the namespace has {resource}={hard}{uses}:"
            f" {_describe_fit(fit, groups)}; {_REMEDY}, or have the quota raised"
        )
        yield text, needed > whole


def _quota_cost(pod: Object, resource: str) -> float:
    """Return how much a pod takes of a resource of a quota, such as limits.cpu."""
    if resource in ("pods", "count/pods"):
        return 1.0
    kind, _, name = resource.rpartition(".")
    return _sum_resources(pod, name, kind or "requests") if kind in _KINDS else 0.0


def _sum_resources(pod: Object, name: str, kind: str = "requests") -> float:
    """Return the request or limit of a whole pod."""

    def take(container: Object) -> float:
        own = container.get("resources", {})
        limits = own.get("limits", {})
        found = limits if kind == "limits" else {**limits, **own.get("requests", {})}
        return parse_quantity(found.get(name, "0"))

    before = pod.get("initContainers", ())
    sidecars = [each for each in before if each.get("restartPolicy") == "Always"]
    return max(sum(map(take, [*pod["containers"], *sidecars])), *map(take, before), 0.0)


def _describe_fit(fit: int, groups: Sequence[PodGroup]) -> str:
    workers = next((group.count for group in groups if group.part == WORKER), 0)
    if not workers:
        return "too little for the collector"
    return f"{max(fit, 0)} of {counted(workers, 'worker')} fit beside the collector"


# --- room on nodes ------------------------------------------------------------------------------


def _check_room(nodes: Sequence[Object], groups: Sequence[PodGroup]) -> Iterator[str]:
    """Yield a warning if the nodes are too few or too small, even without other pods.

    An autoscaler may add nodes, so the run is not refused.
    """
    able = {}
    for group in groups:
        able[group.part] = [node for node in nodes if _may_take(node, group.spec)]
        if not able[group.part]:
            yield (
                f"no node may take the {group.part}: each is reserved for the database, cordoned,"
                f" not ready, tainted or not selected; see --set {group.part}.nodeSelector and"
                f" {group.part}.tolerations"
            )
    pods = {group.part: group for group in groups}
    collector, workers = pods.get(COLLECTOR), pods.get(WORKER)
    if not (collector and workers and all(able.values())):
        return
    alone = {_name_of(node): _count_fitting(node, workers.spec) for node in able[WORKER]}
    beside = {
        _name_of(node): _count_fitting(node, workers.spec, beside=collector.spec)
        for node in able[COLLECTOR]
        if _count_fitting(node, collector.spec)
    }
    lost = [alone[name] - fit if name in alone else 0 for name, fit in beside.items()]
    fit = sum(alone.values()) - min(lost, default=0)
    if fit < workers.count:
        cpu, memory = (_sum_resources(workers.spec, name) for name in ("cpu", "memory"))
        yield (
            f"{counted(len(alone), 'node')} may take workers, of {cpu:g} CPU and"
            f" {memory / 2**30:.3g} GiB each: {_describe_fit(fit, groups)}, even if no other"
            f" pod is there; {_REMEDY}, or add nodes"
        )


def _count_fitting(node: Object, pod: Object, beside: Object | None = None) -> int:
    """Return how many equal pods a node can hold, together with one other pod if there is one."""
    allocatable = node["status"].get("allocatable", {})
    room = [parse_quantity(allocatable.get("pods", "110")) - (1 if beside else 0)]
    for name in ("cpu", "memory"):
        if each := _sum_resources(pod, name):
            taken = _sum_resources(beside, name) if beside else 0.0
            room.append((parse_quantity(allocatable.get(name, "0")) - taken) / each)
    return max(int(min(room) + _ROUNDING), 0)


def _may_take(node: Object, pod: Object) -> bool:
    """Return whether the scheduler may place a pod on a node, if the node has room."""
    labels = _labels_of(node)
    conditions = node["status"].get("conditions", ())
    terms = _terms_of(pod)
    return (
        not node["spec"].get("unschedulable")
        and all(each["status"] == "True" for each in conditions if each["type"] == "Ready")
        and all(labels.get(key) == value for key, value in pod.get("nodeSelector", {}).items())
        and (not terms or any(_matches(node, term) for term in terms))
        and all(
            any(_tolerates(each, taint) for each in pod.get("tolerations", ()))
            for taint in node["spec"].get("taints", ())
            if taint["effect"] in _REPELLENT
        )
    )


def _matches(node: Object, term: Object) -> bool:
    """Return whether a node matches a term of a node affinity."""
    rules, fields = term.get("matchExpressions", ()), term.get("matchFields", ())
    name = {"metadata.name": _name_of(node)}
    return all(_holds(rule, _labels_of(node)) for rule in rules) and all(
        _holds(rule, name) for rule in fields
    )


def _holds(rule: Object, labels: Mapping[str, str]) -> bool:
    found, values = labels.get(rule["key"]), rule.get("values", [])
    match rule["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
    return True  # Gt and Lt, which are rare


def _tolerates(toleration: Object, taint: Object) -> bool:
    """Return whether a toleration matches a taint."""
    key, effect = toleration.get("key"), toleration.get("effect")
    if (key and key != taint["key"]) or (effect and effect != taint["effect"]):
        return False
    is_any = toleration.get("operator") == "Exists"
    return is_any or toleration.get("value", "") == taint.get("value", "")
