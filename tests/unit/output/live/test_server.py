"""`--ui`: every browser gets every message, late ones too; nobody else reads or holds anything."""

import http.client
import json
import re
import socket
import threading
import time

import pytest

from iotbench.output.live import server
from iotbench.output.live.address import Address
from iotbench.output.live.outputs import Outputs
from iotbench.output.live.server import LivePage
from simulator.errors import ConfigError
from tests.unit.output.live.sweeps import RESULT, moments, sample

KINDS = ["sweep", "phase", "sample", "sample", "ended", "over"]


@pytest.fixture
def page(capsys):
    with LivePage(Address("127.0.0.1", 0), RESULT, runs=1) as found:
        (found.url,) = re.findall(r"http://\S+", capsys.readouterr().err)
        yield found


def connected(page):
    return http.client.HTTPConnection(page.url.split("/")[2], timeout=10)


def get(page, path, **headers):
    connection = connected(page)
    connection.request("GET", path, headers={"Connection": "close", **headers})
    return connection.getresponse()


def messages(response):
    """The messages of a stream, once it has ended."""
    lines = response.read().decode().splitlines()
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data")]


def fill(page):
    for moment in moments([[sample(1000.0), sample(1001.0, p99_ms=None)]]):
        page.take(moment)


def test_a_browser_gets_what_was_before_and_what_comes_later(page):
    fill(page)
    late = get(page, "/events")
    page.__exit__(None, None, None)
    found = messages(late)

    assert [each["kind"] for each in found] == KINDS
    assert (found[0]["target"], found[2]["per_s"], found[3]["p99_ms"]) == ("lite", 9.5, None)
    assert found[4]["text"] == "50 rows/s, verified"
    assert found[5]["status"] == "done"


def test_a_browser_that_lost_the_connection_goes_on_after_the_last_message(page):
    fill(page)
    again = get(page, "/events", **{"Last-Event-ID": "2"})
    page.__exit__(None, None, None)

    assert [each["kind"] for each in messages(again)] == KINDS[3:]


def test_the_end_does_not_wait_for_a_browser_that_reads_nothing(page):
    idle = socket.create_connection(("127.0.0.1", int(page.url.split(":")[2].strip("/"))))
    idle.sendall(b"GET /events HTTP/1.0\r\nHost: localhost\r\n\r\n")
    time.sleep(0.2)
    for _ in range(400):
        fill(page)
    began_s = time.monotonic()
    page.__exit__(None, None, None)

    assert time.monotonic() - began_s < 3
    idle.close()


def test_messages_are_bounded_for_late_browsers(page):
    for number in range(server._KEPT + 5):
        page._messages.add({"number": number})
    late = get(page, "/events")
    kept = [late.readline() + late.readline() + late.readline() for _ in range(server._KEPT + 1)]
    page.__exit__(None, None, None)

    assert json.loads(kept[0].splitlines()[1].removeprefix(b"data: "))["kind"] == "sweep"
    assert len({*kept}) == server._KEPT + 1
    assert [each["kind"] for each in messages(late)] == ["over"]


def test_the_page_loads_nothing_from_elsewhere_and_runs_no_foreign_script(page):
    response = get(page, "/")
    text, policy = response.read().decode(), response.getheader("Content-Security-Policy")
    nonce = re.search(r"script-src 'nonce-([^']+)'", policy)[1]

    assert f'<script nonce="{nonce}">' in text
    assert "default-src 'none'" in policy
    assert "NONCE" not in text
    assert "--paper" in text
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


@pytest.mark.parametrize(
    ("path", "host", "status"),
    [
        ("/", "localhost", 200),
        ("/", "127.0.0.1:80", 200),
        ("/", "other.example", 403),
        ("/events", "other.example:8089", 403),
        ("/", "", 403),
        ("/../etc/passwd", "localhost", 404),
    ],
)
def test_only_the_page_is_served_and_only_by_a_name_of_this_machine(page, path, host, status):
    assert get(page, path, Host=host).status == status


def test_too_many_browsers_are_refused(page):
    answers = [get(page, "/events") for _ in range(server._MOST_CONNECTIONS)]
    assert [each.status for each in answers] == [200] * (server._MOST_CONNECTIONS - 1) + [503]
    for each in answers:
        each.close()


def test_a_port_in_use_is_a_problem_before_anything_starts():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = Address("127.0.0.1", taken.getsockname()[1])
        problems = []
        Outputs(ui=address).check(problems)

        (problem,) = problems
        assert problem.startswith(f"--ui: cannot listen on {address}: Address already in use; ")
        with pytest.raises(ConfigError, match="in use"):
            LivePage(address, RESULT, 1).__enter__()


def test_after_the_run_nothing_listens_and_no_thread_is_left(capsys):
    before = threading.active_count()
    with Outputs(ui=Address("127.0.0.1", 0)).open_all(RESULT, 1):
        (url,) = re.findall(r"http://\S+", capsys.readouterr().err)
        place = ("127.0.0.1", int(url.split(":")[2].strip("/")))
        socket.create_connection(place).close()

    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(place)
    deadline = time.monotonic() + 5
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before
