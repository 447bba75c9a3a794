"""`insert` and `query` on SQLite, from the outside."""

import time

import pytest

from tests.integration.conftest import CommandLine, combined

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")


def test_a_sweep_measures_every_worker_count_as_often_as_asked(cli: CommandLine) -> None:
    done = cli.run(
        "insert", *SQLITE, "--workers=1,2", "--runs=2", "--batch=100", "--num-inserts=1001",
        "--format=json",
    )  # fmt: skip

    assert done.code == 0, done.err
    assert [(row["workers"], row["runs"]) for row in done.json["rows"]] == [(1, 2), (2, 2)]
    assert {row["verdict"] for row in done.json["rows"]} == {"verified"}
    (result,) = cli.results()
    assert result["status"] == "done"
    assert [run["metrics"]["rows"] for run in result["runs"]] == [1001, 1001, 2002, 2002]
    assert result["manifest"]["rows"] == 2002
    assert cli.leftovers() == []


def test_the_result_file_holds_what_was_measured(cli: CommandLine) -> None:
    cli.run("insert", *SQLITE, "--workers=2", "--runs=1", "--batch=100", "--num-inserts=1000")

    (result,) = cli.results()
    (run,) = result["runs"]
    outcome = run["outcome"]
    assert result["format_version"] == 2
    assert result["configuration"]["batch"] == 100
    assert result["dataset"]["seed"] == 1
    phases = ["init", "barrier", "insert", "visible", "compact", "verify"]
    assert list(outcome["phases_s"]) == phases
    assert outcome["insert_mode"] == "batch"
    assert outcome["size_bytes"] > 0
    assert outcome["server"]["version"].startswith("SQLite 3")
    assert result["machine"]["cores"] > 0
    for worker in outcome["workers"]:
        assert worker["started_s"] < worker["ended_s"]
        assert worker["sends"] == 10
        assert sum(worker["rows_by_second"]) == 1000
        assert worker["latency"].startswith("HISTFAAAA")
    assert run["metrics"]["rows_per_s"] > 0
    assert run["metrics"]["rows_per_s_reference"] > 0


def test_another_version_in_the_folder_at_hand_is_not_run(cli: CommandLine) -> None:
    other = cli.folder / "simulator"
    other.mkdir()
    (other / "__init__.py").write_text("raise SystemExit('not this one')\n")
    done = cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=10")

    assert done.code == 0, done.err


PAIRS = (
    ("db", "single", "0"),
    ("db", "multiple", "7"),
    ("client", "single", "7"),
    ("client", "multiple", "0"),
    ("none", "single", "0"),
    ("none", "multiple", "7"),
)
"""Every pair of a key, a number of tables and a batch."""


@pytest.mark.parametrize(
    ("primary_key", "tables", "batch"),
    combined(("db", "client", "none"), ("single", "multiple"), ("0", "7"), often=PAIRS),
)
def test_every_kind_of_insert_is_verified_row_by_row(
    cli: CommandLine, primary_key: str, tables: str, batch: str
) -> None:
    done = cli.run(
        "insert", *SQLITE, "--workers=2", "--runs=1", f"--batch={batch}", "--num-inserts=501",
        f"--primary-key={primary_key}", f"--tables={tables}", "--devices=3", "--verify=full",
        "--format=json",
    )  # fmt: skip

    assert done.code == 0, done.err
    workers = cli.results()[0]["runs"][0]["outcome"]["workers"]
    assert [worker["sends"] == 501 for worker in workers] == [batch == "0"] * 2
    named = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'events%'"
    events = [name for (name,) in cli.sql(f"{named} ORDER BY name")]
    described = cli.sql(f"PRAGMA table_info({events[0]})")
    columns, keys = [row[1] for row in described], [row[5] for row in described]
    assert sum(cli.sql(f"SELECT count(*) FROM {name}")[0][0] for name in events) == 1002
    assert len(events) == (4 if tables == "multiple" else 1)
    assert ("id" in columns) == (primary_key != "none")
    assert any(keys) == (primary_key != "none")


def test_prefill_is_exact_and_steps_continue(cli: CommandLine) -> None:
    prefilled = cli.run(
        "insert", *SQLITE, "--workers=3", "--runs=1", "--num-inserts=100", "--prefill=1000",
        "--verify=full", "--format=json",
    )  # fmt: skip
    stepped = cli.run(
        "insert", *SQLITE, "--workers=2", "--steps=3", "--num-inserts=100", "--batch=30",
        "--verify=full",
    )  # fmt: skip

    assert prefilled.code == 0, prefilled.err
    assert stepped.code == 0, stepped.err
    first, second = cli.results()
    assert first["manifest"]["rows"] == 1300
    assert [run["level"] for run in second["runs"]] == [0, 200, 400]
    assert second["manifest"]["rows"] == 600
    assert stepped.out.startswith("Stepsize: 200\n")
    assert "Level" in stepped.out
    highest = "SELECT max(sequence_number), count(DISTINCT timestamp || device_id) FROM events"
    assert cli.sql(highest) == [(299, 600)]


def test_queries_are_answered_and_checked(cli: CommandLine) -> None:
    cli.run(
        "insert", *SQLITE, "--workers=2", "--runs=1", "--batch=100", "--num-inserts=1000",
        "--devices=5", "--tables=multiple",
    )  # fmt: skip
    done = cli.run("query", *SQLITE, "--workers=2", "--runs=4", "--format=json")
    some = cli.run("query", *SQLITE, "--types=newest-per-device", "--format=json")

    assert done.code == 0, done.err
    assert [row["query"] for row in done.json["rows"]] == [
        "count-events",
        "temperature-min-max",
        "temperature-stats",
        "temperature-stats-per-device",
        "newest-per-device",
    ]
    assert {row["verdict"] for row in done.json["rows"]} == {"verified"}
    times = cli.results()[1]["runs"][0]["outcome"]["workers"][1]["queries"][0]
    assert times["runs"] == 4
    assert [row["query"] for row in some.json["rows"]] == ["newest-per-device"]


def test_a_lost_row_is_seen_before_the_queries(cli: CommandLine) -> None:
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--batch=100", "--num-inserts=1000")
    cli.sql("DELETE FROM events WHERE sequence_number = 500")
    done = cli.run("query", *SQLITE)

    assert done.code == 3
    assert "hold 999 rows, but their insert left 1,000" in done.out
    assert "the data is wrong" in done.out


def test_a_tuned_query_is_marked_and_verified(cli: CommandLine) -> None:
    queries = {
        "count-events": "SELECT max(rowid) FROM events", "temperature-min-max": "SELECT 1, 2",
    }  # fmt: skip
    cli.configure(sqlite={"module": "sqlite", "queries": queries})
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--batch=100", "--num-inserts=1000")
    done = cli.run("query", *SQLITE, "--format=json")

    verdicts = {row["query"]: row["verdict"] for row in done.json["rows"]}
    assert done.code == 3
    assert verdicts["count-events"] == "verified, tuned"
    assert verdicts["temperature-min-max"] == "mismatch, tuned"


def test_show_prints_the_same_table_again(cli: CommandLine) -> None:
    done = cli.run("insert", *SQLITE, "--workers=1", "--runs=2", "--num-inserts=100", "-v")
    brief = cli.run("insert", *SQLITE, "--workers=1", "--runs=2", "--num-inserts=100")
    first, _ = sorted(cli.output.glob("*.json"))

    assert cli.run("show", str(first)).out == done.out
    assert cli.run("show").out == cli.run("show", "last").out
    table, _, lines = brief.out.partition("\n\n")
    assert "verified, hash" in table
    assert len(lines.splitlines()) <= 5
    assert [line.partition(":")[0] for line in lines.splitlines() if line[0] != "w"] == [
        "verdict", "server", "result file", "next"
    ]  # fmt: skip


@pytest.mark.rare
def test_an_insert_without_options_takes_less_than_half_a_minute_on_two_cores(
    cli: CommandLine,
) -> None:
    began_s = time.monotonic()
    done = cli.run("insert", *SQLITE)

    assert done.code == 0, done.err
    (result,) = cli.results()
    counts = result["configuration"]["workers"]
    assert counts == [n for n in (1, 2, 4, 8, 16) if n <= result["machine"]["cores"]]
    assert result["configuration"]["at_most_s"] == 1.0
    assert {run["outcome"]["verdict"]["status"] for run in result["runs"]} == {"verified"}
    if counts == [1, 2]:
        assert time.monotonic() - began_s < 30


def test_null_is_not_verified_and_says_so(cli: CommandLine) -> None:
    done = cli.run(
        "insert", "--target=null", "--workers=1", "--runs=1", "--batch=1000", "--format=json",
        "--extra-option=encode=pgcopy",
    )  # fmt: skip
    asked = cli.run("insert", "--target=null", "--workers=1", "--verify=full")

    assert done.code == 0
    assert done.json["rows"][0]["verdict"] == "not verified"
    assert asked.code == 4


def test_progress_goes_to_standard_error_and_results_to_standard_output(cli: CommandLine) -> None:
    done = cli.run(
        "insert", "--target=sqlite", "--extra-option=path=bench.db", "--workers=1", "--runs=2",
        "--num-inserts=100", "--format=csv",
    )  # fmt: skip

    assert "[2/2] 1 worker: " in done.err
    assert done.out.splitlines()[0].startswith("workers,runs,timed_s")
    assert len(done.out.splitlines()) == 2


def test_target_options_and_command_options_are_kept_apart(cli: CommandLine) -> None:
    cli.add_modules(
        "mine",
        "from simulator.modules.null import Null, NullOptions\n\n\n"
        "class MyOptions(NullOptions):\n    timeout_s: float = 7\n\n\n"
        "class Mine(Null):\n    name = 'mine'\n    options_model = MyOptions\n",
    )
    cli.configure(own={"module": "mine:Mine"})
    done = cli.run("insert", "--target=own", "--workers=1", "--runs=1", "--timeout=1m", "-v")

    assert done.code == 0, done.err
    (result,) = cli.results()
    assert result["configuration"]["timeout_s"] == 60.0
    assert result["target_options"]["timeout_s"] == 7.0
    assert "target options: " in done.out
    assert f"created folder {cli.output}" in done.err


def test_cleanup_lists_the_tables_that_inserts_left(cli: CommandLine) -> None:
    (cli.folder / "readings.csv").write_text("time,value\n2026-11-22T00:00:00,1\n")
    small = ("--workers=1", "--runs=1", "--num-inserts=10")
    cli.run("insert", *SQLITE, *small)
    cli.run("insert", *SQLITE, *small)
    cli.run("insert", *SQLITE, "--data=readings.csv", *small[:2])
    (cli.output / "20261122T000000000Z-insert-x-0000.json").write_text("no result")
    listed = cli.run("cleanup", "--tables", f"--output={cli.output}")
    none = cli.run("cleanup", "--tables", "--output=nowhere")

    assert listed.code == 0, listed.err
    readings, events = listed.out.splitlines()
    assert readings.startswith("sqlite: table readings, 1 row by ")
    assert events.startswith("sqlite: table events, 10 rows by ")
    assert none.out == "no insert in nowhere left tables\n"


def test_timings_say_where_the_time_of_a_sweep_went(cli: CommandLine) -> None:
    done = cli.run("insert", *SQLITE, "--workers=1,2", "--runs=1", "--timings")
    shown = cli.run("show", "last", "--timings")
    refused = cli.run("show", "last", "--timings", "--format=json")

    assert (done.code, shown.code, refused.code) == (0, 0, 2), done.err + shown.err
    for text in (done.out, shown.out):
        table = text.partition("seconds\n")[2].splitlines()
        assert table[1].split() == [
            "Run", "end", "init", "barrier", "insert", "visible", "compact", "verify", "all"
        ]  # fmt: skip
        for line in table[3:5]:
            *parts, took = map(float, line.split()[3:])
            assert sum(parts) == pytest.approx(took, abs=0.05)
    assert "--timings: adds to the table; use --format table" in refused.err
