"""A credential is seen by the database only, whatever way it came in and whatever goes wrong.

The server of these tests repeats all that it receives, as hostile or careless servers do.
"""

import socket
import threading
from contextlib import suppress
from urllib.parse import quote

import psutil
import pytest
import yaml

from simulator.modules import MODULES, database_class
from tests.integration.conftest import CommandLine
from tests.secret_forms import forms_in

WITH_CREDENTIALS = [name for name in MODULES if database_class(name).options_model.credentials()]
WAYS = ("file", "environment", "extra-option")
EXCLUDED = {"elasticsearch": "api_key", "splunk": "search_token"}
"""Credentials that go with no password."""
LONGEST_S = 60


def secret_of(option: str) -> str:
    """A password in which every escaping changes something."""
    return f"Zx9+{option}/%7'w\"Q\\k=<&>"


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
def echo():
    server = EchoServer()
    yield server
    server.close()


def options_of(module: str, port: int) -> dict:
    """Options that lead to the server; `secrets_of` adds the credentials."""
    address = {
        "url": f"http://127.0.0.1:{port}",
        "search_url": f"http://127.0.0.1:{port}",
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
    }
    known = database_class(module).options_model.model_fields
    return {name: value for name, value in address.items() if name in known}


def secrets_of(module: str, port: int) -> tuple[dict[str, str], list[str]]:
    """The value of each credential option, and the secrets in them."""
    values, secrets = {}, []
    for option in database_class(module).options_model.credentials():
        if option in ("ca", EXCLUDED.get(module)):  # a certificate is public
            continue
        secret = values[option] = secret_of(option)
        if option == "connection_string":
            scheme = "mongodb" if module == "mongodb" else "postgresql"
            values[option] = f"{scheme}://u:{quote(secret, safe='')}@127.0.0.1:{port}/d"
        secrets.append(secret)
    return values, secrets


def seen_while_running(cli: CommandLine, command: str, *words: str) -> tuple[str, str]:
    """Run a command; return all that it wrote, and what the process list showed of its children."""
    process = cli.start(command, *words)
    watched, listed, done = psutil.Process(process.pid), set(), threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            with suppress(psutil.Error):
                for child in watched.children(recursive=True):
                    with suppress(psutil.Error):
                        listed.add(" ".join(child.cmdline()))

    threading.Thread(target=watch, daemon=True).start()
    finished = cli.finish(process, LONGEST_S)
    done.set()
    written = finished.out + finished.err
    for folder in (cli.output, cli.temporary, cli.state):
        for path in folder.rglob("*"):
            written += f"\n{path}"
            if path.is_file():
                written += path.read_bytes().decode(errors="replace")
    assert "error" in written.lower() or "failed" in written.lower()
    return written, "\n".join(listed)


@pytest.mark.parametrize("module", WITH_CREDENTIALS)
def test_no_credential_is_shown_whatever_a_server_repeats(cli, echo, module):
    way = WAYS[WITH_CREDENTIALS.index(module) % len(WAYS)]
    values, secrets = secrets_of(module, echo.port)
    entry = {"module": module, "runner": "local", **options_of(module, echo.port)}
    words = []
    for name, value in values.items():
        match way:
            case "file":
                entry[name] = value
            case "environment":
                entry[name] = f"${{SECRET_{name.upper()}}}"
                cli.environment[f"SECRET_{name.upper()}"] = value
            case "extra-option":
                words += ["--extra-option", f"{name}={value}"]
    cli.config = cli.folder / "c.yaml"
    cli.config.write_text(yaml.safe_dump({"targets": {"t": entry}}))
    insert = ("--target=t", "--workers=1", "--num-inserts=1", "--runs=1", *words)

    written, listed = seen_while_running(cli, "insert", *insert)

    assert list(cli.output.glob("*.json")), "the failed insert leaves a result"
    for secret in (*secrets, *values.values()):
        assert forms_in(written, secret) == []
        assert forms_in(listed, secret) == []
    assert cli.leftovers() == []


@pytest.mark.parametrize(
    "connection_string",
    [
        "host=127.0.0.1 port={port} user=u passwd={secret}",
        "PWD={secret};host=127.0.0.1",
        "postgresql://u:{secret}",
        "host=127.0.0.1 port={port} {secret}",
        "{secret}",
        "postgresql://u:{secret}@127.0.0.1:{port},127.0.0.1:1/d",
    ],
)
def test_a_connection_string_that_no_driver_can_parse_is_not_repeated(cli, echo, connection_string):
    secret = "Zx9Qw7Kp"
    given = connection_string.format(port=echo.port, secret=secret)
    cli.config = cli.folder / "c.yaml"
    entry = {"module": "postgres", "runner": "local", "connection_string": given}
    cli.config.write_text(yaml.safe_dump({"targets": {"t": entry}}))

    written, _ = seen_while_running(
        cli, "insert", "--target=t", "--workers=1", "--num-inserts=1", "--runs=1"
    )

    assert forms_in(written, secret) == []
