"""A wrong address or credential: one clear line within seconds, without the secret."""

import re
import socket
from dataclasses import replace
from typing import Any

import pytest
from pydantic import SecretStr

from simulator.control.database.work import DatabaseWork
from simulator.errors import ConfigError, SetupError
from simulator.modules import MODULES, database_class
from simulator.modules.contract import BATCH, Database, Failure, recognize
from simulator.modules.postgres.driver import PostgresWire
from simulator.modules.shared.http.client import HttpOptions
from simulator.modules.shared.http.database import HttpDatabase
from simulator.protocol.spec import InsertTask
from tests.contract.harness import hosts_of, refusal
from tests.contract.targets import STORING, Target
from tests.unit.specs import run_spec

NETWORKED = {
    (target.module, target.server): name
    for name, target in reversed(STORING.items())
    if not target.database.capabilities.embedded
}
"""One target of each module and server: how rows are stored makes no difference here."""
CONNECT_TIMEOUT_S = 2
"""In place of the default, which some drivers wait out at every attempt."""


WRONG = "wr0ng-s3cret"
CREDENTIALS = re.compile("; check (the credentials|user(name)? and password)")
KEYS = re.compile(r"; .*(\b(connection_string|ur[il])\b|--extra-option)")
"""A remedy that only applies to targets of config.yaml, and not to URLs."""


@pytest.fixture(params=[STORING[name] for name in NETWORKED.values()], ids=NETWORKED.values())
def target(request: pytest.FixtureRequest) -> Target:
    return request.param


def refused(target: Target, options: dict[str, Any]) -> list[str]:
    """The messages of every way in."""
    model = target.database.options_model
    if "connect_timeout_s" in model.model_fields:
        options = {"connect_timeout_s": CONNECT_TIMEOUT_S, **options}
    return refusal(target.database(model(**options)))


def hosts_in(database: Database) -> str:
    """A pattern of the hosts in the database's options."""
    return "|".join(map(re.escape, sorted(hosts_of(database.options))))


def changed(database: Database, change: Any) -> dict[str, Any]:
    """The database's options, each string and number passed through `change`."""
    given = {name: getattr(database.options, name) for name in database.options.model_fields_set}
    shown = {n: v.get_secret_value() if isinstance(v, SecretStr) else v for n, v in given.items()}
    return {name: change(name, value) for name, value in shown.items()}


def test_a_port_without_a_listener_is_named_with_the_remedy(target, database):
    with socket.create_server(("", 0)) as free:
        port = free.getsockname()[1]
    at = re.compile(rf"((?:{hosts_in(database)}):|port=)\d+")

    def change(name: str, value: Any) -> Any:
        if isinstance(value, int) and name.endswith("port"):
            return port
        return at.sub(rf"\g<1>{port}", value) if isinstance(value, str) else value

    given = changed(database, change)

    texts = refused(target, given)
    assert all(re.search(rf"{port}.*; check that", text) for text in texts)
    assert not any(KEYS.search(text) for text in texts)
    if isinstance(database.options, HttpOptions):
        assert_nothing_was_sent(database, type(database)(database.options_model(**given)), target)


def assert_nothing_was_sent(running: Database, database: HttpDatabase[Any], target: Target) -> None:
    """Check that rows for a server that does not run count as not sent."""
    wide = target.wide()
    running.create(wide.tables, 5)
    block = wide.batches[0].slice(0, 5)
    with running.connect() as session:
        (payload, *_) = session.encode(block, BATCH, 5)
    with database.open() as session:
        with pytest.raises(Exception, match="refused") as caught:
            session.send(payload)
        assert session.classify(caught.value) is Failure.NOT_APPLIED
        # Without acknowledgements, rows have a connection of their own, which was never made.
        assert session.alive == target.unanswered


def test_a_host_that_does_not_exist(target, database):
    hosts = hosts_in(database)

    def change(_: str, value: Any) -> Any:
        return re.sub(hosts, "no-such-host.invalid", value) if isinstance(value, str) else value

    texts = refused(target, changed(database, change))

    assert all(re.search(r"no-such-host\.invalid.*; check", text) for text in texts)
    assert not any(KEYS.search(text) for text in texts)


def test_a_server_that_is_too_old(database, monkeypatch):
    if not (products := database.capabilities.oldest):
        pytest.skip("the module declares no oldest version")
    if not any(product in (version := database.describe().version) for product in products):
        pytest.skip(f"the server under test is another product: {version}")
    never = replace(database.capabilities, oldest=dict.fromkeys(products, (99, 1)))
    monkeypatch.setattr(type(database), "capabilities", never)

    with pytest.raises(SetupError, match=r"the server is .* too old; it must be 99\.1 or newer"):
        database.inspect()


def _pointed_at(reach: str, given: dict[str, Any], cls: type[Database]) -> Database:
    """Another module, with the options of this server that it has."""
    fields = cls.options_model.model_fields
    needed = {name: given[reach] for name, field in fields.items() if field.is_required()}
    return cls(cls.options_model(**needed | {n: v for n, v in given.items() if n in fields}))


REACH: dict[type[Database], str] = {PostgresWire: "connection_string", HttpDatabase: "url"}
"""Protocol that several products speak -> the option with the address."""


def test_another_module_is_refused_before_anything_is_touched(target, database):
    wire = next((wire for wire in REACH if isinstance(database, wire)), None)
    if not wire or not (answer := database.identify()):
        pytest.skip("another module has no way to the server under test")
    right, given = recognize(answer), changed(database, lambda _, value: value)
    assert database.name in right.modules
    given.pop("prefix", None)
    wide = target.wide()
    database.create(wide.tables, 10)
    names = [name for table in wide.tables for name in database.objects(table)]
    before = database.find_existing(names)
    spec = run_spec(workers=(InsertTask(timed=wide.dataset.ranges),), dataset=wide.dataset)

    for module in {*MODULES} - {*right.modules}:
        if not issubclass(cls := database_class(module), wire):
            continue
        other = _pointed_at(REACH[wire], given, cls)
        with pytest.raises(ConfigError) as refused:
            DatabaseWork(spec, other, lambda _: None).prepare()
        assert refused.value.exit_code == 2
        assert f"{module}: the server is {right}" in str(refused.value)
        assert f"module: {' or '.join(right.modules)}" in str(refused.value)

    assert database.find_existing(names) == before


@pytest.mark.server("questdb")
def test_a_module_of_postgresqls_protocol_is_refused_by_questdb(own_server):
    from tests.servers import free_port  # noqa: PLC0415  # `contract` comes without the servers

    address, port = "127.0.0.1", free_port()
    settings = {"pg_enabled": "true", "pg_net_bind_to": f"{address}:{port}", "pg_user": "bench"}
    with own_server(**settings, pg_password="quest"):
        given = {"connection_string": f"host={address} port={port} user=bench password=quest"}
        for module in map(database_class, MODULES):
            if issubclass(module, PostgresWire):
                with pytest.raises(ConfigError, match=r"the server is QuestDB; .* module: questdb"):
                    _pointed_at(REACH[PostgresWire], given, module).inspect()


def test_a_wrong_credential_is_refused_and_never_shown(target, database):
    secrets = [
        name
        for name in database.options.model_fields_set
        if isinstance(value := getattr(database.options, name), SecretStr)
        and value.get_secret_value()
        and name != "connection_string"  # contains no credential here
    ]
    if not secrets:
        pytest.skip("the server under test asks for no credentials")

    texts = refused(target, changed(database, lambda n, v: WRONG if n in secrets else v))

    assert not any(WRONG in text for text in texts)
    assert all(CREDENTIALS.search(text) for text in texts)
    assert not any(KEYS.search(text) for text in texts)
    shown = f"{database.options!r} {database.options.public()} {database.describe()}"
    accepted = (getattr(database.options, name).get_secret_value() for name in secrets)
    assert not any(secret in shown for secret in accepted)
