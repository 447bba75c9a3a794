"""A sweep's objects are removed: few at a time, while Kubernetes deletes the pods of its Jobs."""

from types import SimpleNamespace

import pytest

from iotbench.execution.kubernetes import release
from iotbench.execution.kubernetes.release import remove
from simulator.errors import SetupError

HELM = SimpleNamespace(uninstall=lambda _: None)


class Cluster:
    """Has pods, of which Kubernetes ends some between two looks."""

    namespace = "bench"
    flags = ("--context=lab",)

    def __init__(self, pods, ended_each_look):
        self.pods = {f"p{number}": {} for number in range(pods)}
        self.ended_each_look = ended_each_look
        self.deleted = []
        self.looks = []

    def metadata(self, kind, _selector):
        if kind != "pods":
            return []
        for name in list(self.pods)[: self.ended_each_look]:
            del self.pods[name]
        self.looks.append(len(self.deleted))
        return [{"metadata": {"name": name, **more}} for name, more in self.pods.items()]

    def delete(self, kind, name, grace_s=None):
        assert kind == "pods"
        self.deleted.append((name, grace_s))
        if name in self.pods:
            self.pods[name] = {"deletionTimestamp": "now"}


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(release, "_POLL_S", 0.0)


def test_of_many_pods_few_are_deleted_between_two_looks():
    cluster = Cluster(pods=1000, ended_each_look=100)
    remove(cluster, HELM, "s")

    asked = [
        after - before for before, after in zip(cluster.looks, cluster.looks[1:], strict=False)
    ]
    assert max(asked) == release._AT_ONCE
    assert len({name for name, _ in cluster.deleted}) == len(cluster.deleted) < 600
    assert cluster.pods == {}


def test_what_does_not_go_is_deleted_without_grace_and_then_named(monkeypatch):
    monkeypatch.setattr(release, "_GRACE_S", 0.05)
    monkeypatch.setattr(release, "_FORCED_S", 0.05)
    monkeypatch.setattr(release, "_EACH_S", 0.0)
    cluster = Cluster(pods=2, ended_each_look=0)

    with pytest.raises(SetupError, match="these objects still exist: pods/p0, pods/p1; ") as raised:
        remove(cluster, HELM, "s")

    assert "`python run.py cleanup --context=lab -n bench --run s`" in str(raised.value)
    assert cluster.deleted[:2] == [("p0", None), ("p1", None)]
    assert {("p0", 0), ("p1", 0)} <= {*cluster.deleted}


def test_helm_begins_again_once_the_cluster_answers():
    asked = []

    def uninstall(name):
        asked.append(name)
        if len(asked) == 1:
            raise SetupError("helm uninstall: failed to delete release: bench-s")

    cluster = Cluster(pods=1, ended_each_look=1)
    cluster.version = lambda: asked.append("version")
    remove(cluster, SimpleNamespace(uninstall=uninstall), "s")

    assert asked == ["bench-s", "version", "bench-s"]
    assert cluster.pods == {}
