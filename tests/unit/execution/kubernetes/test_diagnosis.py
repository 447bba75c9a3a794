"""What is wrong with a run's pods, reported from what a real API server said of such pods.

The recordings are of Kubernetes 1.33: pods and events as they were, without what nobody reads.
"""

import copy
import json
from pathlib import Path

import pytest

from iotbench.execution.kubernetes.diagnosis import (
    has_run,
    image_of,
    is_collector,
    name_of,
    symptoms,
    waiting_for,
)
from iotbench.execution.kubernetes.watcher import trim_event, trim_pod

RECORDINGS = Path(__file__).parent / "recordings"
AT_ONCE, SHORT, LONG = 0.0, 3.0, 10.0
LABELS, TOLERATE = "database.nodeLabels", "tolerations"
MOUNT = "copy the file to one that other nodes can mount"
IMAGE = "36e5ed4b84bd466c9b42f1256ef9133c09ad2a866c3964f90fcb9249219cc92d"
TAINT = "3 node(s) had untolerated taint {{{}}}"


def recorded(name):
    content = json.loads((RECORDINGS / f"{name}.json").read_text())
    return [*map(trim_pod, content["pods"])], [*map(trim_event, content["events"])]


def found(name, *, due=True):
    pods, events = recorded(name)
    return list(symptoms(pods, events, workers_are_due=due))


def event(reason, kind, name, message=""):
    return {
        "involvedObject": {"kind": kind, "name": name},
        "reason": reason,
        "message": message,
    }


def unscheduled(message):
    """A recorded pod that no node takes, for another reason."""
    pods, events = recorded("selector")
    for pod in pods:
        for condition in pod["status"].get("conditions", ()):
            if condition["type"] == "PodScheduled" and condition["status"] == "False":
                condition["message"] = message
    return [symptom.cause for symptom in symptoms(pods, events, workers_are_due=True)]


@pytest.mark.parametrize(
    ("message", "remedy", "wrong"),
    [
        ('persistentvolumeclaim "nosuch" not found', "`kubectl get pvc`", LABELS),
        ("pod has unbound immediate PersistentVolumeClaims", "`kubectl describe pvc`", LABELS),
        ("3 node(s) had volume node affinity conflict", MOUNT, LABELS),
        ("3 node(s) didn't match PersistentVolume's node affinity", MOUNT, LABELS),
        (TAINT.format("dedicated: db"), "--set worker.tolerations[0]...", "kubectl"),
        (TAINT.format("node.kubernetes.io/disk-pressure: "), "`kubectl describe node`", TOLERATE),
        (TAINT.format("node.kubernetes.io/unschedulable: "), "`kubectl uncordon` it", TOLERATE),
    ],
)
def test_what_keeps_pods_from_nodes_is_named_with_its_own_remedy(message, remedy, wrong):
    (cause,) = unscheduled(f"0/3 nodes are available: {message}.")

    assert message in cause
    assert remedy in cause
    assert wrong not in cause


# --- one test for each cause --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "patience_s", "cause", "remedy"),
    [
        (
            "image-first",
            LONG,
            "cannot pull image nosuch/image:1 for worker 0: ErrImagePull: failed to pull",
            "with --image; a private registry needs --set image.pullSecrets[0]=...",
        ),
        (
            "image-again",
            AT_ONCE,
            "cannot pull image nosuch/image:1 for worker 0: ImagePullBackOff: Back-off",
            "build the image with `make image` and load or push it",
        ),
        (
            "image-name",
            AT_ONCE,
            "cannot pull image No:Such:Image for worker 0: InvalidImageName: Failed to apply",
            "then name it with --image",
        ),
        (
            "image-never",
            AT_ONCE,
            'ErrImageNeverPull: Container image "nosuch/image:1" is not present with pull policy',
            "load or push it to where the nodes find it",
        ),
        (
            "cpu",
            LONG,
            "no node can take worker 0: 0/3 nodes are available: 3 Insufficient cpu.",
            "--set worker.resources.requests.cpu=...",
        ),
        (
            "memory",
            LONG,
            "no node can take collector: 0/3 nodes are available: 3 Insufficient memory.",
            "--set collector.resources.requests.cpu=... or .memory=...",
        ),
        (
            "selector",
            LONG,
            "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
            "add a node without that label, or change --set worker.nodeSelector...",
        ),
        (
            "affinity",
            LONG,
            "no node can take worker 0: 0/3 nodes are available: 3 node(s) didn't match",
            "the database's nodes (database.nodeLabels, by default workload=db)",
        ),
        (
            "taint",
            LONG,
            "1 node(s) had untolerated taint {dedicated: db}",
            "tolerate the taint with --set worker.tolerations[0]...",
        ),
        (
            "out-of-memory",
            AT_ONCE,
            "worker 0 was killed because it was out of memory (OOMKilled): its limit is 64Mi",
            "give it more with --set worker.resources.limits.memory=...",
        ),
        ("exit", SHORT, "worker 0 ended with exit code 3", ""),
        ("signal", SHORT, "worker 0 ended with exit code 139 (killed by signal 11)", ""),
        (
            "rejected",
            AT_ONCE,
            "failed: OutOfcpu: Pod was rejected: Node didn't have enough resource: cpu,",
            "",
        ),
        (
            "secret-volume",
            LONG,
            'worker 0 cannot start: MountVolume.SetUp failed for volume "v" : secret "nosuch" not',
            "create it in the run's namespace, or correct `..._from` in config.yaml",
        ),
        (
            "secret-key",
            LONG,
            'MountVolume.SetUp failed for volume "v" : references non-existent secret key: nosuch',
            "correct `key` of `..._from` in config.yaml",
        ),
        (
            "secret-env",
            SHORT,
            'worker 0 cannot start: CreateContainerConfigError: secret "nosuch" not found',
            "",
        ),
        (
            "quota",
            LONG,
            "a worker's pod cannot be created: Error creating: pods",
            "limited: pods=1; take fewer workers, ask for less (--set worker.resources...)",
        ),
        (
            "quota-limits",
            LONG,
            "failed quota: named: must specify limits.memory for: worker",
            "--set worker.resources.limits...",
        ),
        (
            "policy",
            LONG,
            'violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false',
            "a value of --set or --values violates the policy of the namespace",
        ),
        (
            "deleted",
            5.0,
            "worker 0 was deleted while it ran (bench-deleted-worker-0-ttcsn on node1)",
            "",
        ),
        (
            "drained",
            1.0,
            "worker 0 was deleted while it ran (bench-drained-worker-0-vsfhr on node1): its node",
            "its node was drained, or an autoscaler removed it",
        ),
        (
            "tainted",
            1.0,
            "worker 0 was deleted while it ran (bench-tainted-worker-0-qkht7 on node2): its node",
            "got a taint that removes pods; `kubectl describe node` names it",
        ),
        (
            "preempted",
            1.0,
            "worker 0 was deleted while it ran (bench-preempted-worker-0-rpt4k on node3): a pod of",
            "higher priority took its place; --set priorityClassName=... gives the run a priority",
        ),
        (
            "cordoned",
            LONG,
            "no node can take worker 0: 0/3 nodes are available: 1 node(s) were unschedulable",
            "the node is cordoned: `kubectl uncordon` it, or add nodes",
        ),
        ("init-exit", SHORT, "container vault-agent of worker 0 ended with exit code 4", ""),
        ("beside-exit", SHORT, "container istio-proxy of worker 0 ended with exit code 5", ""),
        (
            "init-image",
            AT_ONCE,
            "cannot pull image 127.0.0.1:1/nosuch/vault:1 for container vault-agent of worker 0:",
            "connection refused",
        ),
        ("sidecar-fails", SHORT, "container proxy of worker 0 ended with exit code 9", ""),
    ],
)
def test_it_is_reported_what_is_wrong_and_what_to_do(name, patience_s, cause, remedy):
    causes = found(name)

    assert {symptom.key for symptom in causes} == {causes[0].key}
    assert cause in causes[0].cause
    assert remedy in causes[0].cause
    assert causes[0].patience_s == patience_s
    assert "\n" not in causes[0].cause


def test_a_kill_that_the_runtime_does_not_explain_names_the_memory_limit():
    pods, events = recorded("out-of-memory")
    for status in pods[0]["status"]["containerStatuses"]:
        status["state"]["terminated"]["reason"] = "Error"

    (symptom,) = symptoms(pods, events, workers_are_due=True)

    assert symptom.cause == (
        "worker 0 ended with exit code 137 (killed by signal 9), perhaps because it was out of"
        " memory: its limit is 64Mi; give it more with --set worker.resources.limits.memory=..."
    )
    assert symptom.patience_s == SHORT


@pytest.mark.parametrize(
    ("name", "container"),
    [
        ("exit", "worker"),
        ("secret-env", "worker"),
        ("init-exit", "vault-agent"),
        ("beside-exit", "istio-proxy"),
        ("cpu", ""),
        ("quota", ""),
        ("rejected", ""),
    ],
)
def test_only_the_log_of_a_container_that_ran_may_show_more(name, container):
    pods, _ = recorded(name)
    read = pods[0]["metadata"]["name"] if container else ""

    assert {(symptom.pod, symptom.container) for symptom in found(name)} == {(read, container)}


def test_what_right_now_is_certain_comes_before_what_may_right_itself():
    pods = [*recorded("cpu")[0], *recorded("exit")[0], *recorded("out-of-memory")[0]]

    reported = list(symptoms(pods, recorded("quota")[1], workers_are_due=True))

    assert [symptom.patience_s for symptom in reported] == [AT_ONCE, SHORT, *[LONG] * 4]


def test_two_pods_with_the_same_trouble_are_reported_apart():
    pods, events = recorded("cpu")
    other = copy.deepcopy(pods[0])
    other["metadata"]["name"] += "-2"

    reported = symptoms([*pods, other], events, workers_are_due=True)

    assert len({symptom.key for symptom in reported}) == 2


def test_it_stays_the_same_symptom_while_its_words_change():
    pods, events = recorded("cpu")
    later = copy.deepcopy(pods)
    later[0]["status"]["conditions"][0]["message"] = "0/4 nodes are available: 4 Insufficient cpu."

    (before,) = symptoms(pods, events, workers_are_due=True)
    (after,) = symptoms(later, events, workers_are_due=True)

    assert before.key == after.key
    assert before.cause != after.cause


# --- what is not a symptom -----------------------------------------------------------------------


def healthy():
    """Each pod of a healthy run, at each of the moments that were seen."""
    pods, events = recorded("healthy")
    return [pytest.param(pod, events, id=f"{i} {name_of(pod)}") for i, pod in enumerate(pods)]


@pytest.mark.parametrize(("pod", "events"), healthy())
def test_a_healthy_pod_shows_no_symptom_at_any_time(pod, events):
    assert list(symptoms([pod], events, workers_are_due=False)) == []


def succeeded(part):
    pods, _ = recorded("healthy")
    return next(
        pod for pod in pods if part in name_of(pod) and pod["status"]["phase"] == "Succeeded"
    )


def test_a_proxy_that_kubernetes_stops_at_the_end_is_no_symptom():
    pods, events = recorded("sidecar-ended")

    assert list(symptoms(pods, events, workers_are_due=False)) == []


def test_a_container_that_runs_first_is_waited_for_by_name():
    pods, events = recorded("init-runs")

    assert list(symptoms(pods, events, workers_are_due=True)) == []
    assert "1 of 1 workers: waiting for init container vault-agent" in waiting_for(pods, events, 1)


def test_a_worker_that_has_succeeded_is_a_symptom_only_while_none_may_be_done():
    pod = succeeded("worker")

    (early,) = symptoms([pod], [], workers_are_due=True)

    assert early.cause == "worker 0 ended before it joined the run"
    assert early.patience_s == SHORT
    assert list(symptoms([pod], [], workers_are_due=False)) == []


def test_a_collector_that_has_succeeded_is_no_symptom():
    assert list(symptoms([succeeded("collector")], [], workers_are_due=True)) == []


def test_a_volume_that_mounts_late_is_no_symptom_once_the_pod_runs():
    pods, events = recorded("secret-volume")
    pods[0]["status"]["phase"] = "Running"
    pods[0]["status"]["containerStatuses"][0]["state"] = {"running": {}}

    assert list(symptoms(pods, events, workers_are_due=True)) == []


@pytest.mark.parametrize(
    "message",
    [
        'MountVolume.SetUp failed for volume "run": failed to sync configmap cache: timed out',
        "access is forbidden: no relationship found between node 'n' and this object",
    ],
)
def test_what_the_kubelet_tries_again_with_success_is_no_symptom(message):
    pods, events = recorded("secret-volume")
    assert len(list(symptoms(pods, events, workers_are_due=True))) == 1
    late = [each | {"message": message} for each in events if each["reason"] == "FailedMount"]

    assert late
    assert list(symptoms(pods, late, workers_are_due=True)) == []


def test_a_pod_that_is_not_known_yet_has_no_symptom_of_its_events():
    assert list(symptoms([], recorded("secret-volume")[1], workers_are_due=True)) == []


def test_a_cluster_that_adds_a_node_for_the_pod_is_given_the_time():
    pods, events = recorded("cpu")
    grows = event("TriggeredScaleUp", "Pod", pods[0]["metadata"]["name"], "pod triggered scale-up")

    assert list(symptoms(pods, [*events, grows], workers_are_due=True)) == []


def test_pods_that_could_be_made_after_all_are_no_symptom():
    _, events = recorded("quota")
    pod = recorded("healthy")[0][-2]
    name = events[0]["involvedObject"]["name"]
    pods = [copy.deepcopy(pod) for _ in range(3)]
    for index, made in enumerate(pods):
        made["metadata"]["name"] = f"{name}-{index}-abcde"
    later = [event("SuccessfulCreate", "Job", name, f"Created pod: {name}-{i}") for i in range(3)]

    assert list(symptoms(pods, [*events, *later], workers_are_due=False)) == []


def test_a_volume_that_was_mounted_at_last_is_no_symptom_while_the_image_is_pulled():
    pods, events = recorded("secret-volume")
    pulls = event("Pulling", "Pod", pods[0]["metadata"]["name"], 'Pulling image "bench"')

    assert list(symptoms(pods, [*events, pulls], workers_are_due=True)) == []


# --- more precise than the exit code ------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("command", 'exec: "/nosuch": stat /nosuch: no such file'),
        ("deadline", "DeadlineExceeded: Pod was active on the node longer than the specified"),
        ("evicted", 'Evicted: Usage of EmptyDir volume "s" exceeds the limit "1Mi"'),
        ("deleted-ended", "deleted"),
    ],
)
def test_a_pod_that_the_node_ended_is_reported_in_the_nodes_words(name, cause):
    (symptom,) = found(name)

    assert cause in symptom.cause


def test_where_the_rest_of_the_nodes_is_tainted_the_taint_has_its_remedy_too():
    (symptom,) = found("taint-of-some")

    assert "worker.nodeSelector" in symptom.cause
    assert "worker.tolerations" in symptom.cause


# --- what is waited for -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "reported"),
    [
        ("cpu", "1 of 1 workers: waiting for a node"),
        ("image-first", "1 of 1 workers: waiting for the image"),
        ("secret-volume", "1 of 1 workers: starting (image, volumes)"),
        ("quota", "1 of 1 workers: pod is being created"),
    ],
)
def test_it_is_reported_what_a_worker_waits_for(name, reported):
    assert waiting_for(*recorded(name), 1) == f"collector: its pod is being created; {reported}"


def test_a_queue_is_waited_for_and_named_until_it_admits():
    pods, events = recorded("queued")
    room = "insufficient unused quota for cpu in flavor default, 50m more needed"

    (symptom,) = symptoms(pods, events, workers_are_due=True)

    assert waiting_for(pods, events, 2) == (
        "collector: its pod is being created; 2 of 2 workers: waiting for the queue: couldn't"
        f" assign flavors to pod set main: {room}"
    )
    assert symptom.cause.startswith("the queue did not admit the worker Job in 840 s: couldn't")
    assert f"{room}; `kubectl get localqueues,workloads`" in symptom.cause
    assert symptom.patience_s == 840.0
    resumed = event("Resumed", "Job", "bench-queued-worker", "Job resumed")
    assert list(symptoms(pods, [*events, resumed], workers_are_due=True)) == []


def test_a_queue_that_takes_its_quota_back_is_named_at_once():
    stopped = event("Stopped", "Job", "bench-queued-worker", "The ClusterQueue is stopped")

    (symptom,) = symptoms([], [stopped], workers_are_due=False)

    assert symptom.cause == "the queue stopped the worker Job: The ClusterQueue is stopped"
    assert symptom.patience_s == AT_ONCE


def test_a_queue_without_a_report_is_waited_for_too():
    held = [event("Suspended", "Job", "bench-queued-collector", "Job suspended")]

    assert waiting_for([], held, 0) == "collector: waiting for the queue"


def test_workers_that_wait_for_the_same_are_counted():
    assert waiting_for(*recorded("memory"), 0) == "collector: waiting for a node"
    pods = [*recorded("cpu")[0], *recorded("taint")[0], *recorded("image-again")[0]]

    reported = waiting_for([succeeded("collector"), *pods], [], 8)

    assert reported.split("; ") == [
        "2 of 8 workers: waiting for a node",
        "1 of 8 workers: waiting for the image",
        "5 of 8 workers: pod is being created",
    ]


def test_a_healthy_worker_is_seen_to_wait_for_a_node_and_then_to_start():
    workers = [pod for pod in recorded("healthy")[0] if not is_collector(pod)]
    reported = [waiting_for([succeeded("collector"), pod], [], 1) for pod in workers]

    waits = list(dict.fromkeys(reported))
    assert waits == [
        "1 of 1 workers: waiting for a node",
        "1 of 1 workers: starting (image, volumes)",
        "",
    ]


@pytest.mark.parametrize(
    ("name", "there_is_a_log"),
    [("cpu", False), ("secret-volume", False), ("exit", True), ("deleted", True)],
)
def test_there_is_a_log_once_the_container_has_started(name, there_is_a_log):
    assert [has_run(pod) for pod in recorded(name)[0]] == [there_is_a_log]


def test_an_image_has_its_id_once_its_node_has_it():
    new, *_ = recorded("healthy")[0]

    assert image_of(new) == "docker.io/library/iot-database-benchmark:0.1.0"
    assert image_of(succeeded("worker")) == f"{image_of(new)} (sha256:{IMAGE})"
