"""Rows are their shares one after the other, whatever their lengths and their order."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.encode.rows import Frame, Share, Spans, blank, cut, laid_out, pack, windows


def constant(content):
    return Share([np.frombuffer(content, f"V{len(content)}")], None)


def padded(items, more=0):
    """Make a share whose items are followed by other bytes."""
    width = max(map(len, items), default=0) + more or 1
    array = np.frombuffer(b"".join(item.ljust(width, b"#") for item in items), f"V{width}")
    return Share([array], np.array([len(item) for item in items]))


def spans(items):
    lengths = np.array([len(item) for item in items])
    content = np.frombuffer(b"".join(items) or b"#", np.uint8)
    return Spans(content, np.cumsum(lengths) - lengths, lengths)


@st.composite
def tables(draw):
    """Draw shares, and the bytes of each in every row."""
    rows = draw(st.integers(1, 12))
    shares, columns = [], []
    for kind in draw(st.lists(st.sampled_from("cfnps"), min_size=1, max_size=7)):
        if kind == "c":
            content = draw(st.binary(min_size=1, max_size=40))
            shares.append(constant(content))
            columns.append([content] * rows)
            continue
        if kind == "n":
            numbers = np.arange(rows * 2, dtype=">i4")[::2]
            shares.append(Share([numbers], None))
            columns.append([int(number).to_bytes(4, "big") for number in numbers])
            continue
        size = draw(st.integers(1, 9))
        least = size if kind == "f" else 0
        items = draw(
            st.lists(st.binary(min_size=least, max_size=size), min_size=rows, max_size=rows)
        )
        columns.append(items)
        if kind == "f":
            shares.append(Share([np.frombuffer(b"".join(items), f"V{size}")], None))
        elif kind == "p":
            shares.append(padded(items, draw(st.integers(0, 30))))
        else:
            shares.append(spans(items))
    return shares, [b"".join(row) for row in zip(*columns, strict=True)]


@given(tables(), st.integers(1, 15))
@settings(max_examples=500)
def test_rows_are_laid_out_without_padding(table, batch_rows):
    shares, rows = table
    laid = laid_out(shares, len(rows))
    batches = [rows[start : start + batch_rows] for start in range(0, len(rows), batch_rows)]

    assert [bytes(window) for window in windows(laid, batch_rows)] == list(map(b"".join, batches))
    assert cut(laid, len(rows), Frame(b"<", b"", b">")) == [b"<" + b"".join(rows) + b">"]
    assert sum(share.size_bytes(len(rows)) for share in shares) == len(b"".join(rows))


@given(tables(), st.data())
@settings(max_examples=200)
def test_rows_are_taken_in_any_order(table, data):
    shares, rows = table
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1))
    laid = laid_out([share.take(np.array(order)) for share in shares], len(order))

    assert laid.content.tobytes() == b"".join(rows[place] for place in order)


@given(tables())
@settings(max_examples=200)
def test_shares_are_packed_into_one(table):
    shares, rows = table
    one = pack([share for share in shares if isinstance(share, Share)], len(rows))
    if all(isinstance(share, Share) for share in shares):
        assert laid_out([one], len(rows)).content.tobytes() == b"".join(rows)
        lengths = {len(row) for row in rows}
        assert (one.used is None) == (len(lengths) == 1 and lengths != {0})


def test_a_null_takes_no_byte():
    valid = np.array([True, False, True])
    shares = [constant(b"ab"), padded([b"c", b"de", b""], 2), spans([b"f", b"gh", b"i"])]
    laid = laid_out([constant(b"|"), *(blank(share, valid) for share in shares)], 3)

    assert laid.content.tobytes() == b"|abcf||abi"
