"""What a fleet sends: each point at most once, exact shares of missing and late ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.workloads.trucks.deliveries import POINTS, SENT, Deliveries

SHAPES = [(1, 1, 1), (7, 3, 3), (250, 40, 1), (217, 13, 4), (99, 3, 1), (100, 3, 3), (2, 5, 1)]
"""Batches, members, and members at the start."""


def deliveries(batches, members=1, initial=1, seed=1):
    return Deliveries("readings", seed, batches, members, initial)


def sent(fleet):
    return fleet.points(np.arange(fleet.rows))


def is_late(values):
    return values < np.maximum.accumulate(values, axis=-1)


@pytest.mark.parametrize("shape", SHAPES)
def test_points_are_sent_once_and_lie_between_joining_and_end(shape):
    batches, members, initial = shape
    fleet = deliveries(*shape)
    ticks, senders = sent(fleet)

    assert len({*zip(ticks.tolist(), senders.tolist(), strict=True)}) == fleet.rows
    for member in range(members):
        steps = max(member - initial + 1, 0)
        joined = -(-steps * (batches - 1) // max(members - initial, 1))
        made = batches - joined
        own = ticks[senders == member]
        assert len(own) == SENT * (made - made // 100)
        assert joined * POINTS <= own.min()
        assert own.max() < batches * POINTS


@pytest.mark.parametrize("shape", SHAPES)
def test_any_rows_are_those_of_the_whole(shape):
    fleet = deliveries(*shape)
    ticks, members = sent(fleet)
    last = fleet.rows - 1
    for rows in (np.arange(0, last + 1, 7), np.array([0, last]), np.arange(last // 2, last + 1)):
        some = fleet.points(rows)
        assert np.array_equal(some[0], ticks[rows])
        assert np.array_equal(some[1], members[rows])


def test_exact_shares_are_missing_and_late():
    ticks, _ = sent(deliveries(batches=20_000))
    batches = ticks.reshape(-1, SENT)
    numbers = batches[:, 0] // POINTS

    assert (batches // POINTS == numbers[:, None]).all()
    assert len(numbers) == 0.99 * 20_000
    assert (np.bincount(numbers, minlength=20_000).reshape(-1, 100).sum(axis=1) == 99).all()
    assert is_late(numbers).sum() == len(numbers) / 20
    late = is_late(batches).sum(axis=1)
    assert {*late.tolist()} == {2, 3}
    assert late.mean() / SENT == pytest.approx(0.3, abs=0.002)


@given(shape=st.sampled_from(SHAPES), data=st.data())
def test_candidates_hold_all_points_of_members_and_ticks(shape, data):
    fleet = deliveries(*shape)
    ticks, senders = sent(fleet)
    end = shape[0] * POINTS
    chosen = data.draw(st.lists(st.integers(0, shape[1] - 1), unique=True, max_size=4).map(sorted))
    first = data.draw(st.integers(0, end))
    stop = data.draw(st.integers(first, end))
    rows = fleet.candidates(np.array(chosen, np.int64), first, stop)
    expected = np.flatnonzero(np.isin(senders, chosen) & (ticks >= first) & (ticks < stop))

    if rows is None:
        assert len(expected) + len(chosen) * 9 * SENT > fleet.rows / 2
        return
    assert (np.diff(rows) > 0).all()
    assert np.isin(expected, rows).all()
    assert len(rows) <= len(expected) + len(chosen) * 12 * SENT
