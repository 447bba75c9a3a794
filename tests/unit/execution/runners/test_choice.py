"""What measures a sweep on a cluster needs permissions; a plan does without them."""

import pytest

from iotbench.config.options.choice import ClusterOptions
from iotbench.config.targets.config import Target
from iotbench.execution.kubernetes import api
from iotbench.execution.runners import meter_for
from simulator.errors import SetupError
from simulator.modules import database_class

TARGET = Target("n", "null", "kubernetes", database_class("null").options_model(), {})
MISSING = "get nodes/proxy (the kubelet's statistics of nodes and pods)"


class Cluster:
    """A cluster that answers, and grants nothing beyond a run."""

    missing = (MISSING,)

    def __init__(self, options, namespace):
        self.namespace = namespace

    def missing_permissions(self, _):
        return list(self.missing)

    def objects(self, *_):
        return [], "1"

    def metadata(self, *_):
        return []


@pytest.fixture
def cluster(monkeypatch):
    monkeypatch.setattr(api, "Cluster", Cluster)
    return Cluster


@pytest.mark.usefixtures("cluster")
def test_who_asks_for_resources_without_the_permissions_gets_an_error():
    with pytest.raises(SetupError, match=r"get nodes/proxy .*\n.*rbac-resources.yaml grants"):
        meter_for(TARGET, "s", ClusterOptions())


@pytest.mark.usefixtures("cluster")
def test_a_plan_is_measured_without_resources_and_has_the_reason():
    with meter_for(TARGET, "s", ClusterOptions(), required=False) as meter:
        meter.rest("before", lambda: False)
        taken = meter.take_samples()

    assert taken.server == f"not measured: permissions are missing: {MISSING}"
    assert taken.samples == ()


def test_with_the_permissions_the_database_is_looked_for(cluster, monkeypatch):
    monkeypatch.setattr(cluster, "missing", ())
    with meter_for(TARGET, "s", ClusterOptions()) as meter:
        assert "the target's options have no address" in meter.take_samples().server
