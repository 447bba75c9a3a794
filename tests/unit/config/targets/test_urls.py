"""URLs as targets: each module declares its own, and no credential is part of one."""

import re

import click
import pytest

from iotbench.config.targets import urls
from iotbench.config.targets.config import load_for
from iotbench.config.targets.urls import entry_of, forms_of, name_of
from simulator.errors import ConfigError
from simulator.modules import MODULES, database_class

LIBPQ = "PGPASSWORD or PGPASSFILE or PGSERVICEFILE or ~/.pgpass"


def resolve(url):
    config, (name,) = load_for([url])
    return config.resolve(name, {})


def test_each_module_declares_its_own_urls():
    schemes = [form.scheme for name in MODULES for form in forms_of(database_class(name))]

    assert len(schemes) == len({*schemes})
    assert [name for name in MODULES if not database_class(name).urls] == []


@pytest.mark.parametrize("module", MODULES)
def test_the_form_that_help_shows_is_a_target(module, monkeypatch):
    cls = database_class(module)
    words = {"HOSTS": "db.test", "HOST": "db.test", "PATH": "rooms.db", "USERNAME": "anna",
             "USER": "anna"}  # fmt: skip
    for form in cls.urls:
        for name in cls.options_model.credentials():
            scheme = form.partition(":")[0].removesuffix("+https")
            monkeypatch.setenv(urls.variable(scheme, name), "x1")
        url = re.sub("[A-Z_]{3,}", lambda word: words.get(word[0], "bench"), form)
        target = resolve(url)

        assert (target.module, target.runner, target.word) == (module, "local", url)
        assert not target.options.secrets() or target.variables


@pytest.mark.parametrize(
    ("url", "options"),
    [
        ("sqlite:a/rooms.db", {"path": "a/rooms.db"}),
        ("duckdb:rooms.duckdb?fsync=none", {"path": "rooms.duckdb", "fsync": "none"}),
        ("mysql://anna@h/app?engine=MyISAM",
         {"host": "h", "port": 3306, "user": "anna", "database": "app", "engine": "MyISAM"}),
        ("clickhouse+https://anna@h:8443/bench",
         {"url": "https://h:8443", "user": "anna", "database": "bench"}),
        ("influxdb2://h/home", {"url": "http://h:8086", "org": "home"}),
        ("elasticsearch+http://h", {"url": "http://h:9200"}),
        ("splunk://h?search_url=https://h:8089",
         {"url": "https://h:8088", "search_url": "https://h:8089"}),
        ("cassandra://a%2Cb/ks?replication_factor=1",
         {"hosts": "a,b", "port": 9042, "keyspace": "ks", "replication_factor": "1"}),
        ("quasardb://h", {"uri": "qdb://h:2836"}),
        ("postgres://anna@h/db?sslmode=require",
         {"connection_string": "postgresql://anna@h:5432/db?sslmode=require"}),
        ("ysql://anna@a,b:6000/db", {"connection_string": "postgresql://anna@a:6000,b:6000/db"}),
        ("mongodb+srv://anna@h/db", {"connection_string": "mongodb+srv://anna@h/db"}),
        ("postgresql://anna:${PG}@h/db",
         {"connection_string": "postgresql://anna@h:5432/db", "password": "${PG}"}),
    ],
)  # fmt: skip
def test_a_url_gives_the_options_of_its_module(url, options):
    found = entry_of(url)
    del found["module"], found["runner"]

    assert found == options


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("foo:bar", r"unknown scheme.*known: .*sqlite"),
        ("postgresq://h/db", r"did you mean 'postgresql'.*known: "),
        ("sqlite:", "expected a path"),
        ("sqlite:///rooms.db", "expected a path"),
        ("mysql:h", "expected //"),
        ("postgresql://anna:s3cret@h/db", "POSTGRESQL_PASSWORD"),
        ("postgresql://anna:s3cret", "not a URL"),
        ("postgresql://h/db?password=s3cret", "POSTGRESQL_PASSWORD"),
        ("postgresql://h/db?options=s3cret", "POSTGRESQL_PASSWORD"),
        ("postgresql://h/db?options=-c%20a.password%3Ds3cret", "POSTGRESQL_PASSWORD"),
        ("postgresql://anna%3As3cret@h/db", "POSTGRESQL_PASSWORD"),
        ("postgresql://h/db?connection_string=password=s3cret", "POSTGRESQL_PASSWORD"),
        ("mysql://anna%3As3cret@h/db", "MYSQL_PASSWORD"),
        ("mongodb://anna:s3cret@h/db", "MONGODB_PASSWORD"),
        ("influxdb2://s3cret@h", "INFLUXDB2_TOKEN"),
        ("clickhouse://h?password=s3cret", "CLICKHOUSE_PASSWORD"),
        ("elasticsearch://h?api_key=s3cret", "ELASTICSEARCH_API_KEY"),
        ("mysql://h", r"mysql://USER@HOST:3306/DATABASE: user: is required"),
        ("splunk://h?search_url=https://h:8089", r"splunk.*: token \(SPLUNK_TOKEN\): is required"),
    ],
)
def test_what_is_wrong_is_named_without_the_credential(url, problem):
    with pytest.raises(ConfigError) as raised:
        resolve(url)

    assert re.search(problem, str(raised.value))
    assert "s3cret" not in str(raised.value)


@pytest.mark.parametrize("url", ["postgresql://{}@h/db", "mongodb://{}@h/db", "mysql://{}@h/db"])
def test_a_password_typed_as_the_user_is_not_shown(url):
    shown = resolve(url.format("s3cret")).options.public()

    assert "s3cret" not in str(shown)
    assert "***" in str({name: shown.get(name) for name in ("connection_string", "user")})


def test_a_password_comes_from_the_environment_and_leaves_it(monkeypatch):
    monkeypatch.setenv("MYSQL_PASSWORD", "s3cret")
    target = resolve("mysql://anna@h/app")

    assert target.secrets() == {"password": "s3cret"}
    assert target.options.public()["user"] == "anna"
    assert target.variables == {"MYSQL_PASSWORD"}
    assert "s3cret" not in repr(target)


@pytest.mark.parametrize(
    ("url", "places"),
    [
        ("postgresql://anna@h/db", f"POSTGRESQL_PASSWORD or {LIBPQ}"),
        ("ysql://anna@h/db", f"YSQL_PASSWORD or {LIBPQ}"),
        ("mysql://anna:${BENCH}@h/db", "BENCH or MYSQL_PASSWORD"),
        ("elasticsearch+https://h", "ELASTICSEARCH_PASSWORD or ELASTICSEARCH_API_KEY"),
    ],
)
def test_a_refused_login_names_the_variables_of_the_url(url, places, monkeypatch):
    monkeypatch.setenv("BENCH", "s3cret")
    target = resolve(url)

    refused = target.explain("pg: denied; check user and password; or it has expired")
    assert refused.endswith(f"; the credentials of this URL, unless typed, come from {places}")
    assert target.explain("refused; check that the server runs") == (
        "refused; check that the server runs"
    )


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setattr(urls, "can_ask", lambda: True)
    asked = []

    def prompt(text, **options):
        assert options["hide_input"]
        asked.append(text)
        return "s3${cret}"

    monkeypatch.setattr(click, "prompt", prompt)
    return asked


def test_a_password_is_asked_for_on_a_terminal_once(terminal, monkeypatch):
    monkeypatch.setenv("MYSQL_PASSWORD", "")
    monkeypatch.delenv("MYSQL_PASSWORD")

    assert resolve("mysql://anna@h/app").secrets() == {"password": "s3${cret}"}
    assert resolve("mysql://anna@h/app").secrets() == {"password": "s3${cret}"}
    assert terminal == ["password for mysql-h-app (empty: none)"]


def test_what_libpq_finds_itself_is_not_asked_for(terminal, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PGPASSFILE", raising=False)
    (tmp_path / ".pgpass").write_text("h:*:*:anna:s3cret")
    resolve("postgresql://anna@h/db")

    assert terminal == []


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("sqlite:a/rooms.db", "sqlite-a-rooms.db"),
        ("postgresql://anna@db.test:5433/bench?sslmode=require", "postgresql-db.test-5433-bench"),
        ("elasticsearch+https://anna@h", "elasticsearch-h"),
        ("null:", "null"),
    ],
)
def test_results_are_named_after_host_and_path(url, name):
    assert name_of(url) == name


def test_a_long_name_keeps_its_end():
    name = name_of("sqlite:" + "folder/" * 40 + "rooms.db")

    assert len(name) <= 100
    assert name.startswith("sqlite-folder-")
    assert name.endswith("rooms.db")


def test_no_file_is_read_for_a_url(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.yaml").write_text("broken: [")

    assert resolve("sqlite:x.db").name == "sqlite-x.db"
    with pytest.raises(ConfigError):
        load_for(["sqlite:x.db", "sqlite"])
