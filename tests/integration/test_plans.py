"""`--dry-run` prints the plan and does nothing."""

import pytest

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db")


def test_a_plan_lists_its_runs_in_order_and_nothing_is_started(cli: CommandLine) -> None:
    done = cli.run(
        "insert", *SQLITE, "--workers=2,1", "--runs=2", "--num-inserts=1k", "--batch=100",
        "--prefill=10", "--tables=multiple", "--dry-run",
    )  # fmt: skip

    assert done.code == 0, done.err
    rows = [line.split() for line in done.out.splitlines() if line.strip()[:1].isdigit()]
    assert rows == [
        ["1", "2", "1", "dropped,", "created", "0", "10", "2,000"],
        ["2", "2", "2", "dropped,", "created", "0", "10", "2,000"],
        ["3", "1", "1", "dropped,", "created", "0", "10", "1,000"],
        ["4", "1", "2", "dropped,", "created", "0", "10", "1,000"],
    ]
    assert "plan of insert on target sqlite" in done.out
    assert "tables: events, in 4 parts" in done.out
    assert "batch: 100 rows; rate: no limit; primary key: db" in done.out
    assert "duration: unknown" in done.out
    assert not cli.output.exists()
    assert not (cli.folder / "bench.db").exists()
    assert cli.leftovers() == []


def test_a_plan_is_estimated_from_the_last_insert(cli: CommandLine) -> None:
    inserted = cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=100", "-q")
    assert inserted.code == 0, inserted.err
    done = cli.run("insert", *SQLITE, "--workers=1", "--steps=3", "--num-inserts=100", "--dry-run")

    assert "duration: about 0:00:0" in done.out
    steps = [line.split()[3:] for line in done.out.splitlines() if line.strip()[:1].isdigit()]
    assert steps == [
        ["dropped,", "created", "0", "0", "100"],
        ["kept", "100", "0", "100"],
        ["kept", "200", "0", "100"],
    ]
    assert len(cli.results()) == 1


def test_the_command_of_a_target_that_ends_a_fault_is_shown_without_its_password(
    cli: CommandLine,
) -> None:
    cli.environment["WORD"] = "sesame-open"
    reach, restart = "host=db.example user=u password=${WORD}", "ssh db PASSWORD=sesame-open up"
    cli.configure(pg={"module": "postgres", "connection_string": reach, "restart_with": restart})
    fault = ("--fault=restart-database", "--at=2s", "--duration=10s")
    done = cli.run("insert", "--target=pg", "--workers=1", "--batch=10", *fault, "--dry-run")

    assert done.code == 0, done.err
    assert "after each fault: ssh db PASSWORD=*** up\n" in done.out


@pytest.mark.parametrize(
    ("command", "words"), [("query", "queries: count-events,"), ("verify", "verification: full")]
)
def test_queries_and_verifications_have_a_plan_too(
    cli: CommandLine, command: str, words: str
) -> None:
    cli.run("insert", *SQLITE, "--workers=1", "--runs=1", "--num-inserts=100", "--quiet")
    done = cli.run(command, *SQLITE, "--dry-run")

    assert done.code == 0, done.err
    assert words in done.out
    assert "rows expected in the tables: 100" in done.out
    assert len(cli.results()) == 1
