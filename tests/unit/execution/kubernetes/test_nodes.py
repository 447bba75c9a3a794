"""True if a node lives: from its lease, in the cluster's time, and never after one late renewal."""

from datetime import UTC, datetime, timedelta

import pytest

from iotbench.execution.kubernetes.nodes import SilentNodes
from iotbench.execution.kubernetes.wire import NotFound

EPOCH = datetime(2026, 11, 22, 10, tzinfo=UTC)
READY = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}


class Cluster:
    """A node that renews its lease at the given seconds; this machine's clock plays no part."""

    def __init__(self, *renewals_s, node=READY, duration_s=40, skew_s=0.0):
        self.renewals_s, self._node, self._duration_s, self._skew_s = (
            renewals_s, node, duration_s, skew_s,
        )  # fmt: skip
        self.time_s = 0.0
        self.requests = 0

    @property
    def now(self):
        return EPOCH + timedelta(seconds=self.time_s)

    def node(self, _):
        self.requests += 1
        if isinstance(self._node, Exception):
            raise self._node
        return self._node

    def lease(self, _):
        past = [at for at in self.renewals_s if at <= self.time_s]
        if not past:
            return None
        renewed = EPOCH + timedelta(seconds=past[-1] + self._skew_s)
        stamp = renewed.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {"spec": {"renewTime": stamp, "leaseDurationSeconds": self._duration_s}}


def judged(cluster, first_s, within_s=60.0):
    """Suspect the node at a time; return the judgement and when it was made."""
    nodes = SilentNodes(cluster, lambda: cluster.time_s)
    cluster.time_s = first_s
    while cluster.time_s < first_s + within_s:
        found = nodes.trouble("n")
        if found is not None:
            return found, cluster.time_s
        cluster.time_s += 0.5
    return None, cluster.time_s


@pytest.mark.parametrize("last_s", [0.0, -3.0, -9.5])
def test_a_crashed_node_is_named_after_two_missed_renewals(last_s):
    """It crashed at 0; its worker is silent at 15."""
    found, at_s = judged(Cluster(last_s), 15.0)

    assert found.startswith("has been silent for ")
    assert 25 <= at_s - last_s <= 36
    assert at_s <= 27


def test_a_node_that_crashed_after_an_earlier_look_is_named():
    cluster = Cluster(0.0, 10.0, 20.0)
    nodes = SilentNodes(cluster, lambda: cluster.time_s)
    found = []
    for cluster.time_s in (3.0, 8.0, 13.0, 36.0, 48.0):
        found.append(nodes.trouble("n"))

    assert found == ["", "", "", None, "has been silent for 28 s"]


@pytest.mark.parametrize("late_s", [10.0, 14.0, 16.0, 20.0, 24.0])
def test_a_node_that_renews_late_lives(late_s):
    found, at_s = judged(Cluster(0.0, late_s), min(late_s, 15.0) - 0.5)

    assert found == ""
    assert at_s <= late_s + 1.5


@pytest.mark.parametrize("skew_s", [-4.0, 4.0])
def test_clocks_that_differ_a_little_make_no_difference(skew_s):
    """It renews every 10 s, and is suspected at any moment."""
    every = tuple(range(0, 200, 10))
    assert {judged(Cluster(*every, skew_s=skew_s), 60.0 + at)[0] for at in range(20)} == {""}

    assert judged(Cluster(0.0, skew_s=skew_s), 15.0)[0]


def test_a_whole_cluster_that_was_suspended_is_given_time_to_renew():
    """By the clock the lease is an hour old; the node renews it soon after it has woken."""
    assert judged(Cluster(0.0, 3609.0), 3600.0) == ("", 3609.0)


def test_a_node_that_renews_less_often_gets_more_time():
    found, at_s = judged(Cluster(0.0, duration_s=80), 30.0)

    assert found
    assert at_s >= 45


@pytest.mark.parametrize(
    ("node", "reported"),
    [
        (NotFound("n"), "is gone"),
        (None, ""),
        (
            {"status": {"conditions": [{"type": "Ready", "status": "False", "message": "down"}]}},
            "is not ready (down)",
        ),
        (
            {"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}},
            "is not ready (Unknown)",
        ),
        (READY, ""),
    ],
)
def test_a_node_without_a_lease_is_judged_by_its_condition(node, reported):
    assert judged(Cluster(node=node), 15.0) == (reported, 15.0)


def test_a_pod_without_a_node_has_none_that_is_lost():
    assert SilentNodes(Cluster(node=NotFound("n")), lambda: 0.0).trouble("") == ""


def test_a_node_is_not_read_more_often_than_every_second():
    cluster = Cluster(0.0)
    nodes = SilentNodes(cluster, lambda: cluster.time_s)
    for step in range(100):
        cluster.time_s = 12.0 + step / 50
        nodes.trouble("n")

    assert cluster.requests <= 3


def test_a_suspicion_of_long_ago_is_forgotten():
    cluster = Cluster(0.0)
    nodes = SilentNodes(cluster, lambda: cluster.time_s)
    cluster.time_s = 20.0
    assert nodes.trouble("n") is None

    cluster.time_s = 300.0
    assert nodes.trouble("n") is None
