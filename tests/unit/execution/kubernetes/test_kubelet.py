"""What a kubelet has read of pods and nodes: when, how much, and of which."""

import json
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from iotbench.execution.kubernetes import kubelet
from iotbench.execution.kubernetes.kubelet import DatabasePod, KubeletSource
from iotbench.machine.resources import CounterOwner
from simulator.errors import SetupError

RECORDED = json.loads((Path(__file__).parent / "recordings" / "summary.json").read_text())
DATABASE = (DatabasePod("bench", "postgres-0", "node3"),)
SERVER, MACHINE = (CounterOwner.SERVER, "bench/postgres-0"), (CounterOwner.MACHINE, "node3")
READ_AT = datetime(2026, 11, 23, 3, 19, 30, tzinfo=UTC)


class Cluster:
    """Nodes that answer with what is set, and the pods of a run."""

    namespace = "bench"

    def __init__(self, **nodes):
        self.nodes = nodes
        self.pods = []
        self.now = READ_AT

    def objects(self, resource, selector):
        assert (resource, selector) == ("pods", "of=run")
        return self.pods, "7"

    def statistics(self, node):
        found = self.nodes[node]
        if isinstance(found, Exception):
            raise found
        return found


def worker(name, node, phase="Running"):
    return {"metadata": {"name": name}, "spec": {"nodeName": node}, "status": {"phase": phase}}


def of_worker(name, node="node1"):
    """What the kubelet of another node answers."""
    found = deepcopy(RECORDED)
    found["node"]["nodeName"] = node
    found["pods"][0]["podRef"]["name"] = name
    return found


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    monkeypatch.setattr(kubelet, "monotonic", lambda: 1000.0)


def test_the_database_and_its_node_are_read_with_the_times_of_the_kubelet():
    found = KubeletSource(Cluster(node3=RECORDED), "of=run", DATABASE).read()

    assert set(found) == {SERVER, MACHINE}
    assert found[SERVER].at_s == pytest.approx(1000 - 12)  # 03:19:18, read at 03:19:30
    assert found[SERVER].cpu_s == pytest.approx(21.234013575)
    assert found[SERVER].memory_bytes == 67653632
    assert found[MACHINE].at_s == pytest.approx(1000 - 1)
    assert found[MACHINE].cpu_s == pytest.approx(103807.236409055)


def test_the_same_reading_is_reported_once():
    cluster = Cluster(node3=RECORDED)
    source = KubeletSource(cluster, "of=run", DATABASE)
    source.read()
    later = deepcopy(RECORDED)
    later["pods"][0]["cpu"]["time"] = "2026-11-23T03:19:31Z"
    cluster.nodes["node3"] = later
    cluster.now = READ_AT + timedelta(seconds=60)

    found = source.read()
    assert found[MACHINE] is None
    assert found[SERVER].at_s == pytest.approx(1000 + 1)  # the clocks are compared once


def test_pods_of_the_run_that_run_are_the_client():
    cluster = Cluster(node1=of_worker("worker-0"))
    cluster.pods = [
        worker("worker-0", "node1"),
        worker("worker-1", "node1", "Succeeded"),
        {**worker("worker-2", "", "Pending"), "spec": {}},
    ]
    source = KubeletSource(cluster, "of=run", "outside of the cluster")
    found = source.read()

    assert list(found) == [(CounterOwner.CLIENT, "bench/worker-0")]
    assert found[CounterOwner.CLIENT, "bench/worker-0"].memory_bytes == 67653632
    assert (source.described.server, source.longest_rest_s) == (
        "not measured: outside of the cluster",
        0.0,
    )


@pytest.mark.parametrize(
    "statistics", [{}, {"cpu": {"time": "2026-11-23T03:19:18Z"}, "memory": {}}, {"cpu": None}]
)
def test_a_pod_that_was_not_read_yet_exists(statistics):
    answer = of_worker("worker-0")
    answer["pods"] = [{"podRef": answer["pods"][0]["podRef"], **statistics}]
    cluster = Cluster(node1=answer, node2={"node": {}, "pods": None})
    cluster.pods = [worker("worker-0", "node1"), worker("worker-1", "node2")]
    found = KubeletSource(cluster, "of=run", "unknown").read()

    assert found == {
        (CounterOwner.CLIENT, "bench/worker-0"): None,
        (CounterOwner.CLIENT, "bench/worker-1"): None,
    }


def test_a_node_that_does_not_answer_hides_no_other():
    cluster = Cluster(node1=SetupError("node1 is down"), node3=RECORDED)
    cluster.pods = [worker("worker-0", "node1")]
    found = KubeletSource(cluster, "of=run", DATABASE).read()

    assert found[CounterOwner.CLIENT, "bench/worker-0"] is None
    assert found[SERVER]
