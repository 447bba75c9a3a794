"""Fingerprints: blind to order and to a driver's types, and to nothing else."""

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.block import Block, Coded, Values
from simulator.data.hashes import block_hashes, hash_stored
from simulator.data.query import Output, RowsQuery, outputs
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.verify.truth.fingerprint import Fingerprint, buckets_of
from tests.fuzzing import try_cases

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


def one(kind, value, unit=TimeUnit.MILLISECOND, **returned):
    """Hash a stored row of one value."""
    return hash_stored([Output("x", kind, unit, **returned)], [(value,)]).tolist()


def drawn(kind, array, valid=None, *, signless=False):
    """Hash a batch of one column."""
    table = Table("t", (Column("x", kind, Role.FIELD),), ())
    data = array if isinstance(array, Coded) else Values(np.array(array), valid)
    batch = Block(table, 0, np.arange(len(data)), {"x": data})
    columns = [replace(each, signless=signless) for each in outputs(RowsQuery(table))]
    return block_hashes(columns, batch).tolist()


@given(rows=tables)
@try_cases(100)
def test_stored_rows_hash_as_their_batch(rows):
    assert hash_stored(COLUMNS, rows).tolist() == block_hashes(COLUMNS, batch_of(rows)).tolist()


@given(rows=tables, order=st.randoms(use_true_random=False))
@try_cases(30)
def test_order_and_cut_do_not_matter(rows, order):
    whole = fingerprint(hash_stored(COLUMNS, rows))
    order.shuffle(rows)
    parts = Fingerprint()
    parts.add(hash_stored(COLUMNS, rows[:3]))
    parts.add(hash_stored(COLUMNS, rows[3:]))

    assert whole.find_differing(parts).tolist() == []


@given(rows=tables, other=cells, row=st.integers(0, 9), column=st.integers(0, 7))
@try_cases(80)
def test_any_changed_value_is_seen(rows, other, row, column):
    changed = list(rows)
    target = row % len(rows)
    altered = list(rows[target])
    altered[column] = other[column]
    changed[target] = tuple(altered)
    before, after = (fingerprint(hash_stored(COLUMNS, found)) for found in (rows, changed))

    assert (len(before.find_differing(after)) > 0) == (
        repr(changed) != repr(rows)
    )  # -0.0 is not 0.0


@given(rows=tables, row=st.integers(0, 9))
@try_cases(30)
def test_a_missing_and_a_repeated_row_are_seen(rows, row):
    hashes = hash_stored(COLUMNS, rows)
    at = row % len(rows)
    bucket = buckets_of(hashes[at : at + 1]).tolist()
    whole = fingerprint(hashes)

    assert whole.find_differing(fingerprint(np.delete(hashes, at))).tolist() == bucket
    assert whole.find_differing(fingerprint(np.append(hashes, hashes[at]))).tolist() == bucket


def test_texts_that_change_words_are_seen():
    assert one(Type.TEXT, "aaaaaaaabbbbbbbb") != one(Type.TEXT, "bbbbbbbbaaaaaaaa")


@pytest.mark.parametrize("kind", [Type.FLOAT32, Type.FLOAT64])
def test_zero_has_a_sign_unless_the_database_stores_none(kind):
    zeros = np.array([-0.0, 0.0], np.float32 if kind is Type.FLOAT32 else np.float64)
    minus, plus = drawn(kind, zeros)

    assert minus != plus
    assert [minus, plus] == [*one(kind, -0.0), *one(kind, 0.0)]
    assert one(kind, 0) == one(kind, 0.0)
    assert one(kind, -0.0, signless=True) == one(kind, 0.0, signless=True) == [plus]
    assert drawn(kind, zeros, signless=True) == [plus, plus]


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
        (Type.INT32, np.int64(12), 12),
        (Type.FLOAT64, 3, 3.0),
        (Type.TEXT, "Grüße".encode(), "Grüße"),
        (Type.TIMESTAMP, MOMENT.replace(tzinfo=None), 1000),
        (Type.TIMESTAMP, datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC), -1000),
    ],
)
def test_a_drivers_type_does_not_matter(kind, value, same):
    """Other types are in `_as_stored`."""
    assert one(kind, value) == one(kind, same)


@pytest.mark.parametrize(
    ("kind", "value", "near"),
    [
        (Type.INT64, True, 1),
        (Type.INT64, 2**63, -(2**63)),
        (Type.INT64, 2.0**63, -(2**63)),
        (Type.INT64, datetime(1970, 1, 1, tzinfo=UTC), 0),
        (Type.INT16, 2**15, -(2**15)),
        (Type.INT32, -(2**31) - 1, 2**31 - 1),
        (Type.BOOL, "t", True),
        (Type.TIMESTAMP, MOMENT.replace(microsecond=7, tzinfo=None), 1000),
        (Type.TIMESTAMP, "1000", 1000),
        (Type.FLOAT32, "warm", 0.0),
        (Type.FLOAT32, 20.2, 20.200000762939453),
        (Type.FLOAT32, 0.5 + 2e-13, 0.5),
        (Type.FLOAT32, 1e300, 3.4028234663852886e38),
        (Type.FLOAT64, float("nan"), 0.0),
        (Type.FLOAT64, True, 1.0),
        (Type.FLOAT64, 2**53 + 1, 2.0**53),
        (Type.FLOAT64, Decimal("0.1000000000000000055511151231257828"), 0.1),
        (Type.TEXT, "warm\0\0", "warm\0"),
        (Type.TEXT, "Warm", "warm"),
        (Type.TEXT, "Zu\u0308rich", "Z\u00fcrich"),
        (Type.TEXT, 12, "12"),
        (Type.TEXT, b"\xff", "\ufffd"),
    ],
)
def test_what_a_type_does_not_hold_is_no_value_near_it(kind, value, near):
    assert one(kind, value) != one(kind, near)


@pytest.mark.parametrize("others", [[], [None], ["cold"], [None, "cold"]])
@pytest.mark.parametrize("odd", ["warm\0", b"warm", 3])
def test_an_odd_text_is_one_among_others(others, odd):
    column = [Output("x", Type.TEXT, TimeUnit.SECOND)]
    usual, altered = (
        hash_stored(column, [(cell,) for cell in ["mild", *others, each]]) for each in ("warm", odd)
    )

    assert usual[:-1].tolist() == altered[:-1].tolist()
    assert usual[-1] != altered[-1]


def test_a_number_among_booleans_is_odd():
    column = [Output("x", Type.BOOL, TimeUnit.SECOND)]
    usual, altered = (
        hash_stored(column, [(cell,) for cell in [False, None, each]]) for each in (True, 1)
    )

    assert usual[:-1].tolist() == altered[:-1].tolist()
    assert usual[-1] != altered[-1]


@pytest.mark.parametrize(
    ("unit", "ticks", "odd"),
    [
        (TimeUnit.MILLISECOND, 1000, 5_000_007),
        (TimeUnit.SECOND, 10**9, 5 * 10**9 - 1),
        (TimeUnit.SECOND, 1000, -1),
    ],
)
def test_a_time_arrives_as_the_database_counts_it(unit, ticks, odd):
    exact = odd // ticks * ticks

    assert one(Type.TIMESTAMP, exact, unit, ticks=ticks) == one(
        Type.TIMESTAMP, exact // ticks, unit
    )
    assert one(Type.TIMESTAMP, odd, unit, ticks=ticks) != one(Type.TIMESTAMP, odd // ticks, unit)


@pytest.mark.parametrize("zone", [UTC, None])
def test_times_may_be_null(zone):
    column = [Output("x", Type.TIMESTAMP, TimeUnit.MILLISECOND)]
    cells = [None, MOMENT.replace(tzinfo=zone), None]
    found = hash_stored(column, [(cell,) for cell in cells])

    assert found.tolist() == [*one(Type.TIMESTAMP, None), *one(Type.TIMESTAMP, 1000), found[0]]


def test_times_with_and_without_a_zone_may_stand_together():
    plus5 = MOMENT.astimezone(timezone(timedelta(hours=5)))
    column = [Output("x", Type.TIMESTAMP, TimeUnit.MILLISECOND)]
    cells = [MOMENT, plus5, MOMENT.replace(tzinfo=None), plus5.replace(fold=1), 1000]
    found = hash_stored(column, [(cell,) for cell in cells])

    assert {*found.tolist()} == {*one(Type.TIMESTAMP, 1000)}


def test_nanoseconds_of_distant_times_are_odd():
    year1 = datetime(1, 1, 1, tzinfo=UTC)

    assert one(Type.TIMESTAMP, MOMENT, TimeUnit.NANOSECOND) == one(Type.TIMESTAMP, 10**9)
    assert len(one(Type.TIMESTAMP, year1, TimeUnit.NANOSECOND)) == 1


def test_a_shortened_float32_is_the_nearest_one():
    assert one(Type.FLOAT32, 20.2, shortened=True) == one(Type.FLOAT32, 20.200000762939453)
    assert one(Type.FLOAT32, 20.20001, shortened=True) != one(Type.FLOAT32, 20.200000762939453)


def _as_stored(kind, value):
    """The value as drivers return it, and the smallest steps away from it."""
    if kind is Type.TIMESTAMP:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
        steps = [moment + timedelta(microseconds=n) for n in (1, 500, 999)]
        return (value, moment), [*steps, value + 0.5]
    if kind is Type.TEXT:
        return (value, value.encode()), [value + "\0", value + " ", "\0" + value, None]
    if kind is Type.FLOAT32:
        return (value, Decimal(value)), [math.nextafter(value, math.inf), str(value)]
    if kind is Type.FLOAT64:
        return (value, Decimal(value)), [math.nextafter(value, math.inf), str(value)]
    if kind is Type.BOOL:
        return (value, int(value)), [not value, str(value), 2]
    return (value, float(value), Decimal(value)), [value + 1, value + 0.5, str(value)]


@given(
    values=st.tuples(
        st.integers(-(2**15), 2**15 - 2),
        st.integers(-(2**31), 2**31 - 2),
        st.integers(-(2**50), 2**50),
        st.floats(-(2.0**100), 2.0**100, width=32),
        st.floats(-1e300, 1e300),
        st.booleans(),
        texts,
        instants,
    )
)
@try_cases(60)
def test_every_writing_of_a_value_is_equal_and_every_smallest_step_is_seen(values):
    for kind, value in zip(Type, values, strict=True):
        same, steps = _as_stored(kind, value)
        (expected,) = one(kind, value)
        assert {expected} == {*(one(kind, each)[0] for each in same)}
        for step in steps:
            assert one(kind, step) != [expected], (kind, value, step)


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
