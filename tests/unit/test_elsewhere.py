"""`--address` and `--addresses`: how a target's server that runs elsewhere is named."""

import pytest

from iotbench.config.targets.urls import variable
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import ConfigError, SetupError
from tests.contract.harness import Names
from tests.contract.targets import BY_ADDRESS, TARGETS, modules
from tests.servers.elsewhere import Address, Elsewhere, addresses, server_at
from tests.servers.spaces import space_of


@pytest.fixture
def read(monkeypatch):
    def read(*words, file=None, **environment) -> dict[str, Address]:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        return addresses(words, file, modules(), environment)

    return read


@pytest.mark.parametrize(
    ("word", "given"),
    [
        (
            "cratedb=https://anna@db.test:4200?insecure=true",
            {"url": "https://db.test:4200", "username": "anna", "insecure": True},
        ),
        (
            "cratedb_pg=postgresql://anna@db.test:5432/doc?sslmode=verify-full",
            {"connection_string": "postgresql://anna@db.test:5432/doc?sslmode=verify-full"},
        ),
        (
            "mysql=mysql://anna@db.test:3307/app?tls=true&ca_file=ca.pem",
            {"host": "db.test", "port": 3307, "database": "app", "user": "anna", "tls": True,
             "ca_file": "ca.pem"},
        ),
        ("cassandra=cql://a.test,b.test:9043", {"hosts": "a.test,b.test", "port": 9043}),
    ],
)  # fmt: skip
def test_a_url_gives_the_options_of_the_module(read, word, given):
    (address,) = read(word).values()
    assert address.given() == given


def test_credentials_come_from_the_environment(read):
    found = read("cratedb=http://anna@db.test:4200", CRATEDB_PASSWORD="s3cret")["cratedb"]

    assert variable("mongodb-flat", "password") == "MONGODB_FLAT_PASSWORD"
    assert found.given()["password"] == "s3cret"
    assert "s3cret" not in repr(found)


@pytest.mark.parametrize(
    ("word", "problem"),
    [
        ("cratedb=http://anna:s3cret@db.test", r"no password.*CRATEDB_PASSWORD"),
        ("postgres=postgresql://anna:s3cret@db.test/app", r"no password.*POSTGRES_PASSWORD"),
        ("crate=http://db.test", r"no such target: crate"),
        ("cratedb", r"expected cratedb=SCHEME://\[USER@\]HOST"),
        ("cratedb=http://db.test:4200?shard=3", r"shard"),
        ("cratedb=http://db.test:99999", r"not a URL"),
        ("duckdb=file://db.test/a", r"no server that could run elsewhere"),
    ],
)
def test_what_is_wrong_is_named_without_the_credential(read, word, problem):
    with pytest.raises(ConfigError, match=problem) as raised:
        read(word)
    assert "s3cret" not in str(raised.value)


def test_a_file_has_the_options_of_config_yaml_and_the_commands(read, tmp_path):
    file = tmp_path / "addresses.yaml"
    file.write_text(
        "targets: {cratedb: {url: 'http://db.test:4200', password: '${OWN}', kill: kill it,"
        " start: start it, note: built from source}}"
    )
    found = read(file=file, OWN="s3cret")["cratedb"]

    assert (found.kill, found.start, found.note) == ("kill it", "start it", "built from source")
    assert found.given() == {"url": "http://db.test:4200", "password": "s3cret"}

    file.write_text("targets: {cratedb: {url: 'http://db.test:4200', kill: kill it}}")
    with pytest.raises(ConfigError, match="kill and start need each other"):
        read(file=file)
    file.write_text("cratedb: {url: 'http://db.test:4200'}")
    with pytest.raises(ConfigError, match="expected `targets:`"):
        read(file=file)


def test_a_target_at_an_address_is_the_module_itself_and_no_stand_in():
    for name, target in (TARGETS | BY_ADDRESS).items():
        there = target.at("elsewhere", target.database.name, "a note")
        assert there.database.name == target.database.name, name
        assert (there.stand_in, there.behind, there.note) == (False, False, "a note")
    assert TARGETS["mysql_myisam"].at("elsewhere", "mysql").options(None) == {"engine": "MyISAM"}


def test_what_the_tests_cannot_do_is_said_unless_there_is_a_command(read, tmp_path):
    plain = server_at(read("cratedb=http://db.test:4200")["cratedb"], list)()
    assert plain.cannot("pause") == "cratedb runs elsewhere: tests cannot pause it"
    assert "--addresses FILE may have commands for it" in plain.cannot("kill")
    with pytest.raises(RuntimeError, match="cannot kill"):
        plain.kill()

    file = tmp_path / "addresses.yaml"
    file.write_text("targets: {cratedb: {url: 'http://db.test:4200', kill: 'true', start: 'true'}}")
    able = server_at(read(file=file)["cratedb"], list)()
    assert able.cannot("kill") == ""
    able.kill()
    assert not able.running


def test_each_test_has_a_database_of_its_own(read):
    where = read(
        "postgres=postgresql://u@db.test/app", "influxdb3=http://db.test", "cratedb=http://db.test"
    )
    servers: dict[str, Elsewhere] = {n: server_at(a, list)() for n, a in where.items()}

    assert "dbname=own" in servers["postgres"].options("own")["connection_string"]
    assert servers["influxdb3"].options("own")["prefix"] == "own_"
    assert servers["cratedb"].options("own")["schema_name"] == "own"


def test_a_table_that_exists_is_not_touched_where_there_are_no_databases():
    class Shared:
        name = "questdb"

        def objects(self, table):
            return [table.name]

        def find_existing(self, names):
            return {"events": None} if "events" in names else {}

        def drop(self, names):
            assert names == []

    table = Table("events", (Column("time", Type.TIMESTAMP, Role.TIME),), key=("time",))
    names = Names(lambda: [table])
    with pytest.raises(SetupError, match="holds events, which the cases would drop"):
        names.take(Shared())
    names.drop(Shared())


def test_a_word_without_a_url_picks_a_target_of_the_file(read, tmp_path):
    file = tmp_path / "addresses.yaml"
    file.write_text(
        "targets: {cratedb: {url: 'http://db.test:4200'},"
        " influxdb3: {url: 'http://db.test:8181', token: '${NOT_SET_HERE}'}}"
    )

    assert [*read("cratedb", file=file)] == ["cratedb"]
    assert [*read("cratedb", "mysql=mysql://u@b.test/app", file=file)] == ["cratedb", "mysql"]
    with pytest.raises(ConfigError, match="NOT_SET_HERE"):
        read(file=file)
    with pytest.raises(ConfigError, match=r"--address mysql: expected mysql=URL, or a target of"):
        read("mysql", file=file)


def test_only_what_has_a_name_of_its_own_is_cleared():
    apart = {module for module in ("postgres", "cratedb", "influxdb3", "cassandra", "mongodb")
             if space_of(module).is_apart}  # fmt: skip

    assert apart == {"postgres", "cratedb", "influxdb3", "cassandra", "mongodb"}
    assert not space_of("questdb").is_apart
    assert not space_of("elasticsearch").is_apart
