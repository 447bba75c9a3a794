"""What faults did to acknowledgements: computed from reports whose truth is known."""

import numpy as np
import pytest

from iotbench.results.faults import Injected, outages_of
from simulator.protocol.messages import Span
from simulator.protocol.numbers import buckets_of
from tests.unit.output.terminal import made

START_S = 1000.0
KILL = Injected(fault="kill-database", began_s=START_S + 10.2, undone_s=START_S + 12.0)


def bucket(milliseconds):
    """Return the bucket of a latency."""
    return int(buckets_of(np.array([int(milliseconds * 1e6)]))[0])


def worker(index, rates, silences, waits=()):
    return made.worker(
        index, rows=sum(rates), started=START_S, ended=START_S + len(rates),
        rows_by_second=tuple(rates), waits_by_second=tuple(waits),
        silences=tuple(Span(began_s=START_S + a, ended_s=START_S + b) for a, b in silences),
    )  # fmt: skip


def outages(*workers, injected=(KILL,)):
    return outages_of(made.outcome(*workers, released_s=START_S), injected)


STEADY = [100] * 10
FAILED = [*STEADY, 20, 0, 0, 40, 60, 98, 97, 100, 100, 100]


def test_an_outage_has_its_silence_its_end_and_its_recovery():
    (found,) = outages(worker(0, FAILED, [(2.0, 2.1), (10.3, 13.4), (19.2, 19.3)]))

    assert (found.began_s, found.undone_s) == (pytest.approx(10.2), pytest.approx(12.0))
    assert found.silent_s == pytest.approx(3.1)
    assert found.first_after_s == pytest.approx(1.4)
    assert found.rows_per_s_before == 100.0
    assert found.recovery_s == pytest.approx(15 - 10.2)


def test_a_silence_is_one_of_all_workers():
    ones = worker(0, FAILED, [(10.3, 13.4), (5.0, 6.0)])
    others = worker(1, FAILED, [(10.1, 12.9), (7.0, 8.0)])
    (found,) = outages(ones, others)

    assert found.silent_s == pytest.approx(12.9 - 10.3)
    assert found.rows_per_s_before == 200.0


def test_acknowledgements_that_went_on_are_no_outage():
    (found,) = outages(worker(0, [100] * 20, [(2.0, 2.4)]))

    assert (found.silent_s, found.first_after_s) == (0.0, 0.0)
    assert found.recovery_s == pytest.approx(11 - 10.2)


def test_a_rate_that_is_not_back_has_no_recovery():
    (found,) = outages(worker(0, [*STEADY, *[50] * 10], [(10.3, 11.0)]))

    assert found.recovery_s is None
    assert found.rows_per_s_before == 100.0


def test_each_of_several_faults_has_its_own_outage_and_is_held_against_the_time_before_all():
    rates = [*STEADY, 0, 0, 300, 300, 100, 100, 100, 0, 0, 0, 0, 100, 100, 100]
    second = Injected(fault="kill-database", began_s=START_S + 17.0, undone_s=START_S + 18.0)
    found = outages(worker(0, rates, [(10.2, 12.0), (17.0, 21.0)]), injected=(KILL, second))

    assert [each.silent_s for each in found] == [pytest.approx(1.8), pytest.approx(4.0)]
    assert [each.recovery_s for each in found] == [pytest.approx(1.8), pytest.approx(4.0)]
    assert [each.rows_per_s_before for each in found] == [100.0, 100.0]


def test_latencies_are_separated_by_when_batches_were_due():
    waits = [(second, bucket(1.0), 1000) for second in range(20)]
    waits += [(10, bucket(3000.0), 100), (3, bucket(50.0), 1)]
    (found,) = outages(worker(0, FAILED, [(10.3, 13.4)], waits))

    assert found.p99_inside_ms == pytest.approx(3000.0, rel=0.05)
    assert found.p99_outside_ms == pytest.approx(1.0, rel=0.05)
    assert found.settled_s == found.recovery_s


def test_a_backlog_counts_as_the_outage_until_it_is_gone():
    """With a schedule, the rate is back first, and batches are late until they have caught up."""
    waits = [(second, bucket(1.0), 100) for second in (*range(10), 18, 19)]
    waits += [(second, bucket(3000.0), 100) for second in range(10, 18)]
    (found,) = outages(worker(0, FAILED, [(10.3, 13.4)], waits))

    assert found.recovery_s == pytest.approx(15 - 10.2)
    assert found.settled_s == pytest.approx(18 - 10.2)
    assert found.p99_outside_ms == pytest.approx(1.0, rel=0.05)


def test_batches_of_the_warm_up_are_in_no_figure():
    waits = [(0, bucket(900.0), 1000), *[(second, bucket(1.0), 10) for second in range(1, 20)]]
    one = worker(0, FAILED, [], waits).model_copy(update={"started_s": START_S + 1.0})
    (found,) = outages(one)

    assert found.p99_outside_ms == pytest.approx(1.0, rel=0.05)


def test_without_reports_or_faults_there_is_no_outage():
    assert outages(worker(0, FAILED, []), injected=()) == ()
    assert outages_of(made.outcome(released_s=None), (KILL,)) == ()
