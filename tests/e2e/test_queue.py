"""Runs that Kueue admits: they start, wait for their quota by name, give up, and are removed.

A cluster of your own needs Kueue, with its integration `batch/job`; the test cluster gets it.
"""

import json
import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.e2e.databases import Operator
from tests.e2e.harness import ClusterLine, Kubernetes, Namespace, report, waited
from tests.e2e.images import script
from tests.e2e.installing import name_image
from tests.e2e.test_endings import SHORT_LIVED
from tests.e2e.vendors import Module

KUEUE = Operator("kueue", "sigs.k8s.io/kueue", version="0.17.0", package="cmd/kueue")
QUEUE = "benchmarks"
LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY = "kueue.x-k8s.io/priority-class"
QUEUED = rf"--set=commonLabels.kueue\.x-k8s\.io/queue-name={QUEUE}"
QUICK = ("--target=postgresql", "--runs=1", "--batch=1000", "--num-inserts=2000", QUEUED)
HARMLESS = {
    "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    "resources": {"requests": {"cpu": "1", "memory": "64Mi"}},
}

pytestmark = pytest.mark.rare


@pytest.fixture(scope="module", autouse=True)
def kueue(kube: Kubernetes) -> Iterator[None]:
    """Kueue on the cluster."""
    if kube.run("kubectl", "get", "crd/workloads.kueue.x-k8s.io", check=False).returncode == 0:
        yield
        return
    if not kube.own:
        pytest.skip("the cluster of KUBECONFIG has no Kueue")
    folder = Module(KUEUE.module, f"v{KUEUE.version}", "config/default", "").fetched()
    made = kube.kubectl("kustomize", str(folder)).replace("Policy: Always", "Policy: IfNotPresent")
    # The API server forwards no requests to other API servers.
    manifests = [each for each in made.split("\n---\n") if "kind: APIService" not in each]
    objects = "\n---\n".join(manifests)
    script("load", str(KUEUE.build()))
    name_image(kube, KUEUE.image, objects)
    report(f"e2e: installing Kueue {KUEUE.version}")
    try:
        kube.kubectl("apply", "--server-side", "--filename=-", given=objects)
        place = ("--namespace=kueue-system", "--timeout=120s")
        kube.kubectl("rollout", "status", "deployment/kueue-controller-manager", *place)
        yield
    finally:
        # Its webhooks first: without the controller they refuse all pods.
        last_first = "\n---\n".join(reversed(manifests))
        kube.kubectl("delete", "--ignore-not-found", "--filename=-", given=last_first)


@pytest.fixture
def queue(kueue: None, bench: Namespace) -> Iterator[Callable[..., None]]:  # noqa: ARG001
    """Create or change the queue of the namespace, with a quota of CPUs and policies."""
    name = f"{QUEUE}-{bench.name}"

    def create(cpus: str, **policies: Any) -> None:
        quotas = [{"name": "cpu", "nominalQuota": cpus}, {"name": "memory", "nominalQuota": "64Gi"}]
        flavors = [{"name": name, "resources": quotas}]
        groups = [{"coveredResources": ["cpu", "memory"], "flavors": flavors}]
        specs: list[tuple[str, str, dict[str, Any]]] = [
            ("ResourceFlavor", name, {}),
            ("ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": groups, **policies}),
            ("LocalQueue", QUEUE, {"clusterQueue": name}),
        ]
        for kind, each, spec in specs:
            bench.kubectl("apply", "--filename=-", given=written(kind, each, spec=spec))

    yield create
    for each in (f"localqueue/{QUEUE}", f"clusterqueue/{name}", f"resourceflavor/{name}"):
        bench.kubectl("delete", each, "--ignore-not-found")


@pytest.fixture
def other(bench: Namespace) -> Iterator[Callable[..., None]]:
    """Start a Job that uses a CPU of the queue, with a priority above that of a run or not."""
    image = bench.kube.image or "docker.io/library/iot-database-benchmark:0.1.0"
    command = ["python", "-c", "import time; time.sleep(600)"]
    container = {"name": "other", "image": image, "command": command, **HARMLESS}
    pod = {
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "terminationGracePeriodSeconds": 0,
    }  # fmt: skip
    urgent = f"urgent-{bench.name}"

    def start(*, first: bool = False) -> None:
        labels = {LABEL: QUEUE, **({PRIORITY: urgent} if first else {})}
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": "other", "labels": labels},
            "spec": {"template": {"spec": pod}},
        }
        given = written("WorkloadPriorityClass", urgent, value=1000)
        bench.kubectl("apply", "--filename=-", given=given)
        bench.kubectl("apply", "--filename=-", given=json.dumps(job))
        waited("it is admitted", lambda: bench.json("job/other")["status"].get("active"))

    yield start
    for each in ("job/other", f"workloadpriorityclass/{urgent}"):
        bench.kubectl("delete", each, "--ignore-not-found")


def written(kind: str, name: str, **content: Any) -> str:
    """Return an object of Kueue."""
    made = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": kind, "metadata": {"name": name}}
    return json.dumps({**made, **content})


def workloads(namespace: Namespace) -> list[str]:
    return namespace.kubectl("get", "workloads", "--output=name").split()


def events(namespace: Namespace, reason: str) -> str:
    return namespace.kubectl("get", "events", f"--field-selector=reason={reason}")


def test_a_sweep_is_admitted_run_by_run_and_its_workloads_are_removed(
    cli: ClusterLine, queue: Callable[..., None]
) -> None:
    queue("1")
    done = cli.insert(*QUICK, "--workers=1,2")
    assert done.code == 0, done.err
    assert [run["outcome"]["verdict"]["status"] for run in cli.result()["runs"]] == ["verified"] * 2
    admitted = events(cli.namespace, "Admitted")
    assert admitted.count("-collector-") >= 2
    assert admitted.count("-worker-") >= 2
    waited("its workloads are gone", lambda: not workloads(cli.namespace))


def test_a_run_waits_for_the_quota_that_it_names(
    cli: ClusterLine, queue: Callable[..., None], other: Callable[..., None]
) -> None:
    queue("1")
    other()
    process = cli.start("insert", *QUICK, "--workers=2")
    waited("its Jobs wait", lambda: len(workloads(cli.namespace)) == 3)
    time.sleep(10)  # for helm to end, and the command line to print the reason
    cli.namespace.kubectl("delete", "job/other")
    done = cli.finish(process)
    assert done.code == 0, done.err
    assert "collector: waiting for the queue: couldn't assign flavors" in done.err
    assert "insufficient unused quota for cpu" in done.err


def test_workers_that_the_queue_does_not_admit_end_the_run_with_the_reason(
    cli: ClusterLine, queue: Callable[..., None]
) -> None:
    queue("250m")
    cli.program = SHORT_LIVED
    done = cli.insert(*QUICK, "--workers=2")
    assert done.code == 1, done.out
    cause = cli.result()["cause"]
    refused = r"the queue did not admit the (collector|worker) Job in 12 s: couldn't assign"
    assert re.match(refused, cause), cause
    assert "insufficient unused quota for cpu" in cause
    assert "take fewer workers" in cause
    waited("its workloads are gone", lambda: not workloads(cli.namespace))


def test_a_run_whose_queue_is_drained_says_so_and_is_removed(
    cli: ClusterLine, queue: Callable[..., None]
) -> None:
    queue("1")
    process = cli.inserting(QUEUED, workers=2)
    queue("1", stopPolicy="HoldAndDrain")
    done = cli.finish(process)
    assert done.code == 1, done.out
    stopped = r"the queue stopped the (collector|worker) Job: The ClusterQueue is stopped"
    assert re.match(stopped, cli.result()["cause"]), done.err
    waited("its workloads are gone", lambda: not workloads(cli.namespace))


def test_a_run_whose_workers_make_room_for_a_higher_priority_says_so_and_is_removed(
    cli: ClusterLine, queue: Callable[..., None], other: Callable[..., None]
) -> None:
    # Beside the other Job there is room for the collector or one of the workers only.
    queue("1100m", preemption={"withinClusterQueue": "LowerPriority"})
    process = cli.inserting(QUEUED, workers=2)
    other(first=True)
    done = cli.finish(process)
    assert done.code == 1, done.out
    stopped = "the queue stopped the worker Job: Preempted to accommodate a workload"
    assert cli.result()["cause"].startswith(stopped), done.err
    waited("only the other workload is left", lambda: len(workloads(cli.namespace)) == 1)


def test_a_queue_that_does_not_exist(cli: ClusterLine) -> None:
    cli.program = SHORT_LIVED
    done = cli.insert(*QUICK, "--workers=1")
    assert done.code == 1, done.out
    assert "Job in 12 s; `kubectl get localqueues,workloads`" in done.err
    assert "shows whether the queue exists" in cli.result()["cause"]
