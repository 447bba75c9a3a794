"""`--metrics-out URL`: a server gets every sample; one that fails costs a warning, and no time."""

import time

import pytest
from prometheus_client.parser import text_string_to_metric_families

from iotbench.output.live import push
from iotbench.output.live.metrics import SweepMetrics, problem_with
from iotbench.output.live.push import MetricsPush, TextMetricsSender
from simulator.redaction import hide_urls
from tests.unit.output.live.receivers import receiving
from tests.unit.output.live.sweeps import RESULT, moments, sample


@pytest.fixture(autouse=True)
def quickly(monkeypatch):
    monkeypatch.setattr(push, "_EVERY_S", 0.05)


def pushed(url, samples, pause_s=0.0):
    with MetricsPush(TextMetricsSender(url)) as writer:
        output = SweepMetrics(writer, RESULT)
        for moment in moments([samples]):
            output.take(moment)
            time.sleep(pause_s)


def rows_in(bodies):
    """Every value of the rows, with its time."""
    return [
        (each.value, each.timestamp)
        for received in bodies
        for family in text_string_to_metric_families(received.body.decode())
        for each in family.samples
        if each.name == "iotbench_rows_total"
    ]


def test_every_sample_arrives_once_with_its_time():
    with receiving(204) as (url, bodies):
        samples = [sample(1000.0 + n, rows=n) for n in range(5)]
        pushed(f"{url}/api/v1/import/prometheus", samples, 0.03)

    found = rows_in(bodies)
    assert [value for value, _ in found] == [0, 1, 2, 3, 4]
    assert all(at is not None for _, at in found)


def test_a_pushgateway_gets_the_newest_values_without_times():
    with receiving(200) as (url, bodies):
        pushed(f"{url}/metrics/job/bench", [sample(1000.0 + n, rows=n) for n in range(5)])

    assert rows_in(bodies)[-1] == (4, None)
    assert {at for _, at in rows_in(bodies)} == {None}


def test_what_a_server_has_missed_is_sent_again(capsys):
    with receiving(503, 503, 204) as (url, bodies):
        pushed(url, [sample(1000.0, rows=1), sample(1001.0, rows=2)], 0.2)

    assert [value for value, _ in rows_in(bodies[2:])] == [1, 2]  # the first two were not taken
    warning = f"warning: --metrics-out: {url}: status 503; the run goes on\n"
    assert capsys.readouterr().err == warning


def test_a_server_that_refuses_is_asked_once_and_named_with_its_answer(capsys):
    with receiving(400) as (url, bodies):
        pushed(url, [sample(1000.0 + n) for n in range(4)], 0.1)

    assert len(bodies) == 1
    assert capsys.readouterr().err == (
        f"warning: --metrics-out: {url}: refused with status 400: a b c; the run goes on\n"
    )


def test_nobody_there_is_one_warning_and_takes_no_time(capsys):
    began_s = time.monotonic()
    pushed("http://127.0.0.1:9", [sample(1000.0 + n) for n in range(5)], 0.05)

    assert time.monotonic() - began_s < 3
    assert capsys.readouterr().err == (
        "warning: --metrics-out: http://127.0.0.1:9: no answer (ConnectionError); the run goes on\n"
        "warning: --metrics-out: http://127.0.0.1:9: the last 5 samples were not sent\n"
    )


def test_a_warning_shows_neither_password_nor_query():
    assert hide_urls("https://u:secret@h:8428/a?token=secret") == "https://***@h:8428/a?***"


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("http://host:8428/api/v1/import/prometheus", ""),
        ("https://[::1]:9091/metrics/job/x", ""),
        ("http://u:secret@host/", "put it into ~/.netrc"),
        ("http://host:99999/", "expected a file, or a URL"),
        ("http://", "expected a file, or a URL"),
        ("ftp://host/", "expected a file, or a URL"),
    ],
)
def test_a_url_that_cannot_work_is_refused(url, problem):
    found = problem_with(url)

    assert (problem in found) if problem else not found
    assert "secret" not in found
