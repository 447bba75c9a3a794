"""Explains why pods wait or fail, with the cluster's message and a remedy.

Pure functions turn pods and events, as the API returns them, into sentences.
https://kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle/
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from iotbench.execution.kubernetes.api import COLLECTOR, WORKER, Object
from iotbench.execution.kubernetes.wire import REFUSALS, find_remedies

_COMPONENT = "app.kubernetes.io/component"
_INDEX = "batch.kubernetes.io/job-completion-index"

_KILLED = 128 + 9
_SHORT_S = 3.0
_DELETED_S = 5.0
"""Time for a queue to report why it deleted a pod, which the pod itself does not show."""
_PATIENCE_S = 10.0
"""Time for which a temporary condition is tolerated, such as while a node or a quota is added."""


@dataclass(frozen=True, slots=True)
class Symptom:
    """A condition that ends the run if it persists."""

    key: str
    """Identifier of the condition, which is stable while the text of the cause may change."""
    cause: str
    patience_s: float = 0.0
    pod: str = ""
    """Name of a pod with a log that may contain the reason."""
    container: str = ""
    """Name of the container with this log."""
    deleted: bool = False
    """True if a pod was deleted, so that the object of the pod does not show the reason."""


_IMAGE_WAITS = {"ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull",
                "ImageInspectError", "RegistryUnavailable"}  # fmt: skip
_START_WAITS = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError",
                "CrashLoopBackOff"}  # fmt: skip
_IMAGE_REMEDY = (
    "build the image with `make image` and load or push it to where the nodes find it, then name"
    " it with --image; a private registry needs --set image.pullSecrets[0]=..."
)
_SCHEDULING_REMEDIES = {
    r"Insufficient (cpu|memory)": "ask for less with --set {part}.resources.requests.cpu=... or"
    " .memory=..., take fewer workers, or add nodes",
    r"persistentvolumeclaim .* not found": "--data names a volume claim that the run's namespace"
    " does not have; `kubectl get pvc` lists those that it has",
    r"unbound immediate PersistentVolumeClaims": "the volume claim of --data has no volume yet;"
    " `kubectl describe pvc` says why",
    r"volume node affinity|PersistentVolume's node affinity": "the volume of --data is on nodes"
    " that no pod of the run may use: copy the file to one that other nodes can mount",
    r"(?<!volume )(?<!PersistentVolume's )node affinity|node selector": "the database's nodes"
    " (database.nodeLabels, by default workload=db) are reserved for the database: add a node"
    " without that label, or change --set {part}.nodeSelector...",
    r"anti-affinity": "no pod runs beside the database (database.podLabels): add a node",
    r"unschedulable": "the node is cordoned: `kubectl uncordon` it, or add nodes",
    r"taint \{node\.kubernetes\.io/(?!unschedulable)": "`kubectl describe node` names what the node"
    " lacks",
    r"taint(?! \{node\.kubernetes\.io/)": "tolerate the taint with --set {part}.tolerations[0]...",
    r"Too many pods": "take fewer workers, or add nodes",
}
_PROGRESS = {"Pulling", "Pulled", "Created", "Started", "SuccessfulCreate"}
"""Reasons of events that end the earlier problems of a pod, or of the pods of a Job."""
_QUEUING = {"Suspended", "Resumed", "Pending", "Stopped"}
"""Reasons of events of a Job that Kueue admits, and of its Workload."""
_NOTED = _PROGRESS | _QUEUING | {
    "FailedCreate", "FailedMount", "FailedCreatePodSandBox", "TriggeredScaleUp"
}  # fmt: skip
_HICCUP = r"failed to sync \w+ cache: timed out|no relationship found between node"
"""Messages of a kubelet or API server that lags behind; the kubelet's next attempt succeeds."""
QUEUE_S = 840.0
"""Time for which a Job may wait in a queue; a collector waits for its workers a minute longer."""
_QUEUED = "waiting for the queue"
_QUEUE_REMEDY = (
    "`kubectl get localqueues,workloads` shows whether the queue exists and has room: take fewer"
    " workers, or ask for less with --set worker.resources..."
)
_WORKLOAD = re.compile(r"^job-|-[^-]+$")
"""Additions to the name of a Job in the name of its Workload."""
_EVENT_REMEDIES = REFUSALS | {
    r"(secret|configmap) \"?[\w.-]+\"? not found": "create it in the run's namespace, or correct"
    " `..._from` in config.yaml",
    r"non-existent secret key": "correct `key` of `..._from` in config.yaml",
}


_DISRUPTIONS = {
    "PreemptionByScheduler": "a pod of higher priority took its place; --set priorityClassName=..."
    " gives the run a priority",
    "DeletionByTaintManager": "its node got a taint that removes pods; `kubectl describe node`"
    " names it",
    "EvictionByEvictionAPI": "its node was drained, or an autoscaler removed it",
    "DeletionByPodGC": "its node is gone",
}
"""Reason of the condition DisruptionTarget -> explanation.
https://kubernetes.io/docs/concepts/workloads/pods/disruptions/#pod-disruption-conditions
"""


def is_noted(event: Object) -> bool:
    """Return whether an event shows that a condition began or ended."""
    return event.get("reason", "") in _NOTED


def name_of(pod: Object) -> str:
    """Return the role of a pod: the collector, or a worker with its index."""
    labels = pod["metadata"].get("labels", {})
    if labels.get(_COMPONENT) == COLLECTOR:
        return COLLECTOR
    return f"worker {labels.get(_INDEX, '?')}"


def is_collector(pod: Object) -> bool:
    """Return whether a pod is the collector."""
    return name_of(pod) == COLLECTOR


def index_of(pod: Object) -> int | None:
    """Return the index of a worker; None for the collector, or if the index is not known."""
    index = pod["metadata"].get("labels", {}).get(_INDEX, "")
    return int(index) if index and not is_collector(pod) else None


def phase_of(pod: Object) -> str:
    """Return the phase of a pod: Pending, Running, Succeeded or Failed."""
    return str(pod.get("status", {}).get("phase", "Pending"))


def has_run(pod: Object) -> bool:
    """Return whether the container of a pod has started, so that a log exists."""
    return any("waiting" not in c.get("state", {}) for c in _get_main(pod))


def image_of(pod: Object) -> str:
    """Return the requested name of a pod's image, and the image ID on its node."""
    containers = pod["spec"]["containers"]
    name = next(str(each["image"]) for each in containers if each["name"] == _component(pod))
    found = next((str(each.get("imageID", "")) for each in _get_main(pod)), "")
    return f"{name} ({found})" if found and found != name else name


def waiting_for(pods: Sequence[Object], events: Iterable[Object], workers: int) -> str:
    """Describe in one line why pods wait; empty if every pod runs or has run."""
    parts = []
    queued = {part: f"{_QUEUED}{why}" for part, why in _find_queued(events).items()}
    collectors = [pod for pod in pods if is_collector(pod)]
    created = queued.get(COLLECTOR, "its pod is being created")
    wait = _explain_wait(collectors[0]) if collectors else created
    if wait:
        parts.append(f"collector: {wait}")
    others = [pod for pod in pods if not is_collector(pod)]
    waits = Counter(filter(None, map(_explain_wait, others)))
    if len(others) < workers:
        waits[queued.get(WORKER, "pod is being created")] = workers - len(others)
    parts += [f"{count} of {workers} workers: {wait}" for wait, count in waits.items()]
    return "; ".join(parts)


def symptoms(
    pods: Iterable[Object], events: Iterable[Object], *, workers_are_due: bool
) -> Iterator[Symptom]:
    """Yield conditions, the gravest first.

    `workers_are_due` is True while no worker should have ended.
    """
    pods, events = list(pods), list(events)
    found = [symptom for pod in pods for symptom in _diagnose_pod(pod, workers_are_due)]
    found += _diagnose_scheduling(pods, events)
    found += _diagnose_events(events, {pod["metadata"]["name"]: pod for pod in pods})
    for part, why in _find_queued(events).items():
        cause = f"the queue did not admit the {part} Job in {QUEUE_S:.0f} s{why}; {_QUEUE_REMEDY}"
        found.append(Symptom(f"queue {part}", cause, QUEUE_S))
    yield from sorted(found, key=lambda symptom: symptom.patience_s)


# --- pods ---------------------------------------------------------------------------------------


def _get_statuses(pod: Object) -> list[Object]:
    """Return the statuses of all containers of a pod, init containers first."""
    status = pod.get("status", {})
    return [*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())]


def _get_main(pod: Object) -> list[Object]:
    """Return the status of the container of the collector or worker, if it has a status."""
    return [each for each in _get_statuses(pod) if each["name"] == _component(pod)]


def _component(pod: Object) -> str:
    return COLLECTOR if is_collector(pod) else WORKER


def _get_waiting(container: Object) -> Object:
    found: Object = container.get("state", {}).get("waiting", {})
    return found


def _explain_wait(pod: Object) -> str:
    if phase_of(pod) != "Pending":
        return ""
    if _find_scheduling_problem(pod) is not None or not pod["spec"].get("nodeName"):
        return "waiting for a node"
    for each in _get_statuses(pod):
        if _get_waiting(each).get("reason") in _IMAGE_WAITS:
            return "waiting for the image"
        if "running" in each.get("state", {}) and each["name"] != _component(pod):
            return f"waiting for init container {each['name']}"
    return "starting (image, volumes)"


def _find_scheduling_problem(pod: Object) -> str | None:
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "PodScheduled" and condition["status"] == "False":
            return str(condition.get("message", ""))
    return None


def _diagnose_pod(pod: Object, workers_are_due: bool) -> Iterator[Symptom]:  # noqa: FBT001
    name, full = name_of(pod), pod["metadata"]["name"]
    key, part = f"pod {full}", _component(pod)
    status = pod.get("status", {})
    ended = []
    for container in _get_main(pod):
        states = [container.get(each, {}) for each in ("state", "lastState")]
        ended += [state["terminated"] for state in states if "terminated" in state][:1]
    node = pod["spec"].get("nodeName", "no node")
    if pod["metadata"].get("deletionTimestamp") and not any(c["exitCode"] == 0 for c in ended):
        why = _explain_disruption(pod)
        cause = f"{name} was deleted while it ran ({full} on {node}){why}"
        yield Symptom(f"{key} deleted", cause, 1.0 if why else _DELETED_S, deleted=True)
        return
    if not ended and (failed := [*_diagnose_helpers(pod, key)]):
        yield from failed
        return
    words = ": ".join(filter(None, (status.get("reason"), status.get("message"))))
    if phase_of(pod) == "Failed" and (words or not ended):
        yield Symptom(key, f"{name} ({full}) failed: {words or 'the cluster gives no reason'}")
        return
    for state in ended:
        ours = (each for each in pod["spec"]["containers"] if each["name"] == part)
        limits = next(ours).get("resources", {}).get("limits", {})
        memory = limits.get("memory", "the node's memory")
        memory += f"; give it more with --set {part}.resources.limits.memory=..."
        if state.get("reason") == "OOMKilled":
            cause = f"{name} was killed because it was out of memory (OOMKilled): its limit is"
            yield Symptom(key, f"{cause} {memory}")
        elif state["exitCode"] == _KILLED:
            # A container runtime may report the end before it hears that memory ran out.
            cause = (
                f"{name} ended with {_describe_exit(state)}, perhaps because it was out of memory"
            )
            yield Symptom(key, f"{cause}: its limit is {memory}", _SHORT_S, full, part)
        elif state["exitCode"] != 0:
            yield Symptom(key, f"{name} ended with {_describe_exit(state)}", _SHORT_S, full, part)
        elif not is_collector(pod) and workers_are_due:
            yield Symptom(key, f"{name} ended before it joined the run", _SHORT_S, full, part)
    yield from _diagnose_waits(pod, key)


def _diagnose_helpers(pod: Object, key: str) -> Iterator[Symptom]:
    """Yield the failures of init containers and sidecars."""
    helpers = pod["spec"].get("initContainers", ())
    # Kubernetes stops these when ours has ended.
    ignored = {c["name"] for c in helpers if "restartPolicy" in c} if has_run(pod) else set()
    for container in _get_statuses(pod):
        state, name = container.get("state", {}).get("terminated"), container["name"]
        if name in {_component(pod), *ignored} or not state or not state["exitCode"]:
            continue
        cause = f"container {name} of {name_of(pod)} ended with {_describe_exit(state)}"
        yield Symptom(f"{key} {name}", cause, _SHORT_S, pod["metadata"]["name"], name)


def _explain_disruption(pod: Object) -> str:
    for condition in pod.get("status", {}).get("conditions", ()):
        if condition["type"] == "DisruptionTarget" and condition["status"] == "True":
            reason, message = condition.get("reason", ""), condition.get("message", "")
            return f": {_DISRUPTIONS.get(reason) or message or reason}"
    return ""


def _describe_exit(state: Object) -> str:
    code = state["exitCode"]
    text = f"exit code {code}"
    if code > 128:
        text += f" (killed by signal {code - 128})"
    words = " ".join(str(state.get("message", "")).split())
    return f"{text}: {words}" if words else text


def _diagnose_scheduling(pods: Sequence[Object], events: Sequence[Object]) -> Iterator[Symptom]:
    grows = {e["involvedObject"]["name"] for e in events if e.get("reason") == "TriggeredScaleUp"}
    for pod in pods:
        full, text = pod["metadata"]["name"], _find_scheduling_problem(pod)
        if text is None or full in grows:  # the cluster is adding a node
            continue
        part = "collector" if is_collector(pod) else "worker"
        remedy = find_remedies(_SCHEDULING_REMEDIES, text).format(part=part)
        cause = f"no node can take {name_of(pod)}: {text.strip().rstrip('.')}{remedy}"
        yield Symptom(f"pod {full} unscheduled", cause, _PATIENCE_S)


def _diagnose_waits(pod: Object, key: str) -> Iterator[Symptom]:
    for container in _get_statuses(pod):
        name = name_of(pod)
        if container["name"] != _component(pod):
            name = f"container {container['name']} of {name}"
        waiting = _get_waiting(container)
        reason, message = waiting.get("reason", ""), waiting.get("message", "")
        words = f"{reason}: {message}".strip(": ")
        if reason in _IMAGE_WAITS:
            # A first ErrImagePull may be transient; the back-off after it means that a retry
            # failed as well.
            patience_s = _PATIENCE_S if reason == "ErrImagePull" else 0.0
            cause = f"cannot pull image {container['image']} for {name}: {words}"
            remedy = f"; {_IMAGE_REMEDY}" if container["name"] == _component(pod) else ""
            yield Symptom(f"{key} image", f"{cause}{remedy}", patience_s)
        elif reason in _START_WAITS:
            full = pod["metadata"]["name"]
            cause, log = f"{name} cannot start: {words}", container["name"]
            yield Symptom(f"{key} start", cause, _SHORT_S, full, log)


# --- events -------------------------------------------------------------------------------------


def _diagnose_events(events: Sequence[Object], pods: Mapping[str, Object]) -> Iterator[Symptom]:
    """Yield conditions that only events show, such as a pod that is not created."""
    went_on: set[str] = set()
    for event in reversed(events):
        name, reason = event["involvedObject"]["name"], event.get("reason", "")
        if reason in _PROGRESS:
            went_on.add(name)
        part = name.rpartition("-")[2]
        if reason == "Stopped":
            cause = f"the queue stopped the {part} Job: {_explain(event)}"
            yield Symptom(f"event {name} stopped", cause)
        elif reason == "FailedCreate" and name not in went_on:
            made = sum(pod.startswith(name) for pod in pods)
            key = f"event {name} {made}"  # again with every pod that could be created
            cause = f"a {part}'s pod cannot be created: {_explain(event)}"
            yield Symptom(key, cause, _PATIENCE_S)
        elif reason in ("FailedMount", "FailedCreatePodSandBox") and name not in went_on:
            pod = pods.get(name)
            if not pod or phase_of(pod) != "Pending" or re.search(_HICCUP, event["message"]):
                continue
            # Containers that wait for an image have their volumes.
            waits = {_get_waiting(each).get("reason") for each in _get_statuses(pod)}
            if waits <= {"ContainerCreating", "PodInitializing"}:
                cause = f"{name_of(pod)} cannot start: {_explain(event)}"
                yield Symptom(f"event {name}", cause, _PATIENCE_S)


def _find_queued(events: Iterable[Object]) -> dict[str, str]:
    """Return the parts of a run that wait in a queue, with what the queue reports."""
    reports: dict[str, str] = {}
    jobs: set[str] = set()
    for event in events:
        name, reason = event["involvedObject"]["name"], event.get("reason", "")
        if reason == "Suspended":
            jobs.add(name)
        elif reason == "Resumed":
            jobs.discard(name)
        elif reason == "Pending":
            reports[_WORKLOAD.sub("", name)] = f": {event['message'].rstrip('.')}"
    return {job.rpartition("-")[2]: reports.get(job, "") for job in sorted(jobs)}


def _explain(event: Object) -> str:
    words = " ".join(str(event.get("message", "")).split())
    return f"{words}{find_remedies(_EVENT_REMEDIES, words)}"
