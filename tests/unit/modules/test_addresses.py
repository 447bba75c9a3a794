"""Addresses among options are found, and replaced by those of relays."""

import psycopg2.extensions
import pytest

from simulator.errors import SetupError
from simulator.modules import database_class
from simulator.modules.contract import all_addresses, explain_unrelayed, redirect


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


def test_a_driver_that_looks_servers_up_by_itself_is_not_redirected():
    before = options("mongodb", connection_string="mongodb://a:5/?replicaSet=rs0")

    with pytest.raises(SetupError):
        redirect(before, {("a", 5): ("127.0.0.1", 9001)})
