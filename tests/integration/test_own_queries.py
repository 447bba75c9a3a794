"""Queries of the user's own, from the outside: timed, marked, compared between databases."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from simulator.data.query import Output, Statement
from simulator.data.schema import TimeUnit, Type
from simulator.modules import open_database
from simulator.modules.contract import Database
from tests.integration.conftest import CommandLine
from tests.integration.test_databases import edited
from tests.integration.test_validate import targets

ROWS = (
    "--workers=1", "--runs=1", "--batch=500", "--num-inserts=2000", "--start-time=2026-01-01",
    "--devices=3", "--quiet",
)  # fmt: skip
COMMON = """\
SELECT device_id, count(*), avg(temperature) FROM {table}
WHERE timestamp >= {start} AND timestamp < {end} AND device_id = {device} AND temperature > {least}
GROUP BY device_id
"""
QUERIES = {
    "mine": {
        "window": "100s",
        "parameters": {"device": {"column": "device_id"}, "least": {"between": [-5, 5]}},
        "columns": {"device_id": "text", "readings": "int64", "mean": "float64"},
        "text": {"sql": COMMON},
    },
    "wrong": {
        "columns": {"readings": "int64"},
        "text": {"sqlite": "SELECT count(*) FROM {table}", "sql": "SELECT 7 AS readings"},
    },
}


def written(cli: CommandLine, *names: str) -> str:
    path = cli.folder / "queries.yaml"
    path.write_text(
        yaml.safe_dump({"queries": {name: QUERIES[name] for name in names}}, sort_keys=False)
    )
    return f"--queries={path}"


def inserted(cli: CommandLine, *names: str) -> None:
    for name in names:
        done = cli.run("insert", f"--target={name}", *ROWS)
        assert done.code == 0, done.err


def test_own_queries_are_timed_and_marked_wherever_they_are_shown(cli: CommandLine) -> None:
    targets(cli)
    inserted(cli, "lite")
    option = written(cli, "mine")
    first = cli.run("query", "--target=lite", option, "--print-answers=1", "--count=20", "-v")
    beside = cli.run(
        "query", "--target=lite", option, "--types=count-events", "--format=json", "--quiet",
        "--fail-if=max_ms > 1us", "--count=20",
    )  # fmt: skip
    compared = cli.run("compare", "last~1", "last", "--output=results")

    assert first.code == 4, first.out + first.err
    assert "mine, answer 0: 1 row, not checked" in first.out
    assert "own queries (mine): their answers were not checked" in first.out
    assert "count-events" not in first.out
    assert beside.code == 99, beside.out + beside.err
    assert {row["query"]: row["verdict"] for row in beside.json["rows"]} == {
        "count-events": "verified",
        "mine": "not checked",
    }
    assert compared.code == 0, compared.err
    assert "verdict: base, mine, 1 worker: not checked" in compared.out
    (run,) = cli.results()[1]["runs"]
    (query,) = run["outcome"]["queries"]
    assert (query["own"], query["answers"]) == (True, 21)
    assert run["outcome"]["verdict"]["status"] == "not checked"


def test_two_databases_are_asked_the_same_and_a_difference_is_shown(cli: CommandLine) -> None:
    pytest.importorskip("duckdb")
    targets(cli, duck={"module": "duckdb", "path": "duck.db"})
    inserted(cli, "lite", "duck")
    words = ("--targets=lite,duck", "--format=json", "--quiet")
    alike = cli.run("validate", *words, written(cli, "mine"), "--count=20")
    differ = cli.run("validate", "--targets=lite,duck", written(cli, "mine", "wrong"), "--quiet")

    assert alike.code == 0, alike.out + alike.err
    (found,) = alike.json["queries"]
    assert (found["answers"], found["different"]) == (21, 0)
    assert (found["verdict_lite"], found["verdict_duck"]) == ("not checked",) * 2
    assert differ.code == 3
    assert "wrong, answer 0: readings" in differ.out
    assert re.search(r"^ *2000 +7$", differ.out, re.MULTILINE), differ.out


@pytest.mark.rare
def test_a_plan_asks_own_queries_and_measures_again_what_their_file_changes(
    cli: CommandLine,
) -> None:
    targets(cli)
    folder = cli.folder / "plans"
    folder.mkdir()
    (folder / "mine.yaml").write_text(yaml.safe_dump({"queries": {"wrong": QUERIES["wrong"]}}))
    query = {"queries": "mine.yaml", "count": 3, "types": ["count-events"]}
    insert = {"workload": "iot", "workers": 1, "num_inserts": 200, "batch": 100}
    settings = [{"name": "asked", "insert": insert, "query": query}]
    plan = {"name": "own", "targets": ["lite"], "repeats": 1, "settings": settings}
    (folder / "plan.yaml").write_text(yaml.safe_dump(plan))
    words = ("run", str(folder / "plan.yaml"), "--trust", "--quiet")
    first, again = cli.run(*words), cli.run(*words)
    found = cli.results()
    changed = yaml.safe_dump({"queries": {"other": QUERIES["wrong"]}})
    (folder / "mine.yaml").write_text(changed)
    third = cli.run(*words)
    (folder / "mine.yaml").write_text("queries: {A: {columns: {n: int}, text: {}}}")
    refused = cli.run(*words)

    assert (first.code, again.code, third.code) == (4, 4, 4), first.err + third.err
    kinds = [each["kind"] for each in found if "kind" in each]
    assert (kinds.count("insert"), kinds.count("query")) == (1, 1)
    (run,) = next(each for each in found if each.get("kind") == "query")["runs"]
    names = {each["name"]: each["verdict"]["status"] for each in run["outcome"]["queries"]}
    assert names == {"count-events": "verified", "wrong": "not checked"}
    kinds = [each["kind"] for each in cli.results() if "kind" in each]
    assert (kinds.count("insert"), kinds.count("query")) == (2, 2)
    assert refused.code == 2
    assert "mine.yaml: queries.A.columns.n: expected 'int64', 'float64'" in refused.err


OF_DOCUMENTS = {
    "elasticsearch": (
        """
        {"query": {"bool": {"filter": [
            {"range": {"timestamp": {"gte": "{start}", "lt": "{end}"}}},
            {"term": {"device_id": "{device}"}},
            {"range": {"temperature": {"gt": "{least}"}}}]}},
         "aggs": {"device_id": {"terms": {"field": "device_id"},
                                "aggs": {"mean": {"avg": {"field": "temperature"}},
                                         "readings": {"value_count": {"field": "timestamp"}}}}}}
        """,
        """
        {"size": "{most}", "query": {"term": {"device_id": "{device}"}},
         "sort": [{"timestamp": "desc"}], "_source": ["sequence_number", "temperature"]}
        """,
        """
        {"aggs": {"devices": {"composite": {"size": 1, "sources": [
            {"device_id": {"terms": {"field": "device_id"}}}]},
                              "aggs": {"t": {"stats": {"field": "temperature"}}}}}}
        """,
        '{"query": {"term": {"device_id": "{odd}"}}, "_source": ["sequence_number"]}',
    ),
    "mongodb": (
        """
        [{"$match": {"timestamp": {"$gte": "{start}", "$lt": "{end}"}, "device_id": "{device}",
                     "temperature": {"$gt": "{least}"}}},
         {"$group": {"_id": "$device_id", "readings": {"$sum": 1},
                     "mean": {"$avg": "$temperature"}}},
         {"$project": {"_id": 0, "device_id": "$_id", "readings": 1, "mean": 1}}]
        """,
        """
        [{"$match": {"device_id": "{device}"}}, {"$sort": {"timestamp": -1}}, {"$limit": "{most}"}]
        """,
        """
        [{"$group": {"_id": "$device_id", "count": {"$sum": 1}, "max_t": {"$max": "$temperature"}}},
         {"$project": {"device_id": "$_id", "count": 1, "max_t": 1}}]
        """,
        '[{"$match": {"$expr": {"$eq": ["$device_id", "{odd}"]}}}]',
    ),
    "cassandra": (
        """
        SELECT device_id, count(*), avg(CAST(temperature AS double)) FROM {table}
        WHERE device_id = {device} AND timestamp >= {start} AND timestamp < {end}
          AND temperature > {least} GROUP BY device_id ALLOW FILTERING;
        """,
        """
        SELECT sequence_number, temperature FROM {table} WHERE device_id = {device}
        ORDER BY timestamp DESC LIMIT {most}
        """,
        "SELECT device_id, count(*), max(temperature) FROM {table} GROUP BY device_id",
        "SELECT sequence_number FROM {table} WHERE device_id = {odd}",
    ),
    "iotdb": (
        """
        SELECT device_id, count(*), avg(temperature) FROM {table}
        WHERE time >= {start} AND time < {end} AND device_id = {device} AND temperature > {least}
        GROUP BY device_id;
        """,
        """
        SELECT sequence_number, temperature FROM {table} WHERE device_id = {device}
        ORDER BY time DESC LIMIT {most}
        """,
        "SELECT device_id, count(*), max(temperature) FROM {table} GROUP BY device_id",
        "SELECT sequence_number FROM {table} WHERE device_id = {odd}",
    ),
}
"""Module -> its texts: groups of a window, newest rows, groups of all rows, rows of no device."""
SQL_OF_DOCUMENTS = (
    COMMON,
    """
    SELECT sequence_number, temperature FROM {table} WHERE device_id = {device}
    ORDER BY timestamp DESC LIMIT {most}
    """,
    "SELECT device_id, count(*), max(temperature) FROM {table} GROUP BY device_id",
    "SELECT sequence_number FROM {table} WHERE device_id = {odd}",
)
ODD = ("$device_id", "' OR device_id > '", '"}}, "size": 9, "x": {"y": "', "a\\", "{device}; --")


def of_documents(module: str) -> dict[str, Any]:
    """Queries as texts of a module and in SQL."""
    texts = zip(OF_DOCUMENTS[module], SQL_OF_DOCUMENTS, strict=True)
    window, newest, devices, odd = ({"text": {module: own, "sql": sql}} for own, sql in texts)
    window = {**QUERIES["mine"], **window}
    newest |= {
        "columns": {"sequence_number": "int64", "temperature": "float64"},
        "parameters": {"device": {"column": "device_id"}, "most": {"between": [1, 5]}},
    }
    devices |= {"columns": {"device_id": "text", "count": "int64", "max_t": "float64"}}
    odd |= {"columns": {"sequence_number": "int64"}, "parameters": {"odd": {"values": [*ODD]}}}
    return {"window": window, "newest": newest, "devices": devices, "odd": odd}


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("server_name", "target", "module"),
    [
        pytest.param("cassandra", "cassandra_sync", "cassandra", marks=pytest.mark.rare),
        pytest.param("elasticsearch", "elasticsearch", "elasticsearch", marks=pytest.mark.rare),
        ("opensearch", "opensearch", "elasticsearch"),
        ("ferretdb", "mongodb", "mongodb"),
        ("iotdb", "iotdb", "iotdb"),
    ],
)
def test_databases_without_sql_of_the_standard_answer_as_others_do(
    cli: CommandLine, server_options: dict[str, Any], target: str, module: str
) -> None:
    cli.config = edited(target, server_options, cli)
    config = yaml.safe_load(cli.config.read_text())
    config["targets"]["lite"] = {"module": "sqlite", "runner": "local", "path": "lite.db"}
    cli.config.write_text(yaml.safe_dump(config))
    inserted(cli, "lite", target)
    path = cli.folder / "queries.yaml"
    path.write_text(yaml.safe_dump({"queries": of_documents(module)}, sort_keys=False))
    alike = cli.run(
        "validate", f"--targets=lite,{target}", f"--queries={path}", "--count=20", "--quiet",
        "--format=json",
    )  # fmt: skip
    timed = cli.run("query", f"--target={target}", f"--queries={path}", "--quiet")

    assert alike.code == 0, alike.out + alike.err
    found = {each["query"]: (each["answers"], each["different"]) for each in alike.json["queries"]}
    assert found == {"devices": (1, 0), "newest": (21, 0), "odd": (21, 0), "window": (21, 0)}
    assert timed.code == 4, timed.out + timed.err
    (run,) = cli.results()[-1]["runs"]
    assert {each["verdict"]["status"] for each in run["outcome"]["queries"]} == {"not checked"}


@pytest.mark.server("postgres")
def test_a_real_server_answers_own_queries_and_refuses_to_write(
    cli: CommandLine, server_options: dict[str, Any]
) -> None:
    cli.config = edited("postgresql", server_options, cli)
    config = yaml.safe_load(cli.config.read_text())
    config["targets"]["lite"] = {"module": "sqlite", "runner": "local", "path": "lite.db"}
    cli.config.write_text(yaml.safe_dump(config))
    inserted(cli, "lite", "postgresql")
    done = cli.run(
        "validate", "--targets=lite,postgresql", written(cli, "mine"), "--count=20", "--quiet"
    )
    assert done.code == 0, done.out + done.err

    database = open_database("postgres", server_options, {})
    expect_no_writing(database, "CREATE TABLE mine (a int)")


@pytest.mark.parametrize("module", ["sqlite", "duckdb", "clickhouse_embedded"])
def test_a_session_that_reads_refuses_to_write(module: str, tmp_path: Path) -> None:
    packages = {"duckdb": "duckdb", "clickhouse_embedded": "chdb"}
    if module in packages:
        pytest.importorskip(packages[module])
    database = open_database(module, {"path": str(tmp_path / "data")}, {})
    engine = " ENGINE = Memory" * ("click" in module)
    expect_no_writing(database, f"CREATE TABLE mine (a int){engine}")


def expect_no_writing(database: Database, create: str) -> None:
    outputs = (Output("a", Type.INT64, TimeUnit.SECOND),)
    with database.connect() as session:
        session.read_only()
        assert [int(row[0]) for row in session.run(Statement("SELECT 1", outputs))] == [1]
        with pytest.raises(Exception, match=r"(?i)read-?_?only|readonly|query_only"):
            session.run(Statement(create, outputs))


def test_what_cannot_be_asked_is_named_before_anything_runs(cli: CommandLine) -> None:
    targets(cli)
    inserted(cli, "lite")
    path = cli.folder / "queries.yaml"
    number = {"columns": {"n": "int64"}}
    path.write_text(
        yaml.safe_dump(
            {
                "queries": {
                    "count-events": {**number, "text": {"sql": "SELECT 1"}},
                    "gone": {**number, "text": {"sql": "DELETE FROM {table}"}},
                    "none": {**number, "text": {"influxql": "SELECT 1"}},
                    "other": {**number, "table": "event", "text": {"sql": "SELECT 1"}},
                    "column": {
                        **number,
                        "parameters": {"d": {"column": "device"}},
                        "text": {"sql": "SELECT {d}"},
                    },
                }
            }
        )
    )
    said = cli.refuse("query", "--target=lite", f"--queries={path}", "--types=count")

    for words in (
        "--types: 'count' is not a query of workload iot",
        "count-events: is a query of workload iot; rename it",
        "gone: text.sql: must begin with one of select, values, with",
        "none: text: there is none for target lite, which takes one of sqlite, sql",
        "other: table: 'event' is not a table of these rows (did you mean 'events'?)",
        "column: parameters.d.column: 'device' is not a column (did you mean 'device_id'?)",
    ):
        assert words in said, (words, said)
    assert [each["kind"] for each in cli.results()] == ["insert"]
    assert cli.leftovers() == []


def test_an_answer_that_has_other_columns_ends_the_run(cli: CommandLine) -> None:
    targets(cli)
    inserted(cli, "lite")
    query = {"columns": {"n": "int64", "m": "int64"}, "text": {"sql": "SELECT 1"}}
    path = cli.folder / "queries.yaml"
    path.write_text(yaml.safe_dump({"queries": {"few": query}}))
    done = cli.run("query", "--target=lite", f"--queries={path}", "--quiet")

    assert done.code == 1
    assert "query few: the answer does not have the expected columns: expected 2" in done.err
    assert cli.sql("SELECT count(*) FROM events", "lite.db") == [(2000,)]


def test_own_queries_are_asked_while_rows_arrive(cli: CommandLine) -> None:
    targets(cli)
    inserted(cli, "lite")
    option = written(cli, "mine")
    load = ("mixed", "--target=lite", "--duration=2s", "--insert-rate=500", "--batch=20",
            "--query-rate=20", option)  # fmt: skip
    mixed = cli.run(*load, "--types=count-events", "--format=json")
    alone = cli.run(*load, "-v")
    refused = cli.run(*load, "--fresh=1m")

    assert mixed.code == 4, mixed.err
    assert {row.get("load") or row["query"]: row["verdict"] for row in mixed.json["rows"]} == {
        "inserts": "verified",
        "count-events": "verified",
        "mine": "not checked",
    }
    assert alone.code == 4, alone.err
    assert "own queries (mine): their answers were not checked" in alone.out
    assert "count-events" not in alone.out
    assert refused.code == 2
    assert "--queries: are about stored rows; leave them out with --fresh" in refused.err
