"""Walks have the stated moments and bounds, and any part of them can be drawn alone."""

import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.mixer import draw
from simulator.data.walks import (
    FRACTION_BITS,
    LEAST_STEP,
    Clamped,
    Counter,
    Distribution,
    Drifting,
    Precision,
    UpDown,
    Walks,
    _straighten,
    free_walks,
)
from tests.fuzzing import try_cases

EPOCH = 8**5
KEYS = draw(7, np.arange(600))
USAGE = Clamped(0, 1, 0, 100)
GAUGE = Clamped(5, 1, 0, 100, start=0)
WIDE_GAUGE = Clamped(5, 1, 0, 1000, start=0)


def free(first, count, keys=KEYS):
    return free_walks(keys, first + np.arange(count)) / 2**FRACTION_BITS


def drawn(
    walk, ticks=8640, series=100, distribution=Distribution.UNPINNED, precision=Precision.GRID
):
    walks = Walks("t", {"walk": walk}, 1, distribution, precision)
    return walks.draw(np.arange(ticks), np.arange(series))["walk"]


def uniform_distance(values, low, high):
    """Return the greatest distance of the distribution function from the uniform one."""
    ordered = np.sort(values.ravel())
    expected = (ordered - low) / (high - low)
    return np.abs(expected - np.arange(1, len(ordered) + 1) / len(ordered)).max()


def mean_stay(held):
    """Return for how many ticks in a row it holds, on average; ticks are the first axis."""
    begins = held[1:] & ~held[:-1]
    return held[1:].sum() / begins.sum()


@given(
    ticks=st.lists(st.integers(0, 5 * EPOCH), min_size=1, max_size=40, unique=True),
    walks=st.lists(st.integers(0, 599), min_size=1, max_size=40, unique=True),
)
@try_cases(60)
def test_any_ticks_of_any_walks_are_drawn_alone(ticks, walks):
    wanted, chosen = np.array(sorted(ticks)), np.array(walks)
    together = free_walks(KEYS[chosen], wanted)

    for tick, row in zip(wanted, together, strict=True):
        for walk in walks[:3]:
            alone = free_walks(KEYS[walk : walk + 1], np.array([tick]))
            assert alone[0, 0] == row[walks.index(walk)]


def test_walks_are_the_same_on_every_machine():
    found = free_walks(KEYS[:8], np.array([0, 1, 2, 8, 63, 4096, EPOCH - 1, EPOCH, 10**9]))

    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == "09439d4e74e2dcc9"


@pytest.mark.parametrize("first", [0, EPOCH - 1000, 10**9])
def test_steps_are_normal(first):
    steps = np.diff(free(first, 2000), axis=0)
    kurtosis = (steps**4).mean() / steps.var() ** 2

    assert steps.mean() == pytest.approx(0, abs=0.002)
    assert steps.std() == pytest.approx(1, rel=0.01)
    assert kurtosis == pytest.approx(3, rel=0.01)
    assert abs((steps**3).mean()) < 0.02


@pytest.mark.parametrize("lag", [8, 50, 512, 2000])
def test_walks_spread_with_the_square_root_of_time(lag):
    keys = draw(3, np.arange(4000))
    starts = np.arange(0, EPOCH - lag, EPOCH // 8)
    ends = free_walks(keys, starts + lag).astype(float) - free_walks(keys, starts)
    ends /= 2**FRACTION_BITS

    assert ends.var() / lag == pytest.approx(1, rel=0.05)


def test_a_node_with_a_step_that_is_too_steep_becomes_a_line():
    unit = 1 << FRACTION_BITS
    drawn = np.zeros((9, 1, 2), np.int32)
    drawn[1:] = -3 * unit
    drawn[8] = 16 * unit
    rise = np.array([[-16 * unit, 0]], np.int32) - drawn[8]
    _straighten(drawn, rise, np.full((1, 2), -3 * unit, np.int32))

    assert rise[0, 0] == -16 * unit  # -3 and a share of -32 / 8 would be a step of -7
    assert not drawn[:, 0, 0].any()
    assert rise[0, 1] == -16 * unit
    assert drawn[1, 0, 1] == -3 * unit


def test_no_step_is_below_the_least_one():
    steps = [np.diff(free(first, 3000), axis=0).min() for first in range(0, 10 * EPOCH, EPOCH)]

    assert min(steps) >= LEAST_STEP


@pytest.mark.parametrize("mean", [5, 50, 100])
def test_counters_rise_by_their_mean(mean):
    values = drawn(Counter(mean), ticks=2000, series=500)
    steps = np.diff(values, axis=0)

    assert values.dtype == np.int64
    assert not values[0].any()
    assert steps.min() >= 0
    assert steps.mean() == pytest.approx(mean, rel=0.001)
    assert steps.var() == pytest.approx(1 + 1 / 6, rel=0.02)  # 1/6 because it is cut to integers


def test_a_counter_that_might_fall_is_refused():
    with pytest.raises(ValueError, match="may fall"):
        Counter(4)


def test_a_drifting_walk_moves_from_zero_by_its_mean():
    values = drawn(Drifting(1), ticks=2000, series=500)

    assert not values[0].any()
    assert values[-1].mean() == pytest.approx(1999, abs=4 * np.sqrt(1999 / 500))
    assert np.diff(values, axis=0).std() == pytest.approx(1, rel=0.01)


@pytest.mark.parametrize(
    ("walk", "step"), [(USAGE, 1), (GAUGE, np.sqrt(26)), (WIDE_GAUGE, np.sqrt(26))]
)
def test_unpinned_walks_are_anywhere_between_their_bounds(walk, step):
    values = drawn(walk, series=1000)
    inside = (values[:-1] > 4 * step) & (values[:-1] < walk.high - 4 * step)
    steps = np.diff(values, axis=0)[inside]

    assert values.min() >= walk.low
    assert values.max() <= walk.high
    assert steps.std() == pytest.approx(step, rel=0.01)
    assert steps.mean() == pytest.approx(0, abs=step / 200)
    for tick in (0, 100, 8639):
        assert uniform_distance(values[tick], walk.low, walk.high) < 1.95 / np.sqrt(1000)  # 0.1 %


@pytest.mark.parametrize("walk", [USAGE, GAUGE, WIDE_GAUGE])
def test_unpinned_walks_never_stick(walk):
    values = drawn(walk, series=200)

    assert (values == walk.low).mean() + (values == walk.high).mean() < 1e-5
    assert not (np.diff(values, axis=0) == 0)[:-1].all(axis=0).any()
    assert values[4320:].std(axis=0).min() > walk.high / 50


def test_documented_walks_with_a_drift_stay_on_their_clamp():
    narrow = drawn(GAUGE, distribution=Distribution.DOCUMENTED)
    wide = drawn(WIDE_GAUGE, distribution=Distribution.DOCUMENTED)

    assert not narrow[0].any()
    assert np.argmax(narrow == 100, axis=0).mean() == pytest.approx(20.5, abs=0.5)
    assert np.argmax(wide == 1000, axis=0).mean() == pytest.approx(200.5, abs=1)
    assert (narrow[40:] == 100).mean() > 0.999999
    assert (wide[260:] == 1000).mean() > 0.999999


def test_documented_walks_without_a_drift_are_on_a_clamp_as_often_as_clamped_step_by_step():
    source, state = np.random.default_rng(1), []
    usage = source.uniform(0, 100, 2000)
    for _ in range(4000):
        usage = np.clip(usage + source.normal(size=len(usage)), 0, 100)
        state.append(usage)
    direct = np.array(state)
    ours = drawn(USAGE, 4000, 2000, distribution=Distribution.DOCUMENTED)

    for clamp in (0, 100):
        assert (ours == clamp).mean() == pytest.approx((direct == clamp).mean(), rel=0.05)
        assert mean_stay(ours == clamp) == pytest.approx(mean_stay(direct == clamp), rel=0.05)
    assert np.diff(ours, axis=0).std() == pytest.approx(np.diff(direct, axis=0).std(), rel=0.01)
    assert ours.std() == pytest.approx(direct.std(), rel=0.02)


BATTERY = UpDown(0.01, 0.005, 1, 3.2, start=3.2)


def up_and_down(series, ticks):
    """Return walks as the document's code computes them, step by step."""
    source = np.random.default_rng(1)
    state, direction = np.full(series, BATTERY.start), np.full(series, -1)
    found = np.empty((ticks, series))
    for tick in range(ticks):
        found[tick] = state
        state = state + source.normal(BATTERY.mean, BATTERY.deviation, series) * direction
        direction = np.where(state > BATTERY.high, -1, np.where(state < BATTERY.low, 1, direction))
        state = np.clip(state, BATTERY.low, BATTERY.high)
    return found


@pytest.mark.parametrize("ticks", [100, 215, 300, 430])
def test_documented_walks_move_up_and_down_as_the_documents(ticks):
    expected = up_and_down(2000, ticks + 1)[-1]
    found = drawn(BATTERY, ticks + 1, 2000, Distribution.DOCUMENTED)[-1]

    assert abs(found.mean() - expected.mean()) < 0.02
    assert abs(found.std() - expected.std()) < 0.01


def test_unpinned_walks_up_and_down_are_anywhere_on_their_way():
    found = drawn(BATTERY, 3000, 500)
    steps = np.diff(found, axis=0)

    assert uniform_distance(found, 1, 3.2) < 0.02
    assert abs((steps > 0).mean() - 0.5) < 0.02
    assert (steps == 0).mean() < 1e-5
    assert found.min() >= 1
    assert found.max() <= 3.2 + 1e-12


def test_full_precision_draws_the_low_bits():
    values = drawn(USAGE, 1000, 100, precision=Precision.FULL).ravel()
    near = drawn(USAGE, 1000, 100).ravel()
    bits = np.unpackbits(values.view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")

    assert np.abs(values - near).max() < 2.0**-15
    assert len(np.unique(values)) == len(values)
    assert np.abs(bits[:, :40].mean(axis=0) - 0.5).max() < 0.15  # the last bit of all: 0.38
