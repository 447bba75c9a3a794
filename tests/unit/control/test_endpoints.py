"""The HTTP of the collector: every request gets a documented status and a reason."""

import pytest

from simulator.control.workers import coordinator, endpoints
from tests.unit.control.run import (
    REGISTRATION,
    TOKEN,
    Http,
    gate_of,
    insert_report,
    insert_spec,
    json_bytes,
    uid_of,
    within_a_moment,
)

PATHS = sorted(endpoints.KINDS)
BEAT = json_bytes({"index": 0, "phase": "start"})


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch):
    monkeypatch.setattr(coordinator, "hold_s", lambda _: 0.0)


@pytest.fixture
def gate():
    """An insert run with one worker, which has registered."""
    made = gate_of(insert_spec(1))
    assert asked(made, "/register", json_bytes({"index": 0, **REGISTRATION}))[0] == 200
    return made


def asked(gate, path, body=b"{}", **request):
    parts = [body] if isinstance(body, bytes) else body
    return within_a_moment(Http(gate).ask(path, parts, **request))


@pytest.mark.parametrize("token", [None, TOKEN[:-1], TOKEN + "x", "ü", "ü".encode("latin-1")])
def test_without_the_token_of_the_run_nothing_is_read(gate, token):
    for path in PATHS:
        found = asked(gate, path, b"[" * 100_000, token=token)
        assert found == (403, "the token is not that of this run"), path


@pytest.mark.parametrize("uid", ["", uid_of(0)[:-1], uid_of(0).upper() + "A", "ü"])
def test_a_sender_has_a_uid(gate, uid):
    status, text = asked(gate, "/heartbeat", BEAT, uid=uid)

    assert (status, text[:35]) == (400, "expected a header X-Worker-Uid that")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "Invalid JSON: EOF"),
        (b'{"index": "\xe9"}', "Invalid JSON: "),
        (b'{"index": "\\ud800"}', "Invalid JSON: "),
        (b'{"index": ' + b'{"a":' * 2000, "Invalid JSON: recursion limit exceeded"),
        (b'{"index": ' + b"1" * 5000 + b"}", "Invalid JSON: number out of range"),
        (b"null", "Input should be an object"),
        (b"{}", "index: Field required"),
        (b'{"index": true}', "index: Input should be a valid integer"),
        (b'{"index": -1}', "index: Input should be greater than or equal to 0"),
        (b'{"index": 1208925819614629174706176}', "index: Input should be less than 1048576"),
        (b"{%s}" % b",".join(b'"%d":0' % key for key in range(1000)), " problems"),
    ],
    ids=range(11),
)
def test_what_is_no_message_is_refused_with_the_reason(gate, body, reason):
    for path in PATHS:
        status, text = asked(gate, path, body)

        assert status == 400, path
        assert reason in text, path
        assert len(text) <= 530, path


def test_a_long_error_is_shortened_so_that_its_report_arrives(gate):
    report = insert_report(0, error="x" * 50_000, rows=0, rows_by_second=())

    assert within_a_moment(Http(gate).post("/report", report))[0] == 200
    assert gate.run.reports[0].error == "x" * 9_997 + "..."


@pytest.mark.parametrize("path", ["/", "/register/", "/../report"])
def test_an_unknown_path_is_not_found(gate, path):
    assert asked(gate, path)[0] == 404


@pytest.mark.parametrize("method", ["GET", "BREW"])
def test_every_request_is_a_post(gate, method):
    assert {asked(gate, path, method=method)[0] for path in PATHS} == {405}


def test_a_slow_body_is_waited_for_only_so_long(gate, monkeypatch):
    monkeypatch.setattr(endpoints, "_BODY_S", 0.05)

    monkeypatch.setattr(endpoints, "_DROP_S", 0.05)

    assert asked(gate, "/heartbeat", None)[0] == 408
    assert asked(gate, "/heartbeat", None, token="wrong")[0] == 403


def test_a_refused_request_closes_its_connection_and_an_admitted_one_does_not(gate):
    http = Http(gate)
    within_a_moment(http.ask("/heartbeat", [BEAT]))
    kept = http.headers
    within_a_moment(http.ask("/heartbeat", [BEAT], token="x"))

    assert b"connection" not in kept
    assert http.headers[b"connection"] == b"close"


def test_a_message_that_does_not_belong_to_the_run_is_a_conflict(gate):
    status, text = asked(gate, "/report", json_bytes({"index": 0, "rows": 99}))

    assert (status, text) == (409, "worker 0: reports 99 rows of 130, and no error")
