"""Texts of users: one statement that reads, with values as the module writes its literals."""

import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest

from simulator.data.own_query import Instant, TextQuery
from simulator.data.query import Output
from simulator.data.schema import Role, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.modules import MODULES, database_class
from simulator.modules.cassandra.texts import CqlTexts
from simulator.modules.clickhouse.query import ClickhouseDialect
from simulator.modules.contract import Unsupported
from simulator.modules.influxdb.query import FluxTexts
from simulator.modules.influxdb3 import Influxdb3
from simulator.modules.iotdb.query import Clock, IotDbTexts, plan_statements
from simulator.modules.mysql.query import MySqlDialect
from simulator.modules.postgres.query import PostgresDialect
from simulator.modules.shared.influx.influxql import InfluxqlTexts
from simulator.modules.shared.sql.texts import SqlTexts
from simulator.modules.sqlite import SqliteDialect

PARTS = replace(EVENTS, parts=2)
WITH_INSTANTS = replace(
    EVENTS,
    columns=tuple(
        replace(each, type=Type.TIMESTAMP) if each.role is Role.TIME else each
        for each in EVENTS.columns
    ),
)
SQL = SqlTexts(SqliteDialect(), EVENTS, ["sqlite"])
INFLUXQL = InfluxqlTexts(EVENTS, "db", "influxdb1")
FLUX = FluxTexts(EVENTS, "bucket1", "influxdb")
CQL = CqlTexts("bench", EVENTS, ["cassandra"])
CQL_PARTS = CqlTexts("bench", PARTS, ["cassandra"])
MILLISECONDS = Clock(TimeUnit.MILLISECOND, TimeUnit.MILLISECOND)
IOTDB = IotDbTexts(EVENTS, MILLISECONDS)
IOTDB_PARTS = IotDbTexts(PARTS, MILLISECONDS)
NASTY = "a'b\\c\"d; DROP TABLE events; -- {table}"


@pytest.mark.parametrize(
    ("language", "text", "problem"),
    [
        (SQL, "  select 1 ; ", ""),
        (SQL, "-- first\n/* then; */ WITH x AS (SELECT 1) SELECT * FROM x;", ""),
        (SQL, "(SELECT 1) UNION (SELECT 2)", ""),
        (SQL, "SELECT 'insert; into', \"delete\" FROM t WHERE updated > {start}", ""),
        (SQL, "", "must begin with one of select, values, with"),
        (SQL, "/* SELECT */ DROP TABLE events", "must begin with one of"),
        (SQL, "SELECT ';' ; DROP TABLE events --'", "found ';' before its end"),
        (SQL, "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x", "only read, found 'delete'"),
        (SQL, "SELECT * INTO copied FROM t", "must only read, found 'into'"),
        (SQL, "SELECT '\\'' , '; DROP TABLE x; SELECT '", "has a quote after a backslash"),
        (SQL, "SELECT {bucket} FROM {table}", "has no {bucket} (known: table)"),
        (SQL, "SELECT 1 FROM {table} WHERE a LIKE '%{b}%'", "{b} is in quotes or in a comment"),
        (SQL, "SELECT 1 FROM {table} -- {b}", "{b} is in quotes or in a comment"),
        (INFLUXQL, "SELECT mean(x) FROM {table}", ""),
        (INFLUXQL, "SELECT mean(x) INTO y FROM {table}", "must only read, found 'into'"),
        (INFLUXQL, "DROP MEASUREMENT x", "must begin with one of select, show"),
        (INFLUXQL, "SHOW DATABASES; DROP DATABASE x", "found ';'"),
        (FLUX, 'import "math"\nfrom(bucket: {bucket}) |> range(start: {start})', ""),
        (FLUX, 'from(bucket: {bucket}) |> filter(fn: (r) => r.a == "to(;")', ""),
        (FLUX, 'from(bucket: {bucket}) |> to(bucket: "x")', "must only read, found 'to('"),
        (FLUX, "x = 1", "must begin with one of"),
        (CQL, "SELECT a FROM {table} WHERE b = {b} // '; '\n", ""),
        (CQL, "SELECT $$;insert$$, ';' FROM {table};", ""),
        (CQL, "INSERT INTO {table} (a) VALUES (1)", "must begin with one of select"),
        (CQL, "SELECT 1 FROM x; TRUNCATE x", "found ';' before its end"),
        (CQL, "SELECT a FROM {table} WHERE b = ?", "has a ?; write parameters as {name}"),
        (CQL_PARTS, "SELECT a FROM {table}", "the rows are in 2 tables; insert with --tables 1"),
        (IOTDB, "SELECT avg(temperature) FROM {table} WHERE time >= {start};", ""),
        (IOTDB_PARTS, "SELECT 1 FROM {table}", "insert with --tables 1"),
    ],
)
def test_only_one_statement_that_reads_is_accepted(language, text, problem):
    assert (problem in language.problem(text)) if problem else not language.problem(text)


def test_a_value_is_a_literal_whatever_it_holds():
    with closing(sqlite3.connect(":memory:")) as connection:
        ((back,),) = connection.execute(f"SELECT {SQL.literal(NASTY)}").fetchall()
        ((found,),) = connection.execute(f"SELECT 1 -{SQL.literal(-5)}").fetchall()

    assert (back, found) == (NASTY, 6)
    assert SQL.literal(2.5) == "2.5"


def test_literals_are_those_of_the_module():
    instant = Instant(1_500)
    mysql, clickhouse, postgres = (
        SqlTexts(dialect, WITH_INSTANTS, [])
        for dialect in (MySqlDialect(), ClickhouseDialect(), PostgresDialect())
    )

    assert postgres.literal(instant) == "timestamptz '1970-01-01 00:00:01.500000+00:00'"
    assert mysql.literal("a\\'") == "'a\\\\'''"
    assert clickhouse.literal("a\\") == "'a\\\\'"
    assert mysql.literal(instant) == "TIMESTAMP'1970-01-01 00:00:01.500000'"
    assert SQL.literal(instant) == "1500"
    assert INFLUXQL.literal(instant) == "1500000000"
    assert INFLUXQL.literal("a'b\\") == "'a\\'b\\\\'"
    assert INFLUXQL.literal(1e-7) == "0.0000001"
    assert FLUX.literal(instant) == "1970-01-01T00:00:01.500000000Z"
    assert FLUX.literal('${x}"') == '"\\${x}\\""'


def test_a_table_in_parts_is_their_union():
    assert SQL.places == {"table": "events"}
    union = SqlTexts(SqliteDialect(), PARTS, []).places["table"]
    assert union == "(SELECT * FROM events0 UNION ALL SELECT * FROM events1) AS events"
    assert INFLUXQL.places == {"table": '"db".."events"'}
    assert FLUX.places == {"bucket": '"bucket1"', "table": '"events"'}
    assert "table" not in FluxTexts(PARTS, "b", "influxdb").places


def test_the_text_for_a_module_wins_over_that_for_its_language():
    language = SqlTexts(PostgresDialect(), EVENTS, ["timescaledb", "postgres"])
    texts = {"sql": "1", "postgres": "2", "mysql": "3"}

    assert language.choose_text(texts) == "2"
    assert language.choose_text({**texts, "timescaledb": "4"}) == "4"
    assert language.choose_text({"mysql": "3"}) is None


def test_a_statement_has_the_values_and_nothing_else():
    outputs = (Output("n", Type.INT64, TimeUnit.MILLISECOND),)
    query = TextQuery(EVENTS, {"sql": "SELECT {a} FROM {table}"}, {"a": NASTY}, outputs)
    statement = SQL.statement(query)

    assert statement.text == f"SELECT {SQL.literal(NASTY)} FROM events"
    assert statement.outputs == outputs
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE events (n)")
        connection.execute("INSERT INTO events VALUES (1)")
        assert connection.execute(statement.text).fetchall() == [(NASTY,)]


def test_cql_is_prepared_and_its_values_are_parameters():
    outputs = (Output("n", Type.INT64, TimeUnit.MILLISECOND),)
    text = "SELECT n FROM {table} WHERE d = {a} AND t >= {start} AND e = {a} LIMIT {most}"
    values = {"a": NASTY, "start": Instant(1_500), "most": 3}
    statement = CQL.statement(TextQuery(EVENTS, {"cassandra": text}, values, outputs))

    assert statement.own
    assert statement.prepared == (
        "SELECT n FROM bench.events WHERE d = ? AND t >= ? AND e = ? LIMIT ?"
    )
    assert statement.parameters == (NASTY, 1_500, NASTY, 3)
    assert statement.text == text.format(
        table="bench.events", a="'" + NASTY.replace("'", "''") + "'", start=1500, most=3
    )


def test_an_instant_of_cassandra_counts_as_the_column_does():
    seconds = replace(WITH_INSTANTS, time_unit=TimeUnit.SECOND)
    finer = replace(WITH_INSTANTS, time_unit=TimeUnit.NANOSECOND)

    assert CqlTexts("k", seconds, []).literal(Instant(2)) == "2000"
    assert CqlTexts("k", finer, []).literal(Instant(2)) == "2"


def test_an_instant_of_iotdb_is_a_time_of_the_server():
    outputs = (Output("n", Type.INT64, TimeUnit.SECOND),)
    seconds = replace(EVENTS, time_unit=TimeUnit.SECOND)
    text = "SELECT 1 FROM {table} WHERE time >= {start} AND d = {a} ;  "
    query = TextQuery(seconds, {"iotdb": text}, {"start": Instant(2), "a": NASTY}, outputs)
    plan = plan_statements(query, Clock(TimeUnit.SECOND, TimeUnit.MICROSECOND))

    quoted = "'" + NASTY.replace("'", "''") + "'"
    (fetch,) = plan.fetches
    assert fetch.text == f'SELECT 1 FROM "events" WHERE time >= 2000000 AND d = {quoted} '


def test_influxdb3_numbers_the_columns_and_names_the_database():
    database = Influxdb3(Influxdb3.options_model(url="http://x"))
    outputs = (Output("n", Type.INT64, TimeUnit.MILLISECOND),)
    query = TextQuery(EVENTS, {"sql": "SELECT 1;"}, {}, outputs)
    statement = database.statement(query)

    assert statement.text == "SELECT * FROM (SELECT 1\n) AS answer (c0)"
    assert statement.parameters == ("benchmark_events",)


TAKE_NONE = {
    "null", "arangodb", "quasardb", "opentsdb", "splunk", "victoriametrics", "graphite",
}  # fmt: skip


@pytest.mark.parametrize("module", [*MODULES])
def test_every_module_takes_texts_or_says_that_it_does_not(module):
    cls = database_class(module)
    options = cls.options_model.model_construct(
        **{name: field.default for name, field in cls.options_model.model_fields.items()}
    )
    if module in TAKE_NONE:
        with pytest.raises(Unsupported, match=f"the module {module} has no language"):
            cls(options).texts(EVENTS)
    else:
        assert cls(options).texts(EVENTS).keys[0] == module
