"""The database's pods: found by the target's address, or by labels."""

import pytest

from iotbench.config.targets.config import Target
from iotbench.execution.kubernetes.kubelet import DatabasePod, database_pods, pod_names
from simulator.modules import database_class

POD = DatabasePod("data", "pg-0", "node3")


class Cluster:
    """Services with the endpoints that the API reports."""

    namespace = "bench"

    def __init__(self, services=None, pods=()):
        self._services = services or {}
        self._pods = pods
        self.asked = []

    def endpoints(self, service, namespace):
        self.asked.append(f"{service}.{namespace}")
        return self._services.get(f"{service}.{namespace}", [])

    def pods_anywhere(self, selector):
        self.asked.append(selector)
        return self._pods


def endpoint(pod=POD):
    target = {"kind": "Pod", "namespace": pod.namespace, "name": pod.name}
    return {"hostname": pod.name, "nodeName": pod.node, "targetRef": target}


def target(host="", **more):
    given = {"connection_string": f"host={host} dbname=app"} if host else {}
    model = database_class("postgres").options_model
    options = model(**given) if host else model.without(["connection_string"])()
    return Target("pg", "postgres", "kubernetes", options, {}, **more)


@pytest.mark.parametrize("host", ["pg.data", "pg.data.svc", "pg.data.svc.cluster.local"])
def test_a_service_is_found_by_all_its_names(host):
    assert database_pods(Cluster({"pg.data": [endpoint()]}), target(host)) == (POD,)


def test_a_service_of_the_runs_namespace_needs_no_other_name():
    assert database_pods(Cluster({"pg.bench": [endpoint()]}), target("pg")) == (POD,)


@pytest.mark.parametrize(
    ("host", "service"),
    [("pg-0.pg", "pg.bench"), ("pg-0.pg.data", "pg.data"), ("pg-0.pg.data.svc", "pg.data")],
)
def test_one_pod_of_a_service_has_a_name_of_its_own(host, service):
    other = DatabasePod("data", "pg-1", "node4")

    assert database_pods(Cluster({service: [endpoint(), endpoint(other)]}), target(host)) == (POD,)


def test_several_hosts_are_one_database():
    other = DatabasePod("data", "pg-1", "node4")
    cluster = Cluster({"a.data": [endpoint(other)], "b.data": [endpoint(), endpoint(other)]})

    assert database_pods(cluster, target("a.data,b.data")) == (POD, other)


@pytest.mark.parametrize("host", ["db.example.com", "10.0.0.7", "UPPER.data", "a..b", "pg.data"])
def test_a_database_outside_of_the_cluster_is_reported(host):
    cluster = Cluster({"pg.data": [{"addresses": ["10.0.0.7"]}]})  # an address, and no pod
    found = database_pods(cluster, target(host))

    assert found.startswith("outside of the cluster: no Service with pods")
    assert host in found


def test_an_address_in_a_secret_is_not_known():
    assert "database_pods in config.yaml" in database_pods(Cluster(), target())


def test_labels_come_before_the_address():
    def pod(name, phase):
        metadata = {"namespace": "data", "name": name}
        return {"metadata": metadata, "spec": {"nodeName": "n"}, "status": {"phase": phase}}

    cluster = Cluster(pods=[pod("a", "Running"), pod("b", "Pending")])
    labels = {"app": "pg", "tier": "db"}

    assert database_pods(cluster, target("pg", database_pods=labels)) == (
        DatabasePod("data", "a", "n"),
    )
    assert cluster.asked == ["app=pg,tier=db"]
    nothing = database_pods(Cluster(), target("pg", database_pods=labels))
    assert nothing == "no running pod has the labels app=pg,tier=db (database_pods)"


def test_few_pods_are_named_and_many_counted():
    pods = tuple(DatabasePod("data", f"pg-{n}", "n") for n in range(5))

    assert pod_names(pods[:1]) == "pod pg-0"
    assert pod_names(pods) == "pods pg-0, pg-1, pg-2 and 2 more"
