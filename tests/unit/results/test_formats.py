"""Result files of format 1 are read as if they were of format 2."""

import json

import pytest

from iotbench.results.formats import as_current
from iotbench.results.latency import latency_of
from iotbench.results.timed import time_query, together
from simulator.protocol.messages import QueryTimes


def test_the_current_format_and_what_is_no_result_stay_as_they_are():
    for content in (b"", b"{}", b'{"format_version": 2, "x": 1}', b'{"format_version": 1, "x'):
        assert as_current(content) == content


def test_the_durations_of_a_query_become_a_histogram():
    old = {"name": "q", "durations_s": [0.1, 0.2, 0.6], "answers": ["d"]}
    content = json.dumps({"format_version": 1, "runs": [{"queries": [old]}]}).encode()
    result = json.loads(as_current(content))
    (times,) = result["runs"][0]["queries"]
    part = time_query([QueryTimes(**times)])
    found, wait = part.metrics, latency_of(together([part]))

    assert result["format_version"] == 2
    assert (wait.sends, found.first_ms, found.client_share) == (3, 100.0, 0.0)
    assert found.avg_ms == pytest.approx(300)
    assert wait.max_ms == pytest.approx(600, rel=0.001)


@pytest.mark.parametrize("durations_s", [[], {}, [1e999], ["x"], 7, None, {"0": 1}, "abc"])
def test_damaged_durations_stay_as_they_are(durations_s):
    old = {"name": "q", "durations_s": durations_s, "answers": []}
    content = json.dumps({"format_version": 1, "queries": [old]}).encode()

    assert as_current(content) == content


def test_uncertain_rows_of_the_first_version_get_a_stride():
    content = b'{"format_version": 1, "uncertain": [{"start": 1, "stop": 9, "step": 4}]}'

    assert json.loads(as_current(content))["uncertain"] == [
        {"start": 1, "stop": 9, "take": 1, "every": 4}
    ]
