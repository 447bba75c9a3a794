"""`insert --setup` and `--teardown`: the user's statements on the tables of each run."""

import pytest

from tests.integration.conftest import POSTGRES, CommandLine

INSERT = (
    "insert", "--target=sqlite", "--extra-option=path=bench.db", "--workers=1", "--runs=2",
    "--batch=100", "--num-inserts=1000", "--quiet",
)  # fmt: skip


def files(cli: CommandLine, setup: str, teardown: str) -> tuple[str, str]:
    (cli.folder / "setup.sql").write_text(setup)
    (cli.folder / "teardown.sql").write_text(teardown)
    return "--setup=setup.sql", "--teardown=teardown.sql"


def test_each_run_sets_up_its_tables_and_tears_down(cli: CommandLine) -> None:
    both = files(
        cli,
        "CREATE INDEX warm ON events (temperature);\n"
        "CREATE TABLE IF NOT EXISTS log (what TEXT);\nINSERT INTO log VALUES ('setup');\n",
        "INSERT INTO log SELECT 'rows ' || count(*) FROM events;\nDROP INDEX warm;\n",
    )
    done = cli.run(*INSERT, *both)

    assert done.code == 0, done.err
    assert cli.sql("SELECT what FROM log") == [
        ("setup",), ("rows 1000",), ("setup",), ("rows 1000",)
    ]  # fmt: skip
    assert cli.sql("SELECT name FROM sqlite_master WHERE name = 'warm'") == []
    (result,) = cli.results()
    assert len(result["configuration"]["setup"]) == len(result["configuration"]["teardown"]) == 12
    assert {"setup", "teardown"} <= {*result["runs"][0]["outcome"]["phases_s"]}


def test_a_statement_that_fails_is_named_and_what_was_set_up_is_torn_down(
    cli: CommandLine,
) -> None:
    both = files(
        cli,
        "CREATE TABLE mine (n);\nCREATE INDEX x ON nowhere (n);\n",
        "DROP TABLE mine;\n",
    )
    done = cli.run(*INSERT, *both)

    assert done.code == 1, done.err
    assert "--setup: statement 2 of 2 failed: " in done.err
    assert "no such table: main.nowhere" in done.err
    assert "Traceback" not in done.err
    assert cli.sql("SELECT name FROM sqlite_master WHERE name = 'mine'") == []


def test_what_is_refused_before_is_not_torn_down(cli: CommandLine) -> None:
    cli.sql("CREATE TABLE events (theirs INT)")
    done = cli.run(*INSERT, *files(cli, "SELECT 1;\n", "DROP TABLE events;\n"))

    assert done.code == 2
    assert "did not make table events" in done.err
    assert cli.sql("SELECT name FROM pragma_table_info('events')") == [("theirs",)]


@pytest.mark.server("postgres")
def test_an_index_of_the_users_own_on_postgres(pg: CommandLine) -> None:
    both = files(
        pg,
        "CREATE INDEX by_temperature ON events (temperature);\n"
        "CREATE VIEW hot AS SELECT * FROM events WHERE temperature > 30;\n",
        "DROP VIEW hot;\n",
    )
    done = pg.run(
        "insert", *POSTGRES, "--workers=2", "--runs=2", "--batch=500", "--num-inserts=2000",
        "--quiet", *both,
    )  # fmt: skip
    assert done.code == 0, done.err
    planned = pg.run("query", *POSTGRES, "--types=temperature-min-max", "--plans", "--quiet")

    assert planned.code == 0, planned.err
    assert "by_temperature" in planned.out


@pytest.mark.server("postgres")
def test_tables_that_the_user_makes_unlogged_are_not_durable_on_postgres(pg: CommandLine) -> None:
    unlogged = files(pg, "ALTER TABLE events SET UNLOGGED;\n", "")[0]
    insert = ("insert", *POSTGRES, "--workers=1", "--runs=1", "--batch=500", "--num-inserts=1000")
    said = "an acknowledged row is lost in a crash of the server: unlogged (events)"
    for options in ((), (unlogged,), ()):
        done = pg.run(*insert, "--quiet", "-v", *options)
        assert done.code == 0, done.err
        assert (said in done.out) == bool(options)
        assert ("an acknowledged row is not durable" in done.err + done.out) == bool(options)


def test_a_run_that_takes_too_long_is_torn_down(cli: CommandLine) -> None:
    both = files(cli, "CREATE TABLE mine (n);\n", "DROP TABLE mine;\n")
    done = cli.run(
        "insert", "--target=sqlite", "--extra-option=path=bench.db", "--workers=1", "--runs=1",
        "--batch=100", "--duration=60s", "--timeout=3s", "--quiet", *both,
    )  # fmt: skip

    assert done.code == 1, done.err
    assert "--timeout: the run was not done after 3 s" in done.err
    assert cli.sql("SELECT name FROM sqlite_master WHERE name IN ('mine', 'events')") == [
        ("events",)
    ]
