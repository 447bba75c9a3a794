"""Rows spread across any number of tables, by row or by worker, on SQLite."""

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db", "--quiet")
INSERT = ("insert", *SQLITE, "--runs=1", "--num-inserts=100", "--batch=7", "--verify=full")
QUERY = ("query", *SQLITE, "--format=json")


def counts(cli: CommandLine) -> dict[str, int]:
    """Return the number of rows of each table of events."""
    listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'events%'"
    return {name: cli.sql(f"SELECT count(*) FROM {name}")[0][0] for (name,) in cli.sql(listed)}


def expect_right_answers(cli: CommandLine) -> None:
    """Ask the queries of the workload, and expect all answers to be verified."""
    asked = cli.run(*QUERY)
    assert asked.code == 0, asked.err
    assert {row["verdict"] for row in asked.json["rows"]} == {"verified"}


def test_each_row_is_in_the_table_of_its_number(cli: CommandLine) -> None:
    first = cli.run(*INSERT, "--workers=2", "--tables=6", "--prefill=100")
    second = cli.run(*INSERT, "--workers=4", "--tables=6", "--no-clean", "--duration=60s")

    assert (first.code, second.code) == (0, 0), first.err + second.err
    found = counts(cli)
    assert [*found] == [f"events{part}" for part in range(6)]
    assert sum(found.values()) == 700
    assert max(found.values()) - min(found.values()) <= 4  # a lane's rows begin anywhere
    assert [r["configuration"]["tables"] for r in cli.results()] == [6, 6]
    assert [r["configuration"]["tables_by"] for r in cli.results()] == ["row", "row"]
    expect_right_answers(cli)


def test_a_pinned_worker_writes_to_one_table(cli: CommandLine) -> None:
    pinned = ("--tables=3", "--tables-by=worker")
    first = cli.run(*INSERT, *pinned, "--workers=2", "--prefill=20")
    assert first.code == 0, first.err
    assert counts(cli) == {"events0": 110, "events1": 110, "events2": 0}
    expect_right_answers(cli)

    second = cli.run(*INSERT, *pinned, "--workers=4", "--no-clean")
    assert second.code == 0, second.err
    assert counts(cli) == {"events0": 310, "events1": 210, "events2": 100}
    assert cli.results()[-1]["configuration"]["tables_by"] == "worker"
    assert cli.results()[-1]["manifest"]["rows"] == 620
    expect_right_answers(cli)

    third = cli.refuse(*INSERT, "--tables=3", "--workers=1", "--no-clean")
    assert "--tables-by: the last insert has worker, got row" in third


def test_what_a_pinned_worker_wrote_until_the_end_of_time_is_known(cli: CommandLine) -> None:
    pinned = ("--tables=2", "--tables-by=worker", "--workers=3", "--rate=1000", "--batch=5")
    done = cli.run("insert", *SQLITE, "--runs=1", "--duration=1s", "--verify=full", *pinned)

    assert done.code == 0, done.err
    found = counts(cli)
    assert sum(found.values()) == cli.results()[0]["manifest"]["rows"] > 500
    assert found["events0"] > 1.5 * found["events1"] > 0
    expect_right_answers(cli)


def test_the_most_tables_are_written_and_asked(cli: CommandLine) -> None:
    done = cli.run(*INSERT, "--workers=1", "--tables=256")

    assert done.code == 0, done.err
    assert len(counts(cli)) == 256
    expect_right_answers(cli)


def test_a_plan_says_how_the_rows_are_spread(cli: CommandLine) -> None:
    by_row = cli.run(*INSERT, "--tables=16", "--dry-run")
    by_worker = cli.run(*INSERT, "--tables=16", "--tables-by=worker", "--dry-run")

    assert "tables: events, in 16 parts\n" in by_row.out
    assert "tables: events, in 16 parts, of which each worker writes one\n" in by_worker.out
