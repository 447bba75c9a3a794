import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.digits import join

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=5)
ROW = st.tuples(TEXT, st.integers(-(2**63), 2**63 - 1), TEXT, st.integers(0, 10**6))


@given(st.lists(ROW, min_size=1, max_size=30))
def test_a_row_is_its_columns_one_after_the_other(rows):
    first, second, third, fourth = zip(*rows, strict=True)
    columns = [
        np.array([text.encode() for text in first]),
        np.array(second, np.int64),
        np.array([text.encode() for text in third]),
        np.array(fourth, np.int64),
    ]
    expected = [f"{a}{b}{c}{d}".encode() for a, b, c, d in rows]

    assert join(columns).tolist() == expected


def test_fixed_widths_are_not_touched():
    devices, instants = np.array([b"AAAA", b"BBBB"]), np.array([1000, 1001])

    assert join([devices, instants]).tolist() == [b"AAAA1000", b"BBBB1001"]
