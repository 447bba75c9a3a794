"""Rows as points: what is refused, which partial aggregates are asked for, and spans of time."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from simulator.data.block import Block, Coded, Values
from simulator.data.query import Aggregate, AggregateQuery, Function, NewestQuery, OneOf, Selection
from simulator.data.schema import Column, Role, Table, TimeUnit, Type
from simulator.errors import UnstorableError
from simulator.modules.contract import Unsupported
from simulator.modules.shared.client.partials import Partial, PartialGroups
from simulator.modules.shared.metrics.limits import Checked, Limits
from simulator.modules.shared.metrics.points import PointSeries, rows_from_series, windows, within
from simulator.modules.shared.metrics.rollups import (
    Rollup,
    by_hour,
    combine,
    doubtful,
    merge_points,
    newest_rollups,
    rollups,
)

LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"
LIMITS = Limits(
    product="Metrics",
    letters=LETTERS,
    large_integers=False,
    more_in_tags=".",
    allowed="small letters",
    finer="try another",
)
TIME = Column("time", Type.INT64, Role.TIME)
SITE = Column("site", Type.TEXT, Role.TAG)
LEVEL = Column("level", Type.FLOAT64, Role.FIELD, nullable=True)
COUNT = Column("starts", Type.INT64, Role.FIELD)
TABLE = Table("t", (TIME, SITE, LEVEL, COUNT), ("site", "time"), TimeUnit.MICROSECOND)


def batch(**changes):
    data = {
        "time": Values(np.array([1000, 2000])),
        "site": Coded(np.array([0, 1]), np.array([b"a", b"b.c"])),
        "level": Values(np.array([np.nan, 1.5]), np.array([False, True])),
        "starts": Values(np.array([-(2**53), 2**53])),
    }
    return Block(TABLE, 0, np.arange(2), {**data, **changes})


def test_times_come_in_the_databases_unit():
    assert Checked(LIMITS, TABLE, "t", 1000).times(batch()).tolist() == [1, 2]
    coarse = Table("t", TABLE.columns, (), TimeUnit.SECOND)
    assert Checked(LIMITS, coarse, "t", 1000).times(batch()).tolist() == [10**6, 2 * 10**6]


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({"time": Values(np.array([1000, 2001]))}, "column time: 2001 us is not a whole milli"),
        ({"site": Coded(np.zeros(2, int), np.array([b"a b"]))}, "column site: 'a b' cannot be"),
        ({"site": Coded(np.zeros(2, int), np.array([b""]))}, "column site: .*an empty text"),
        ({"site": Values(np.array([b"a", b"B"]))}, "column site: 'B' cannot be a tag"),
        (
            {"site": Coded(np.zeros(2, int), np.array([b"a"]), np.array([True, False]))},
            "column site: a tag cannot be NULL",
        ),
        ({"level": Values(np.array([np.inf, 0]))}, "column level: cannot be infinite"),
        ({"starts": Values(np.array([0, 2**53 + 1]))}, f"column starts: {2**53 + 1} is beyond"),
        ({"starts": Values(np.array([0, -(2**63)]))}, f"column starts: -{2**63} is beyond"),
    ],
)
def test_a_value_that_cannot_be_held_is_named(change, reported):
    with pytest.raises(UnstorableError, match=reported):
        Checked(LIMITS, TABLE, "t", 1000).times(batch(**change))


NOTE = Column("note", Type.TEXT, Role.FIELD)


@pytest.mark.parametrize(
    ("name", "columns", "reported"),
    [
        ("a table", TABLE.columns, "table 'a table': names in Metrics are made of small letters"),
        ("t", (*TABLE.columns, Column("Odd", Type.INT16, Role.FIELD)), "column 'Odd': names"),
        ("t", (*TABLE.columns, NOTE), "column note: is text"),
        ("t", (*TABLE.columns, Column("f", Type.FLOAT32, Role.TAG)), "column f: is float32"),
        ("t", (TIME, SITE, LEVEL), "t: Metrics needs a field that is never NULL"),
    ],
)
def test_a_table_that_cannot_be_held_is_refused_as_such(name, columns, reported):
    with pytest.raises(UnstorableError, match=reported):
        Checked(LIMITS, Table(name, columns, ()), name, 1000)


def query(*wanted, **more):
    return AggregateQuery(TABLE, tuple(Aggregate(Function(f), c) for f, c in wanted), **more)


def test_rows_are_counted_by_a_field_that_is_never_null():
    assert rollups(query(("count", None), ("count", "site"))) == [Rollup("starts", Function.COUNT)]


def test_the_first_time_is_that_of_all_rows_or_of_a_range_of_time():
    rows = [Rollup("starts", Function.COUNT)]
    assert rollups(query(("min", "time"), ("max", "time"))) == rows
    assert rollups(query(("min", "time"), selection=Selection(since=5))) == rows


def test_groups_are_those_of_rows_not_of_values():
    by_site = rollups(query(("max", "level"), by=("site",)))
    assert by_site == [
        Rollup("level", Function.MAX, ("site",)),
        Rollup("starts", Function.COUNT, ("site",)),
    ]


@pytest.mark.parametrize(
    "asked",
    [
        query(("sum", "time")),
        query(("avg", "site")),
        query(("min", "time"), by=("site",)),
        query(("min", "time"), selection=Selection(since=5, one_of=(OneOf("site", ("a",)),))),
    ],
)
def test_what_is_no_value_cannot_be_added_up(asked):
    with pytest.raises(Unsupported):
        rollups(asked)


def test_an_answer_is_combined_from_rollups():
    asked = query(("count", None), ("avg", "level"), ("sum", "starts"), ("min", "site"))
    found = [
        (Rollup("starts", Function.COUNT), (), 4.0),
        (Rollup("level", Function.SUM), (), 4.5),
        (Rollup("level", Function.COUNT), (), 3.0),
        (Rollup("starts", Function.SUM), (), 10.0),
        (Rollup("starts", Function.MIN), (), 1.0),
        (Rollup("starts", Function.MAX), (), 4.0),
        (Rollup("starts", Function.COUNT, ("site",)), ("b",), 1.0),
        (Rollup("starts", Function.COUNT, ("site",)), ("a",), 3.0),
    ]
    assert set(rollups(asked)) == {rollup for rollup, _, _ in found}
    assert combine(asked, found).rows() == [(4, 1.5, 10, "a")]


def test_rows_are_counted_once_though_every_column_is():
    other = Column("stops", Type.INT64, Role.FIELD)
    table = Table("t", (TIME, SITE, COUNT, other), ("site", "time"))
    wanted = (Aggregate(Function.COUNT), Aggregate(Function.AVG, "stops"))
    asked = AggregateQuery(table, wanted)
    found = [
        (Rollup("starts", Function.COUNT), (), 4.0),
        (Rollup("stops", Function.COUNT), (), 4.0),
        (Rollup("stops", Function.SUM), (), 2.0),
        (Rollup("stops", Function.MIN), (), 0.0),
        (Rollup("stops", Function.MAX), (), 2.0**53),
    ]
    groups = combine(asked, found)
    assert groups.rows() == [(4, 0.5)]
    assert doubtful(groups) == [other]
    groups.forget("stops")
    merge_points(groups, other, [PointSeries("stops", ("a",), [(1, 2**53), (2, 2**53 + 2)])])
    assert groups.rows() == [(4, (2**54 + 2) / 2)]


def test_an_answer_about_nothing():
    asked = query(("count", None), ("avg", "level"), ("sum", "starts"), ("min", "site"))
    assert combine(asked, []).rows() == [(0, None, None, None)]
    assert combine(query(("max", "starts"), by=("site",)), []).rows() == []


@pytest.mark.parametrize(
    ("ends", "count", "doubted"),
    [((0.0, 10.0), 5.0, False), ((-(2.0**52), 1.0), 3.0, True), ((0.0, 2.0**53), 1.0, True)],
)
def test_integers_that_doubles_may_have_rounded_are_doubted(ends, count, doubted):
    found = [
        (Rollup("starts", Function.SUM), (), 1.0),
        (Rollup("starts", Function.COUNT), (), count),
        (Rollup("starts", Function.MIN), (), ends[0]),
        (Rollup("starts", Function.MAX), (), ends[1]),
    ]
    groups = combine(query(("sum", "starts")), found)
    assert doubtful(groups) == ([COUNT] if doubted else [])


def test_aggregates_of_points_replace_what_doubles_have_rounded():
    large = 2**60 + 1
    wanted = (("count", None), ("sum", "starts"), ("max", "starts"))
    asked = query(*wanted, by=("site",), bucket=10)
    rounded = [
        (Rollup("starts", function, ("site",)), ("a", 0), value)
        for function, value in (
            (Function.COUNT, 2.0),
            (Function.SUM, 2.0**61),
            (Function.MIN, 2.0**60),
            (Function.MAX, 2.0**60),
        )
    ]
    groups = combine(asked, rounded)
    assert doubtful(groups) == [COUNT]
    groups.forget("starts")
    merge_points(groups, COUNT, [PointSeries("starts", ("a",), [(1, large), (9, large)])])
    assert groups.rows() == [("a", 0, 2, 2 * large, large)]


def test_the_last_value_of_several_series_is_found_among_their_points():
    rack = Column("rack", Type.TEXT, Role.TAG)
    table = replace(TABLE, columns=(*TABLE.columns, rack))
    asked = AggregateQuery(table, (Aggregate(Function.LAST, "level"),), by=("site",))
    last = Rollup("level", Function.LAST, ("site", "rack"))
    assert rollups(asked) == [last, Rollup("starts", Function.COUNT, ("site",))]

    one_each = combine(asked, [(last, ("a", "x"), 1.5), (last, ("b", "y"), 2.5)])
    assert doubtful(one_each) == []
    assert one_each.rows() == [("a", 1.5), ("b", 2.5)]

    several = combine(asked, [(last, ("a", "x"), 1.5), (last, ("a", "y"), 2.5)])
    assert doubtful(several) == [LEVEL]
    several.forget("level")
    points = [
        PointSeries("level", ("a", "x"), [(1, 0.5), (9, 1.5)]),
        PointSeries("level", ("a", "y"), [(8, 2.5)]),
    ]
    merge_points(several, LEVEL, points)
    assert several.rows() == [("a", 1.5)]


def test_large_last_values_are_doubted_too():
    asked = query(("last", "starts"), by=("site",))
    last = Rollup("starts", Function.LAST, ("site",))
    assert doubtful(combine(asked, [(last, ("a",), 2.0**53 - 1)])) == []
    assert doubtful(combine(asked, [(last, ("a",), -(2.0**53))])) == [COUNT]


def test_hours_are_counted_whole_and_read_in_part():
    hour = 3600 * 10**6
    selection = Selection((OneOf("site", ("a",)),), since=hour + 1, until=3 * hour - 1)
    counted = by_hour(TABLE, ("site",), selection).selection
    assert (counted.one_of, counted.since, counted.until) == (selection.one_of, hour, 3 * hour)
    assert within(selection, hour, 2 * hour) == replace(selection, until=2 * hour)
    assert within(selection, 2 * hour, 3 * hour) == replace(selection, since=2 * hour)


def test_the_count_of_a_column_with_nulls_is_replaced_too():
    whole = Column("errors", Type.INT64, Role.FIELD, nullable=True)
    table = Table("t", (TIME, SITE, COUNT, whole), ("site", "time"))
    wanted = (Aggregate(Function.COUNT, "errors"), Aggregate(Function.SUM, "errors"))
    groups = PartialGroups(AggregateQuery(table, wanted))
    groups.merge((), Partial(Function.COUNT, "errors"), 9)
    groups.forget("errors")
    merge_points(groups, whole, [PointSeries("errors", ("a",), [(1, 2), (2, 3)])])
    assert groups.rows() == [(2, 5)]


def test_the_last_points_are_the_newest_row_only_where_a_tag_is_one_series():
    assert newest_rollups(NewestQuery(TABLE, ("site",), ("starts",))) == [
        Rollup("starts", Function.LAST, ("site",))
    ]
    more_tags = replace(TABLE, columns=(*TABLE.columns, Column("rack", Type.TEXT, Role.TAG)))
    for table in (more_tags, replace(TABLE, parts=4)):
        assert newest_rollups(NewestQuery(table, ("site",), ("starts",))) == []
    for column in ("level", "time"):
        assert newest_rollups(NewestQuery(TABLE, ("site",), (column,))) == []


def test_points_of_one_instant_and_series_are_a_row():
    found = rows_from_series(
        TABLE,
        [
            PointSeries("starts", ("a",), [(1, 10), (2, 20)]),
            PointSeries("starts", ("b",), [(1, 30)]),
            PointSeries("level", ("a",), [(2, 0.5)]),
        ],
    )
    assert sorted(found) == [[1, "a", None, 10], [1, "b", None, 30], [2, "a", 0.5, 20]]


@pytest.mark.parametrize("rows", [1, 7, 100, 10**6])
def test_spans_of_time_cover_every_bucket_once(rows):
    width = 3600
    counts = [(0, 5), (3600, 90), (7200, 1), (36_000, 700), (72_000, 3)]
    found = list(windows(counts, width, rows, finest=2))
    assert all(begin < end for begin, end in found)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(found))
    for start, _ in counts:
        covered = sum(min(e, start + width) - max(b, start) for b, e in found if e > start
                      and b < start + width)  # fmt: skip
        assert covered == width
    if rows == 10**6:
        assert found == [(0, 72_000 + width)]


def test_no_spans_of_nothing():
    assert list(windows([], 3600, 10, 1)) == []
