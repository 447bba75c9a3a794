"""HTTP as every module uses it, against a real web server."""

import socket
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
import trustme
from pydantic import ValidationError

from simulator.errors import SetupError
from simulator.modules.contract import Failure
from simulator.modules.shared.http.client import (
    Http,
    HttpError,
    HttpOptions,
    NoAnswer,
    NotConnected,
    Refused,
    classify,
    lines,
    words,
)
from tests.standins.web import Reset, Response, Web

OK = Response(200, b"fine")


@pytest.fixture
def serve():
    """Start a server with this answer, and return it."""
    started = []

    def start(answer, **kwargs):
        web = Web(answer if callable(answer) else lambda _: answer, **kwargs)
        started.append(web.__enter__())
        return web

    yield start
    for web in started:
        web.__exit__()


@pytest.fixture
def connect():
    """Return a client for this address."""
    made = []

    def make(url, headers=None, **options):
        http = Http(HttpOptions(url=url, **{"timeout_s": 5, **options}), headers)
        made.append(http)
        return http

    yield make
    for http in made:
        http.close()


@pytest.fixture
def listen():
    """Let a function answer the first connection to a port, and return the URL."""
    opened, threads = [], []

    def start(answer):
        listening = socket.create_server(("127.0.0.1", 0))
        opened.append(listening)

        def accept():
            taken, _ = listening.accept()
            with taken:
                answer(taken)

        threads.append(threading.Thread(target=accept))
        threads[-1].start()
        return f"http://127.0.0.1:{listening.getsockname()[1]}"

    yield start
    for thread in threads:
        thread.join()
    for listening in opened:
        listening.close()


def greet(taken):
    """Answer in another protocol."""
    taken.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
    taken.recv(1000)


def failed(http, kind, body=b"rows"):
    with pytest.raises(kind) as caught:
        http.request("POST", "/write", body)
    return caught.value


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        (307, Failure.FATAL),
        (400, Failure.FATAL),
        (429, Failure.NOT_APPLIED),
        (500, Failure.UNKNOWN),
        (503, Failure.NOT_APPLIED),
    ],
)
def test_the_meaning_of_each_status_for_the_rows(serve, connect, status, meaning):
    statuses = iter([status, 204])
    web = serve(lambda _: Response(next(statuses), b'{"message": "so it is"}'))
    http = connect(web.url)
    error = failed(http, Refused)

    assert (error.status, error.words) == (status, "so it is")
    assert f"{web.url} answered {status}: so it is" in str(error)
    assert classify(error) is meaning
    assert http.alive
    assert http.request("POST", "/write", b"again").body == b""
    assert len({request.client for request in web.requests}) == 1


CREDENTIALS = "; check the credentials"


@pytest.mark.parametrize(
    ("body", "credentials"),
    [
        (b'{"error":{"message":"Missing \'DML\' privilege for user \'ann\'"}}', True),
        (b'{"message":"token may not write to the bucket"}', True),
        (b"", True),
        (b'{"error":{"message":"blocked by: [FORBIDDEN/12/flood-stage watermark];"}}', False),
        (b'{"errorMessage":"server is in read-only mode"}', False),
    ],
)
def test_a_403_blames_credentials_only_where_the_server_does(serve, connect, body, credentials):
    error = failed(connect(serve(Response(403, body)).url), Refused)

    assert f"answered 403: {error.words}" in str(error)
    assert error.words
    assert (CREDENTIALS in str(error)) is credentials
    assert (error.text == str(error)) is not credentials
    assert classify(error) is Failure.FATAL


def test_a_host_that_accepts_no_connection(connect, monkeypatch):
    monkeypatch.setattr("simulator.modules.shared.http.client.CONNECT_S", 0.1)
    with socket.socket() as full:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [socket.socket() for _ in range(3)]
        for other in waiting:  # nobody accepts, so the queue stays full
            other.settimeout(0)
            other.connect_ex(full.getsockname())
        error = failed(connect(f"http://127.0.0.1:{full.getsockname()[1]}"), NotConnected)
        for other in waiting:
            other.close()

    assert "no connection within 0.1 s" in str(error)
    assert classify(error) is Failure.NOT_APPLIED


def test_a_connection_that_is_reset_after_the_request(serve, connect):
    def reset(_):
        raise Reset

    http = connect(serve(reset).url)
    error = failed(http, NoAnswer)

    assert "the connection was lost before an answer came" in str(error)
    assert classify(error) is Failure.UNKNOWN
    assert not http.alive


@pytest.mark.parametrize("answer", [lambda taken: taken.recv(100), greet])
def test_a_server_that_stops_reading_or_speaks_another_protocol(listen, connect, answer):
    error = failed(connect(listen(answer)), NoAnswer, bytes(50_000_000))

    assert classify(error) is Failure.UNKNOWN


def test_the_answer_of_a_server_that_closes_before_the_body_is_read(listen, connect):
    closed = threading.Event()

    def refuse(taken):
        taken.recv(10)  # the rest stays unread, so that closing resets the connection
        taken.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nPort 9000 speaks another protocol")
        taken.close()
        closed.set()

    def body():
        closed.wait(5)
        yield b"rows"
        yield b"rows"

    with pytest.raises(HttpError, match="Port 9000 speaks another protocol"):
        connect(listen(refuse)).request("POST", "/", body())


def test_a_connection_that_the_system_gives_up_is_not_a_late_answer(connect, monkeypatch):
    """As when the server's node is gone; here nobody reads, which the system also waits for."""
    soon = [(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, 300)]
    monkeypatch.setattr("simulator.modules.shared.http.client.socket_options", lambda: soon)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        http = connect(f"http://127.0.0.1:{listening.getsockname()[1]}", timeout_s=20)
        error = failed(http, NoAnswer, bytes(50_000_000))

    assert "the connection was lost before an answer came" in str(error)
    assert "timed out" in str(error)
    assert "within 20 s" not in str(error)
    assert classify(error) is Failure.UNKNOWN


def test_a_query_may_take_longer_than_a_write(serve, connect):
    def slow(_):
        time.sleep(0.3)
        return OK

    http = connect(serve(slow).url, timeout_s=0.05)

    assert http.request("GET", "/query", timeout_s=5).body == b"fine"
    failed(http, NoAnswer)


def test_half_an_answer_is_an_error(serve, connect):
    http = connect(serve(Response(200, bytes(1000), truncated=True)).url)

    assert classify(failed(http, NoAnswer)) is Failure.UNKNOWN
    with pytest.raises(NoAnswer):
        list(http.stream("GET", "/rows"))


def test_an_idle_connection_that_the_server_closed_is_opened_again(serve, connect):
    web = serve(Response(200, b"x", close=True))
    http = connect(web.url)
    for _ in range(3):
        assert http.request("POST", "/", b"y").body == b"x"
        time.sleep(0.05)

    assert len({request.client for request in web.requests}) == 3
    assert http.alive


def test_a_long_answer_arrives_in_pieces(serve, connect):
    web = serve(Response(200, b"a line\n" * 100_000))
    http = connect(web.url)
    pieces = list(http.stream("GET", "/"))
    assert len(pieces) > 5
    assert list(lines(pieces)) == ["a line\n"] * 100_000

    unfinished = http.stream("GET", "/")
    next(unfinished)
    unfinished.close()
    assert len(http.request("GET", "/").body) == 700_000
    assert len({request.client for request in web.requests}) == 2


def test_lines_are_complete_wherever_the_pieces_are_cut():
    text = "ein\nZürich\r\n\n東京".encode()
    for width in range(1, len(text) + 1):
        pieces = [text[start : start + width] for start in range(0, len(text), width)]
        assert list(lines(pieces)) == ["ein\n", "Zürich\r\n", "\n", "東京"]


# --- TLS -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


def pem(authority):
    return authority.cert_pem.bytes().decode()


@pytest.mark.parametrize("how", ["ca", "ca_file", "insecure"])
def test_a_trusted_server(serve, connect, authority, how, tmp_path):
    url = serve(OK, issued=authority.issue_cert("localhost")).url
    file = tmp_path / "ca.crt"
    file.write_text(pem(authority))
    if how == "insecure":
        http = connect(url.replace("localhost", "127.0.0.1"), insecure=True)
    else:
        http = connect(url, **{how: {"ca": pem(authority), "ca_file": str(file)}[how]})

    assert http.request("GET", "/").body == b"fine"


NOW, DAY = datetime.now(UTC), timedelta(days=1)
PAST = {"not_before": NOW - 2 * DAY, "not_after": NOW - DAY}


@pytest.mark.parametrize(
    ("valid", "options", "remedy"),
    [
        ({}, {"ca": None}, "; name its authority's certificate in ca_file, or set insecure=true"),
        ({}, {"url": "https://127.0.0.1"}, "; connect by a name in the server's certificate"),
        (PAST, {}, "certificate has expired; renew the server's certificate, or correct the clock"),
    ],
)
def test_a_certificate_is_refused_with_a_remedy(serve, connect, valid, options, remedy):
    authority = trustme.CA()
    web = serve(OK, issued=authority.issue_cert("localhost", **valid))
    given = {"url": "https://localhost", "ca": pem(authority), **options}
    given["url"] += f":{web.port}"
    error = failed(connect(**given), NotConnected)

    assert "certificate" in str(error)
    assert remedy in str(error)
    assert classify(error) is Failure.FATAL
    assert web.requests == []


def test_https_to_a_server_without_tls(serve, connect):
    web = serve(OK)
    error = failed(connect(web.url.replace("http:", "https:")), NotConnected)

    assert "the server does not use TLS there; try http://" in str(error)
    assert classify(error) is Failure.FATAL


@pytest.mark.parametrize("given", [{"ca_file": "/nowhere/ca.crt"}, {"ca": "no certificate"}])
def test_an_authority_that_cannot_be_read_is_named(given):
    with pytest.raises(SetupError, match=r"^ca.*expected a certificate in PEM"):
        Http(HttpOptions(url="https://h", **given))


@pytest.mark.parametrize("token", ["hunter2\n", "hünter2", "hunter2\r\nX-Other: 1"])
def test_a_credential_that_no_header_can_hold_is_refused_and_not_shown(token):
    with pytest.raises(
        SetupError, match="header Authorization: expected printable ASCII"
    ) as caught:
        Http(HttpOptions(url="http://h"), {"Authorization": f"Token {token}"})
    assert "nter2" not in str(caught.value)


# --- options and texts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "host:8086",
        "ftp://host",
        "http://",
        "http://h:port",
        "http://[::1",
        "http://a b:1",
        "http://h\n:1",
        "http://h?password=hunter2",
        "http://h/#hunter2",
    ],
)
def test_an_invalid_url_is_refused_and_not_shown(url):
    with pytest.raises(ValidationError, match="http://host:port") as caught:
        HttpOptions(url=url)
    assert "hunter2" not in str(caught.value)


def test_an_ipv6_address_is_reached(connect):
    with socket.create_server(("::1", 0), family=socket.AF_INET6) as listening:
        http = connect(f"http://[::1]:{listening.getsockname()[1]}", timeout_s=0.05)
        failed(http, NoAnswer)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"code":"invalid","message":"bad line"}', "bad line"),
        (b'{"error":"not found"}', "not found"),
        (b'{"error":{"root_cause":[],"type":"x","reason":"no index"},"status":404}', "no index"),
        (b"<html>\n<h1>Gone</h1>", "<html> <h1>Gone</h1>"),
        (b'{"code":7}', '{"code":7}'),
        (b"\xff", "\ufffd"),
    ],
)
def test_the_words_of_a_refusal(body, message):
    assert words(body) == message
