"""A database pod that is deleted under load: the outage is measured, every row accounted for."""

import pytest

from tests.e2e.harness import ClusterLine

AGAIN = (
    "kubectl delete pod postgres-0 --grace-period=0 --force;"
    " until kubectl wait --for=condition=Ready pod/postgres-0 --timeout=60s; do sleep 1; done"
)


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


def test_only_a_command_can_fail_a_database_in_a_cluster(cli: ClusterLine) -> None:
    done = cli.run(
        "insert", "--target=postgresql", "--workers=1", "--duration=30s", "--fault=kill-database"
    )

    assert done.code == 2
    assert "use --fault restart-database with a command that does it there" in done.err
