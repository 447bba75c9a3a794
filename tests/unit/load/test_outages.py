"""Outages: the longest silences, and every batch in the second in which it was due."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.load.faults.outages import Outages
from simulator.load.meter import Meter
from simulator.protocol.messages import MOST_SILENCES
from simulator.protocol.numbers import buckets_of
from tests.fuzzing import try_cases

MS = 10**6
SECOND = 10**9
START_NS = 7 * SECOND


def seconds(instant_ns):
    return instant_ns / 1e9


def of_batches(batches, parts=1):
    """Follow (due, acknowledged) batches, folded in so many parts."""
    outages = Outages(START_NS)
    for part in np.array_split(np.asarray(batches, np.int64), parts):
        if len(part):
            outages.add(part[:, 1] - part[:, 0], part[:, 1])
    return outages


def test_a_silence_lasts_from_one_acknowledgement_to_the_next():
    ends = [START_NS + each * SECOND for each in (1, 2, 9, 10)]
    *found, last = of_batches([(end - MS, end) for end in ends]).silences(seconds)

    assert last.began_s == 17.0  # the database may have answered no more
    assert max((each.ended_s - each.began_s, each.began_s) for each in found) == (7.0, 9.0)
    assert [each.began_s for each in found] == [7.0, 8.0, 9.0, 16.0]


waits_ns = st.lists(st.tuples(st.integers(0, 3 * SECOND), st.integers(0, SECOND)), min_size=1)


@given(waits=waits_ns, parts=st.integers(1, 5))
@try_cases(60)
def test_nothing_depends_on_how_batches_are_folded(waits, parts):
    ends = np.cumsum([gap for gap, _ in waits]) + START_NS
    batches = [(int(end) - wait, int(end)) for end, (_, wait) in zip(ends, waits, strict=True)]
    whole, folded = of_batches(batches), of_batches(batches, parts)

    assert folded.waits() == whole.waits()
    assert folded.silences(seconds)[:-1] == whole.silences(seconds)[:-1]
    assert sum(count for _, _, count in whole.waits()) == len(waits)


def test_batches_in_flight_end_in_any_order():
    batches = [(START_NS, START_NS + 5 * SECOND), (START_NS, START_NS + SECOND)]
    found = of_batches(batches).silences(seconds)

    assert [(each.began_s, each.ended_s) for each in found[:2]] == [(7.0, 8.0), (8.0, 12.0)]


def test_only_the_longest_silences_are_kept():
    lengths = [*range(1, 3 * MOST_SILENCES)]
    ends = START_NS + np.cumsum(lengths) * MS
    found = of_batches([(int(end), int(end)) for end in ends], 7).silences(seconds)

    assert len(found) == MOST_SILENCES
    shortest = min(each.ended_s - each.began_s for each in found[:-1])
    assert round(shortest * 1000) == lengths[1 - MOST_SILENCES]


def test_a_meter_follows_them_if_it_is_asked_to():
    meter = Meter(START_NS, outages=Outages(START_NS))
    meter.record(START_NS + SECOND, START_NS + 3 * SECOND, 10, 0)
    found = meter.report_acknowledged(seconds)

    assert found.waits_by_second == ((1, int(buckets_of(np.array([2 * SECOND]))[0]), 1),)
    assert [(each.began_s, each.ended_s) for each in found.silences[:1]] == [(7.0, 10.0)]
    plain = Meter(START_NS)
    plain.record(START_NS, START_NS + MS, 10, 0)
    reported = plain.report_acknowledged(seconds)
    assert (reported.silences, reported.waits_by_second) == ((), ())
