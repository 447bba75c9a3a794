"""`results copy` to databases and object stores, and the commands that read results there."""

import csv
import json
import os
import secrets
import shutil
import signal
import sqlite3
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from zipfile import ZipFile

import psycopg2
import pytest

import iotbench
from iotbench.results import packed, result_files
from iotbench.store.gathered import parts_of
from tests import ROOT
from tests.integration.conftest import CommandLine
from tests.integration.test_history import copy_to
from tests.servers import Postgres
from tests.servers.versitygw import SECRET, VersityGw

PUBLISHED = ROOT / "results/published/results.zip"
PLAN = "plan-published-01736bac.json"
TABLES = ("iotbench_results", "iotbench_figures")


@dataclass
class Stored:
    """A place that is a URL, and how to look into it."""

    url: str
    secret: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    count: Callable[[], int] = lambda: 0
    """Returns the number of stored files."""
    query: Callable[[str], list[tuple[object, ...]]] = lambda _: []
    """Returns the rows of a query, or runs statements; an object store has none."""


def of_sqlite(path: Path) -> Stored:
    def query(text: str) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(path)) as connection, connection:
            return [*connection.execute(text)]

    def count() -> int:
        return int(query(f"SELECT count(*) FROM {TABLES[0]}")[0][0]) if path.exists() else 0  # type: ignore[call-overload]

    return Stored(f"sqlite:{path}", count=count, query=query)


def of_postgres(server: Postgres, database: str) -> Stored:
    def query(text: str) -> list[tuple[object, ...]]:
        reach = server.connection_string(database)
        with closing(psycopg2.connect(reach, password=server.password)) as connection, connection:
            cursor = connection.cursor()
            cursor.execute(text)
            return cursor.fetchall() if cursor.description else []

    def count() -> int:
        there = query(f"SELECT to_regclass('{TABLES[0]}')")[0][0]
        return int(query(f"SELECT count(*) FROM {TABLES[0]}")[0][0]) if there else 0  # type: ignore[call-overload]

    url = f"postgresql://bench@127.0.0.1:{server.port()}/{database}"
    environment = {"POSTGRESQL_PASSWORD": server.password}
    return Stored(url, server.password, environment, count, query)


def of_objects(server: VersityGw) -> Stored:
    bucket = f"nights-{secrets.token_hex(4)}"
    server.create_database(bucket)

    def count() -> int:
        return len([*server.bucket(bucket).rglob("*.json")])

    return Stored(f"s3://{bucket}/of/mine", SECRET, server.client, count)


@dataclass(frozen=True)
class Kind:
    """A kind of place, and the server that it needs."""

    name: str
    server: str | None


SQLITE, POSTGRES = Kind("sqlite", None), Kind("postgres", "postgres")
OBJECTS = Kind("objects", "versitygw")


def on(*kinds: Kind, rare: Sequence[Kind] = ()) -> pytest.MarkDecorator:
    """Run a test on these kinds of places; the parameter is named as that of a server."""
    params = [pytest.param(kind, id=kind.name) for kind in kinds]
    params += [pytest.param(kind, id=kind.name, marks=pytest.mark.rare) for kind in rare]
    return pytest.mark.parametrize("target", params)


@pytest.fixture
def stored(request: pytest.FixtureRequest, cli: CommandLine, target: Kind) -> Stored:
    """An empty place of each kind, which `cli` reaches."""
    if target.server is None:
        found = of_sqlite(cli.folder / "nights.db")
    elif target.server == "postgres":
        server = request.getfixturevalue("server")
        found = of_postgres(server, request.getfixturevalue("server_database"))
    else:
        found = of_objects(request.getfixturevalue("server"))
    cli.environment.update(found.environment)
    return found


@pytest.fixture
def tables(server: Postgres, server_database: str, cli: CommandLine) -> Stored:
    """An empty database of PostgreSQL."""
    found = of_postgres(server, server_database)
    cli.environment.update(found.environment)
    return found


@pytest.fixture
def nights(cli: CommandLine) -> Path:
    """A folder with a plan, and folders of eight nights with a loss."""
    folder = cli.folder / "nights"
    folder.mkdir()
    for part in parts_of(PUBLISHED / PLAN):
        (folder / part.file).write_bytes(packed.read(PUBLISHED / part.file))
    (folder / PLAN).write_bytes(packed.read(PUBLISHED / PLAN))
    base = max(folder.glob("*-insert-*.json"))
    for days in range(1, 9):
        copy_to(folder / f"night-{days}", base, days, (1 + days % 3 / 100) * (1 + (days > 2)))
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*.json")}


@on(SQLITE, POSTGRES, OBJECTS)
def test_readers_show_the_same_from_a_place_as_from_the_folder(
    cli: CommandLine, stored: Stored, nights: Path
) -> None:
    total = len(files_of(nights))
    done = cli.run("results", "copy", str(nights), stored.url)

    assert done.code == 0, done.err
    assert done.out.endswith(f": copied {total} results; 0 were already stored\n")
    assert stored.count() == total
    for words in (
        ("history", "--format=json"),
        ("history", "--fail-if=rows_per_s_change < -5%", "--format=csv"),
        ("results", "list", "--format=csv"),
        ("results", "export", "last", PLAN.removesuffix(".json")),
        ("show", "last~2", "--format=json"),
    ):
        here = cli.run(*words, f"--output={nights}")
        there = cli.run(*words, f"--output={stored.url}")
        assert (there.code, there.err) == (here.code, here.err.replace(str(nights), stored.url))
        assert there.out == here.out.replace(str(nights), stored.url) != "", words
    names = [f"{name}/{next((nights / name).iterdir()).name}" for name in ("night-1", "night-2")]
    here = cli.run("compare", *(f"{nights}/{name}" for name in names), "--format=json")
    there = cli.run("compare", *(f"{stored.url}/{name}" for name in names), "--format=json")
    assert (there.code, there.out) == (0, here.out.replace(str(nights), stored.url)), there.err
    named = cli.run("show", f"{stored.url}/night-3/{next((nights / 'night-3').iterdir()).name}")
    assert (named.code, "result file: " + stored.url in named.out) == (0, True), named.err
    page = cli.run("report", stored.url, "--page=page.html")
    assert page.code == 0, page.err
    assert stored.secret not in done.out + (cli.folder / "page.html").read_text() or not (
        stored.secret
    )


@on(SQLITE, POSTGRES, OBJECTS)
def test_only_what_is_new_or_changed_is_copied_and_nothing_is_lost(
    cli: CommandLine, stored: Stored, nights: Path
) -> None:
    total = len(files_of(nights))
    first = cli.run("results", "copy", str(nights), stored.url)
    again = cli.run("results", "copy", str(nights), stored.url)
    tagged = cli.run("results", "tag", "last", "kept", f"--output={nights / 'night-4'}")
    copy_to(nights / "night-9", max((nights / "night-1").iterdir()), 8, 1)
    changed = cli.run("results", "copy", str(nights), stored.url)
    back = cli.run("results", "copy", stored.url, "back")

    assert {first.code, again.code, tagged.code, changed.code, back.code} == {0}, back.err
    assert again.out == f"{stored.url}: copied 0 results; {total} were already stored\n"
    assert changed.out == (
        f"{stored.url}: copied 2 results, 1 of them again; {total - 1} were already stored\n"
    )
    assert stored.count() == total + 1
    assert files_of(cli.folder / "back") == files_of(nights)


@on(OBJECTS, rare=(SQLITE, POSTGRES))
def test_another_result_of_the_same_name_is_not_replaced(
    cli: CommandLine, stored: Stored, nights: Path
) -> None:
    assert cli.run("results", "copy", str(nights), stored.url).code == 0
    other = shutil.copytree(nights, cli.folder / "other")
    record = json.loads((other / PLAN).read_text())
    record["items"] = record["items"][:1]
    (other / PLAN).write_text(json.dumps(record))
    ended = max(other.glob("*-insert-*.json"))
    result_files.write(ended, result_files.read(ended).model_copy(update={"status": "running"}))
    (other / "night-1" / PLAN).write_text("{")
    done = cli.run("results", "copy", str(other), stored.url)
    back = cli.run("results", "copy", stored.url, "back")

    assert (done.code, back.code) == (1, 0), done.err
    assert done.err.count("error: ") == 3
    assert f"{other / PLAN}: was not copied: {stored.url}/{PLAN} is another result" in done.err
    assert f"{ended}: was not copied: {stored.url}/{ended.name} is another" in done.err
    assert f"{other}/night-1/{PLAN}: is not a result file of format" in done.err
    assert files_of(cli.folder / "back") == files_of(nights)
    own = cli.run("results", "copy", str(other), f"{stored.url}/other")
    assert (own.code, own.err.count("error: ")) == (1, 1), own.err
    listed = cli.run("results", "list", f"--output={stored.url}/other", "--format=json")
    assert len(listed.json) == len([*other.glob("*.json")])


@on(POSTGRES, rare=(SQLITE, OBJECTS))
def test_a_copy_that_is_killed_is_completed_by_the_same_command(
    cli: CommandLine, stored: Stored, nights: Path
) -> None:
    total = len(files_of(nights))
    for number in range(60):
        copy_to(nights / "more", max((nights / "night-1").iterdir()), number, 1)
    process = cli.start("results", "copy", str(nights), stored.url)
    until = time.monotonic() + 60
    while stored.count() < 10 and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    there = stored.count()
    done = cli.run("results", "copy", str(nights), stored.url)
    back = cli.run("results", "copy", stored.url, "back")

    assert 10 <= there < total + 60
    assert (done.code, back.code) == (0, 0), done.err
    assert done.out.endswith(f"; {there} were already stored\n")
    assert files_of(cli.folder / "back") == files_of(nights)


@on(POSTGRES, rare=(SQLITE, OBJECTS))
def test_two_commands_copy_the_same_results_at_once(
    cli: CommandLine, stored: Stored, nights: Path
) -> None:
    both = [cli.start("results", "copy", str(nights), stored.url) for _ in range(2)]
    done = [cli.finish(process, 120) for process in both]
    back = cli.run("results", "copy", stored.url, "back")

    assert [*(each.code for each in done), back.code] == [0] * 3, [each.err for each in done]
    assert stored.count() == len(files_of(nights))
    assert files_of(cli.folder / "back") == files_of(nights)


@on(rare=(SQLITE, POSTGRES, OBJECTS))
def test_a_thousand_results_are_copied_and_listed(cli: CommandLine, stored: Stored) -> None:
    done = cli.run("results", "copy", str(PUBLISHED), stored.url)
    listed = cli.run("results", "list", f"--output={stored.url}", "--format=csv")
    here = cli.run("results", "list", f"--output={PUBLISHED}", "--format=csv")

    assert done.code == 0, done.err
    assert stored.count() == len(ZipFile(PUBLISHED).namelist()) > 1000
    assert listed.out == here.out


@pytest.mark.server("postgres")
def test_the_figures_of_an_export_are_rows_in_sql(
    cli: CommandLine, tables: Stored, nights: Path
) -> None:
    done = cli.run("results", "copy", str(nights), tables.url)
    text = cli.run("results", "export", str(nights / PLAN), "--format=csv").out
    names = "id, figure, value, n, target, verdict, part_of, setting, repeat, created"
    rows = tables.query(f"SELECT {names} FROM {TABLES[1]} WHERE folder = '' ORDER BY file, number")
    expected = sorted(csv.DictReader(text.splitlines()), key=lambda each: each["id"])

    assert done.code == 0, done.err
    assert len(rows) == len(expected) > 100
    found = sorted(([*map(str, row[:2]), float(str(row[2]))] for row in rows), key=str)
    assert found == sorted(([e["id"], e["figure"], float(e["value"])] for e in expected), key=str)
    assert {row[6] for row in rows} == {PLAN.removesuffix(".json")}
    assert type(rows[0][9]).__name__ == "datetime"


@pytest.mark.server("postgres")
def test_rows_that_the_database_does_not_keep_are_an_error(
    cli: CommandLine, tables: Stored, nights: Path
) -> None:
    assert cli.run("results", "copy", str(nights / "night-1"), tables.url).code == 0
    tables.query(
        "CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';"
        f" CREATE TRIGGER lose BEFORE INSERT ON {TABLES[1]} FOR EACH ROW"
        " WHEN (NEW.number = 1) EXECUTE FUNCTION lose()"
    )
    lost = cli.run("results", "copy", str(nights / "night-2"), tables.url)
    tables.query(f"DROP TRIGGER lose ON {TABLES[1]}")
    again = cli.run("results", "copy", str(nights / "night-2"), tables.url)

    assert (lost.code, again.code) == (1, 0), again.err
    assert "was written, and something else is stored; copy it again" in lost.err
    assert "copied 1 result, 1 of them again" in again.out


@on(SQLITE, POSTGRES)
def test_a_foreign_table_of_the_same_name_is_not_touched(
    cli: CommandLine, stored: Stored, nights: Path
) -> None:
    for table, other in zip(TABLES, reversed(TABLES), strict=True):
        stored.query(f"CREATE TABLE {table} (id integer, name text)")
        stored.query(f"INSERT INTO {table} VALUES (1, 'theirs')")
        done = cli.run("results", "copy", str(nights), stored.url)

        assert done.code == 1
        assert f"its table {table} was not made by this version" in done.err
        assert stored.query(f"SELECT * FROM {table}") == [(1, "theirs")]
        with pytest.raises((psycopg2.Error, sqlite3.Error)):
            stored.query(f"SELECT * FROM {other}")
        stored.query(f"DROP TABLE {table}")


@on(SQLITE, POSTGRES, OBJECTS)
def test_what_cannot_be_reached_is_one_clear_error(
    cli: CommandLine, stored: Stored, nights: Path
) -> None:
    empty = cli.run("history", f"--output={stored.url}")
    kind = stored.url.partition(":")[0]
    missing = {
        "sqlite": "sqlite:nowhere/x.db",
        "postgresql": stored.url.rpartition("/")[0] + "/nowhere",
        "s3": "s3://nowhere-at-all/x",
    }[kind]
    absent = cli.run("results", "copy", str(nights), missing)
    wrong = "AWS_SECRET_ACCESS_KEY" if kind == "s3" else "POSTGRESQL_PASSWORD"
    cli.environment[wrong] = "not-the-password"
    denied = cli.run("results", "copy", str(nights), stored.url)

    for done in (empty, absent) if kind == "sqlite" else (empty, absent, denied):
        assert done.code in (1, 2)
        assert "Traceback" not in done.err
        assert done.err.count("error: ") == 1
        assert "not-the-password" not in done.err
        assert not stored.secret or stored.secret not in done.err
    assert {
        "sqlite": "nights.db: there is no such file",
        "postgresql": "has no results: `python run.py results copy FOLDER postgresql://bench@",
        "s3": "neither this folder nor a folder in it has results",
    }[kind] in empty.err
    assert {
        "sqlite": "create the folder: mkdir -p nowhere",
        "postgresql": 'database "nowhere" does not exist',
        "s3": "there is no bucket nowhere-at-all",
    }[kind] in absent.err
    if kind != "sqlite":
        assert stored.count() == 0
        assert "ACCESS_DENIED" in denied.err or "POSTGRESQL_PASSWORD" in denied.err
        assert "0 of " in denied.err


def test_results_are_measured_into_a_folder_only(cli: CommandLine, nights: Path) -> None:
    assert cli.run("results", "copy", str(nights), "sqlite:nights.db").code == 0
    for command in (
        "insert --target=sqlite",
        "run plan.yaml",
        "repeat last",
        "cleanup",
        "doctor",
        "results tag last x",
        "results rm last",
    ):
        name, *words = command.split()
        for url in ("sqlite:nights.db", "s3://bucket/x", "postgresql://me@host/db"):
            done = cli.run(name, *words, f"--output={url}")
            assert done.code == 2, done.err
            assert "--output: expected a folder, got a URL, which is only read" in done.err
    tagged = cli.run("results", "tag", f"sqlite:nights.db/{PLAN}", "x")
    removed = cli.run("results", "rm", "sqlite:nights.db", "--yes")

    assert (tagged.code, removed.code) == (2, 2)
    assert "sqlite:nights.db: is only read here" in tagged.err
    assert "sqlite:nights.db: is only read here" in removed.err
    assert not [path for path in cli.folder.iterdir() if path.name.startswith(("s3", "postgres"))]


def test_a_program_loads_results_from_a_place(
    cli: CommandLine, nights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cli.folder)
    assert cli.run("results", "copy", str(nights), "sqlite:nights.db").code == 0
    there = iotbench.load("last", folder="sqlite:nights.db").columns()
    whole = iotbench.load("sqlite:nights.db").columns()

    assert there == iotbench.load("last", folder=nights).columns()
    assert len({*whole["id"]}) == len([*nights.rglob("2*.json")])
    assert os.listdir(cli.folder / "tmp") == []  # noqa: PTH208
