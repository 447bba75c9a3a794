"""Pods, nodes and networks that fail under load: outages measured, every row accounted for."""

import pytest

from tests.e2e.harness import SCRIPT, ClusterLine

AGAIN = (
    "kubectl delete pod postgres-0 --grace-period=0 --force;"
    " until kubectl wait --for=condition=Ready pod/postgres-0 --timeout=60s; do sleep 1; done"
)


@pytest.mark.rare
@pytest.mark.timeout(400, func_only=True)
def test_a_database_pod_is_deleted_and_comes_back_with_every_row(cli: ClusterLine) -> None:
    done = cli.run(
        "insert", "--target=postgresql", "--workers=2", "--runs=1", "--batch=50", "--rate=2000",
        "--duration=60s", "--fault=restart-database", "--at=25%", f"--restart-with={AGAIN}",
        within_s=300,
    )  # fmt: skip

    assert done.code == 0, done.err + done.out
    (run,) = cli.result()["runs"]
    (outage,) = run["outages"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert outage["began_s"] == pytest.approx(15.0, abs=2.0)
    assert 0.3 < outage["silent_s"] < 45
    assert outage["undone_s"] > outage["began_s"]
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    assert accounts["kept"] == run["metrics"]["rows"]
    assert int(cli.namespace.sql("SELECT count(*) FROM events")) == (
        accounts["kept"] + accounts["present"]
    )
    assert cli.namespace.leftovers() == []


@pytest.mark.timeout(400, func_only=True)
def test_the_pods_of_a_database_are_killed_and_replaced(granted: ClusterLine) -> None:
    before = granted.namespace.json("pod", "postgres-0")["metadata"]["uid"]
    done = granted.run(
        "insert", "--target=postgresql", "--workers=2", "--runs=1", "--batch=50", "--rate=1000",
        "--duration=40s", "--fault=kill-database", "--at=10s", within_s=300,
    )  # fmt: skip

    assert done.code == 0, done.err + done.out
    assert granted.namespace.json("pod", "postgres-0")["metadata"]["uid"] != before
    (run,) = granted.result()["runs"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert 0.3 < run["outages"][0]["silent_s"] < 35
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    assert accounts["kept"] == run["metrics"]["rows"]


@pytest.mark.parametrize("fault", ["pause-database", "fill-disk"])
def test_processes_and_disks_of_pods_are_beyond_reach(cli: ClusterLine, fault: str) -> None:
    words = ["--disk=/tmp"] if fault == "fill-disk" else []
    done = cli.run(
        "insert", "--target=postgresql", "--workers=1", "--duration=30s", f"--fault={fault}", *words
    )

    assert done.code == 2
    assert "use --fault restart-database or crash-node with commands that do it there" in done.err


def test_pods_that_are_not_known_are_not_killed(cli: ClusterLine) -> None:
    done = cli.run(
        "insert", "--target=postgresql", "--workers=1", "--runs=1", "--duration=30s",
        "--fault=kill-database",
    )  # fmt: skip

    assert done.code != 0
    assert "endpointslices" in done.err
    assert cli.namespace.leftovers() == []


@pytest.mark.parametrize("fault", ["cut-network", "kill-worker"])
def test_workers_in_pods_fail_by_themselves_without_any_permission(
    cli: ClusterLine, fault: str
) -> None:
    done = cli.run(
        "insert", "--target=postgresql", "--workers=2", "--runs=1", "--batch=50", "--rate=2000",
        "--duration=15s", f"--fault={fault}", "--at=5s", "--for=2s", within_s=200,
    )  # fmt: skip

    assert done.code == 0, done.err + done.out
    (run,) = cli.result()["runs"]
    (outage,) = run["outages"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert outage["began_s"] == pytest.approx(5.0, abs=1.0)
    assert 1.4 < outage["silent_s"] < (2.7 if fault == "cut-network" else 5.0)  # starts again
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    assert accounts["kept"] == run["metrics"]["rows"]
    assert cli.namespace.leftovers() == []


@pytest.mark.rare
@pytest.mark.usefixtures("powers")
@pytest.mark.timeout(600, func_only=True)
def test_the_node_of_a_database_crashes_and_comes_back_with_every_row(cli: ClusterLine) -> None:
    node = cli.namespace.json("pod", "postgres-0")["spec"]["nodeName"]
    ready = "kubectl wait --for=condition=Ready pod/postgres-0 --timeout=60s"
    done = cli.run(
        "insert", "--target=postgresql", "--workers=2", "--runs=1", "--batch=50", "--rate=1000",
        "--duration=120s", "--fault=crash-node", "--at=20s", "--for=5s",
        f"--crash-with={SCRIPT} crash {node}",
        f"--restart-with={SCRIPT} boot {node}; until {ready}; do sleep 1; done",
        within_s=500,
    )  # fmt: skip

    assert done.code == 0, done.err + done.out
    (run,) = cli.result()["runs"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert run["outages"][0]["silent_s"] > 5
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    assert int(cli.namespace.sql("SELECT count(*) FROM events")) == (
        accounts["kept"] + accounts["present"]
    )
