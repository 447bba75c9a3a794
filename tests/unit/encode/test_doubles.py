"""Doubles in text: the shortest that reads back, as Python's repr writes it."""

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from simulator.encode.numbers import doubles
from tests.fuzzing import try_cases


def expected(values):
    """Pad the texts of repr as documented."""
    texts = [repr(value) for value in values.tolist()]
    if not any("e" in text or "n" in text for text in texts):
        width = max(map(len, texts))
        texts = [text.ljust(width, "0") for text in texts]
    return [text.encode() for text in texts]


@given(st.lists(st.floats(), min_size=1, max_size=50))
@example([1e16, np.nextafter(1e16, 0)])
@example([1e-4, np.nextafter(1e-4, 0)])
@example([5e-324, 1.7976931348623157e308, -2.2250738585072014e-308, np.nan, -np.inf])
@example([2.0**53, 2.0**53 + 2, -(2.0**63), 123456789.0, -0.0, 1 / 3])
@try_cases(300)
def test_any_double_is_written_exactly(values):
    array = np.array(values)
    assert doubles(array).tolist() == expected(array)


def test_single_precision_is_written_as_the_double_that_it_equals():
    array = np.array([0.1, 16777216, 1e-5, 3.4e38], np.float32)
    assert doubles(array).tolist() == [repr(float(value)).encode() for value in array]


def test_a_hundred_thousand_full_doubles():
    rng = np.random.default_rng(14)
    for array in (rng.random(50_000) * 100, rng.integers(-(2**62), 2**62, 50_000).view(float)):
        assert doubles(array).tolist() == expected(array)


def test_the_array_given_is_not_changed():
    array = np.array([np.nan, 1.5])
    doubles(array)
    assert np.isnan(array[0])


def test_no_values_give_no_texts():
    assert len(doubles(np.empty(0))) == 0
