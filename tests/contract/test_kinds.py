"""Every kind of thing that a database's catalogue knows, under the names that an insert needs.

Either an insert is refused, which names it, leaves it as it was and writes no mark; or the kind has
names of its own: then an insert creates, drops and creates again, and leaves it as it was, too.
"""

import json
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import pytest
from iotdb.Session import Session as TreeSession

from simulator.control.database.marks import TABLE as MARKS
from simulator.errors import ConfigError
from simulator.modules.contract import Database
from simulator.modules.shared.sql.database import indices_of
from simulator.modules.victoriametrics.wire import LAST_MS
from tests.contract.harness import SCRATCH, drop
from tests.contract.targets import STORING, TARGETS
from tests.contract.test_foreign import NOW_MS, prepare, runs

Step = str | Callable[[Database, str], object]
"""A statement with the name in it, or what does the same."""


@dataclass(frozen=True)
class Kind:
    """Something of somebody else's: what makes it, and what removes it, which fails without it."""

    what: str
    make: Sequence[Step]
    remove: Sequence[Step]
    shown: str = ""
    """What the refusal calls it; empty: it has names of its own, and nothing is refused."""
    of_index: bool = False
    """It bears the name of an index that `create_indices` makes, not of a table."""


def refused(shown: str, make: str, remove: str = "", *, of_index: bool = False) -> Kind:
    """Return a kind that is in the way; statements are separated by semicolons."""
    remove = remove or f"DROP {shown.upper()} {{name}}"
    steps = [each.split("; ") for each in (make, remove)]
    return Kind(f"{shown}{' of an index' * of_index}", *steps, shown, of_index)


def apart(what: str, make: str, remove: str = "") -> Kind:
    """Return a kind whose names collide with no table's."""
    return Kind(what, make.split("; "), (remove or f"DROP {what.upper()} {{name}}").split("; "))


KEPT: list[Any] = []
"""Sessions that are open while something of theirs exists."""


def _open(database: Database, _: str) -> None:
    KEPT.append(database.connect())


def _close(*_: object) -> None:
    KEPT.pop().close()


def temporary(run: Callable[[Any, str], object], where: str) -> Kind:
    """Return a table that its own session alone sees; `where` precedes its name there."""
    return Kind(
        "temporary table of another session",
        [_open, lambda _, n: run(KEPT[-1], f"CREATE TEMPORARY TABLE {n} (mine INTEGER)")],
        [lambda _, n: run(KEPT[-1], f"DROP {where}{n}"), _close],
    )


OTHERS = "CREATE TABLE of_others (mine INTEGER); "
VIEW = refused("view", "CREATE VIEW {name} AS SELECT 7 AS mine")
INDEX = "CREATE INDEX {name} ON of_others (mine)"
OF_INDEX = [
    refused("index on table of_others", OTHERS + INDEX, "DROP INDEX {name}", of_index=True),
    refused("table", "CREATE TABLE {name} (mine INTEGER)", of_index=True),
    refused("view", "CREATE VIEW {name} AS SELECT 7 AS mine", of_index=True),
]
POSTGRES = [
    VIEW,
    refused("materialized view", "CREATE MATERIALIZED VIEW {name} AS SELECT 7 AS mine"),
    refused("sequence", "CREATE SEQUENCE {name}"),
    refused("index", OTHERS + INDEX),
    refused("composite type", "CREATE TYPE {name} AS (mine int)", "DROP TYPE {name}"),
    refused("enum type", "CREATE TYPE {name} AS ENUM ('mine')", "DROP TYPE {name}"),
    refused("range type", "CREATE TYPE {name} AS RANGE (subtype = int4)", "DROP TYPE {name}"),
    refused(
        "multirange type",
        "CREATE TYPE mine AS RANGE (subtype = int4, multirange_type_name = {name})",
        "DROP TYPE mine",
    ),
    refused("type", "CREATE TYPE {name}", "DROP TYPE {name}"),
    refused("domain", "CREATE DOMAIN {name} AS int CHECK (VALUE > 7)"),
    refused(
        "foreign table",
        "CREATE FOREIGN DATA WRAPPER mine; CREATE SERVER mine FOREIGN DATA WRAPPER mine; "
        "CREATE FOREIGN TABLE {name} (mine int) SERVER mine",
    ),
    refused(
        "table in schema other",
        "CREATE SCHEMA other; CREATE TABLE other.{name} AS SELECT 7 AS mine; "
        "ALTER ROLE CURRENT_USER SET search_path = public, other",
        "ALTER ROLE CURRENT_USER RESET search_path; DROP TABLE other.{name}",
    ),
    *OF_INDEX,
    refused("sequence", "CREATE SEQUENCE {name}", of_index=True),
    apart("function", "CREATE FUNCTION {name}() RETURNS int LANGUAGE sql AS 'SELECT 7'"),
    apart("schema", "CREATE SCHEMA {name}"),
    apart(
        "table of a schema that is not searched",
        "CREATE SCHEMA other; CREATE TABLE other.{name} AS SELECT 7 AS mine",
        "DROP TABLE other.{name}",
    ),
    apart(
        "type of another schema",
        "CREATE SCHEMA other; CREATE DOMAIN other.{name} AS int",
        "DROP DOMAIN other.{name}",
    ),
    apart("key's index", "CREATE TABLE {name}_pkey (mine int)", "DROP TABLE {name}_pkey"),
    apart("key's sequence", "CREATE SEQUENCE {name}_id_seq", "DROP SEQUENCE {name}_id_seq"),
    apart("type of arrays", "CREATE DOMAIN _{name} AS int", "DROP DOMAIN _{name}"),
    apart("collation", 'CREATE COLLATION {name} FROM "C"'),
    apart("publication", "CREATE PUBLICATION {name}"),
    apart("text search configuration", "CREATE TEXT SEARCH CONFIGURATION {name} (COPY = english)"),
    apart(
        "trigger",
        OTHERS + "CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN END'; "
        "CREATE TRIGGER {name} BEFORE DELETE ON of_others EXECUTE PROCEDURE mine()",
        "DROP TRIGGER {name} ON of_others",
    ),
    temporary(lambda session, text: session.cursor.execute(text), "TABLE pg_temp."),
]  # fmt: skip
MYSQL = [
    VIEW,
    Kind(
        "table of another engine",
        ["CREATE TABLE {name} (mine INTEGER) ENGINE = MEMORY"], ["DROP TABLE {name}"], "table",
    ),
    temporary(lambda session, text: session.connection.query(text), "TEMPORARY TABLE "),
    apart("procedure", "CREATE PROCEDURE {name}() SELECT 7"),
    apart("function", "CREATE FUNCTION {name}() RETURNS INT DETERMINISTIC RETURN 7"),
    apart("event", "CREATE EVENT {name} ON SCHEDULE EVERY 1 YEAR DISABLE DO SELECT 7"),
    apart(
        "trigger",
        OTHERS + "CREATE TRIGGER {name} BEFORE DELETE ON of_others FOR EACH ROW SET @mine = 7",
    ),
    apart("index", OTHERS + INDEX, "DROP INDEX {name} ON of_others"),
    apart(
        "table of another database",
        "CREATE DATABASE {name}; CREATE TABLE {name}.{name} AS SELECT 7 AS mine",
        "DROP TABLE {name}.{name}; DROP DATABASE {name}",
    ),
]  # fmt: skip
MARIADB = [
    *MYSQL,
    refused("sequence", "CREATE SEQUENCE {name}"),
    refused(
        "system-versioned table",
        "CREATE TABLE {name} (mine INTEGER) WITH SYSTEM VERSIONING",
        "DROP TABLE {name}",
    ),
]
SQLITE = [
    VIEW,
    refused("index", OTHERS + INDEX),
    *OF_INDEX,
    Kind(
        "trigger",
        [
            OTHERS.strip("; "),
            "CREATE TRIGGER {name} AFTER INSERT ON of_others BEGIN SELECT 7; END",
        ],
        ["DROP TRIGGER {name}"],
    ),
    apart(
        "foreign key", "CREATE TABLE of_others (mine INTEGER REFERENCES {name} (mine))",
        "DROP TABLE of_others",
    ),
    temporary(lambda session, text: session.connection.execute(text), "TABLE temp."),
]  # fmt: skip
DUCKDB = [
    VIEW,
    refused("sequence", "CREATE SEQUENCE {name}"),
    OF_INDEX[0],
    apart("type", "CREATE TYPE {name} AS ENUM ('mine')"),
    apart("macro", "CREATE MACRO {name}(mine) AS mine"),
    apart("index", OTHERS + INDEX),
    apart("schema", "CREATE SCHEMA {name}"),
    apart(
        "table of another schema",
        "CREATE SCHEMA other; CREATE TABLE other.{name} AS SELECT 7 AS mine",
        "DROP TABLE other.{name}",
    ),
    temporary(lambda session, text: session.connection.execute(text), "TABLE temp.main."),
]
CLICKHOUSE = [
    refused("view", "CREATE VIEW {name} AS SELECT 7 AS mine", "DROP TABLE {name}"),
    refused(
        "table with engine Memory", "CREATE TABLE {name} (mine Int32) ENGINE = Memory",
        "DROP TABLE {name}",
    ),
    refused(
        "materialized view",
        "CREATE TABLE of_others (mine Int32) ENGINE = Memory; CREATE MATERIALIZED VIEW {name} "
        "ENGINE = Memory AS SELECT mine FROM of_others",
        "DROP TABLE {name}",
    ),
    apart(
        "table of another database",
        "CREATE DATABASE {name}; CREATE TABLE {name}.{name} (mine Int32) ENGINE = Memory",
        "DROP TABLE {name}.{name}; DROP DATABASE {name}",
    ),
    Kind(
        "detached table",
        # Without an open session the embedded engine ends, and attaches the table when it starts.
        [_open, "CREATE TABLE {name} (mine Int32) ENGINE = Log", "DETACH TABLE {name}"],
        ["ATTACH TABLE {name}", "DROP TABLE {name}", _close],
        "detached table",
    ),
]  # fmt: skip
CLICKHOUSE_TODAY = [
    *CLICKHOUSE,
    refused(
        "dictionary",
        "CREATE DICTIONARY {name} (mine UInt64, v String) PRIMARY KEY mine SOURCE(NULL()) "
        "LAYOUT(FLAT()) LIFETIME(0)",
    ),
    apart("function", "CREATE FUNCTION {name} AS (mine) -> mine + 7"),
]
QUESTDB_OTHERS = (
    "CREATE TABLE of_others (mine INT, t TIMESTAMP) TIMESTAMP(t) PARTITION BY DAY WAL; "
)
QUESTDB = [
    refused("view", QUESTDB_OTHERS + "CREATE VIEW {name} AS (SELECT mine FROM of_others)"),
    refused(
        "materialized view",
        QUESTDB_OTHERS + "CREATE MATERIALIZED VIEW {name} AS (SELECT t, max(mine) AS most FROM "
        "of_others SAMPLE BY 1h) PARTITION BY DAY",
    ),
]
CASSANDRA_OTHERS = "CREATE TABLE of_others (a int PRIMARY KEY, mine int); "
CASSANDRA_FUNCTION = (
    "CREATE FUNCTION adds (mine int, more int) CALLED ON NULL INPUT RETURNS int LANGUAGE java "
    "AS 'return more;'"
)
CASSANDRA = [
    apart("type", "CREATE TYPE {name} (mine int)"),
    apart("index", CASSANDRA_OTHERS + INDEX),
    refused(
        "materialized view",
        CASSANDRA_OTHERS + "CREATE MATERIALIZED VIEW {name} AS SELECT * FROM of_others "
        "WHERE a IS NOT NULL AND mine IS NOT NULL PRIMARY KEY (mine, a)",
    ),
    apart("function", CASSANDRA_FUNCTION.replace("adds", "{name}")),
    apart("aggregate", CASSANDRA_FUNCTION + "; CREATE AGGREGATE {name} (int) SFUNC adds STYPE int"),
    apart(
        "table of another keyspace",
        "CREATE KEYSPACE {name} WITH replication = {{'class': 'SimpleStrategy', "
        "'replication_factor': 1}}; CREATE TABLE {name}.{name} (a int PRIMARY KEY)",
        "DROP TABLE {name}.{name}; DROP KEYSPACE {name}",
    ),
]


def _client(call: Callable[..., object]) -> Step:
    def step(database: Database, name: str) -> None:
        with database.administration() as session:
            call(session, name)

    return step


def _http(method: str, path: str, body: object = None) -> Step:
    return _client(
        lambda session, name: session.call(
            method, path.format(name=name), json.loads(json.dumps(body).replace("{name}", name))
        )
    )


def _template(**more: object) -> Step:
    body = {"index_patterns": ["{name}*"], "priority": 500, **more}
    return _http("PUT", "/_index_template/of-others", body)


_DATA_STREAM = _client(lambda s, n: s.client.indices.create_data_stream(name=n))
_NO_TEMPLATE = _http("DELETE", "/_index_template/of-others")
SEARCH = [
    Kind(
        "alias",
        [_http("PUT", "/of-others", {"aliases": {"{name}": {}}})],
        [_http("DELETE", "/of-others/_alias/{name}"), _http("DELETE", "/of-others")],
        "alias",
    ),
    Kind(
        "closed index",
        [_http("PUT", "/{name}", {}), _client(lambda s, n: s.client.indices.close(index=n))],
        [_http("DELETE", "/{name}")],
        "closed index",
    ),
    Kind(
        "data stream",
        [_template(data_stream={}), _DATA_STREAM],
        [_http("DELETE", "/_data_stream/{name}"), _NO_TEMPLATE],
        "data stream",
    ),
    Kind(
        "index template of data streams",
        [_template(data_stream={})],
        [_NO_TEMPLATE],
        "index template of data streams",
        of_index=True,
    ),
    Kind(
        "index template with an alias",
        [_template(template={"aliases": {"all-of-others": {}}})],
        [_NO_TEMPLATE],
        "index template with alias all-of-others",
        of_index=True,
    ),
    Kind(
        "component template with an alias",
        [
            _http(
                "PUT",
                "/_component_template/mine",
                {"template": {"settings": {}, "aliases": {"mine": {}}}},
            ),
            _template(composed_of=["mine"], template={"settings": {}}),
        ],
        [_NO_TEMPLATE, _http("DELETE", "/_component_template/mine")],
        "index template with alias mine",
        of_index=True,
    ),
    Kind(
        "legacy template with an alias",
        [_http("PUT", "/_template/of-others", {"index_patterns": ["*"], "aliases": {"mine": {}}})],
        [_http("DELETE", "/_template/of-others")],
        "index template with alias mine",
        of_index=True,
    ),
    Kind(
        "index template that only sets",
        [_template(template={"settings": {"number_of_replicas": 0}})],
        [_NO_TEMPLATE],
    ),
    Kind(
        "component template",
        [_http("PUT", "/_component_template/{name}", {"template": {}})],
        [_http("DELETE", "/_component_template/{name}")],
    ),
    Kind(
        "ingest pipeline",
        [_http("PUT", "/_ingest/pipeline/{name}", {"processors": []})],
        [_http("DELETE", "/_ingest/pipeline/{name}")],
    ),
]


def _others_collection(session, name):
    session.client["of_others"][name].insert_one({"mine": 7})


def _expect_others_collection(session, name):
    assert session.client["of_others"][name].count_documents({"mine": 7}) == 1
    session.client.drop_database("of_others")


VIEW_OF_OTHERS = '{{"create": "{name}", "viewOn": "of_others", "pipeline": []}}'
MONGODB = [
    Kind(
        "view",
        [f"SELECT documentdb_api.create_collection_view('{{database}}', '{VIEW_OF_OTHERS}')"],
        [_client(lambda s, n: s.database.command("drop", n))],
        "view",
    ),
    Kind(
        "collection of another database",
        [_client(_others_collection)],
        [_client(_expect_others_collection)],
    ),
    Kind(
        "index of another collection",
        [_client(lambda s, n: s.database["of_others"].create_index("mine", name=n))],
        [_client(lambda s, n: s.database["of_others"].drop_index(n))],
    ),
]  # fmt: skip


def _series(metric: str, **labels: str) -> Step:
    def call(session, name):
        series = {"__name__": metric.format(name=name), **labels}
        series = {key: value.format(name=name) for key, value in series.items()}
        line = {"metric": series, "values": [7], "timestamps": [NOW_MS]}
        session.http.request("POST", "/api/v1/import", json.dumps(line).encode())

    return _client(call)


def _expect_series(session, _):
    session.api.flush()
    assert session.api.now(f'sum(sum_over_time({{__name__="of_others"}}[{LAST_MS}ms]))') == 7
    session.api.call("/api/v1/admin/tsdb/delete_series", {"match[]": '{__name__="of_others"}'})


def _delete_series(session, name):
    session.api.flush()
    session.api.call("/api/v1/admin/tsdb/delete_series", {"match[]": f'{{__name__="{name}"}}'})


VICTORIAMETRICS = [
    Kind(
        "series with our label and a metric like ours",
        [_series("{name}_of_others", benchmark_table="{name}")],
        [_client(lambda session, name: _delete_series(session, f"{name}_of_others"))],
        "table",
    ),
    Kind("metric", [_series("{name}", a="b")], [_client(_delete_series)], "metric"),
    Kind(
        "series with our label",
        [_series("of_others", benchmark_table="{name}")],
        [_client(_expect_series)],
    ),
]


def _point(session, name):
    point = {"metric": name, "timestamp": NOW_MS, "value": 7, "tags": {"a": "b"}}
    session.assign([name], ["a"])
    session.call("POST", "/api/put?details&sync", [point])


OPENTSDB = [
    Kind("metric", [_client(_point)], [lambda database, name: database.drop([name])], "metric")
]


def _in_tree(*statements: str) -> Step:
    """Return statements of the tree model; its database has the name of that of the tables."""

    def step(database: Any, name: str) -> None:
        given = database.options
        session = TreeSession(given.host, given.port, "root", "root")
        session.open(enable_rpc_compression=False)
        for statement in statements:
            text = statement.format(device=f"root.{given.database}.{name}", name=name)
            if text.startswith("SELECT"):
                assert session.execute_query_statement(text).has_next()
            else:
                session.execute_non_query_statement(text)
        session.close()

    return step


def _device(is_aligned: str, series: str) -> Kind:
    return Kind(
        f"{is_aligned} device of the tree model".strip(),
        [_in_tree(f"CREATE {is_aligned} TIMESERIES {{device}}{series}",
                  f"INSERT INTO {{device}}(time, mine) {is_aligned} VALUES (1, 7)")],
        [_in_tree("SELECT mine FROM {device}", "DELETE TIMESERIES {device}.mine")],
    )  # fmt: skip


IOTDB = [
    _device("", ".mine INT32"),
    _device("ALIGNED", "(mine INT32)"),
    Kind(
        "template of the tree model",
        [_in_tree("CREATE DEVICE TEMPLATE {name} (mine INT32)")],
        [_in_tree("DROP DEVICE TEMPLATE {name}")],
    ),
]


def _in_keyspace(kind: Kind) -> Kind:
    """Return the kind in a keyspace as an insert has made it."""

    def step(database: Database, _: str) -> None:
        database.create([SCRATCH], 1)
        drop(database, [SCRATCH])

    return replace(kind, make=[step, *kind.make])


KINDS: dict[str, Sequence[Kind]] = {
    "postgres": POSTGRES,
    "timescaledb": POSTGRES,
    "mysql": MYSQL,
    "mariadb": MARIADB,
    "sqlite": SQLITE,
    "duckdb": DUCKDB,
    "clickhouse": CLICKHOUSE,
    "clickhouse_embedded": CLICKHOUSE_TODAY,
    "questdb": QUESTDB,
    "cassandra": [*map(_in_keyspace, CASSANDRA)],
    "elasticsearch": [kind for kind in SEARCH if kind.what != "data stream"],
    "opensearch": SEARCH,
    "mongodb-flat": MONGODB,
    "victoriametrics": VICTORIAMETRICS,
    "opentsdb": OPENTSDB,
    "iotdb": IOTDB,
}
"""Target -> the kinds that its catalogue has, beside the tables that an insert makes itself."""
SLOW = [
    ("cassandra", what) for what in ("index", "function", "aggregate", "table of another keyspace")
]
"""Each takes Cassandra 10 s; a type shows the same."""
CATALOGUE_OF = {"timescaledb": "postgres", "mariadb": "mysql", "clickhouse_embedded": "clickhouse"}
"""Target -> the one whose catalogue it inherits, where the same kinds are tried."""
OWN = ("view", "materialized view", "table in schema other")
"""Kinds with which some of these make tables of their own."""
ONE_KIND = "test_foreign.py makes the one kind that it has"
STAND_IN = "its stand-in has the catalogue of another database"
NOT_TRIED = {
    "arangodb": "views, graphs and edge collections: its stand-in has none",
    "clickhouse": "dictionaries by statement: newer than the server; the embedded engine has them",
    "cockroachdb": STAND_IN,
    "cratedb": STAND_IN,
    "cratedb_pg": STAND_IN,
    "elasticsearch": "data streams: the server is built without them; OpenSearch has them",
    "graphite": ONE_KIND,
    "influxdb": f"{ONE_KIND}; test_influxdb.py makes a mapping of InfluxQL",
    "influxdb1": ONE_KIND,
    "iotdb": "views: the server answers 'View is not supported' in the tree model, and its table"
    " model has no statement for them",
    "mongodb": "buckets of a time series without the series: FerretDB refuses names that begin with"
    " `system.`; its capped collections and time series are plain collections",
    "splunk": "saved searches, lookups and data models: its stand-in has none",
    "timescaledb": "continuous aggregates: the server is the Apache edition, which has none",
    "yugabyte_sql": STAND_IN,
}
"""Module -> which kinds were not tried, and why."""


def _do(database: Database, name: str, steps: Sequence[Step]) -> None:
    for step in steps:
        if callable(step):
            step(database, name)
        else:
            options = database.options.model_dump()
            database.carry_out(step.format(name=name, database=options.get("database")))


def is_rare(name: str, kind: Kind) -> bool:
    """Return whether a kind takes long, or repeats what another target shows."""
    again = kind in KINDS.get(CATALOGUE_OF.get(name, ""), ()) and kind.what not in OWN
    return again or (name, kind.what) in SLOW


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        pytest.param(
            TARGETS[name],
            kind,
            id=f"{name}-{kind.what.replace(' ', '-')}",
            marks=[pytest.mark.rare] if is_rare(name, kind) else [],
        )
        for name, kinds in KINDS.items()
        for kind in kinds
    ],
)
def test_every_kind_of_thing_is_refused_or_has_names_of_its_own(request, monkeypatch, target, kind):
    has_indices = target.database.capabilities.indices
    database = target.open(request, **({"create_indices": True} if has_indices else {}))
    wide = target.wide()
    table = wide.tables[0]
    name = database.objects(table)[-1 if kind.shown == "metric" else 0]
    if target.server == "ferretdb":  # the statements are those of the server behind it
        monkeypatch.setattr(database, "carry_out", request.getfixturevalue("server").execute)
    if kind.of_index and has_indices:
        name = indices_of([table])[0][0]
    own = database.for_own_tables()
    spec = next(runs(wide, database))
    made = False
    try:
        _do(database, name, kind.make)
        made = True
        if kind.shown:
            _expect_refused(database, wide, kind)
            assert own.find_existing(own.objects(MARKS)) == {}
        else:
            for _ in range(2):
                prepare(spec, database)
        _do(database, name, kind.remove)
        made = False
        prepare(spec, database)
    finally:
        if made:
            for step in kind.remove:
                with suppress(Exception):
                    _do(database, name, [step])
        drop(database, wide.tables)
        drop(own, [MARKS])


def _expect_refused(database, wide, kind):
    def look():
        names = [each for table in wide.tables for each in database.objects(table)]
        return database.find_existing(names), database.obstacles(wide.tables)

    before = look()
    found = {**before[0], **before[1]}
    assert kind.shown in [each.kind for each in found.values()]  # a data stream has a template, too
    alike = all(each.alike for each in found.values())
    first, *others = runs(wide, database)
    for spec in [first, *others] if kind.of_index else [first]:
        given = spec.model_copy(update={"replace_tables": tuple(found)})
        for each in [spec] if alike else [spec, given]:
            with pytest.raises(
                ConfigError, match=rf"did not make .*{re.escape(kind.shown)} "
            ) as no:
                prepare(each, database)
            assert no.value.exit_code == 2
            assert "nothing was changed" in str(no.value)
            assert re.search("If (it is|they are) yours", str(no.value))
    assert look() == before


def test_each_module_has_kinds_or_says_why_not():
    tried = {TARGETS[name].database.name for name in KINDS}
    stored = {each.database.name for each in STORING.values()}
    assert not stored - tried - {*NOT_TRIED}
