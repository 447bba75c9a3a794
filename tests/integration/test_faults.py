"""Databases that are paused, killed and restarted under load: outages, and rows accounted for."""

import os
import signal
from collections.abc import Iterator, Mapping
from functools import partial

import psutil
import pytest

from tests.integration.conftest import POSTGRES as TARGET
from tests.integration.conftest import CommandLine, Wait, rows
from tests.servers import Postgres, power
from tests.servers.restarting import restarter

pytestmark = pytest.mark.server("postgres")

RATE = (*TARGET, "--runs=1", "--batch=20", "--rate=2000", "--duration=5s")
STEADY = (*RATE, "--workers=2")


@pytest.fixture
def own() -> Iterator[Postgres]:
    """A server of the test's own, whose acknowledged rows need not be on disk."""
    with Postgres(synchronous_commit="off", wal_writer_delay="10s") as server:
        server.create_database("bench")
        yield server


def _expect_silence(outage: Mapping[str, float], begins_s: float) -> None:
    """Expect that nothing is acknowledged for 1.5 s; a busy machine undoes the fault late."""
    assert outage["began_s"] == pytest.approx(begins_s, abs=1.0)
    lasts_s = outage["undone_s"] - outage["began_s"]
    assert 1.4 < lasts_s < 4
    assert 1.2 < outage["silent_s"] < lasts_s + 1


def test_a_paused_database_goes_on_and_keeps_every_row(pg: CommandLine) -> None:
    done = pg.run("insert", *STEADY, "--fault=pause-database", "--at=2s", "--for=1500ms")

    assert done.code == 0, done.err
    (run,) = pg.results()[-1]["runs"]
    (outage,) = run["outages"]
    _expect_silence(outage, begins_s=2.0)
    assert outage["p99_inside_ms"] > 500 > outage["p99_outside_ms"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert accounts["kept"] == run["metrics"]["rows"]
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    assert run["metrics"]["silent_s"] == outage["silent_s"]
    assert not any(worker["waits_by_second"] for worker in run["outcome"]["workers"])
    assert "pause-database: from " in done.out
    assert f"rows after faults: {accounts['kept']:,} acknowledged, of which 0 lost" in done.out


def test_a_killed_database_is_started_again_and_what_it_lost_is_counted(
    cli: CommandLine, own: Postgres
) -> None:
    cli.reach_postgres(own, "bench")
    with restarter(cli.folder, own.start) as command:
        done = cli.run(
            "insert", *STEADY, "--fault=kill-database", "--at=2s", "--for=500ms",
            f"--restart-with={command}",
        )  # fmt: skip
        stored = rows(own, "bench", "SELECT count(*) FROM events")[0][0]

    (run,) = cli.results()[-1]["runs"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert accounts["kept"] + accounts["present"] == stored
    assert accounts["kept"] + accounts["lost"] == run["metrics"]["rows"]
    assert (accounts["announced"], accounts["doubled"], accounts["foreign"]) == (True, 0, 0)
    lost = accounts["lost"]
    assert done.code == (1 if lost else 0), done.err
    assert run["metrics"]["lost_rows"] == lost
    assert cli.results()[-1]["configuration"]["restart_with"] == command
    assert run["outages"][0]["silent_s"] > 0.5
    if lost:
        assert "acknowledged, and lost as the server announces" in done.out
        assert not cli.results()[-1]["manifest"]["complete"]


@pytest.mark.skipif(bool(power.problem()), reason=power.problem())
@pytest.mark.parametrize("fsync", [pytest.param("on", marks=pytest.mark.rare), "off"])
def test_a_power_cut_takes_what_was_not_synced(
    cli: CommandLine, fsync: str, eventually: Wait
) -> None:
    """PostgreSQL with fsync=off loses acknowledged rows, which are counted; with on none."""
    server = Postgres(fsync=fsync)
    with power.Disk() as disk:
        server.disk = disk.folder
        with server:
            server.create_database("bench")
            cli.reach_postgres(server, "bench")
            with restarter(cli.folder, partial(power.cut, disk, server)) as command:
                running = cli.start(
                    "insert", *STEADY, "--fault=restart-database", "--at=3s",
                    f"--restart-with={command}",
                )  # fmt: skip
                exists = "SELECT to_regclass('events')"
                eventually(lambda: rows(server, "bench", exists)[0][0])
                disk.sync()  # the table is on the disk
                done = cli.finish(running)
                stored = rows(server, "bench", "SELECT count(*) FROM events")[0][0]

    (run,) = cli.results()[-1]["runs"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert run["outcome"]["server"]["durable"] is (fsync == "on")
    assert accounts["kept"] + accounts["lost"] == run["metrics"]["rows"]
    assert accounts["kept"] + accounts["present"] == stored
    assert (accounts["doubled"], accounts["foreign"]) == (0, 0)
    if fsync == "on":
        assert (done.code, accounts["lost"]) == (0, 0), done.err
    else:
        assert done.code == 1
        assert accounts["lost"] > 1000
        assert f"{accounts['lost']:,} rows acknowledged, and lost as the server" in done.out


def test_a_loss_against_the_promise_is_found(
    pg: CommandLine, server: Postgres, server_database: str, eventually: Wait
) -> None:
    """Rows are deleted behind the back of a server that promises to keep them."""
    running = pg.start("insert", *STEADY, "--fault=pause-database", "--at=3s", "--for=500ms")

    def deleted() -> bool:
        exists = "SELECT to_regclass('events')"
        if not rows(server, server_database, exists)[0][0]:
            return False
        if rows(server, server_database, "SELECT count(*) FROM events")[0][0] < 30:
            return False
        delete = (
            "WITH gone AS (DELETE FROM events WHERE id IN (SELECT id FROM events LIMIT 30)"
            " RETURNING 1), done AS (SELECT count(*) FROM gone) SELECT * FROM done"
        )
        return bool(rows(server, server_database, delete)[0][0])

    eventually(deleted)
    done = pg.finish(running)

    assert done.code == 3, done.err
    (run,) = pg.results()[-1]["runs"]
    assert run["outcome"]["verdict"]["accounts"]["lost"] == 30
    assert run["outcome"]["verdict"]["status"] == "mismatch"
    assert "of which 30 lost (against its promise)" in done.out


def test_a_paused_database_goes_on_if_the_command_line_is_killed(
    pg: CommandLine, server: Postgres, server_database: str, eventually: Wait
) -> None:
    running = pg.start("insert", *STEADY, "--fault=pause-database", "--at=1s", "--for=3s")
    eventually(lambda: all(map(_is_stopped, server.processes())))
    os.kill(running.pid, signal.SIGKILL)
    running.communicate()

    eventually(lambda: not any(map(_is_stopped, server.processes())))
    assert rows(server, server_database, "SELECT 1") == [(1,)]
    eventually(lambda: not pg.processes())


def _is_stopped(process: psutil.Process) -> bool:
    try:
        return process.status() == psutil.STATUS_STOPPED
    except psutil.NoSuchProcess:
        return False


@pytest.mark.rare
def test_a_command_that_does_not_start_it_fails_the_run(pg: CommandLine) -> None:
    done = pg.run(
        "insert", *STEADY, "--fault=restart-database", "--at=1s",
        "--restart-with=echo no such unit; exit 5",
    )  # fmt: skip

    assert done.code == 1
    assert "failed: `echo no such unit; exit 5`: exit code 5" in done.out
    assert pg.leftovers() == []


@pytest.mark.rare
def test_a_result_does_not_repeat_the_command_that_restarts(pg: CommandLine) -> None:
    inserted = pg.run(
        "insert", *STEADY, "--fault=restart-database", "--at=1s", "--restart-with=true",
    )  # fmt: skip
    (path,) = pg.output.glob("*insert*.json")
    done = pg.run("repeat", str(path))

    assert inserted.code == 0, inserted.err
    assert done.code == 2
    assert "-- --fault restart-database --restart-with true`" in done.err


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.rare)])
def test_a_cut_network_stops_everything_and_loses_nothing(pg: CommandLine, workers: int) -> None:
    done = pg.run(
        "insert", *RATE, f"--workers={workers}", "--fault=cut-network", "--at=2s", "--for=1500ms"
    )

    assert done.code == 0, done.err + done.out
    assert "insert (cut-network): " in done.err
    (run,) = pg.results()[-1]["runs"]
    (outage,) = run["outages"]
    _expect_silence(outage, begins_s=2.0)
    assert outage["p99_inside_ms"] > 500 > outage["p99_outside_ms"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert accounts["kept"] == run["metrics"]["rows"]
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    assert pg.leftovers() == []


@pytest.mark.parametrize("connections", [1, pytest.param(4, marks=pytest.mark.rare)])
def test_killed_workers_go_on_and_keep_what_was_acknowledged(
    pg: CommandLine, server: Postgres, server_database: str, connections: int
) -> None:
    done = pg.run(
        "insert", *STEADY, f"--connections={connections}", "--fault=kill-worker", "--at=2s",
        "--for=1500ms",
    )  # fmt: skip
    stored = rows(server, server_database, "SELECT count(*) FROM events")[0][0]

    assert done.code == 0, done.err + done.out
    (run,) = pg.results()[-1]["runs"]
    (outage,) = run["outages"]
    assert outage["undone_s"] - outage["began_s"] == pytest.approx(1.5, abs=0.5)
    assert outage["silent_s"] >= 1.4
    accounts = run["outcome"]["verdict"]["accounts"]
    assert accounts["kept"] == run["metrics"]["rows"]
    assert accounts["kept"] + accounts["present"] == stored
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    assert all(each["connects"] for each in run["outcome"]["workers"]) == (connections > 1)
    assert pg.leftovers() == []


def test_a_slow_network_is_seen_in_the_latency(pg: CommandLine) -> None:
    done = pg.run(
        "insert", *STEADY, "--fault=slow-network", "--delay=200ms", "--at=1s", "--for=1s",
        "--every=2s",
    )  # fmt: skip

    assert done.code == 0, done.err + done.out
    (run,) = pg.results()[-1]["runs"]
    assert len(run["outages"]) == 2
    for outage in run["outages"]:
        assert outage["p99_inside_ms"] > 400 > outage["p99_outside_ms"]
        assert outage["silent_s"] < 1
    assert run["outcome"]["verdict"]["status"] == "verified"


@pytest.mark.skipif(bool(power.problem()), reason=power.problem())
def test_a_full_disk_refuses_rows_until_it_has_room_again(cli: CommandLine) -> None:
    server = Postgres()
    with power.Disk() as disk:
        server.disk = disk.folder
        with server:
            server.create_database("bench")
            cli.reach_postgres(server, "bench")
            done = cli.run(
                "insert", *STEADY, "--fault=fill-disk", f"--disk={disk.folder}", "--at=2s",
                "--for=2s",
            )  # fmt: skip
            stored = rows(server, "bench", "SELECT count(*) FROM events")[0][0]
            left = [*disk.folder.glob("*.fill")]

    assert done.code == 0, done.err + done.out
    assert left == []
    (run,) = cli.results()[-1]["runs"]
    accounts = run["outcome"]["verdict"]["accounts"]
    assert (accounts["lost"], accounts["doubled"], accounts["foreign"]) == (0, 0, 0)
    assert accounts["kept"] + accounts["present"] == stored
    assert run["outages"][0]["silent_s"] > 1
    assert sum(worker["retried"] for worker in run["outcome"]["workers"]) > 0


def test_the_disk_of_this_program_is_not_filled(pg: CommandLine) -> None:
    said = pg.refuse(
        "insert", *STEADY, "--fault=fill-disk", f"--disk={pg.folder}", "--at=2s", "--for=2s"
    )

    assert "which this program needs itself; give the database a file system of its own" in said
    assert pg.results() == []


@pytest.mark.parametrize("connections", [1, pytest.param(3, marks=pytest.mark.rare)])
def test_queries_beside_inserts_go_on_after_a_fault(
    cli: CommandLine, own: Postgres, connections: int
) -> None:
    cli.reach_postgres(own, "bench")
    inserted = cli.run("insert", *TARGET, "--workers=1", "--runs=1", "--num-inserts=2k")
    with restarter(cli.folder, own.start) as command:
        done = cli.run(
            "mixed", *TARGET, "--insert-rate=1000", "--query-rate=40", "--batch=20",
            f"--connections={connections}", "--duration=5s", "--fault=kill-database", "--at=2s",
            "--for=1s", f"--restart-with={command}",
        )  # fmt: skip

    assert inserted.code == 0, inserted.err
    (run,) = cli.results()[-1]["runs"]
    accounts = run["outcome"]["rows_verdict"]["accounts"]
    assert done.code == (1 if accounts["lost"] else 0), done.err + done.out
    assert accounts["foreign"] == accounts["doubled"] == 0
    asked = [each for worker in run["outcome"]["workers"] for each in worker["queries"]]
    assert sum(worker["queries_again"] for worker in run["outcome"]["workers"]) > 0
    assert sum(each["runs"] for each in asked) > 60
    assert all(each["verdict"]["status"] == "verified" for each in run["outcome"]["queries"])
    assert run["outages"][0]["silent_s"] > 1
    assert "queries at faults: " in done.out
    assert f"rows after faults: {accounts['kept'] + accounts['lost']:,} acknowledged" in done.out


def test_a_cut_network_stops_queries_too(pg: CommandLine) -> None:
    inserted = pg.run("insert", *TARGET, "--workers=1", "--runs=1", "--num-inserts=2k")
    done = pg.run(
        "mixed", *TARGET, "--insert-rate=1000", "--query-rate=40", "--batch=20", "--fresh=10s",
        "--duration=4s", "--fault=cut-network", "--at=1s", "--for=1500ms",
    )  # fmt: skip

    assert (inserted.code, done.code) == (0, 0), done.err + done.out
    (run,) = pg.results()[-1]["runs"]
    _expect_silence(run["outages"][0], begins_s=1.0)
    asked = [each for worker in run["outcome"]["workers"] for each in worker["queries"]]
    assert sum(each["wait_s"] for each in asked) > 1.4
