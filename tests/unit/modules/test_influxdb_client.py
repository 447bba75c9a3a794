"""The vendor's client as the module `influxdb` uses it: TLS, and its errors."""

import socket
import subprocess
import sys

import pytest
import trustme

from simulator.errors import SetupError
from simulator.modules.influxdb.database import Influxdb, InfluxOptions, open_client
from simulator.modules.shared.http.client import NoAnswer, NotConnected, Refused
from tests.standins.web import Reset, Response, Web


def client(url, **options):
    return open_client(InfluxOptions(url=url, **options), org="o", token="t0k3n")


def answer(request):
    assert request.headers["Authorization"] == "Token t0k3n"
    if request.path.startswith("/api/v2/buckets"):
        return Response(200, b'{"buckets": []}', {"Content-Type": "application/json"})
    return Response(204, headers={"X-Influxdb-Version": "v2.7.12"})


@pytest.fixture
def authority():
    return trustme.CA()


@pytest.mark.parametrize("how", ["ca", "ca_file", "insecure"])
def test_a_trusted_server_is_reached_by_tls(authority, how, tmp_path):
    pem = authority.cert_pem.bytes()
    (tmp_path / "ca.crt").write_bytes(pem)
    options = {
        "ca": {"ca": pem.decode()},
        "ca_file": {"ca_file": str(tmp_path / "ca.crt")},
        "insecure": {"insecure": True},
    }[how]
    with Web(answer, authority.issue_cert("localhost")) as web:
        reached = client(web.url, **options)
        reached.check_access()
        assert reached.version() == "2.7.12"
        reached.close()


@pytest.mark.parametrize(
    ("certified", "problem"),
    [
        (True, "name its authority's certificate in ca_file, or set insecure=true"),
        (False, "does not use TLS there"),
    ],
)
def test_a_server_without_a_trusted_certificate(authority, certified, problem):
    issued = authority.issue_cert("localhost") if certified else None
    with Web(answer, issued) as web, pytest.raises(NotConnected, match=problem) as caught:
        client(web.url.replace("http:", "https:")).check_access()
    assert caught.value.permanent


def test_a_server_that_does_not_answer_in_time():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(NoAnswer, match=r"no complete answer .*raise the target's timeout_s"):
            client(url, timeout_s=0.2).check_access()


def test_a_connection_that_is_lost_before_the_answer_or_within_it():
    def reset(_):
        raise Reset

    with Web(reset) as web, pytest.raises(NoAnswer, match="no complete answer"):
        client(web.url).check_access()
    with Web(lambda _: Response(200, b"#datatype,string\n" * 1000, truncated=True)) as web:
        pieces = client(web.url).flux("buckets()")
        with pytest.raises(NoAnswer, match="no complete answer"):
            list(pieces)


def test_a_refusal_has_the_servers_words_and_no_token():
    refusal = b'{"code": "unauthorized", "message": "unauthorized access"}'
    with Web(lambda _: Response(401, refusal)) as web:
        with pytest.raises(Refused) as caught:
            client(web.url).check_access()
        assert (caught.value.status, caught.value.words) == (401, "unauthorized access")
        with pytest.raises(
            SetupError, match=r"401: unauthorized access; .*token must be"
        ) as reported:
            Influxdb(InfluxOptions(url=web.url, token="t0k3n")).connect()
    assert "t0k3n" not in str(reported.value)


def test_importing_the_module_does_not_import_the_client():
    code = (
        "import sys, simulator.modules.influxdb.database, simulator.modules.influxdb1\n"
        "sys.exit('influxdb_client' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
