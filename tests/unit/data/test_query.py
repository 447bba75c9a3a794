"""Answers in canonical form: what drivers give becomes the same int, float, str, bool or None."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest

from simulator.data.answer import Answer, answer, canonical
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    NewestQuery,
    Output,
    RowsQuery,
    outputs,
)
from simulator.data.schema import Column, Role, Table, TimeUnit, Type

MOMENT = datetime(2026, 11, 21, 3, 45, 0, 123000, tzinfo=UTC)
FINE = MOMENT.replace(microsecond=123456)
SECONDS = 1_795_232_700

TABLE = Table(
    "t",
    (
        Column("at", Type.TIMESTAMP, Role.TIME),
        Column("tag", Type.TEXT, Role.TAG),
        Column("b", Type.BOOL, Role.FIELD),
        Column("i", Type.INT16, Role.FIELD),
        Column("f", Type.FLOAT32, Role.FIELD),
    ),
    key=("tag", "at"),
)


def output(kind, unit=TimeUnit.MILLISECOND):
    return Output("x", kind, unit)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Type.INT64, 3, 3),
        (Type.INT64, Decimal(3), 3),
        (Type.INT64, Decimal("3.000"), 3),
        (Type.INT64, 3.0, 3),
        (Type.INT64, True, 1),
        (Type.INT64, np.int64(-(2**63)), -(2**63)),
        (Type.INT64, Decimal(2**70), 2**70),
        (Type.FLOAT64, Decimal("0.25"), 0.25),
        (Type.FLOAT64, 3, 3.0),
        (Type.FLOAT32, 20.200000762939453, 20.200000762939453),
        (Type.FLOAT32, 20.2, 20.2),
        (Type.BOOL, 1, True),
        (Type.BOOL, 0, False),
        (Type.BOOL, np.True_, True),
        (Type.TEXT, "Grüße", "Grüße"),
        (Type.TEXT, "Grüße".encode(), "Grüße"),
        (Type.TEXT, "", ""),
        (Type.TIMESTAMP, 12, 12),
        (Type.TIMESTAMP, MOMENT, SECONDS * 1000 + 123),
        (Type.TIMESTAMP, MOMENT.replace(tzinfo=None), SECONDS * 1000 + 123),
        (Type.TIMESTAMP, MOMENT.astimezone(timezone(timedelta(hours=5))), SECONDS * 1000 + 123),
        (Type.TIMESTAMP, datetime(1969, 12, 31, 23, 59, 59, 999000, tzinfo=UTC), -1),
        *((kind, None, None) for kind in Type),
    ],
)
def test_a_value_becomes_its_canonical_form(kind, value, expected):
    found = canonical(output(kind), value)

    assert (type(found), found) == (type(expected), expected)


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        (TimeUnit.SECOND, SECONDS + 0.123456),
        (TimeUnit.MILLISECOND, SECONDS * 10**3 + 123.456),
        (TimeUnit.MICROSECOND, SECONDS * 10**6 + 123456),
        (TimeUnit.NANOSECOND, SECONDS * 10**9 + 123456000),
    ],
)
def test_an_instant_is_counted_in_the_tables_unit_and_never_rounded(unit, expected):
    assert canonical(output(Type.TIMESTAMP, unit), FINE) == expected


@pytest.mark.parametrize("ticks", [10**15 * 10**6 + 1, 2**62 + 1])
def test_a_time_between_two_units_is_no_whole_number_however_far_it_is(ticks):
    column = Output("x", Type.TIMESTAMP, TimeUnit.MICROSECOND, ticks=10**6)

    assert not canonical(column, ticks).is_integer()


def test_a_shortened_float32_becomes_the_one_that_it_names():
    column = Output("x", Type.FLOAT32, TimeUnit.SECOND, shortened=True)

    assert canonical(column, 20.2) == canonical(column, Decimal("20.2")) == 20.200000762939453


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Type.INT64, 3.5),
        (Type.INT64, Decimal("3.5")),
        (Type.INT16, "3"),
        (Type.INT32, float("inf")),
        (Type.INT32, float("nan")),
        (Type.INT64, MOMENT),
        (Type.TIMESTAMP, "2026-11-21"),
        (Type.FLOAT32, "warm"),
        (Type.FLOAT64, [1.0]),
        (Type.FLOAT64, MOMENT),
        (Type.FLOAT64, float("nan")),
        (Type.FLOAT32, -float("inf")),
        (Type.BOOL, 2),
        (Type.BOOL, "false"),
        (Type.TEXT, b"\xff"),
    ],
)
def test_a_value_of_another_type_is_refused(kind, value):
    with pytest.raises(ValueError, match="x: expected "):
        canonical(output(kind), value)


def test_rows_are_sorted_with_null_first():
    columns = (output(Type.TEXT), Output("n", Type.INT64, TimeUnit.MILLISECOND))
    raw = [("b", 1), (None, 5), ("a", 2), ("a", None), (None, None), (b"a", 1)]

    assert answer(columns, raw) == Answer(
        ("x", "n"), ((None, None), (None, 5), ("a", None), ("a", 1), ("a", 2), ("b", 1))
    )


@pytest.mark.parametrize("row", [(), (1,), (1, 2, 3)])
def test_a_row_with_another_number_of_columns_is_refused(row):
    columns = outputs(NewestQuery(TABLE, ("tag",), ("f",)))

    with pytest.raises(ValueError, match=rf"expected 2 columns \(tag, f\), got {len(row)}"):
        answer(columns, [row])


def test_outputs_of_aggregates_are_tags_bucket_and_aggregates():
    every = [Aggregate(f, c) for c in ("b", "i", "f", "at") for f in Function]
    query = AggregateQuery(TABLE, (Aggregate(Function.COUNT), *every), by=("tag",), bucket=60_000)
    kinds = {out.name: out.type for out in outputs(query)}

    assert kinds == {
        "tag": Type.TEXT,
        "bucket": Type.INT64,
        "count": Type.INT64,
        **{f"count_{column}": Type.INT64 for column in ("b", "i", "f", "at")},
        **{f"avg_{column}": Type.FLOAT64 for column in ("b", "i", "f", "at")},
        "sum_b": Type.INT64,
        "sum_i": Type.INT64,
        "sum_f": Type.FLOAT64,
        "sum_at": Type.INT64,
        "min_b": Type.INT64,
        "max_b": Type.INT64,
        "min_i": Type.INT16,
        "max_i": Type.INT16,
        "min_f": Type.FLOAT32,
        "max_f": Type.FLOAT32,
        "min_at": Type.TIMESTAMP,
        "max_at": Type.TIMESTAMP,
        **{f"{end}_b": Type.BOOL for end in ("first", "last")},
        **{f"{end}_i": Type.INT16 for end in ("first", "last")},
        **{f"{end}_f": Type.FLOAT32 for end in ("first", "last")},
        **{f"{end}_at": Type.TIMESTAMP for end in ("first", "last")},
    }


def test_outputs_of_every_row_are_the_columns():
    assert [(out.name, out.type) for out in outputs(RowsQuery(TABLE))] == [
        (column.name, column.type) for column in TABLE.columns
    ]
