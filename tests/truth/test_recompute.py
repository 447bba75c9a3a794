"""What databases hold and answer, against rows and answers computed by nothing of the product."""

import ast
import sqlite3
import sys
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import duckdb
import psycopg2
import pytest
import yaml

from tests.integration.conftest import CommandLine, cli  # noqa: F401
from tests.servers import Server
from tests.truth import recompute

START = "2026-11-01T00:00:00Z"
START_MS = 1_793_491_200_000
EACH, DEVICES, SEED = 400, 7, 20261128
COLUMNS = "device_id, timestamp, sequence_number, temperature"


def test_the_recomputation_imports_the_standard_library_only() -> None:
    tree = ast.parse(Path(recompute.__file__).read_text())
    named = [each.name for node in ast.walk(tree) if isinstance(node, ast.Import)
             for each in node.names]  # fmt: skip
    named += [str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]

    assert named
    assert {name.partition(".")[0] for name in named} <= sys.stdlib_module_names
    assert "import_module" not in ast.dump(tree)
    assert "__import__" not in ast.dump(tree)


def expect_what_is_stored(
    line: CommandLine, options: dict[str, Any], opened: Any, workers: int = 3
) -> None:
    """Insert and query, and compare rows and answers, both read past the product."""
    line.config = line.folder / "config.yaml"
    line.config.write_text(yaml.safe_dump({"targets": {"truly": {"runner": "local", **options}}}))
    done = line.run(
        "insert", "--target=truly", f"--workers={workers}", "--runs=1", "--batch=64", "--quiet",
        f"--num-inserts={EACH}", f"--devices={DEVICES}", f"--seed={SEED}",
        f"--start-time={START}",
    )  # fmt: skip
    assert done.code == 0, done.err
    done = line.run("query", "--target=truly", "--runs=1", "--quiet")
    assert done.code == 0, done.err
    asked = line.results()[-1]["runs"][0]["outcome"]["queries"]

    expected = [*recompute.rows(SEED, START_MS, workers, EACH, DEVICES)]
    answers = recompute.answers(expected)
    with closing(opened()) as connection:
        cursor = connection.cursor()

        def fetched(statement: str) -> list[tuple[Any, ...]]:
            cursor.execute(statement)
            return sorted(cursor.fetchall())

        assert fetched(f"SELECT {COLUMNS} FROM events") == sorted(map(tuple, expected))
        found = {each["name"]: fetched(each["statement"]) for each in asked}
    assert found == {name: sorted(rows) for name, rows in answers.items()}


def test_rows_and_answers_of_sqlite(cli: CommandLine) -> None:  # noqa: F811
    path = str(cli.folder / "true.db")
    expect_what_is_stored(cli, {"module": "sqlite", "path": path}, lambda: sqlite3.connect(path))


def test_rows_and_answers_of_duckdb(cli: CommandLine) -> None:  # noqa: F811
    path = str(cli.folder / "true.duckdb")
    options = {"module": "duckdb", "path": path}
    expect_what_is_stored(cli, options, lambda: duckdb.connect(path), workers=1)


SKEWED: dict[str, Any] = {
    "duration": "2m",
    "tables": {
        "readings": {
            "series": 100,
            "interval": "10s",
            "zipf": 0.99,
            "tags": {"meter": {}},
            "fields": {
                "state": {"type": "text", "values": ["idle", "busy", "fault"], "latest": 1},
                "watts": {"type": "int32", "uniform": [0, 99]},
            },
        }
    },
}


def expect_a_skewed_table(line: CommandLine, options: dict[str, Any], opened: Any) -> None:
    """Insert and query a declared table, and compare its keys, read past the product."""
    line.config = line.folder / "config.yaml"
    line.config.write_text(yaml.safe_dump({"targets": {"truly": {"runner": "local", **options}}}))
    (line.folder / "skewed.yaml").write_text(yaml.safe_dump(SKEWED))
    done = line.run(
        "insert", "--target=truly", "--workload=skewed.yaml", "--workers=3", "--runs=1",
        "--batch=64", "--quiet", f"--seed={SEED}", f"--start-time={START}", "--verify=full",
    )  # fmt: skip
    assert done.code == 0, done.err
    done = line.run("query", "--target=truly", "--runs=20", "--quiet", "--format=json")
    assert done.code == 0, done.err

    assert {row["verdict"] for row in done.json["rows"]} == {"verified"}
    assert "newest-of-one-series" in {row["query"] for row in done.json["rows"]}
    expected = [*recompute.skewed(SEED, START_MS, 120_000, 100, 0.99)]
    assert len(expected) == 1200
    with closing(opened()) as connection:
        cursor = connection.cursor()
        cursor.execute("SELECT meter, time, state FROM readings ORDER BY time")
        stored = [(meter, _ms(time), state) for meter, time, state in cursor.fetchall()]
    assert stored == expected


def _ms(time: Any) -> int:
    return round(time.timestamp() * 1000) if isinstance(time, datetime) else int(time)


def test_rows_and_answers_of_a_skewed_table_in_sqlite(cli: CommandLine) -> None:  # noqa: F811
    path = str(cli.folder / "skewed.db")
    expect_a_skewed_table(cli, {"module": "sqlite", "path": path}, lambda: sqlite3.connect(path))


@pytest.mark.server("postgres")
def test_rows_and_answers_of_a_skewed_table_in_postgresql(
    cli: CommandLine,  # noqa: F811
    server: Server,
    server_database: str,
) -> None:
    options: dict[str, Any] = server.options(server_database)
    where, password = options["connection_string"], options["password"]
    expect_a_skewed_table(
        cli, {"module": "postgres", **options}, lambda: psycopg2.connect(where, password=password)
    )


@pytest.mark.server("postgres")
def test_rows_and_answers_of_postgresql(
    cli: CommandLine,  # noqa: F811
    server: Server,
    server_database: str,
) -> None:
    options: dict[str, Any] = server.options(server_database)
    where, password = options["connection_string"], options["password"]
    expect_what_is_stored(
        cli, {"module": "postgres", **options}, lambda: psycopg2.connect(where, password=password)
    )
