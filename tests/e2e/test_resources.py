"""`--resources` on a cluster: what pods and nodes used, as their kubelets read it."""

from typing import Any

import pytest

from tests.e2e.harness import NULL, ClusterLine, Kubernetes

POSTGRES = "--target=postgresql"
LOAD = ("--workers=2", "--runs=1", "--batch=100", "--rate=2000", "--duration=45s")
"""Long enough for a kubelet to read every pod twice in it."""


def phase(run: Any, name: str) -> list[Any]:
    return [sample for sample in run["resources"]["samples"] if sample["phase"] == name]


def expect_measured(result: Any, out: str, kube: Kubernetes) -> float:
    """Check what was measured of the one run of a result; return the clients' cores in it."""
    (run,), (node,) = result["runs"], kube.database_nodes()
    found = run["resources"]
    assert (found["server"], found["machine"]) == ("pod postgres-0", f"node {node}")
    for rest in ("before", "after"):
        assert all(sample["client"] is None for sample in phase(run, rest))
        assert all(sample["machine_cores"] > 0 for sample in phase(run, rest))
        assert any(sample["server"] for sample in phase(run, rest))
    (line,) = [line for line in out.splitlines() if line.startswith("resources: ")]
    assert line.startswith("resources: server pod postgres-0, ")
    assert " at rest before; " in line
    timed = phase(run, result["kind"])
    seconds = sum(sample["duration_s"] for sample in timed)
    assert 5 < seconds < run["outcome"]["phases_s"][result["kind"]]
    assert all(sample["machine_load"] is None for sample in timed)
    cores: dict[str, float] = {}
    for part in ("client", "server"):
        assert all(sample[part]["memory_bytes"] > 10 << 20 for sample in timed)
        cores[part] = (
            sum(sample[part]["cores"] * sample["duration_s"] for sample in timed) / seconds
        )
        assert 0.001 < cores[part] < 2 * 8
    return cores["client"]


@pytest.mark.timeout(400, func_only=True)
def test_pods_and_nodes_are_measured_while_rows_are_inserted(
    granted: ClusterLine, kube: Kubernetes
) -> None:
    done = granted.insert(POSTGRES, *LOAD, "--resources", within_s=250)
    assert done.code == 0, done.err

    expect_measured(granted.result(), done.out, kube)


@pytest.mark.rare
@pytest.mark.timeout(600, func_only=True)
def test_they_are_measured_while_rows_are_read_and_agree_with_the_workers(
    granted: ClusterLine, kube: Kubernetes
) -> None:
    """The pods hardly do more than the process in them, which measures its own CPU time."""
    done = granted.insert(POSTGRES, *LOAD, "--resources", within_s=250)
    words = ("--workers=1", "--types=count-events", "--duration=45s", "--resources")
    asked = granted.run("query", POSTGRES, *words, within_s=240)
    assert (done.code, asked.code) == (0, 0), done.err + asked.err

    inserted, queried = granted.results()
    cores = expect_measured(inserted, done.out, kube)
    outcome = inserted["runs"][0]["outcome"]
    own_cores = sum(each["cpu_s"] for each in outcome["workers"]) / outcome["phases_s"]["insert"]
    assert 0.5 * own_cores < cores < 2 * own_cores + 0.05
    expect_measured(queried, asked.out, kube)


@pytest.mark.rare
def test_a_run_that_is_too_short_says_so(granted: ClusterLine) -> None:
    words = ("--workers=1", "--runs=1", "--batch=1000", "--num-inserts=2000", "--resources")
    granted.write_config(NULL)
    done = granted.insert("--target=null", *words)
    assert done.code == 0, done.err

    assert phase(granted.result()["runs"][0], "insert") == []
    (line,) = [line for line in done.out.splitlines() if line.startswith("resources: ")]
    assert "server not measured: the target's options have no address" in line
    assert "not all was measured: a kubelet reads each pod every 10 to 20 s" in line


def test_without_the_permissions_nothing_starts(empty: ClusterLine) -> None:
    empty.write_config(NULL)
    done = empty.insert("--target=null", "--workers=1", "--num-inserts=10", "--resources")
    checked = empty.run("check", "--target=null")

    assert done.code == 1
    assert "--resources: permissions are missing in the cluster:\n  get nodes/proxy (" in done.err
    assert "deployment/rbac-resources.yaml grants them" in done.err
    assert empty.results() == []
    assert checked.code == 0
    (line,) = [line for line in checked.out.splitlines() if line.startswith("resources ")]
    assert "--resources needs what deployment/rbac-resources.yaml grants: get nodes/proxy" in line
