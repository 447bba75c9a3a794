"""A credential is seen by the database only, whatever way it came in and whatever goes wrong.

Wrong credentials go to a server that repeats all that it receives, as hostile or careless servers
do; right ones to the real servers.
"""

import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from pydantic import ValidationError

from iotbench.config.targets import config
from iotbench.measurements.shared.plan import collector_run
from simulator.data.ranges import lane_range
from simulator.errors import ConfigError
from simulator.modules import MODULES, database_class
from simulator.modules.contract import SINGLE, Options
from simulator.protocol.events import Outcome, parse_event
from simulator.protocol.spec import InsertTask, Work
from tests.integration.conftest import CommandLine, combined
from tests.integration.leaks import Pod, Shown, watched
from tests.servers import QUICK, free_port
from tests.unit.specs import run_spec

WAYS = ("file", "environment", "extra-option", "extra-option of the environment")
INSERT = ("--target=t", "--workers=1", "--num-inserts=1", "--runs=1")
CERTIFICATE = "ca"
SERVED = {
    "postgres": "postgres",
    "timescaledb": "timescaledb",
    "mysql": "mysql",
    "mariadb": "mysql",
    "cassandra": "cassandra",
}
"""Quick server with credentials -> module."""


def test_every_quick_server_with_credentials_is_used():
    without = {"elasticsearch"}  # has no users
    only_for_the_contract_tests = {"clickhouse"}  # too old for the command line

    assert {*SERVED} | without | only_for_the_contract_tests == {*QUICK}


class EchoServer:
    """Answers every request with status 401, and with all that it has received."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with suppress(OSError), connection:
            connection.settimeout(2)
            received = connection.recv(1 << 16)
            body = b"wrong credentials: " + received
            head = f"HTTP/1.1 401 Unauthorized\r\nContent-Length: {len(body)}\r\n"
            connection.sendall(head.encode() + b"Connection: close\r\n\r\n" + body)

    def close(self) -> None:
        self._listener.close()


@pytest.fixture
def echo() -> Iterator[EchoServer]:
    server = EchoServer()
    yield server
    server.close()


# --- the credentials of every module, as the modules themselves name them ---


@dataclass(frozen=True)
class Login:
    """Credentials that a module takes together, and where they are sent."""

    module: str
    options: Mapping[str, Any]
    """Those that are not credentials."""
    values: Mapping[str, str]
    """Credential option -> its value."""

    @property
    def secrets(self) -> list[str]:
        """What must appear nowhere: the values, and the passwords in them."""
        return [*self.values.values(), *(secret_of(option) for option in self.values)]

    def model(self) -> Options:
        return database_class(self.module).options_model(**self.options, **self.values)

    def at(self, port: int) -> "Login":
        """The same credentials for another port."""
        return next(each for each in logins(self.module, port) if {*each.values} == {*self.values})


def secret_of(option: str) -> str:
    """A password in which every escaping changes something."""
    return f"Zx9+{option}/%7'w\"Q\\k=<&>"


def value_of(option: str, module: str, port: int) -> str:
    """The value of an option that is a credential."""
    secret = secret_of(option)
    if option == "connection_string":
        scheme = "mongodb" if module == "mongodb" else "postgresql"
        return f"{scheme}://u:{quote(secret, safe='')}@127.0.0.1:{port}/d"
    if option == CERTIFICATE:
        return f"-----BEGIN CERTIFICATE-----\n{secret}\n-----END CERTIFICATE-----"
    return secret


def address_of(module: str, port: int, *, tls: bool) -> dict[str, Any]:
    """The options that lead to a server of this machine."""
    scheme = "https" if tls else "http"
    known = database_class(module).options_model.model_fields
    address = {
        "url": f"{scheme}://127.0.0.1:{port}",
        "search_url": f"{scheme}://127.0.0.1:{port}",
        "uri": f"qdb://127.0.0.1:{port}",
        "host": "127.0.0.1",
        "hosts": "127.0.0.1",
        "port": port,
        "line_port": port,
        "pickle_port": port,
        "user": "u",
        "username": "u",
        "cluster_public_key": "k",
        "database": "d",
        "connect_timeout_s": 2,
        "tls": tls,
    }
    return {name: value for name, value in address.items() if name in known}


def fitting(module: str, credentials: list[str], port: int) -> Login | None:
    """The login with these credentials, with a user's name or without; None if there is none."""
    cls = database_class(module)
    address = address_of(module, port, tls=CERTIFICATE in credentials)
    values = {option: value_of(option, module, port) for option in credentials}
    without = {name: value for name, value in address.items() if name != "username"}
    for options in (address, without):
        with suppress(ValidationError):
            database = cls(cls.options_model(**options, **values))
            if not database.problems(cls.capabilities.default_key, 1, SINGLE, 1):
                return Login(module, options, values)
    return None


def logins(module: str, port: int = 9) -> list[Login]:
    """Logins that together use every credential of a module, a certificate on its own."""
    model = database_class(module).options_model
    required = [name for name in model.credentials() if model.model_fields[name].is_required()]
    left = [name for name in model.credentials() if name != CERTIFICATE]
    found = []
    while left:
        chosen = list(dict.fromkeys([*required, left[0]]))
        for option in left[1:]:
            if option not in chosen and fitting(module, [*chosen, option], port):
                chosen.append(option)
        login = fitting(module, chosen, port)
        assert login, f"{module}: no login with {chosen}"
        found.append(login)
        left = [name for name in left if name not in chosen]
    if CERTIFICATE in model.credentials():
        alone = [*required, CERTIFICATE]
        login = fitting(module, alone, port) or fitting(module, [*found[0].values, *alone], port)
        assert login, f"{module}: no login with {alone}"
        found.append(login)
    return found


LOGINS = [login for name in MODULES for login in logins(name)]
SENT = [login for login in LOGINS if CERTIFICATE not in login.values]
READ = [login for login in LOGINS if CERTIFICATE in login.values]
OFTEN = {"postgres", "mysql", "cassandra", "mongodb", "elasticsearch"}
"""Modules of four drivers and of HTTP, which `make test` tries, too; the others are rare."""


def named(login: Login) -> str:
    return f"{login.module}-{'-'.join(login.values)}"


def test_the_logins_use_every_credential_of_every_module():
    used = {(login.module, option) for login in LOGINS for option in login.values}
    declared = {
        (name, option)
        for name in MODULES
        for option in database_class(name).options_model.credentials()
    }

    assert used == declared
    assert {("elasticsearch", "api_key"), ("splunk", "search_token")} < used


def often(found: list[Login]) -> list[Any]:
    """Return logins as parameters, of which those of other modules are rare."""
    return [
        pytest.param(login, marks=[] if login.module in OFTEN else [pytest.mark.rare])
        for login in found
    ]


# --- the ways in ---


def configured(
    cli: CommandLine, login: Login, way: str, environment: dict[str, str]
) -> tuple[str, ...]:
    """Write config.yaml and the environment; return the arguments of the command."""
    entry: dict[str, Any] = {"module": login.module, "runner": "local", **login.options}
    words: list[str] = []
    for name, value in login.values.items():
        variable = f"SECRET_{name.upper()}"
        if "environment" in way:
            environment[variable] = value
        given = f"${{{variable}}}" if "environment" in way else value
        if way.startswith("extra-option"):
            words.append(f"--extra-option={name}={given}")
        else:
            entry[name] = given
    cli.config = cli.folder / "config.yaml"
    cli.config.write_text(yaml.safe_dump({"targets": {"t": entry}}))
    return tuple(words)


@pytest.mark.parametrize("login", LOGINS, ids=named)
def test_every_way_in_leads_to_the_same_target(
    cli: CommandLine, login: Login, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So what holds for one way in holds for the others."""
    for way in WAYS:
        environment: dict[str, str] = {}
        words = configured(cli, login, way, environment)
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        extra = dict(word.removeprefix("--extra-option=").split("=", 1) for word in words)
        target = config.load(cli.config).resolve("t", extra)

        assert {name: target.secrets()[name] for name in login.values} == login.values, way
        assert target.options == login.model()
        spec = collector_run(Work.CHECK, "s", target).model_dump_json()
        shown = Shown(f"{target!r} {target.options.public()} {spec}", "")
        shown.assert_without(login.secrets)


@pytest.mark.parametrize("login", LOGINS, ids=named)
def test_a_credential_in_a_secret_of_the_cluster_is_not_known_to_the_command_line(
    cli: CommandLine, login: Login
) -> None:
    entry = {"module": login.module, **login.options}
    entry |= {f"{name}_from": {"secret": "own", "key": name} for name in login.values}
    path = cli.folder / "config.yaml"
    path.write_text(yaml.safe_dump({"targets": {"t": entry}}))
    target = config.load(path).resolve("t", {}, "kubernetes")

    assert {*target.secret_refs} == {*login.values}
    assert not {*target.secrets()} & {*login.values}


@pytest.mark.parametrize("login", LOGINS, ids=named)
def test_a_password_in_an_address_is_refused_and_not_repeated(
    cli: CommandLine, login: Login
) -> None:
    given = {name: value for name, value in login.options.items() if "127.0.0.1" in str(value)}
    secret = "Zx9Qw7Kp"
    for name, value in given.items():
        wrong = str(value).replace("127.0.0.1", f"u:{secret}@127.0.0.1")
        configured(
            cli, Login(login.module, {**login.options, name: wrong}, login.values), "file", {}
        )
        with pytest.raises(
            ConfigError, match=rf"{name}: expected .* credentials are options"
        ) as error:
            config.load(cli.config).resolve("t", {})
        assert secret not in str(error.value)
    assert given or "connection_string" in login.values


# --- wrong credentials ---


@pytest.mark.parametrize("login", often(SENT), ids=named)
def test_no_wrong_credential_is_shown_whatever_a_server_repeats(
    cli: CommandLine, echo: EchoServer, login: Login
) -> None:
    way = WAYS[SENT.index(login) % len(WAYS)]
    login = login.at(echo.port)
    words = configured(cli, login, way, cli.environment)
    pod = collector(cli.folder / "pod", login)

    done, shown = watched(cli, "insert", *INSERT, *words)

    assert done.code == 1
    assert list(cli.output.glob("*.json")), "the failed insert leaves a result"
    shown.assert_without(login.secrets)
    assert cli.leftovers() == []
    log = pod.log()
    assert '"failed"' in log
    Shown(log, "").assert_without(login.secrets)


@pytest.mark.parametrize("login", often(READ), ids=named)
def test_no_wrong_certificate_is_shown(tmp_path: Path, echo: EchoServer, login: Login) -> None:
    login = login.at(echo.port)
    log = collector(tmp_path / "pod", login).log()

    assert '"failed"' in log
    Shown(log, "").assert_without(login.secrets)


def collector(folder: Path, login: Login) -> Pod:
    """A collector in a pod that only looks at the database."""
    spec = run_spec(work=Work.CHECK, module=login.module, options=dict(login.options), workers=())
    return Pod(folder, spec.model_dump_json(), login.values, "collector", "--port=0")


def test_a_mounted_file_that_is_no_option_is_named_and_not_repeated(tmp_path: Path) -> None:
    login = logins("elasticsearch")[0]
    values = {**login.values, "password.bak": secret_of("mistyped")}
    log = collector(tmp_path / "pod", Login(login.module, login.options, values)).log()

    assert "module 'elasticsearch': password.bak: Extra inputs are not permitted" in log
    assert "Traceback" not in log
    Shown(log, "").assert_without([*login.secrets, secret_of("mistyped")])


# --- right credentials ---


@pytest.mark.timeout(600)
@pytest.mark.parametrize("server_name", combined(SERVED, often=[("postgres",)]))
def test_no_right_credential_is_shown(
    cli: CommandLine, server_name: str, server_options: dict[str, Any]
) -> None:
    model = database_class(SERVED[server_name]).options_model
    values = {name: server_options[name] for name in model.credentials() if name in server_options}
    options = {name: value for name, value in server_options.items() if name not in values}
    login = Login(SERVED[server_name], options, values)
    secrets = [value for name, value in values.items() if name != "connection_string"]
    assert secrets
    words = configured(cli, login, WAYS[[*SERVED].index(server_name) % len(WAYS)], cli.environment)

    for command, more in (("insert", INSERT), ("query", INSERT[:1])):
        done, shown = watched(cli, command, *more, *words)
        assert done.code == 0, done.err
        shown.assert_without(secrets)
    verdicts = [run["outcome"]["verdict"]["status"] for run in cli.results()[0]["runs"]]
    assert verdicts == ["verified"]
    assert cli.leftovers() == []

    logs = pods_of_insert(cli.folder, login)
    _, outcome = parse_event(logs[0].splitlines()[-1])
    assert isinstance(outcome, Outcome)
    assert outcome.status == "done"
    Shown("\n".join(logs), "").assert_without(secrets)


def pods_of_insert(folder: Path, login: Login) -> list[str]:
    """Insert with a collector and a worker in pods; return what both have written."""
    secrets = login.model().secrets()
    plain = login.model().model_dump(mode="json")
    spec = run_spec(
        module=login.module,
        options={name: value for name, value in plain.items() if name not in secrets},
        workers=(InsertTask(timed=(lane_range(0, 0, 10),)),),
    ).model_dump_json()
    port = free_port()
    url = f"--collector=http://127.0.0.1:{port}"
    pods = [
        Pod(folder / "collector", spec, login.values, "collector", f"--port={port}"),
        Pod(folder / "worker", spec, login.values, "worker", url, "--index=0"),
    ]
    return [pod.log() for pod in pods]
