"""Capabilities, transactions and addresses that follow from options."""

from dataclasses import replace

import psycopg2.extensions
import pytest

from simulator.data.features import Feature
from simulator.data.query import NewestQuery, OneOf, RowsQuery, Selection
from simulator.data.query_type import always
from simulator.data.schema import PrimaryKey
from simulator.data.workloads.iot import EVENTS
from simulator.modules import MODULES, database_class
from simulator.modules.contract import (
    BATCH,
    SINGLE,
    Unsupported,
    all_addresses,
    explain_unrelayed,
    redirect,
)
from simulator.modules.mysql.database import MySql
from simulator.modules.postgres.database import Postgres
from simulator.modules.shared.sql.transactions import PREPARED, TRANSACTION, VALUES
from simulator.modules.sqlite import Sqlite, SqliteOptions

FEW = Selection((OneOf("device_id", ("a", "b")),))


class Narrow(Sqlite):
    """SQLite without two features."""

    capabilities = replace(
        Sqlite.capabilities,
        unsupported={Feature.VALUE_LISTS: "no lists here", Feature.CHOSEN_COLUMNS: "all or none"},
    )


def test_every_unsupported_feature_of_a_query_is_named_with_its_reason():
    database = Narrow(SqliteOptions())
    everything = database.render(RowsQuery(EVENTS))

    assert everything.text.startswith("SELECT")
    with pytest.raises(Unsupported) as refused:
        database.render(RowsQuery(EVENTS, ("device_id",), FEW))
    assert str(refused.value) == (
        "tags with one of several values: no lists here; "
        "rows with some of their columns: all or none"
    )
    types = {
        "refused": always(NewestQuery(EVENTS, ("device_id",), (), FEW)),
        "all": always(RowsQuery(EVENTS)),
    }
    assert database.select_answered(types, {"refused": "", "all": ""}) == ("all",)


@pytest.mark.parametrize("module", MODULES)
def test_reasons_are_given_and_are_no_sentences(module):
    for feature, reason in database_class(module).capabilities.unsupported.items():
        assert reason, feature
        assert not reason.endswith(".")


REACH = {
    Postgres: {"connection_string": "host=nowhere"},
    MySql: {"host": "nowhere", "user": "nobody", "database": "none"},
}


@pytest.fixture(params=REACH)
def opened(request):
    kind = request.param
    return lambda **options: kind(kind.options_model(**REACH[kind], **options))


@pytest.mark.parametrize(
    ("options", "modes"),
    [
        ({}, (SINGLE, BATCH)),
        ({"use_values_lists": True}, (None, VALUES)),
        ({"transaction": True}, (None, TRANSACTION)),
        ({"prepared": True}, (PREPARED, PREPARED)),
        ({"prepared": True, "transaction": True}, (None, PREPARED)),
    ],
)
def test_a_mode_is_chosen_by_options_and_batch_size(opened, options, modes):
    database = opened(**options)
    for mode, chosen in zip((SINGLE, BATCH), modes, strict=True):
        problems = database.problems(PrimaryKey.DB, 1, mode, 10)
        if chosen is None:
            assert ["--batch" in problem for problem in problems] == [True]
        else:
            assert (problems, database.insert_mode(mode)) == ([], chosen)


@pytest.mark.parametrize("other", ["transaction", "prepared"])
def test_a_batch_is_one_statement_or_many(opened, other):
    (problem,) = opened(use_values_lists=True, **{other: True}).problems(PrimaryKey.DB, 1, BATCH, 9)

    assert problem == f"{other} and use_values_lists exclude each other; choose one"


@pytest.mark.parametrize(("options", "mode"), [({}, BATCH), ({"prepared": True}, SINGLE)])
def test_only_a_batch_of_single_rows_is_committed_after_some_time(opened, options, mode):
    (problem,) = opened(commit_every_s=1, **options).problems(PrimaryKey.DB, 1, mode, 1)

    assert problem.startswith("commit_every_s needs transaction=true, or prepared=true")
    assert opened(commit_every_s=1, prepared=True).problems(PrimaryKey.DB, 1, BATCH, 9) == []


def options(module, **given):
    return database_class(module).options_model(**given)


@pytest.mark.parametrize(
    ("module", "given", "expected"),
    [
        ("influxdb", {"url": "https://db.example:8086", "token": "x"},
         {"url": "https://127.0.0.1:9001"}),
        ("elasticsearch", {"url": "http://[::1]:9200"}, {"url": "http://127.0.0.1:9001"}),
        ("mysql", {"host": "a", "user": "u", "password": "p", "database": "d"},
         {"host": "127.0.0.1", "port": 9001}),
        ("cassandra", {"hosts": "a", "port": 7}, {"hosts": "127.0.0.1", "port": 9001}),
        ("mongodb", {"connection_string": "mongodb://u:p%40@a:5,b:6/?tls=true"},
         {"connection_string": "mongodb://u:p%40@127.0.0.1:9001,127.0.0.1:9002/?tls=true"}),
        ("graphite", {"url": "http://a:80"},
         {"url": "http://127.0.0.1:9001", "carbon_host": "127.0.0.1",
          "line_port": 9002, "pickle_port": 9003}),
        ("graphite", {"url": "http://a:80", "carbon_host": "b"},
         {"url": "http://127.0.0.1:9001", "carbon_host": "127.0.0.1",
          "line_port": 9002, "pickle_port": 9003}),
        ("splunk", {"url": "https://a:8088", "token": "t", "search_url": "https://a:8089"},
         {"url": "https://127.0.0.1:9001", "search_url": "https://127.0.0.1:9002"}),
    ],
)  # fmt: skip
def test_every_address_is_replaced(module, given, expected):
    before = options(module, **given)
    places = {each: ("127.0.0.1", 9001 + n) for n, each in enumerate(all_addresses(before))}

    after = redirect(before, places)

    assert {**after.public(), **after.secrets()} == {
        **before.public(), **before.secrets(), **expected
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "host=db.example dbname=b password='it''s' user=u",
        "host=/run/postgresql port=5433 dbname=b user=u",
        "postgresql://u:p%40@db.example:5433/b?sslmode=require",
        "postgresql:///b?host=db.example&user=u",
    ],
)
def test_libpq_keeps_the_name_that_a_certificate_is_checked_by(text):
    before = options("postgres", connection_string=text)
    if "///" in text:
        assert "no address" in explain_unrelayed(before)
        return
    (server,) = all_addresses(before)
    after = redirect(before, {server: ("127.0.0.1", 9001)})

    given = psycopg2.extensions.parse_dsn(text.replace("''", "\\'"))
    assert psycopg2.extensions.parse_dsn(after.secrets()["connection_string"].replace(
        "''", "\\'")) == {**given, "hostaddr": "127.0.0.1", "port": "9001"}  # fmt: skip


@pytest.mark.parametrize(
    ("module", "given", "said"),
    [
        ("mongodb", {"connection_string": "mongodb://a:5/?replicaSet=rs0"}, "past the relay"),
        ("sqlite", {"path": "x.db"}, "no address"),
        ("cassandra", {"hosts": "a,b", "port": 7}, "past the relay"),
        ("cassandra", {"hosts": "a", "port": 7}, ""),
    ],
)
def test_what_no_relay_can_stand_before_is_refused(module, given, said):
    found = explain_unrelayed(options(module, **given))

    assert said in found
    assert bool(found) == bool(said)
