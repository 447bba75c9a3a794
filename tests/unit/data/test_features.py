"""What a query uses of the language, and what the language does not allow."""

from dataclasses import replace

import pytest

from simulator.data.features import Feature, features_of
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    OneOf,
    Operator,
    RowsQuery,
    Selection,
)
from simulator.data.schema import Column, Role, Table, Type

TABLE = Table(
    "points",
    (
        Column("at", Type.INT64, Role.TIME),
        Column("site", Type.TEXT, Role.TAG),
        Column("rack", Type.INT16, Role.TAG),
        Column("level", Type.FLOAT32, Role.FIELD),
        Column("on", Type.BOOL, Role.FIELD),
    ),
    key=("site", "rack", "at"),
)
COUNT = (Aggregate(Function.COUNT),)
LAST = (Aggregate(Function.LAST, "on"),)
ONE = Selection((OneOf("site", ("a",)),), since=1, until=5)
FEW = Selection((OneOf("site", ("a", "b")),))
HIGH = Selection(compared=(Condition("level", Operator.MORE, 0.5),))
BY_SITE = Table("by_site", TABLE.columns, key=("site", "at"))


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (AggregateQuery(TABLE, COUNT, ("site",), 60, ONE), []),
        (AggregateQuery(TABLE, COUNT, selection=FEW), [Feature.VALUE_LISTS]),
        (AggregateQuery(TABLE, COUNT, selection=HIGH), [Feature.COMPARISONS]),
        (AggregateQuery(TABLE, LAST, ("site", "rack")), [Feature.ENDS]),
        (AggregateQuery(BY_SITE, LAST, selection=ONE), [Feature.ENDS]),
        (AggregateQuery(TABLE, COUNT, bucket=60, newest=5), [Feature.NEWEST_BUCKETS]),
        (NewestQuery(TABLE, ("site",), ("level",)), []),
        (NewestQuery(TABLE, ("site", "rack"), ("level",)), [Feature.NEWEST_OF_TAGS]),
        (
            NewestQuery(TABLE, ("site",), (), HIGH),
            [Feature.COMPARISONS, Feature.FILTERED_NEWEST],
        ),
        (DistinctQuery(TABLE, ("site",)), []),
        (RowsQuery(TABLE), []),
        (RowsQuery(TABLE, ("level",)), [Feature.CHOSEN_COLUMNS]),
        (RowsQuery(TABLE, selection=ONE), [Feature.FILTERED_ROWS]),
        (RowsQuery(BY_SITE, (), ONE, newest=9), [Feature.FILTERED_ROWS, Feature.NEWEST_ROWS]),
    ],
)
def test_features_of_a_query(query, expected):
    assert features_of(query) == expected


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: OneOf("site", ()), "must not be empty"),
        (lambda: RowsQuery(TABLE, selection=Selection((OneOf("rack", ("1",)),))), "not a text tag"),
        (
            lambda: RowsQuery(TABLE, selection=Selection(compared=(_over("on", 1),))),
            "on .bool. cannot hold 1",
        ),
        (
            lambda: RowsQuery(TABLE, selection=Selection(compared=(_over("level", 0.1),))),
            "level .float32. cannot hold 0.1",
        ),
        (
            lambda: RowsQuery(TABLE, selection=Selection(compared=(_over("rack", 2**15),))),
            "rack .int16. cannot hold 32768",
        ),
        (
            lambda: RowsQuery(TABLE, selection=Selection(compared=(_over("rack", 0.5),))),
            "cannot hold",
        ),
        (lambda: AggregateQuery(TABLE, COUNT, newest=5), "newest counts buckets"),
        (lambda: AggregateQuery(TABLE, COUNT, ("site",), 60, newest=5), "without tags"),
        (lambda: AggregateQuery(TABLE, COUNT, (), 60, newest=0), "at least one"),
        (lambda: AggregateQuery(TABLE, LAST, ("site",)), "last_on of points: rows with the same"),
        (lambda: AggregateQuery(TABLE, LAST, selection=ONE), "not distinguished"),
        (lambda: RowsQuery(TABLE, newest=5), "not distinguished"),
        (lambda: RowsQuery(TABLE, newest=0), "at least one"),
    ],
)
def test_what_has_no_single_answer_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_table_whose_times_all_differ_has_one_first_value_of_any_rows():
    table = replace(TABLE, distinct_times=True)

    assert AggregateQuery(table, LAST, ("site",)).aggregates == LAST
    assert RowsQuery(table, newest=5).newest == 5


def _over(column, value):
    return Condition(column, Operator.MORE, value)
