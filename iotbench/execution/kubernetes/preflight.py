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


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A reason why the runs may fail or mislead, found before the first one."""

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


def look(cluster: Cluster) -> VisibleObjects:
    """Read the objects that the checks need."""
    return VisibleObjects(cluster.own_namespace(), cluster.nodes(), cluster.quotas())


def expect(
    name: str, seen: VisibleObjects, groups: Sequence[PodGroup], *, inside: bool
) -> list[str]:
    """Return warnings; SetupError has all reasons why the run cannot start in the namespace.

    `inside`: the database may be in the cluster.
    """
    found = [*find_obstacles(name, seen, groups, inside=inside)]
    if problems := [each.text for each in found if each.refuses]:
        raise SetupError("\n".join(problems))
    return [each.text for each in found]


def find_obstacles(
    name: str, seen: VisibleObjects, groups: Sequence[PodGroup], *, inside: bool
) -> Iterator[Obstacle]:
    """Yield the problems of the pods of a run in a namespace."""
    problem = next(_check_namespace(name, seen.namespace), None)
    if problem:
        yield problem
        return
    if seen.missing:
        yield Obstacle(
            f"permissions are missing in namespace {name}:\n  "
            + "\n  ".join(seen.missing)
            + "\ndeployment/rbac.yaml grants the permissions that a run needs",
            refuses=True,
        )
    for quota in seen.quotas or ():
        yield from _check_quota(quota, groups)
    if seen.nodes is not None:
        yield from _check_room(seen.nodes, groups)
    if seen.nodes is not None and inside:
        yield from _check_separation(seen.nodes, groups)


def database_nodes(nodes: Sequence[Object], groups: Sequence[PodGroup]) -> list[str]:
    """Return the names of the nodes that are reserved for the database."""
    reserved = _find_reserved(groups)
    return [
        _name_of(node)
        for node in nodes
        if any(_labels_of(node).get(key) == value for key, value in reserved)
    ]


def _check_namespace(name: str, namespace: Object | None) -> Iterator[Obstacle]:
    if namespace is None:
        return
    if not namespace:
        yield Obstacle(
            f"namespace {name} does not exist: choose another with --namespace, or create it with"
            f" `kubectl create namespace {name}`",
            refuses=True,
        )
    elif namespace.get("status", {}).get("phase") == "Terminating":
        text = f"namespace {name} is being deleted: choose another with --namespace"
        yield Obstacle(text, refuses=True)


def _check_separation(nodes: Sequence[Object], groups: Sequence[PodGroup]) -> Iterator[Obstacle]:
    """Yield a warning if nothing keeps workers off the nodes of the database."""
    reserved = _find_reserved(groups)
    apart = all("podAntiAffinity" in group.spec.get("affinity", {}) for group in groups)
    if reserved and not apart and not database_nodes(nodes, groups):
        labels = " or ".join(f"{key}={value}" for key, value in reserved)
        yield Obstacle(
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


def _check_quota(quota: Object, groups: Sequence[PodGroup]) -> Iterator[Obstacle]:
    """Yield each resource of a quota that is too small for the pods.

    They cannot start if the whole quota is too small; what others use of it may become free.
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
        yield Obstacle(
            f"quota {quota['metadata']['name']} of the namespace has {resource}={hard}{uses}:"
            f" {_describe_fit(fit, groups)}; {_REMEDY}, or have the quota raised",
            refuses=needed > whole,
        )


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


def _check_room(nodes: Sequence[Object], groups: Sequence[PodGroup]) -> Iterator[Obstacle]:
    """Yield a warning if the nodes are too few or too small, even without other pods.

    An autoscaler may add nodes, so the run is not refused.
    """
    able = {}
    for group in groups:
        able[group.part] = [node for node in nodes if _may_take(node, group.spec)]
        if not able[group.part]:
            yield Obstacle(
                f"no node may take the {group.part}: each is reserved for the database, cordoned,"
                f" not ready, tainted or not selected; see --set {group.part}.nodeSelector and"
                f" {group.part}.tolerations"
            )
    pods = {group.part: group for group in groups}
    collector, workers = pods.get(COLLECTOR), pods.get(WORKER)
    if not (collector and workers and all(able.values())):
        return
    alone = {_name_of(node): _count_fitting(node, workers.spec) for node in able[WORKER]}
    places = [node for node in able[COLLECTOR] if _count_fitting(node, collector.spec)]
    lost = [
        alone[_name_of(node)] - _count_fitting(node, workers.spec, beside=collector.spec)
        for node in places
        if _name_of(node) in alone
    ]
    least = 0 if len(lost) < len(places) else min(lost, default=0)
    fit = sum(alone.values()) - least
    if fit < workers.count:
        cpu, memory = (_sum_resources(workers.spec, name) for name in ("cpu", "memory"))
        yield Obstacle(
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
    fields = {"metadata.name": _name_of(node)}
    return all(_holds(rule, _labels_of(node)) for rule in term.get("matchExpressions", ())) and all(
        _holds(rule, fields) for rule in term.get("matchFields", ())
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
