"""Draws: known values, computed apart with plain integers, and their uniformity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.mixer import below, draw, draw_from, key_of, mix
from tests.fuzzing import try_cases

MASK = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15


def splitmix64(state):
    """Return the output that follows this state, as Vigna's splitmix64.c computes it."""
    z = (state + GOLDEN) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def fnv1a(text):
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return value


def test_the_first_draws_are_the_published_ones_of_splitmix64():
    drawn = draw(1234567, np.arange(1, 6)).tolist()

    assert drawn == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@given(key=st.integers(0, MASK), row=st.integers(0, 2**62))
@try_cases(50)
def test_any_row_is_drawn_alone_as_splitmix64_would(key, row):
    (drawn,) = draw(key, np.array([row])).tolist()

    assert drawn == splitmix64((key + (row - 1) * GOLDEN) & MASK)


def test_a_row_is_drawn_from_a_key_of_its_own():
    keys, rows = draw(5, np.arange(50)), np.arange(50) * 7
    drawn = draw_from(keys, rows)

    assert [*drawn] == [draw(int(k), np.array([r]))[0] for k, r in zip(keys, rows, strict=True)]
    assert rows[1] == 7
    assert keys[1] == draw(5, np.array([1]))[0]


def test_drawing_leaves_the_row_numbers_as_they_are():
    rows = np.arange(10)
    draw(1, rows)

    assert rows.tolist() == list(range(10))


@pytest.mark.parametrize("seed", [0, 1, -1, 2**64 - 1, 2**70 + 5])
def test_a_key_mixes_seed_and_name(seed):
    expected = splitmix64(splitmix64(seed & MASK) ^ fnv1a("temperature"))

    assert key_of(seed, "temperature") == expected


def test_mix_keeps_zero_and_is_one_to_one():
    mixed = mix(np.arange(100_000, dtype=np.uint64))

    assert mixed[0] == 0
    assert len(np.unique(mixed)) == 100_000


@given(
    key=st.integers(0, MASK),
    rows=st.lists(st.integers(0, 2**62), min_size=1, max_size=20),
    bound=st.integers(1, 2**31),
)
@try_cases(50)
def test_below_scales_the_upper_half_of_the_bits(key, rows, bound):
    drawn = below(key, np.array(rows), bound).tolist()
    upper = [splitmix64((key + (row - 1) * GOLDEN) & MASK) >> 32 for row in rows]

    assert drawn == [half * bound >> 32 for half in upper]
    assert all(0 <= number < bound for number in drawn)
