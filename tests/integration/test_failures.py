"""Whatever goes wrong is named in seconds, the result file is there, and nothing is left."""

import re
import signal
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from simulator.supervision import MOST_COLLECTORS
from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
LONG = (*SQLITE, "--workers=2", "--runs=2", "--batch=100", "--num-inserts=50000000")
Wait = Callable[[Callable[[], Any]], Any]


def test_a_killed_worker_is_named_and_everything_ends(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    (victim,) = cli.processes("worker-1")
    victim.kill()
    start = time.monotonic()
    done = cli.finish(running)

    assert time.monotonic() - start < 10
    assert done.code == 1
    assert "worker 1 was killed by SIGKILL" in done.out
    (result,) = cli.results()
    assert result["status"] == "failed"
    assert result["manifest"]["complete"] is False
    workers = result["runs"][0]["outcome"]["workers"]
    assert [worker["rows"] > 0 for worker in workers] == [True, True]
    (lost,) = result["runs"][0]["outcome"]["occurrences"]
    assert (lost["what"], lost["is_failure"]) == ("worker lost", True)
    assert 0 < lost["at_s"] < 60
    assert cli.leftovers() == []


def test_a_collector_that_is_killed_again_and_again_is_named(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    killed = cli.kill_collectors(running)
    done = cli.finish(running)

    assert killed == MOST_COLLECTORS
    assert done.code == 1
    assert (
        "the collector was killed by SIGKILL, as 3 before it, before the run was over" in done.out
    )
    (result,) = cli.results()
    assert result["status"] == "failed"
    workers = result["runs"][0]["outcome"]["workers"]
    assert [worker["rows"] > 0 for worker in workers] == [True, True]
    assert result["runs"][0]["metrics"]["rows"] > 0
    assert cli.leftovers() == []


def test_the_timeout_ends_the_run_and_says_what_was_done(cli: CommandLine) -> None:
    done = cli.run("insert", *LONG, "--timeout=2")

    assert done.code == 1
    assert "--timeout" in done.out
    assert "rows acknowledged" in done.out
    assert cli.results()[0]["runs"][0]["metrics"]["rows"] > 0
    assert cli.leftovers() == []


def test_a_database_that_does_not_answer_is_named_when_the_time_is_up(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *LONG, "--timeout=8")
    cli.await_both_writing(eventually)
    with closing(sqlite3.connect(cli.folder / "bench.db", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 10000")
        other.execute("BEGIN IMMEDIATE")
        done = cli.finish(running)

    assert done.code == 1
    assert re.search(
        r"--timeout: the run was not done after 8 s, in phase insert; the database has"
        r" acknowledged no row for \d s;",
        done.out,
    )
    assert cli.leftovers() == []


def test_refused_batches_are_tried_again_for_as_long_as_the_user_says(
    cli: CommandLine, eventually: Wait
) -> None:
    short = "--extra-option=busy_timeout_s=0.1"  # without --retry-for it fails after 3 s
    running = cli.start(
        "insert", "--target=sqlite", "--extra-option=path=bench.db", short, "--quiet",
        "--workers=1", "--runs=1", "--batch=100", "--duration=6s", "--retry-for=1m",
        "--verify=full",
    )  # fmt: skip
    eventually(lambda: cli.processes("worker"))
    eventually((cli.folder / "bench.db-wal").exists)
    time.sleep(1)
    with closing(sqlite3.connect(cli.folder / "bench.db", isolation_level=None)) as other:
        other.execute("PRAGMA busy_timeout = 10000")
        other.execute("BEGIN IMMEDIATE")
        time.sleep(4)
        other.execute("ROLLBACK")
    done = cli.finish(running, 60)

    assert done.code == 0, done.out + done.err
    (result,) = cli.results()
    assert result["configuration"]["retry_for_s"] == 60
    (run,) = result["runs"]
    metrics = run["metrics"]
    assert run["outcome"]["verdict"]["status"] == "verified"
    assert metrics["retried"] >= 6
    assert 2.5 < metrics["backoff_s"] < 6.5  # the last pause ends up to 2 s late
    assert metrics["latency"]["max_ms"] >= 3900  # the wait is part of the batch's latency
    assert metrics["client_share"] < 0.5  # and no work of the client
    assert any("repeated, after pauses of" in warning for warning in result["warnings"])
    assert cli.leftovers() == []


@pytest.mark.parametrize("after_s", [0.15, 0.3, 0.6, 0.9, 1.5, 3.0])
def test_ctrl_c_at_any_moment_leaves_nothing(cli: CommandLine, after_s: float) -> None:
    running = cli.start("insert", *LONG)
    time.sleep(after_s)
    running.send_signal(signal.SIGINT)
    done = cli.finish(running)

    assert done.code in (130, -signal.SIGINT)
    assert cli.leftovers() == []
    assert all(result["status"] == "interrupted" for result in cli.results())


def test_ctrl_c_in_mid_run_keeps_what_was_measured(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    running.send_signal(signal.SIGINT)
    done = cli.finish(running)

    assert done.code == 130
    (result,) = cli.results()
    assert result["status"] == "interrupted"
    assert result["runs"][0]["metrics"]["rows"] > 0
    assert cli.leftovers() == []


def test_a_second_ctrl_c_stops_at_once(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    (collector,) = cli.processes("collector")
    collector.send_signal(signal.SIGSTOP)  # it will not tidy up by itself
    running.send_signal(signal.SIGINT)
    time.sleep(0.5)
    running.send_signal(signal.SIGINT)
    start = time.monotonic()
    done = cli.finish(running)

    assert time.monotonic() - start < 8
    assert done.code == 130
    assert cli.results()[0]["status"] == "interrupted"
    assert cli.leftovers() == []


def test_a_killed_command_line_takes_its_processes_with_it(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    running.kill()
    running.communicate()

    eventually(lambda: not cli.processes())
    assert list(cli.temporary.rglob("*")) == []
    cleaned = cli.run("cleanup")
    assert cleaned.code == 0
    assert "removed lock" in cleaned.out
    assert "nothing to remove on this machine" in cli.run("cleanup").out
    assert cli.leftovers() == []


def test_a_terminated_command_line_tidies_up(cli: CommandLine, eventually: Wait) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    running.terminate()
    done = cli.finish(running)

    assert done.code == 130
    assert cli.leftovers() == []


def test_a_table_in_the_way_is_reported(cli: CommandLine) -> None:
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10")
    for file in cli.output.glob("*.json"):
        file.unlink()
    with closing(sqlite3.connect(cli.folder / "bench.db")) as connection:
        connection.execute("DROP TABLE iotbench_marks")
    done = cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10", "--no-clean")

    assert done.code == 2
    assert "this program did not make table events (10 rows, " in done.out
    assert cli.results()[0]["manifest"] is None


def test_an_unfinished_insert_is_not_queried(cli: CommandLine) -> None:
    cli.run("insert", *LONG, "--timeout=1.5")
    asked = cli.run("query", *SQLITE)

    assert asked.code == 1
    assert "did not end, or not all of its rows are stored" in asked.out


BAD_INPUT = {
    "unknown target": (["--target=sqlit"], ["did you mean 'sqlite'?"]),
    "unknown option": (
        ["--target=sqlite", "--extra-option=pth=x"],
        ["--extra-option pth", "did you mean 'path'?"],
    ),
    "worker counts": (["--target=sqlite", "--workers=0"], ["--workers", "at least 1"]),
    "negative worker counts": (["--target=sqlite", "--workers=2,-1"], ["--workers", "at least 1"]),
    "worker counts that are no numbers": (
        ["--target=sqlite", "--workers=many"],
        ["--workers", "whole numbers"],
    ),
    "steps with several counts": (
        ["--target=sqlite", "--steps=2"],
        ["--steps", "one worker count"],
    ),
    "steps with runs": (
        ["--target=sqlite", "--steps=2", "--workers=1", "--runs=3"],
        ["--steps", "--runs 3"],
    ),
    "steps with prefill": (
        ["--target=sqlite", "--steps=2", "--workers=1", "--prefill=10"],
        ["--steps", "--prefill"],
    ),
    "a key that the module has not": (
        ["--target=sqlite", "--primary-key=uuid"],
        ["--primary-key", "uuid", "db, client, none"],
    ),
    "a wrong value": (
        ["--target=sqlite", "--extra-option=synchronous=maybe"],
        ["--extra-option synchronous", "normal"],
    ),
    "no equals sign": (["--target=sqlite", "--extra-option=path"], ["KEY=VALUE"]),
    "a file on a cluster": (["--target=sqlite", "--runner=kubernetes"], ["--runner local"]),
    "options of the other runner": (
        ["--target=sqlite", "--keep", "--set=a=b"],
        ["--set, --keep: only for the kubernetes runner"],
    ),
    "a file for pods": (
        ["--target=postgresql", "--data=config.yaml"],
        ["--data: pods cannot read a file of this machine"],
    ),
    "a file of records for pods": (
        ["--target=influxdb", "--data=config.yaml", "--data-format=influx"],
        ["--data: pods cannot read a file of this machine; copy it to a volume claim"],
    ),
    "a file in a volume claim without a cluster": (
        ["--target=null", "--runner=local", "--data=claim:Data/a", "--data-format=influx"],
        ["only pods mount volume claims", "--data: claim:Data/a: expected claim:NAME/PATH"],
    ),
    "wrong words for the chart": (
        ["--target=postgresql", "--set=x", "--set=run.id=1", "--values=no.yaml", "--image=a b"],
        ["--set: expected KEY=VALUE", "--set: run.id", "--values: no.yaml", "--image: expected"],
    ),
    "more workers than this machine can run": (
        ["--target=sqlite", "--workers=1,100000"],
        ["--workers: 100,000 workers are too many for the", "GiB are free", "--force"],
    ),
    "an unset variable": (
        ["--target=postgresql", "--runner=local", "--extra-option=password=${NO_SUCH}"],
        ["NO_SUCH"],
    ),
    "no number": (
        ["--target=sqlite", "--num-inserts=many", "--timeout=soon", "--start-time=today"],
        ["--num-inserts: expected a whole", "--timeout: expected a dur", "--start-time: expected"],
    ),
    "more rows than there are": (
        ["--target=sqlite", "--num-inserts=99999999999999999"],
        ["--num-inserts: must be at most 1,099,511,627,776"],
    ),
    "an end without the start that it continues": (
        ["--target=sqlite", "--workload=devops", "--no-clean", "--end=2026-11-01T00:00:00Z"],
        ["--end: give --start-time as well"],
    ),
    "a walk that the database cannot store exactly": (
        [
            "--target=victoriametrics",
            "--runner=local",
            "--workload=devops",
            "--workers=1",
            "--precision=full",
        ],
        ["victoriametrics: cpu: column usage_", "more than 6 decimals", "victoriametrics: mem: "],
    ),
    "tags that the database cannot store": (
        ["--target=graphite", "--runner=local", "--workload=devops", "--workers=1"],
        ["graphite: cpu, diskio, disk, kernel, mem, net, nginx, postgresql, redis: column os: '"],
    ),
    "more tags than the server allows": (
        [
            "--target=opentsdb",
            "--runner=local",
            "--workload=cpu",
            "--workers=1",
            "--extra-option=max_tags=8",
        ],
        ["opentsdb: cpu: a row has 10 tags, and this server allows 8; set tsd.storage.max_tags"],
    ),
    "texts that the database cannot store": (
        ["--target=opentsdb", "--runner=local", "--workload=homes", "--workers=1"],
        [
            "opentsdb: home_state: column state_string: is text",
            "opentsdb: home_config: column config_string: is text",
            "opentsdb: camera_detection: column object_type: is text",
        ],
    ),
    "times that the database cannot store": (
        [
            "--target=graphite",
            "--runner=local",
            "--workers=1",
            "--tick-ms=1000",
            "--start-time=2020-01-01",
        ],
        ["graphite: events: column timestamp: 2020-01-01", "use a later --start-time"],
    ),
    "a window without a point": (
        ["--target=sqlite", "--workload=devops", "--start=2026-01-01", "--end=2026-01-01T00:00:05"],
        ["--workload devops: from start to end are 5000 ms, less than an interval"],
    ),
    "no devices": (["--target=sqlite", "--devices=0"], ["--devices"]),
    "several problems at once": (
        ["--target=sqlite", "--workers=0", "--batch=-1", "--primary-key=sql", "--devices=0"],
        ["--workers", "--batch", "--primary-key", "--devices"],
    ),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_reported_before_anything_starts(cli: CommandLine, case: str) -> None:
    arguments, reported = BAD_INPUT[case]
    done = cli.run("insert", *arguments)

    assert done.code == 2
    assert done.out == ""
    assert [words for words in reported if words not in done.err] == []
    assert not cli.output.exists()
    assert cli.leftovers() == []


def test_options_that_query_does_not_take_are_reported(cli: CommandLine) -> None:
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10")
    several = cli.run("query", *SQLITE, "--runs=2", "--count=5")
    none = cli.run("query", *SQLITE, "--types=")

    assert several.code == none.code == 2
    assert "--runs, --count: each says how much is asked; use one of them" in several.err
    assert "--types: expected names separated by commas, got ''" in none.err


BAD_CONFIG = {
    "a target twice": (
        "targets:\n  a: {module: 'null'}\n  a: {module: sqlite}\n",
        "line 3: targets.a is already set in line 2",
    ),
    "missing": (None, "cannot be read"),
    "empty": ("", "is empty"),
    "no YAML": ("targets: [", "is not YAML"),
    "a list": ("- 1", "expected a mapping"),
    "no targets": ("namespace: x", "targets: expected a mapping"),
    "a wrong namespace": ("namespace: 3\ntargets: {a: {module: 'null'}}", "namespace: expected"),
    "an unknown module": ("targets: {a: {module: nul}}", "did you mean 'null'?"),
    "no module": ("targets: {a: {path: x}}", "targets.a.module"),
    "a name that cannot be a file's": ("targets: {'a/b': {module: 'null'}}", "letters, digits"),
    "an unknown key": ("target: {a: {module: 'null'}}", "did you mean 'targets'?"),
}


@pytest.mark.parametrize("case", BAD_CONFIG)
def test_a_bad_configuration_is_reported_with_its_file(cli: CommandLine, case: str) -> None:
    content, reported = BAD_CONFIG[case]
    cli.config = cli.folder / "own.yaml"
    if content is not None:
        cli.config.write_text(content)
    done = cli.run("insert", "--target=a")

    assert done.code == 2
    assert reported in done.err
    assert "own.yaml" in done.err


def test_an_output_folder_that_cannot_be_written_is_found_before_the_run(cli: CommandLine) -> None:
    (cli.folder / "results").write_text("a file, not a folder")
    done = cli.run("insert", *SQLITE, "--workers=1", "--num-inserts=10")

    assert done.code == 2
    assert "--output" in done.err
    assert not (cli.folder / "bench.db").exists()


def test_a_manifest_of_another_workload_version_is_refused(cli: CommandLine) -> None:
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10")
    (file,) = cli.output.glob("*.json")
    file.write_text(file.read_text().replace('"workload_version": 1', '"workload_version": 7'))
    done = cli.run("query", *SQLITE)

    assert done.code == 2
    assert "version 7" in done.err


def test_a_query_without_an_insert_says_what_to_do(cli: CommandLine) -> None:
    done = cli.run("query", *SQLITE)
    wrong = cli.run("query", *SQLITE, "--dataset=config.yaml")

    assert done.code == 2
    assert "insert --target sqlite" in done.err
    assert wrong.code == 2


def test_a_query_that_the_database_refuses_is_named(cli: CommandLine) -> None:
    cli.config = cli.folder / "config.yaml"
    cli.config.write_text(
        "targets:\n  sqlite:\n    module: sqlite\n    runner: local\n    queries:\n"
        "      temperature-stats: SELEC 1\n"
    )
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10")
    done = cli.run("query", *SQLITE)

    assert done.code == 1
    assert "query temperature-stats: " in done.out
    assert 'near "SELEC": syntax error' in done.out
    assert "rows acknowledged" not in done.out


def test_a_second_run_on_the_same_file_is_refused_and_named(
    cli: CommandLine, eventually: Wait
) -> None:
    running = cli.start("insert", *LONG)
    cli.await_both_writing(eventually)
    elsewhere = cli.folder / "other checkout"
    elsewhere.mkdir()
    other = CommandLine(elsewhere, environment={"XDG_STATE_HOME": str(cli.state.parent)})
    refused = [
        other.run("insert", "--target=sqlite", f"--extra-option=path={cli.folder / 'bench.db'}"),
        cli.run("query", *SQLITE),
    ]
    checked = cli.run("check", *SQLITE[:2])
    running.send_signal(signal.SIGINT)
    cli.finish(running)

    assert "another run is in progress on this database" in refused[0].err
    assert f"process {running.pid}" in refused[0].err
    assert [done.code for done in refused] == [2, 2]
    assert not other.output.exists()
    assert checked.code == 0
    assert cli.leftovers() == []


def test_a_missing_driver_is_reported_before_anything_starts(cli: CommandLine) -> None:
    (cli.folder / "mine.py").write_text(
        "from simulator.modules.null import Null\n\n\nclass Mine(Null):\n    name = 'mine'\n\n"
        "    def connect(self):\n        import no_such_driver\n"
    )
    cli.config = cli.folder / "config.yaml"
    cli.config.write_text("targets:\n  own:\n    module: mine:Mine\n    runner: local\n")
    cli.environment["PYTHONPATH"] = str(cli.folder)
    for command in ("insert", "check"):
        done = cli.run(command, "--target=own")

        assert done.code == 2
        assert "needs the Python package no_such_driver" in done.err
        assert "pip install" in done.err
    assert not cli.output.exists()


def test_a_missing_helm_is_reported_before_anything_starts(cli: CommandLine) -> None:
    cli.environment["PATH"] = "/nowhere"
    done = cli.run("insert", "--target=postgresql")

    assert done.code == 2
    assert "helm is not on the PATH" in done.err
    assert not cli.output.exists()


def test_a_server_that_is_not_reached_is_reported_as_such(cli: CommandLine) -> None:
    cli.config = cli.folder / "config.yaml"
    cli.config.write_text(
        "targets:\n  pg:\n    module: postgres\n    runner: local\n"
        "    connection_string: host=127.0.0.1 port=1 dbname=a user=a\n"
    )
    done = cli.run("check", "--target=pg")

    assert done.code == 1
    assert "pg: not reached: " in done.err
    assert "refused" in done.err
    assert "reached       " not in done.out
