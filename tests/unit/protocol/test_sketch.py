"""Sketches: small, additive, and close to what they count."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.protocol.messages import Heartbeat
from simulator.protocol.numbers import BUCKETS, counts_from, counts_of, pairs_of, quantile_ms

HOUR_NS = 3_600 * 10**9
durations = st.lists(st.integers(1_000, HOUR_NS), min_size=1, max_size=50)


@given(durations, st.sampled_from([0.5, 0.99, 1.0]))
def test_a_quantile_is_within_3_percent(values, share):
    exact = sorted(values)[max(int(np.ceil(share * len(values))) - 1, 0)] / 1e6

    assert quantile_ms(counts_of(np.array(values)), share) == pytest.approx(exact, rel=0.033)


@given(durations, durations)
def test_counts_of_parts_add_up_to_those_of_the_whole(one, other):
    whole = counts_of(np.array([*one, *other]))

    assert (counts_of(np.array(one)) + counts_of(np.array(other)) == whole).all()
    assert (counts_from(pairs_of(whole)) == whole).all()


@pytest.mark.parametrize(("value", "bucket"), [(0, 0), (-5, 0), (999, 0), (2**62, BUCKETS - 1)])
def test_what_is_beyond_the_buckets_is_in_the_outermost(value, bucket):
    assert pairs_of(counts_of(np.array([value]))) == ((bucket, 1),)


def test_nothing_has_no_quantile():
    assert quantile_ms(counts_of(np.zeros(0, np.int64)), 0.99) is None


def test_the_largest_sketch_fits_into_a_heartbeat():
    latency = tuple((bucket, (1 << 40) - 1) for bucket in range(BUCKETS))
    beat = Heartbeat(index=0, phase="insert", latency=latency)

    assert len(json.dumps(beat.model_dump(mode="json"))) < 16 << 10
