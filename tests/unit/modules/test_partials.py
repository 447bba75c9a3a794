"""Partial answers are combined, and planned queries send, read and combine every statement."""

import pytest

from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Function,
    Output,
    RowsQuery,
    outputs,
)
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import RunError
from simulator.modules.shared.client import partials
from simulator.modules.shared.client.partials import (
    ROWS,
    Collected,
    Distinct,
    GroupedRows,
    Latest,
    Merged,
    NewestRows,
    Partial,
    PartialGroups,
    partials_of,
)
from simulator.modules.shared.client.planned import Fetch, PlannedQuery, PlannedSession

SEQUENCE = [column for column in outputs(RowsQuery(EVENTS)) if column.name == "sequence_number"]


def numbers(start, stop):
    return [(number,) for number in range(start, stop)]


@pytest.mark.parametrize(
    ("tags", "portions", "rows"),
    [
        (1, [[("a", 7, 1.5), ("b", 1, 0.5)], [("a", 5, 2.5), ("b", 2, None)]],
         [("a", 1.5), ("b", None)]),
        (2, [[("a", "x", 1, 1.5), ("a", "y", 2, 2.5), ("a", "x", 3, 3.5)]],
         [("a", "x", 3.5), ("a", "y", 2.5)]),
        (0, [[(1, 1.5), (3, 3.5), (2, 2.5)]], [(3.5,)]),
    ],
)  # fmt: skip
def test_the_newest_row_of_tags_may_come_first_or_last(tags, portions, rows):
    newest = NewestRows(tags)
    for portion in portions:
        newest.add(portion)

    assert newest.rows() == rows


def test_the_latest_rows_of_several_portions():
    latest = Latest(2)
    latest.add([(1, "a"), (9, "b"), (3, "c")])
    assert latest.rows() == [("b",), ("c",)]
    latest.add([(4, "d"), (2, "e")])
    assert latest.rows() == [("b",), ("d",)]


def test_the_newest_buckets_of_several_partial_answers():
    groups = PartialGroups(
        AggregateQuery(EVENTS, (Aggregate(Function.COUNT),), bucket=10, newest=2), [ROWS]
    )
    groups.add([(30, 1), (10, 2)])
    groups.add([(20, 5), (10, 1)])

    assert groups.rows() == [(30, 1), (20, 5)]


ENDS = [Partial(Function.FIRST, "temperature"), Partial(Function.LAST, "temperature")]
BOTH = tuple(Aggregate(*end) for end in ENDS)


def test_first_and_last_values_come_with_their_times():
    groups = PartialGroups(AggregateQuery(EVENTS, BOTH, by=("device_id",)), ENDS)
    groups.add([("a", (5, 0.5), (7, 0.75)), ("b", None, None)])
    groups.add([("a", (6, 9.5), (8, 1.5))])

    assert groups.rows() == [("a", 0.5, 1.5), ("b", None, None)]


def test_first_and_last_values_among_rows_are_not_null():
    groups = GroupedRows(AggregateQuery(EVENTS, BOTH, by=("device_id",)), ENDS)
    groups.add([("a", 3, 1.5), ("a", 9, None), ("a", 2, None), ("a", 4, 2.5), ("b", 1, None)])

    assert groups.rows() == [("a", 1.5, 2.5), ("b", None, None)]


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


def test_no_rows_are_one_row_without_groups_and_none_with_them():
    wanted = ((COUNT, None), (SUM, "n"), (AVG, "x"), (MIN, "note"))
    assert PartialGroups(query(*wanted)).rows() == [(0, None, None, None)]
    assert PartialGroups(query(*wanted, by=("site",))).rows() == []


def test_a_database_whose_sum_of_nothing_is_zero_gives_null():
    groups = PartialGroups(query((SUM, "x"), (AVG, "x")), [Partial(COUNT, "x"), Partial(SUM, "x")])
    groups.add([(0, 0.0), (0, None)])
    assert groups.rows() == [(None, None)]


def test_a_group_of_nulls_is_a_group():
    groups = PartialGroups(query((MAX, "x"), by=("site",)), [Partial(MAX, "x")])
    groups.add([("a", None)])
    groups.mention([("b",)])
    assert groups.rows() == [("a", None), ("b", None)]


def test_a_column_without_nulls_is_counted_by_the_rows():
    groups = PartialGroups(query((COUNT, "n"), (AVG, "n"), (COUNT, "x")))
    groups.merge((), ROWS, 2)
    groups.merge((), Partial(SUM, "n"), 2**63 + 2)
    assert groups.rows() == [(2, (2**63 + 2) / 2, 0)]


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


NUMBERS = (Output("n", Type.INT64, TimeUnit.SECOND),)


class Scripted(PlannedSession):
    """Answers each statement with its portions; a range ends behind each of `ranges`."""

    encoder = send = classify = close = alive = None

    def __init__(self, portions, ranges=()):
        self.portions, self.ranges = portions, ranges
        self.asked, self.closed, self.wanted = [], 0, None

    def plan(self, statement):
        return statement

    def answers(self, plan, rows=None):
        self.wanted = rows
        try:
            for fetch in plan.fetches:
                self.asked.append(fetch.text)
                for portion in self.portions[fetch.text]:
                    yield fetch, portion
                if fetch.text in self.ranges:
                    yield None
        finally:
            self.closed += 1


def planned(combiner, **reads):
    fetches = tuple(Fetch(text, read) for text, read in reads.items())
    return PlannedQuery("", NUMBERS, fetches=fetches, combiner=combiner)


def as_it_is(portion):
    return portion


def test_each_answer_is_read_by_its_own_statement_and_all_are_combined():
    session = Scripted({"a": [[(1, "x")], [(9, "y")]], "b": [["5"], []]})
    plan = planned(lambda: Latest(2), a=as_it_is, b=lambda texts: [(int(t), t) for t in texts])

    assert session.run(plan) == [("y",), ("5",)]
    assert (session.asked, session.wanted) == (["a", "b"], None)
    assert session.client_s > 0


def test_the_rows_of_a_range_are_forgotten_where_it_ends():
    session = Scripted({"a": [[(1,), (1,)]], "b": [[(1,)]]}, ranges=("a", "b"))
    plan = planned(lambda: Distinct(NUMBERS, apart=True), a=as_it_is, b=as_it_is)

    assert session.run(plan) == [(2,)]


def test_rows_are_streamed_in_portions_of_the_size_that_is_asked_for():
    session = Scripted({"a": [[(1,)], [(2,), (3,), (4,)]], "b": [[(5,)], []]}, ranges=("a",))
    plan = planned(Collected, a=as_it_is, b=as_it_is)

    assert [*session.stream(plan, 2)] == [[(1,), (2,)], [(3,), (4,)], [(5,)]]
    assert session.wanted == 2
    unfinished = session.stream(plan, 2)
    next(unfinished)
    unfinished.close()
    assert session.closed == 2


def test_what_is_combined_is_streamed_once_it_is():
    session = Scripted({"a": [[(1, "x"), (2, "y"), (3, "z")]]})

    assert [*session.stream(planned(lambda: Latest(3), a=as_it_is), 2)] == [
        [("z",), ("y",)], [("x",)]
    ]  # fmt: skip


def test_partial_aggregates_are_merged_one_by_one_and_a_large_sum_is_refused():
    query = AggregateQuery(EVENTS, (Aggregate(Function.SUM, "sequence_number"),), ("device_id",))
    groups = Merged(query)
    name = "sequence_number"
    groups.add([
        (("d",), Partial(Function.SUM, name), 5),
        (("d",), Partial(Function.SUM, name), 2),
        (("d",), Partial(Function.COUNT, name), 2),
        (("e",), Partial(Function.COUNT, name), None),
    ])  # fmt: skip
    assert groups.rows() == [("d", 7), ("e", None)]

    groups.add([(("d",), Partial(Function.MAX, name), 2**62)])
    with pytest.raises(RunError, match="the sum of sequence_number may exceed 64 bits"):
        groups.rows()
