"""Failures of a worker, by second and in bounded memory."""

import time

from simulator.load.write.delivery import Failures
from simulator.protocol.messages import MOST_FAILURES, BatchFailures, Failed

SECOND_NS = 10**9


def test_failures_of_a_second_and_kind_are_one():
    failures = Failures()
    failures.start(time.perf_counter_ns() - 3 * SECOND_NS)
    for what in (Failed.RETRIED, Failed.LOST, Failed.RETRIED):
        failures.note(what)

    found = failures.troubles()
    assert found.failures == (
        BatchFailures(second=3, what=Failed.RETRIED, count=2),
        BatchFailures(second=3, what=Failed.LOST, count=1),
    )
    assert (found.more_failures, found.retried) == (0, 2)


def test_the_list_is_bounded_and_the_rest_is_counted(monkeypatch):
    now_s = iter(range(10_000))
    monkeypatch.setattr(time, "perf_counter_ns", lambda: next(now_s) * SECOND_NS)
    failures = Failures()
    failures.start(0)
    for _ in range(MOST_FAILURES + 25):
        failures.note(Failed.RETRIED)

    found = failures.troubles()
    assert len(found.failures) == MOST_FAILURES
    assert found.failures[-1].second == MOST_FAILURES - 1
    assert found.more_failures == 25
    assert found.retried == MOST_FAILURES + 25
