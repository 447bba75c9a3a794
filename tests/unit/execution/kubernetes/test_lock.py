"""The lock in the namespace: one sweep on a database, whichever machine starts it."""

import re
import subprocess
import sys

import pytest

from iotbench.execution.kubernetes.lock import ClusterLock
from iotbench.execution.kubernetes.release import NAME, OWNER, PROGRAM, SWEEP, find_sweeps
from iotbench.execution.kubernetes.wire import Exists, NotFound
from simulator.errors import ConfigError
from tests import ROOT

LEAVE = "from iotbench.execution.kubernetes.release import this_owner; print(this_owner())"


class Namespace:
    """A namespace that keeps ConfigMaps as the API server does: a name is there once."""

    namespace = "bench"
    flags = ("--context=lab",)

    def __init__(self):
        self.kept = {}
        self.pods = []
        self.removed = []

    def create_config_map(self, name, labels, data):
        if name in self.kept:
            raise Exists(name)
        metadata = {"name": name, "labels": labels, "creationTimestamp": "2026-11-22T09:00:00Z"}
        self.kept[name] = {"metadata": metadata, "data": data}

    def object(self, resource, name):
        assert resource == "configmaps"
        if name not in self.kept:
            raise NotFound(name)
        return self.kept[name]

    def objects(self, resource, selector):
        assert selector == f"{NAME}={PROGRAM}"
        return {"configmaps": list(self.kept.values()), "pods": self.pods}.get(resource, []), "1"

    def metadata(self, resource, selector):
        return self.objects(resource, selector)[0]

    def delete(self, resource, name):
        assert resource == "configmaps"
        self.kept.pop(name, None)


@pytest.fixture
def cluster():
    return Namespace()


def lock(cluster, key="0123456789abcdef", sweep="s1", command="insert --target pg"):
    def remove(removed):
        assert removed not in ("s2", sweep)
        kept = cluster.kept.items()
        cluster.kept = {n: o for n, o in kept if o["metadata"]["labels"][SWEEP] != removed}
        cluster.removed.append(removed)

    return ClusterLock(cluster, key, sweep, command, remove)


def test_a_lock_leaves_nothing(cluster):
    with lock(cluster):
        (name,) = cluster.kept

    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,51}[a-z0-9])?", name)
    assert cluster.kept == {}


def test_a_second_sweep_on_the_database_is_refused_with_the_first_and_the_remedy(cluster):
    with lock(cluster):
        with pytest.raises(ConfigError) as refused, lock(cluster, sweep="s2"):
            pass
        assert len(cluster.kept) == 1
    reported = str(refused.value)

    assert "`insert --target pg`" in reported
    assert "cleanup --context=lab -n bench --run s1" in reported


def test_another_database_is_free(cluster):
    with lock(cluster), lock(cluster, key="fedcba9876543210", sweep="s2"):
        assert len(cluster.kept) == 2


def test_the_lock_of_a_killed_command_line_of_this_machine_is_taken_over(cluster, capsys):
    done = subprocess.run(
        [sys.executable, "-c", LEAVE], stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT
    )
    left = lock(cluster).__enter__()
    cluster.kept[left._name]["metadata"]["labels"][OWNER] = done.stdout.strip()

    with lock(cluster, sweep="s2"):
        assert cluster.kept[left._name]["metadata"]["labels"][SWEEP] == "s2"
    assert cluster.removed == ["s1"], "its pods may still write to the database"
    assert capsys.readouterr().err == "removed s1, the remains of a command that has ended\n"


def test_the_lock_of_another_machine_is_respected(cluster):
    left = lock(cluster).__enter__()
    cluster.kept[left._name]["metadata"]["labels"][OWNER] = "ann-0011223344.17.1700000000"

    with pytest.raises(ConfigError, match="cleanup"), lock(cluster, sweep="s2"):
        pass
    assert cluster.removed == []


@pytest.mark.parametrize("phase", ["Running", "Pending", "Succeeded", "Failed", "gone"])
def test_the_lock_of_a_command_line_in_a_pod_is_taken_over_when_the_pod_has_ended(
    cluster, phase, monkeypatch
):
    monkeypatch.setenv("IOTBENCH_POD", "7d1f")
    lock(cluster).__enter__()
    cluster.pods = [{"metadata": {"uid": "7d1f"}, "status": {"phase": phase}}]
    if phase == "gone":
        cluster.pods = []

    if phase in ("Running", "Pending"):
        with pytest.raises(ConfigError, match="cleanup"), lock(cluster, sweep="s2"):
            pass
    else:
        with lock(cluster, sweep="s2"):
            assert cluster.removed == ["s1"]


def test_a_lock_that_is_released_meanwhile_is_taken(cluster):
    def released(_resource, name):
        cluster.kept.clear()
        raise NotFound(name)

    lock(cluster).__enter__()
    cluster.object = released
    with lock(cluster, sweep="s2"):
        ((_, item),) = cluster.kept.items()
        assert item["metadata"]["labels"][SWEEP] == "s2"


def test_cleanup_finds_a_lock_with_its_sweep(cluster):
    lock(cluster).__enter__()
    (found,) = find_sweeps(cluster)

    assert found.sweep == "s1"
    assert found.objects == ("configmaps/bench-lock-0123456789abcdef",)
