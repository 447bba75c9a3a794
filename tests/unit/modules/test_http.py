"""HTTP as every module uses it, against a real web server."""

import socket
import threading
import time
from datetime import UTC, datetime, timedelta

import pytest
import trustme
from pydantic import ValidationError

from simulator.errors import SetupError
from simulator.modules.contract import Failure, RowCountMismatch, expect_rows
from simulator.modules.shared.http.client import (
    Http,
    HttpError,
    HttpOptions,
    NoAnswer,
    NotConnected,
    Refused,
    basic,
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


def failed(http, kind, body=b"rows"):
    with pytest.raises(kind) as caught:
        http.request("POST", "/write", body)
    return caught.value


@pytest.mark.parametrize(
    ("status", "meaning"),
    [
        (307, Failure.FATAL),
        (400, Failure.FATAL),
        (401, Failure.FATAL),
        (404, Failure.FATAL),
        (413, Failure.FATAL),
        (429, Failure.NOT_APPLIED),
        (500, Failure.UNKNOWN),
        (502, Failure.UNKNOWN),
        (503, Failure.NOT_APPLIED),
        (504, Failure.UNKNOWN),
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


CREDENTIALS = "; check the credentials among the target's options"


@pytest.mark.parametrize(
    ("body", "credentials"),
    [
        (b'{"error":{"message":"Missing \'DML\' privilege for user \'ann\'"}}', True),
        (b'{"message":"token may not write to the bucket"}', True),
        (b"", True),
        (b'{"error":{"message":"blocked by: [FORBIDDEN/12/flood-stage watermark];"}}', False),
        (b'{"error":{"reason":"index [x] blocked by: [FORBIDDEN/8/index write (api)];"}}', False),
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


@pytest.mark.parametrize("stored", [0, 2, 4])
def test_an_acknowledgement_of_another_number_of_rows_leaves_them_uncertain(stored):
    expect_rows(3, 3)
    with pytest.raises(RowCountMismatch, match=f"acknowledged {stored} of 3 rows") as caught:
        expect_rows(stored, 3)
    assert classify(caught.value) is Failure.UNKNOWN


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


def test_a_server_that_stops_reading_has_not_answered(connect):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def take_a_little():
            taken, _ = listening.accept()
            taken.recv(100)
            taken.close()

        thread = threading.Thread(target=take_a_little)
        thread.start()
        port = listening.getsockname()[1]
        error = failed(connect(f"http://127.0.0.1:{port}"), NoAnswer, bytes(50_000_000))
        thread.join()

    assert classify(error) is Failure.UNKNOWN


def test_the_answer_of_a_server_that_closes_before_the_body_is_read(connect):
    closed = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def refuse():
            taken, _ = listening.accept()
            taken.recv(10)  # the rest stays unread, so that closing resets the connection
            taken.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\nPort 9000 speaks another protocol")
            taken.close()
            closed.set()

        def body():
            closed.wait(5)
            yield b"rows"
            yield b"rows"

        thread = threading.Thread(target=refuse)
        thread.start()
        http = connect(f"http://127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(HttpError, match="Port 9000 speaks another protocol"):
            http.request("POST", "/", body())
        thread.join()


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


def test_a_server_that_speaks_another_protocol_has_not_answered(connect):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def greet():
            taken, _ = listening.accept()
            taken.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            taken.recv(1000)
            taken.close()

        thread = threading.Thread(target=greet)
        thread.start()
        error = failed(connect(f"http://127.0.0.1:{listening.getsockname()[1]}"), NoAnswer)
        thread.join()

    assert classify(error) is Failure.UNKNOWN


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


def test_a_certificate_of_a_private_authority(serve, connect, authority, tmp_path):
    web = serve(OK, issued=authority.issue_cert("localhost"))
    file = tmp_path / "ca.crt"
    file.write_text(pem(authority))

    assert connect(web.url, ca_file=str(file)).request("GET", "/").body == b"fine"
    assert connect(web.url, ca=pem(authority)).request("GET", "/").body == b"fine"


@pytest.mark.parametrize("trusted", [None, pem(trustme.CA())], ids=["the system's", "another"])
def test_a_certificate_that_is_not_trusted(serve, connect, authority, trusted):
    web = serve(OK, issued=authority.issue_cert("localhost"))
    error = failed(connect(web.url, ca=trusted), NotConnected)

    assert "certificate" in str(error)
    assert "; name its authority's certificate in ca_file, or set insecure=true" in str(error)
    assert classify(error) is Failure.FATAL
    assert web.requests == []


def test_a_certificate_for_another_host(serve, connect, authority):
    web = serve(OK, issued=authority.issue_cert("localhost"))
    url = web.url.replace("localhost", "127.0.0.1")
    error = failed(connect(url, ca=pem(authority)), NotConnected)

    assert "127.0.0.1" in str(error)
    assert "; connect by a name in the server's certificate" in str(error)
    assert classify(error) is Failure.FATAL


@pytest.mark.parametrize(
    ("valid_from_days", "words"),
    [
        (-2, "certificate has expired; renew the server's certificate, or correct the clock of"),
        (1, "certificate is not yet valid; correct the clock of this machine, or of the one that"),
    ],
)
def test_a_certificate_that_is_not_valid_now(serve, connect, authority, valid_from_days, words):
    begin = datetime.now(UTC) + timedelta(days=valid_from_days)
    issued = authority.issue_cert("localhost", not_before=begin, not_after=begin + timedelta(1))
    error = failed(connect(serve(OK, issued=issued).url, ca=pem(authority)), NotConnected)

    assert words in str(error)
    assert classify(error) is Failure.FATAL


def test_any_certificate_is_accepted_only_with_insecure(serve, connect, authority):
    web = serve(OK, issued=authority.issue_cert("localhost"))
    url = web.url.replace("localhost", "127.0.0.1")

    assert connect(url, insecure=True).request("GET", "/").body == b"fine"


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


def test_a_secret_is_redacted_however_its_line_end_is_shown():
    secret = "hunter2\n"
    options = HttpOptions(url="http://h", ca=secret)
    assert options.redact(f"no certificate: {secret!r}") == "no certificate: '***\\n'"


# --- options and texts ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host:8086",
        "ftp://host",
        "http://",
        "http://h:port",
        "http://h:70000",
        "http://[::1",
        "http://a b:1",
        "http://h\n:1",
        "/x",
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
        (b"", ""),
    ],
)
def test_the_words_of_a_refusal(body, message):
    assert words(body) == message


def test_a_user_with_a_password_in_a_header():
    assert basic("Aladdin", "open sesame") == "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
