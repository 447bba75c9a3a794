"""A run lives on as long as its command line extends its time, and no longer."""

import time
from datetime import UTC, datetime, timedelta

import pytest

from iotbench.execution.kubernetes import lifetime
from iotbench.execution.kubernetes.lifetime import explain_unattended_end, extend_lifetime
from iotbench.execution.kubernetes.wire import NotFound, Unreachable

STARTED = datetime(2026, 11, 22, 10, tzinfo=UTC)


class Cluster:
    """Jobs that started at a time, and the cluster's own time, minutes later."""

    def __init__(self, *failures, conditions=(), status=None):
        self.failures = list(failures)
        self.now = STARTED + timedelta(minutes=7)
        started = {"startTime": "2026-11-22T10:00:00Z", "conditions": list(conditions)}
        self.status = started if status is None else status
        self.patched = []

    def object(self, resource, name):
        assert resource == "jobs"
        if self.failures:
            raise self.failures.pop(0)
        return {"metadata": {"name": name}, "status": self.status}

    def patch(self, resource, name, changes):
        self.patched.append((resource, name, changes))


@pytest.fixture(autouse=True)
def _soon(monkeypatch):
    monkeypatch.setattr(lifetime, "_EXTENSIONS", lifetime.UNATTENDED_S * 100)


def extended(cluster, count):
    with extend_lifetime(cluster, ["j-collector", "j-worker"]):
        until = time.monotonic() + 5
        while len(cluster.patched) < count and time.monotonic() < until:
            time.sleep(0.005)
    return cluster.patched


def test_both_jobs_get_the_whole_time_again_counted_by_the_clusters_clock():
    first, second, *_ = extended(Cluster(), 2)

    assert first == ("jobs", "j-collector", {"spec": {"activeDeadlineSeconds": 7 * 60 + 1800}})
    assert second[1] == "j-worker"
    assert second[2] == first[2]


def test_a_cluster_that_is_away_for_a_moment_is_asked_again():
    patched = extended(Cluster(Unreachable("away"), Unreachable("away"), NotFound("gone")), 2)

    assert {name for _, name, _ in patched} == {"j-collector", "j-worker"}


def test_a_job_that_has_not_started_needs_no_more_time():
    cluster = Cluster(status={})
    with extend_lifetime(cluster, ["j-collector"]):
        time.sleep(0.1)

    assert cluster.patched == []


def test_nothing_is_extended_after_the_run():
    cluster = Cluster()
    extended(cluster, 1)
    time.sleep(0.05)
    count = len(cluster.patched)
    time.sleep(0.05)

    assert len(cluster.patched) == count


def condition(**changes):
    return {"type": "Failed", "reason": "DeadlineExceeded", "status": "True", **changes}


@pytest.mark.parametrize(
    ("conditions", "ended"),
    [
        ([condition()], True),
        ([{"type": "Complete", "status": "True"}], False),
        ([condition(reason="BackoffLimitExceeded")], False),
        ([], False),
    ],
)
def test_only_a_deadline_that_passed_ends_a_run_unattended(conditions, ended):
    found = explain_unattended_end(Cluster(conditions=conditions), "j-collector")

    assert ("did not extend its deadline for 30 min" in found) == ended


@pytest.mark.parametrize("error", [NotFound("gone"), Unreachable("away")])
def test_a_job_that_cannot_be_read_shows_nothing(error):
    assert explain_unattended_end(Cluster(error), "j-collector") == ""
