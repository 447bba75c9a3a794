"""Partial answers are combined, and planned queries send, read and combine every statement."""

import pytest

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    RowsQuery,
    outputs,
)
from simulator.data.schema import Column, Role, Table, Type
from simulator.data.workloads.iot import EVENTS
from simulator.modules.shared.client import partials
from simulator.modules.shared.client.partials import (
    ROWS,
    Distinct,
    GroupedRows,
    Partial,
    PartialGroups,
    partials_of,
)

SEQUENCE = [column for column in outputs(RowsQuery(EVENTS)) if column.name == "sequence_number"]


def numbers(start, stop):
    return [(number,) for number in range(start, stop)]


@pytest.mark.parametrize("many", [0, 4, 1_000_000])
def test_distinct_rows_are_counted_once_however_many_wait(monkeypatch, many):
    monkeypatch.setattr(partials, "_MANY", many)
    distinct = Distinct(SEQUENCE)
    for start in (0, 3, 5):
        distinct.add(numbers(start, start + 5))
        distinct.end_range()

    assert distinct.rows() == [(10,)]
    distinct.add(numbers(9, 11))
    assert distinct.rows() == [(11,)]


def test_rows_of_ranges_that_have_nothing_in_common_are_forgotten():
    distinct = Distinct(SEQUENCE, apart=True)
    for start in (0, 100):
        distinct.add(numbers(start, start + 5))
        distinct.add(numbers(start + 3, start + 8))
        distinct.end_range()
        assert not len(distinct._seen)

    assert distinct.rows() == [(16,)]


COUNT, SUM, AVG, MIN, MAX, *_ = Function
TABLE = Table(
    "t",
    (
        Column("time", Type.INT64, Role.TIME),
        Column("site", Type.TEXT, Role.TAG, nullable=True),
        Column("n", Type.INT64, Role.FIELD),
        Column("x", Type.FLOAT64, Role.FIELD, nullable=True),
        Column("on", Type.BOOL, Role.FIELD, nullable=True),
        Column("note", Type.TEXT, Role.FIELD, nullable=True),
    ),
    ("site", "time"),
)


def query(*wanted, **more):
    return AggregateQuery(TABLE, tuple(Aggregate(f, c) for f, c in wanted), **more)


def split(rows, edges):
    """Return the rows cut into portions."""
    return [rows[start:stop] for start, stop in zip([0, *edges], [*edges, len(rows)], strict=True)]


def test_a_sum_and_a_mean_need_a_count_and_no_partial_twice():
    asked = query((COUNT, None), (AVG, "x"), (SUM, "x"), (MIN, "n"), (COUNT, "x"))
    assert partials_of(asked) == (
        ROWS,
        Partial(COUNT, "x"),
        Partial(SUM, "x"),
        Partial(MIN, "n"),
    )


@pytest.mark.parametrize("edges", [[], [1], [2, 3], [1, 2, 3, 4]])
def test_parts_merge_to_the_whole_however_they_are_cut(edges):
    big = 2**62 + 1
    wanted = ((COUNT, None), (COUNT, "x"), (SUM, "n"), (AVG, "x"), (MIN, "note"), (MAX, "n"))
    asked = query(*wanted, by=("site",), bucket=10)
    names = partials_of(asked)
    rows = [  # site, time, x, n, note
        ("a", 1, 0.25, big, "b"),
        ("a", 9, None, big, None),
        (None, -1, 0.5, -7, "z"),
        ("a", 3, 1.0, big, "a"),
        ("a", 10, None, 0, None),
    ]
    expected = {
        ("a", 0, 3, 2, 3 * big, 0.625, "a", big),
        (None, -10, 1, 1, -7, 0.5, "z", -7),
        ("a", 10, 1, 0, 0, None, None, 0),
    }

    by_the_client = GroupedRows(asked, names)
    by_the_server = PartialGroups(asked, names)
    for portion in split(rows, edges):
        by_the_client.add(portion)
        by_the_server.add(answered(asked, names, portion))

    assert set(by_the_client.rows()) == expected
    assert set(by_the_server.rows()) == expected


def answered(asked, names, rows):
    """Return what a server answers about a part: a group's key, then the partial aggregates."""
    part = GroupedRows(asked, names)
    part.add(rows)
    return [(*key, *map(known.get, names)) for key, known in part._groups.items()]


def test_a_group_of_nulls_is_a_group():
    groups = PartialGroups(query((MAX, "x"), by=("site",)), [Partial(MAX, "x")])
    groups.add([("a", None)])
    groups.mention([("b",)])
    assert groups.rows() == [("a", None), ("b", None)]


@pytest.mark.parametrize(
    ("count", "true", "extremes"),
    [(0, None, (None, None)), (2, 2, (1, 1)), (2, 1, (0, 1)), (2, None, (0, 0))],
)
def test_the_extremes_of_a_boolean_follow_from_its_count_and_its_sum(count, true, extremes):
    groups = PartialGroups(query((MIN, "on"), (MAX, "on")))
    groups.merge((), Partial(COUNT, "on"), count)
    groups.merge((), Partial(SUM, "on"), true)
    assert groups.rows() == [extremes]


def test_two_means_cannot_be_merged():
    groups = PartialGroups(query((AVG, "x")))
    groups.merge((), Partial(AVG, "x"), 0.5)
    assert groups.rows() == [(0.5,)]
    with pytest.raises(ValueError, match="means cannot be merged"):
        groups.merge((), Partial(AVG, "x"), 0.5)


@pytest.mark.parametrize(("largest", "exceeds"), [(2**62 - 1, set()), (-(2**62), {"n"})])
def test_a_sum_that_64_bits_may_not_hold_is_named(largest, exceeds):
    groups = PartialGroups(query((SUM, "n"), (SUM, "x")))
    for partial, value in (
        (ROWS, 2), (Partial(MIN, "n"), largest), (Partial(MAX, "n"), 0), (Partial(SUM, "n"), 0),
        (Partial(SUM, "x"), 1e300), (Partial(MAX, "x"), 1e300),
    ):  # fmt: skip
        groups.merge((), partial, value)
    assert groups.find_exceeding(2**63) == exceeds
