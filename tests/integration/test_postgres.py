"""`insert` and `query` on a real PostgreSQL, from the outside, also when it goes away."""

import time

import pytest

from tests.integration.conftest import POSTGRES as TARGET
from tests.integration.conftest import CommandLine, Wait, rows
from tests.servers import Postgres

pytestmark = pytest.mark.server("postgres")

LONG = (*TARGET, "--workers=2", "--runs=1", "--batch=1000", "--num-inserts=100000000", "--quiet")


COPYING = (
    "SELECT 1 FROM pg_stat_activity"
    " WHERE datname = current_database() AND query LIKE 'COPY events%'"
)
"""A row for each connection that has sent a batch."""


@pytest.mark.parametrize("client", [pytest.param("driver", marks=pytest.mark.rare), "driver-copy"])
def test_the_vendors_driver_sends_the_same_rows_and_compare_says_so(
    pg: CommandLine, client: str
) -> None:
    load = (
        "--workers=2", "--runs=1", "--batch=100", "--num-inserts=1003", "--tables=multiple",
        "--start-time=2026-11-01T00:00:00Z", "--prefill=55", "--verify=full", "--quiet",
    )  # fmt: skip
    own = pg.run("insert", *TARGET, *load)
    one_by_one = pg.run("insert", *TARGET, f"--client={client}", *load[:2], "--num-inserts=53")
    mixed = pg.run("mixed", *TARGET, f"--client={client}", "--batch=50", "--duration=1s", "--quiet")
    driver = pg.run("insert", *TARGET, *load, f"--client={client}")

    assert [each.code for each in (own, one_by_one, mixed, driver)] == [0, 0, 0, 0], mixed.err
    results = pg.results()
    modes = [each["runs"][0]["outcome"]["insert_mode"] for each in results]
    assert modes == ["batch", client, client, client]
    contents = [each["runs"][0]["outcome"]["verdict"]["status"] for each in results]
    assert contents == ["verified"] * 4
    files = sorted(pg.folder.glob("results/*-insert-*.json"))
    compared = pg.run("compare", files[0], files[-1])
    assert f"differs: option client: own -> {client}" in compared.out


def test_the_driver_excludes_other_ways_to_send(pg: CommandLine) -> None:
    done = pg.run(
        "insert", *TARGET, "--client=driver", "--batch=10", "--extra-option=use_values_lists=true"
    )

    assert done.code == 2
    assert "client=driver and use_values_lists exclude each other; choose one" in done.err


def test_a_sweep_steps_and_queries(pg: CommandLine) -> None:
    swept = pg.run(
        "insert", *TARGET, "--workers=1,2", "--runs=2", "--batch=1000", "--num-inserts=20000",
        "--primary-key=sql", "--devices=7", "--format=json",
    )  # fmt: skip
    stepped = pg.run(
        "insert", *TARGET, "--workers=2", "--steps=2", "--batch=1000", "--num-inserts=10000",
        "--format=json",
    )  # fmt: skip
    asked = pg.run(
        "query", *TARGET, "--workers=2", "--runs=2", "--extra-option=create_indices=true",
        "--format=json",
    )  # fmt: skip

    assert (swept.code, stepped.code, asked.code) == (0, 0, 0), swept.err + stepped.err + asked.err
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}
    assert len(asked.json["rows"]) == 5
    assert "index" in pg.results()[-1]["runs"][0]["outcome"]["phases_s"]


def test_no_server_a_wrong_password_and_missing_permissions_are_named_in_seconds(
    pg: CommandLine, server: Postgres, server_database: str
) -> None:
    def refused(reach: str) -> str:
        pg.environment["BENCH_POSTGRES"] = reach
        start = time.monotonic()
        done = pg.run("insert", *TARGET, "--workers=2", "--quiet")
        assert done.code == 1
        assert time.monotonic() - start < 10
        return done.out

    here = server.connection_string(server_database)
    server.execute(
        "DROP ROLE IF EXISTS reader", "CREATE ROLE reader LOGIN PASSWORD 'readerpassword'"
    )
    reader = server.connection_string(server_database, "reader")

    assert "Connection refused" in refused("host=127.0.0.1 port=1 dbname=x user=x")
    assert "password authentication failed" in refused(f"{here} password=wrongpassword")
    assert "permission denied" in refused(f"{reader} password=readerpassword")
    untouched = [result["manifest"] is None for result in pg.results()]
    assert untouched == [True, True, False]  # the reader could drop what was not there
    assert pg.leftovers() == []


def test_a_lost_connection_is_survived_and_counted(
    pg: CommandLine, server: Postgres, server_database: str, eventually: Wait
) -> None:
    running = pg.start(
        "insert", *TARGET, "--workers=2", "--runs=1", "--batch=1000", "--num-inserts=200000",
        "--verify=full", "--quiet", "-v",
    )  # fmt: skip
    kill_one_of_two = (  # other databases may have a backend whose client an earlier test killed
        "SELECT pg_terminate_backend(pid) FROM (SELECT *, count(*) OVER () AS writing"
        " FROM pg_stat_activity WHERE datname = current_database()"
        " AND query LIKE 'COPY events%') AS each"
        " WHERE writing = 2 AND state = 'active' LIMIT 1"
    )
    eventually(lambda: rows(server, server_database, kill_one_of_two) == [(True,)])
    rows(server, server_database, "CHECKPOINT")
    done = pg.finish(running, 120)

    assert done.code == 1, done.out + done.err
    (result,) = pg.results()
    metrics = result["runs"][0]["metrics"]
    assert metrics["uncertain_rows"] == 1000
    assert metrics["rows"] == 400_000 - 1000
    verdict = result["runs"][0]["outcome"]["verdict"]
    assert (verdict["status"], verdict["uncertain_absent"]) == ("incomplete", 1000)
    assert not result["manifest"]["complete"]
    assert any("no known outcome" in warning for warning in result["warnings"])

    outcome = result["runs"][0]["outcome"]
    (lost,) = [each for each in outcome["workers"] if each["failures"]]
    assert [each["what"] for each in lost["failures"]] == [
        "batches of unknown outcome", "connections lost", "connections restored",
    ]  # fmt: skip
    checkpoints = [each for each in outcome["occurrences"] if each["what"] == "checkpoints"]
    assert sum(each["count"] for each in checkpoints) == outcome["background"]["checkpoints"] > 0
    assert checkpoints[0]["at_s"] >= lost["failures"][0]["second"]
    assert "failures: batches of unknown outcome: 1, connections lost: 1" in done.out


def test_a_server_that_stops_in_mid_run_is_named_in_seconds(
    cli: CommandLine, eventually: Wait
) -> None:
    with Postgres() as server, server.database() as database:
        cli.reach_postgres(server, database)
        running = cli.start("insert", *LONG)
        eventually(lambda: len(cli.processes("worker")) == 2)
        eventually(lambda: rows(server, database, COPYING))
        time.sleep(1)
        server.kill()
        start = time.monotonic()
        done = cli.finish(running)

        assert time.monotonic() - start < 20
    assert done.code == 1
    assert "connection was lost" in done.out
    assert "Connection refused" in done.out
    (result,) = cli.results()
    assert result["status"] == "failed"
    assert result["runs"][0]["metrics"]["rows"] > 0
    assert cli.leftovers() == []


PLAN = """
name: lost
targets: [postgresql]
repeats: {repeats}
settings:
  - {{name: bulk, insert: {{workload: iot, workers: 1, batch: 1000, duration: 2s, warmup: 0s}}}}
"""


@pytest.mark.parametrize("comes_back", [True, pytest.param(False, marks=pytest.mark.rare)])
def test_a_plan_waits_once_for_a_server_that_went_away(
    cli: CommandLine, eventually: Wait, *, comes_back: bool
) -> None:
    with Postgres() as server, server.database() as database:
        cli.reach_postgres(server, database)
        cli.configure(postgresql={"module": "postgres", "connection_string": "${BENCH_POSTGRES}"})
        (cli.folder / "plan.yaml").write_text(PLAN.format(repeats=2 if comes_back else 3))
        running = cli.start("run", "plan.yaml", f"--output={cli.output}", "--format=json")
        eventually(lambda: cli.processes("worker"))
        server.kill()
        began_s = time.monotonic()
        if comes_back:
            eventually(lambda: list(cli.output.glob("2*.json")))
            server.start()
        done = cli.finish(running, 120)

    first, *others = done.json["items"]
    assert first["verdict"] == "failed"
    assert "checking postgresql" in done.err.partition("repeat 1")[2]
    if comes_back:
        assert [item["verdict"] for item in others] == ["verified"]
        return
    assert 60 < time.monotonic() - began_s < 100  # waited for once
    assert {item["verdict"] for item in others} == {"failed"}
    (cause,) = {item["cause"] for item in others}
    assert cause.startswith("not begun, the database is gone: ")
    assert "Connection refused" in cause
    assert done.code == 1


@pytest.mark.rare
def test_the_server_is_restarted_before_each_run(cli: CommandLine, eventually: Wait) -> None:
    with Postgres() as server, server.database() as database:
        cli.reach_postgres(server, database)
        done = cli.run("insert", *TARGET, "--workers=1", "--runs=1", "--batch=100", "--quiet")
        assert done.code == 0, done.err
        wait = "echo $BENCH_POSTGRES; touch asked; until test -e done; do sleep 0.1; done; rm done"
        running = cli.start("query", *TARGET, "--workers=1,2", f"--before-run={wait}")
        started = set()
        for _ in range(2):
            eventually((cli.folder / "asked").exists)
            (cli.folder / "asked").unlink()
            server.stop()
            server.start()
            (cli.folder / "done").touch()
            started |= set(rows(server, database, "SELECT pg_postmaster_start_time()"))
        done = cli.finish(running)
        last = rows(server, database, "SELECT pg_postmaster_start_time()")

    assert done.code == 0, done.err + done.out
    assert len(started) == 2
    assert {*last} <= started
    (log,) = cli.output.glob("*query*.log")
    assert log.read_text().count("\n***\n") == 2
    assert server.password not in done.out + done.err + log.read_text()
    assert all(server.password not in path.read_text() for path in cli.output.glob("*.json"))


ONE_AT_A_TIME = """\
    WITH alone AS MATERIALIZED (SELECT pg_advisory_xact_lock(1)),
         slow AS MATERIALIZED (SELECT pg_sleep(0.2) FROM alone)
    SELECT count(*) FROM events, slow"""


def test_a_ramp_finds_with_how_many_workers_answers_take_too_long(pg: CommandLine) -> None:
    reach = {"module": "postgres", "connection_string": "${BENCH_POSTGRES}"}
    pg.configure(postgresql={**reach, "queries": {"count-events": ONE_AT_A_TIME}})
    target = "--target=postgresql"
    done = pg.run("insert", target, "--workers=1", "--runs=1", "--num-inserts=50", "--quiet")
    asked = pg.run(
        "query", target, "--types=count-events", "--workers=6", "--force", "--ramp",
        "--response-limit=500ms", "--ramp-interval=3s", "--moving-average=2s", "--format=json",
    )  # fmt: skip

    assert (done.code, asked.code) == (0, 0), done.err + asked.err
    (ramp,) = asked.json["ramps"]
    assert (ramp["end"], ramp["workers"], ramp["workers_at_most"]) == ("limit", 3, 6), ramp
    assert [step["workers"] for step in ramp["steps"]] == [1, 2, 3]
    (row,) = asked.json["rows"]
    assert (row["verdict"], row["workers"]) == ("verified, tuned", 3)


def test_the_driver_sends_no_files_and_no_records(pg: CommandLine) -> None:
    files = pg.run("insert", *TARGET, "--client=driver", "--import", "--num-inserts=10")
    made = pg.run("generate", "--format=pgcopy", "--num-inserts=10", "--output=rows.pgcopy")
    records = pg.run(
        "insert", *TARGET, "--client=driver", "--data=rows.pgcopy", "--data-format=pgcopy"
    )

    assert [files.code, made.code, records.code] == [2, 0, 2], made.err
    assert "--import: the database reads files, and no driver sends rows" in files.err
    assert "--data-format: the records are sent as they are, by no driver" in records.err


UNDO = """
CREATE FUNCTION undo() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN {}; END $$;
CREATE TRIGGER undo BEFORE {} ON cpu FOR EACH ROW WHEN ({}) EXECUTE FUNCTION undo();
"""


@pytest.mark.parametrize(
    ("option", "trigger"),
    [
        pytest.param("--retag=30%", UNDO.format("old", "UPDATE", "true"), marks=pytest.mark.rare),
        ("--retag=30%", UNDO.format("old", "UPDATE", "old.usage_user > 50")),
        pytest.param("--correct=10%", UNDO.format("old", "UPDATE", "true"), marks=pytest.mark.rare),
        ("--delete-oldest=50%", UNDO.format("NULL", "DELETE", "old.usage_user > 50")),
    ],
)
def test_a_change_that_a_trigger_undoes_is_found(
    pg: CommandLine, server: Postgres, server_database: str, option: str, trigger: str
) -> None:
    done = pg.run(
        "insert", *TARGET, "--workload=cpu", "--scale=10", "--start-time=2026-01-01",
        "--end=2026-01-02", "--workers=1", "--limit=500", "--primary-key=client", "--runs=1",
    )  # fmt: skip
    assert done.code == 0, done.err
    server.execute(trigger, database=server_database)

    done = pg.run("change", *TARGET, option, "--batch=50", "--verify=none")

    assert done.code == 3, done.err
    checks = pg.results()[-1]["runs"][0]["outcome"]["verdict"]["checks"]
    (found,) = (check for check in checks if check["name"] == "cpu: every row")
    assert "not expected " in found["found"], found
