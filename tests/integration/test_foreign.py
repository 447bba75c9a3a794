"""No command drops, alters or writes into what this program did not make."""

import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.integration.conftest import CommandLine

SQLITE = ("--target=sqlite", "--extra-option=path=bench.db")
ROWS = ("--workers=1", "--batch=100")
PLAN = """
name: tiny
targets: [sqlite]
repeats: 1
settings:
  - name: bulk
    insert: {workload: iot, workers: 1, num_inserts: 500, batch: 500}
    options: {path: bench.db}
"""
COMMANDS = {
    "insert": ("insert", *SQLITE, *ROWS, "--runs=1", "--num-inserts=100"),
    "no-clean": ("insert", *SQLITE, *ROWS, "--runs=1", "--num-inserts=100", "--no-clean"),
    "prefill": ("insert", *SQLITE, *ROWS, "--runs=1", "--num-inserts=100", "--prefill=10"),
    "steps": ("insert", *SQLITE, *ROWS, "--num-inserts=100", "--steps=2"),
    "several": ("insert", *SQLITE, *ROWS, "--runs=1", "--num-inserts=100", "--tables=multiple"),
    "file": ("insert", *SQLITE, *ROWS, "--runs=1", "--data=events.csv", "--time-column=time"),
    "capacity": ("capacity", *SQLITE, "--slo=p99_ms<50", "--duration=1s", "--workers=1"),
    "plan": ("run", "plan.yaml", "--trust"),
}


@pytest.fixture
def shared(cli: CommandLine) -> CommandLine:
    """A database with tables of the user's, and the files that commands read."""
    (cli.folder / "plan.yaml").write_text(PLAN)
    (cli.folder / "events.csv").write_text("time,level\n2026-01-01 08:00:00,20.5\n")
    change(cli, "CREATE TABLE events (mine TEXT)", "INSERT INTO events VALUES ('a'), ('b')")
    change(cli, "CREATE VIEW events3 AS SELECT * FROM events", "CREATE TABLE other (mine TEXT)")
    return cli


def change(cli: CommandLine, *statements: str) -> None:
    for statement in statements:
        cli.sql(statement)


def content(cli: CommandLine) -> bytes:
    return (cli.folder / "bench.db").read_bytes()


def dump(cli: CommandLine) -> list[str]:
    with closing(sqlite3.connect(cli.folder / "bench.db")) as connection:
        return [line for line in connection.iterdump() if "sqlite_" not in line]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_refused_and_leaves_the_file_as_it_was(
    shared: CommandLine, name: str
) -> None:
    before = content(shared)
    done = shared.run(*COMMANDS[name], "--quiet")

    assert done.code == 2, done.err
    expected = "view events3 (2 rows" if name == "several" else "table events (2 rows, 4.1 kB)"
    assert f"this program did not make {expected}" in done.out + done.err
    assert "nothing was changed" in done.out + done.err
    assert content(shared) == before
    assert shared.leftovers() == []


@pytest.mark.rare
def test_a_reproduction_is_refused_and_leaves_everything_as_it_was(shared: CommandLine) -> None:
    shared.configure(sqlite={"module": "sqlite", "path": "bench.db"})
    before = dump(shared)  # the check of the target has made a table of its own
    done = shared.run("reproduce", "iot", "--targets=sqlite", "--quiet")

    assert done.code == 2, done.err
    assert dump(shared) == before


def test_other_names_are_measured_queried_and_verified(shared: CommandLine) -> None:
    prefix = "--table-prefix=bench_"
    assert shared.run(*COMMANDS["several"], prefix).code == 0
    assert shared.run("query", *SQLITE, "--runs=1").code == 0
    assert shared.run("verify", *SQLITE).code == 0
    assert shared.run(*COMMANDS["plan"], prefix).code == 0
    assert shared.run(*COMMANDS["insert"], prefix).code == 0
    more = ("--insert-workers=1", "--query-workers=1", "--duration=1s", "--insert-rate=100")
    assert shared.run("mixed", *SQLITE, *more).code == 0

    names = {name for (name,) in shared.sql("SELECT name FROM sqlite_master")}
    assert shared.sql("SELECT * FROM events") == [("a",), ("b",)]
    assert shared.sql("PRAGMA journal_mode") == [("delete",)]
    assert {"events", "events3", "other", "bench_events", "iotbench_marks"} <= names
    assert not {f"bench_events{part}" for part in range(4)} & names


def test_a_repetition_replaces_only_what_is_named_again(shared: CommandLine) -> None:
    named = "--replace-table=events"
    assert shared.run(*COMMANDS["insert"], named).code == 0
    change(shared, "DROP TABLE iotbench_marks")
    refused = shared.run("repeat", "last", "--quiet", SQLITE[1])
    assert refused.code == 2, refused.err
    assert "--replace-table events" in refused.out + refused.err

    assert shared.run("repeat", "last~1", "--quiet", SQLITE[1], named).code == 0


KINDS = {
    "table": "CREATE TABLE {} AS SELECT 1 AS mine",
    "view": "CREATE VIEW {} AS SELECT 1 AS mine",
    "index": "CREATE INDEX {} ON other (mine)",
}
NAMES = st.sampled_from([
    "events", "events0", "events1", "events2", "events3", "Events", "iotbench_marks", "cpu",
])  # fmt: skip


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    made=st.dictionaries(NAMES, st.sampled_from([*KINDS]), max_size=3),
    parts=st.sampled_from(["single", "multiple"]),
    command=st.sampled_from(["insert", "steps"]),
)
def test_whatever_others_made_is_still_there(cli, made, parts, command) -> None:
    (cli.folder / "bench.db").unlink(missing_ok=True)
    change(cli, "CREATE TABLE other (mine TEXT)")
    folded = {name.lower(): (name, kind) for name, kind in made.items()}
    change(cli, *(KINDS[kind].format(name) for name, kind in folded.values()))

    def kept() -> list[tuple[str, str, str]]:
        names = ["other", *(name for name, _ in folded.values())]
        every = cli.sql("SELECT name, type, sql FROM sqlite_master ORDER BY name")
        return [row for row in every if row[0] in names]

    before = kept()
    done = cli.run(*COMMANDS[command], f"--tables={parts}", "--quiet")

    needed = {"iotbench_marks", *(("events",) if parts == "single" else
                                  (f"events{part}" for part in range(4)))}  # fmt: skip
    assert done.code == (2 if needed & {*folded} else 0), done.err
    assert kept() == before


@pytest.mark.parametrize("name", ["iotbench_marks", "IOTBENCH_other"])
@pytest.mark.parametrize("more", [(), ("--replace-table=iotbench_marks",)])
def test_a_file_takes_no_name_of_the_programs_own_tables(
    shared: CommandLine, name: str, more: tuple[str, ...]
) -> None:
    assert (
        shared.run("insert", *SQLITE, "--table-prefix=bench_", "--limit=10", "--runs=1").code == 0
    )
    before = dump(shared)
    file = shared.folder / f"{name}.csv"
    file.write_text("time,value\n2026-01-01T00:00:00Z,1.5\n2026-01-01T00:00:01Z,2.5\n")
    done = shared.run("insert", *SQLITE, f"--data={file}", *more)

    assert done.code == 2
    assert f"table {name.lower()}: names that begin with iotbench_ are kept" in done.out + done.err
    assert more or "--replace-table" not in done.err
    assert dump(shared) == before
    again = shared.run(
        "insert", *SQLITE, *ROWS, "--runs=1", f"--data={file}", "--table-prefix=bench_"
    )
    assert again.code == 0, again.err
