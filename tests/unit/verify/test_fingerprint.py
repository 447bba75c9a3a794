"""Fingerprints: blind to order and to a driver's types, and to nothing else."""

from datetime import UTC, datetime
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simulator.data.block import Block, Coded, Values
from simulator.data.hashes import block_hashes, stored_hashes
from simulator.data.query import Output, RowsQuery, outputs
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.verify.fingerprint import Fingerprint, buckets_of

TABLE = Table(
    "wide",
    tuple(Column(kind.value, kind, Role.FIELD, nullable=True) for kind in Type),
    key=(),
)
COLUMNS = outputs(RowsQuery(TABLE))
DTYPES = [np.int16, np.int32, np.int64, np.float32, np.float64, np.bool_, "S12", np.int64]
FILLERS = [5, 6, 7, 1.5, 2.5, True, b"filler", 8]

MOMENT = datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC)

floats32 = st.floats(width=32, allow_nan=False, allow_infinity=False)
floats64 = st.floats(allow_nan=False, allow_infinity=False)
texts = st.text("aZä\u20ac'", max_size=4)
instants = st.integers(-62_135_596_800_000, 253_402_300_799_999)
cells = st.tuples(
    st.none() | st.integers(-(2**15), 2**15 - 1),
    st.none() | st.integers(-(2**31), 2**31 - 1),
    st.none() | st.integers(-(2**63), 2**63 - 1),
    st.none() | floats32,
    st.none() | floats64,
    st.none() | st.booleans(),
    st.none() | texts,
    st.none() | instants,
)
tables = st.lists(cells, min_size=1, max_size=10)


def batch_of(rows):
    data = {}
    for column, dtype, filler, items in zip(
        TABLE.columns, DTYPES, FILLERS, zip(*rows, strict=True), strict=True
    ):
        encoded = [item.encode() if isinstance(item, str) else item for item in items]
        valid = np.array([item is not None for item in items])
        filled = [filler if item is None else item for item in encoded]
        data[column.name] = Values(np.array(filled, dtype), None if valid.all() else valid)
    return Block(TABLE, 0, np.arange(len(rows)), data)


def fingerprint(hashes):
    taken = Fingerprint()
    taken.add(hashes)
    return taken


def one(kind, value, unit=TimeUnit.MILLISECOND):
    """Hash a stored row of one value."""
    return stored_hashes([Output("x", kind, unit)], [(value,)]).tolist()


def drawn(kind, array, valid=None):
    """Hash a batch of one column."""
    table = Table("t", (Column("x", kind, Role.FIELD),), ())
    data = array if isinstance(array, Coded) else Values(np.array(array), valid)
    batch = Block(table, 0, np.arange(len(data)), {"x": data})
    return block_hashes(outputs(RowsQuery(table)), batch).tolist()


@given(rows=tables)
@settings(max_examples=100)
def test_stored_rows_hash_as_their_batch(rows):
    assert stored_hashes(COLUMNS, rows).tolist() == block_hashes(COLUMNS, batch_of(rows)).tolist()


@given(rows=tables, order=st.randoms(use_true_random=False))
@settings(max_examples=30)
def test_order_and_cut_do_not_matter(rows, order):
    whole = fingerprint(stored_hashes(COLUMNS, rows))
    order.shuffle(rows)
    parts = Fingerprint()
    parts.add(stored_hashes(COLUMNS, rows[:3]))
    parts.add(stored_hashes(COLUMNS, rows[3:]))

    assert whole.differing(parts).tolist() == []


@given(rows=tables, other=cells, row=st.integers(0, 9), column=st.integers(0, 7))
@settings(max_examples=80)
def test_any_changed_value_is_seen(rows, other, row, column):
    changed = list(rows)
    target = row % len(rows)
    altered = list(rows[target])
    altered[column] = other[column]
    changed[target] = tuple(altered)
    before, after = (fingerprint(stored_hashes(COLUMNS, found)) for found in (rows, changed))

    assert (len(before.differing(after)) > 0) == (changed != rows)


@given(rows=tables, row=st.integers(0, 9))
@settings(max_examples=30)
def test_a_missing_and_a_repeated_row_are_seen(rows, row):
    hashes = stored_hashes(COLUMNS, rows)
    at = row % len(rows)
    bucket = buckets_of(hashes[at : at + 1]).tolist()
    whole = fingerprint(hashes)

    assert whole.differing(fingerprint(np.delete(hashes, at))).tolist() == bucket
    assert whole.differing(fingerprint(np.append(hashes, hashes[at]))).tolist() == bucket


def test_values_that_change_places_are_seen():
    columns = [Output(name, Type.INT64, TimeUnit.MILLISECOND) for name in ("a", "b")]
    one_way, other_way = (stored_hashes(columns, [row]).tolist() for row in ((1, 2), (2, 1)))

    assert one_way != other_way


def test_texts_that_change_words_are_seen():
    assert one(Type.TEXT, "aaaaaaaabbbbbbbb") != one(Type.TEXT, "bbbbbbbbaaaaaaaa")


def test_zero_has_no_sign():
    assert one(Type.FLOAT64, -0.0) == one(Type.FLOAT64, 0.0)
    assert drawn(Type.FLOAT32, np.array([-0.0], np.float32)) == one(Type.FLOAT32, 0)


@pytest.mark.parametrize("width", [3, 7, 8, 9, 16, 40])
def test_a_text_hashes_the_same_whatever_the_width_it_stands_in(width):
    assert drawn(Type.TEXT, np.array([b"abc"], f"S{width}")) == one(Type.TEXT, "abc")


def test_levels_hash_as_their_values():
    levels = np.array([b"long name", b"x"])
    coded = Coded(np.array([1, 0]), levels, np.array([True, False]))
    expected = one(Type.TEXT, "x") + one(Type.TEXT, None)

    assert drawn(Type.TEXT, coded) == expected


@pytest.mark.parametrize(
    ("kind", "null_like"),
    [
        (Type.INT64, 0),
        (Type.FLOAT64, 0.0),
        (Type.BOOL, False),
        (Type.TEXT, ""),
        (Type.TEXT, "None"),
        (Type.TIMESTAMP, 0),
    ],
)
def test_null_is_not_a_value(kind, null_like):
    assert one(kind, None) != one(kind, null_like)


@pytest.mark.parametrize(
    ("kind", "value", "same"),
    [
        (Type.INT64, Decimal(12), 12),
        (Type.INT64, 12.0, 12),
        (Type.INT32, np.int64(12), 12),
        (Type.FLOAT64, Decimal("0.5"), 0.5),
        (Type.FLOAT64, 3, 3.0),
        (Type.FLOAT32, 20.2, 20.200000762939453),
        (Type.BOOL, 1, True),
        (Type.BOOL, 0, False),
        (Type.TEXT, "Grüße".encode(), "Grüße"),
        (Type.TIMESTAMP, MOMENT, 1000),
        (Type.TIMESTAMP, MOMENT.replace(tzinfo=None), 1000),
        (Type.TIMESTAMP, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC), -1000),
    ],
)
def test_a_drivers_type_does_not_matter(kind, value, same):
    assert one(kind, value) == one(kind, same)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Type.INT64, 1.5),
        (Type.INT64, Decimal("1.5")),
        (Type.INT16, 2**15),
        (Type.INT32, -(2**31) - 1),
        (Type.INT64, 2**63),
        (Type.INT64, 2**70),
        (Type.INT64, "12"),
        (Type.INT64, datetime(1970, 1, 1, tzinfo=UTC)),
        (Type.BOOL, 2),
        (Type.TIMESTAMP, 0.5),
        (Type.FLOAT32, "warm"),
    ],
)
def test_a_value_outside_its_type_is_refused(kind, value):
    with pytest.raises(ValueError, match="x: expected"):
        one(kind, value)


def test_no_rows_have_no_hashes():
    assert stored_hashes(COLUMNS, []).tolist() == []


def test_hashing_leaves_the_batch_as_it_is():
    rows = [(1, 2, 3, 4.5, 5.5, True, "a", 7), (None,) * 8]
    batch = batch_of(rows)
    before = {name: column.array.tobytes() for name, column in batch.data.items()}
    block_hashes(COLUMNS, batch)

    assert {name: column.array.tobytes() for name, column in batch.data.items()} == before


def test_buckets_fill_evenly():
    hashes = drawn(Type.INT64, np.arange(65_536 * 4))
    counts = fingerprint(np.array(hashes, np.uint64)).counts

    assert counts.sum() == 65_536 * 4
    assert counts.max() < 25  # Poisson with a mean of 4
