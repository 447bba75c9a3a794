"""Tables that are made of answers: their columns, and what may be asked about them."""

from dataclasses import replace

import pytest

from simulator.data.derived import derive, innermost, spells, with_innermost
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
    columns_of,
    outputs,
)
from simulator.data.query_type import always, before
from simulator.data.schema import Column, Role, Table, TimeUnit, Type

TABLE = Table(
    "points",
    (
        Column("at", Type.TIMESTAMP, Role.TIME),
        Column("site", Type.TEXT, Role.TAG, nullable=True, max_characters=9),
        Column("level", Type.FLOAT64, Role.FIELD),
        Column("raw", Type.FLOAT64, Role.FIELD, nullable=True, exact=False),
        Column("on", Type.BOOL, Role.FIELD),
        Column("bucket", Type.INT32, Role.FIELD),
    ),
    key=("site", "at"),
    time_unit=TimeUnit.SECOND,
)
COUNT = Aggregate(Function.COUNT)


def means(column="level", bucket=60, selection=Selection()):  # noqa: B008
    aggregates = (Aggregate(Function.AVG, column), COUNT)
    return derive("means", AggregateQuery(TABLE, aggregates, ("site",), bucket, selection))


def more(column, value, divisor=None):
    return Condition(column, Operator.MORE, value, divisor)


def test_columns_of_aggregates():
    table = means()

    assert [(c.name, c.type, c.role) for c in table.columns] == [
        ("site", Type.TEXT, Role.TAG),
        ("bucket_", Type.INT64, Role.TIME),  # the table has a column `bucket`
        ("avg_level", Type.FLOAT64, Role.FIELD),
        ("count", Type.INT64, Role.FIELD),
    ]
    assert [c.nullable for c in table.columns] == [True, False, True, False]
    assert [c.rounded for c in table.columns] == [False, False, True, False]
    assert (table.time_unit, table.time.name) == (TimeUnit.SECOND, "bucket_")


def test_columns_of_newest_rows_have_other_names_than_those_of_the_table():
    table = derive("newest", NewestQuery(TABLE, ("site",), ("raw", "at", "on")))

    assert [(c.name, c.type, c.role) for c in table.columns] == [
        ("site", Type.TEXT, Role.TAG),
        ("newest_raw", Type.FLOAT64, Role.FIELD),
        ("newest_at", Type.INT64, Role.FIELD),
        ("newest_on", Type.BOOL, Role.FIELD),
    ]
    assert not any(column.rounded for column in table.columns)


def test_no_name_of_a_derived_table_is_used_twice():
    counted = derive("counted", AggregateQuery(means(), (COUNT,), ("site",), 3600))

    assert [column.name for column in counted.columns] == ["site", "bucket", "count_"]
    table = spells("runs", means(), more("count", 3))
    assert [column.name for column in table.columns] == ["site", "bucket_", "length"]
    assert table.column("length").nullable


@pytest.mark.parametrize(
    ("function", "column", "rounded"),
    [("avg", "level", True), ("avg", "bucket", True), ("sum", "level", False), ("sum", "raw", True),
     ("max", "raw", False), ("sum", "bucket", False), ("count", "raw", False)],
)  # fmt: skip
def test_what_depends_on_an_order_is_rounded(function, column, rounded):
    query = AggregateQuery(TABLE, (Aggregate(Function(function), column),))
    (found,) = derive("all", query).columns
    assert found.rounded == rounded


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: RowsQuery(means()), "avg_level of means is rounded: it can only be compared"),
        (lambda: RowsQuery(means(), ("avg_level",)), "rounded"),
        (lambda: AggregateQuery(means(), (Aggregate(Function.MAX, "avg_level"),)), "rounded"),
        (lambda: NewestQuery(means(), ("site",), ("avg_level",)), "rounded"),
        (lambda: spells("runs", means(bucket=None), more("count", 1)), "means has no buckets"),
        (
            lambda: spells(
                "runs", derive("newest", NewestQuery(TABLE, ("site",), ())), more("raw", 1)
            ),
            "newest has no buckets",
        ),
        (
            lambda: AggregateQuery(means(), (Aggregate(Function.LAST, "count"),), ("site",)),
            "not distinguished",
        ),
        (lambda: RowsQuery(TABLE, (), Selection((), (more("level", 1, "on"),))), "on .bool."),
        (lambda: RowsQuery(TABLE, (), Selection((), (more("site", 1, "level"),))), "site .text."),
        (
            lambda: RowsQuery(TABLE, (), Selection((), (more("bucket", float("inf"), "level"),))),
            "cannot hold inf",
        ),
    ],
)
def test_what_has_no_single_answer_is_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_a_quotient_of_integers_may_be_compared_with_a_fraction():
    query = RowsQuery(TABLE, ("on",), Selection((), (more("bucket", 0.5, "level"),)))

    assert columns_of(query) == {"on", "bucket", "level"}
    assert Feature.QUOTIENTS in features_of(query)


def test_features_are_those_of_all_queries():
    some = Selection((OneOf("site", ("a", "b")),))
    days = derive("days", AggregateQuery(means(selection=some), (COUNT,), ("site",)))
    runs = spells("runs", means(), more("avg_level", 3))

    assert features_of(RowsQuery(days, ("site",), Selection((), (more("count_", 3),)))) == [
        Feature.VALUE_LISTS,
        Feature.SUBQUERIES,
        Feature.COMPARISONS,
        Feature.CHOSEN_COLUMNS,
        Feature.FILTERED_ROWS,
    ]
    assert features_of(AggregateQuery(runs, (COUNT,))) == [Feature.SUBQUERIES, Feature.SPELLS]
    assert features_of(DistinctQuery(TABLE, TABLE.key)) == []


def test_the_innermost_query_reads_the_stored_table():
    runs = spells("runs", means(), more("avg_level", 3))
    query = AggregateQuery(runs, (Aggregate(Function.AVG, "length"),), ("site",), 86_400)

    assert innermost(query) == means().source
    assert innermost(means().source) == means().source
    assert [output.name for output in outputs(query)] == ["site", "bucket", "avg_length"]


def test_a_type_before_a_time_ends_its_innermost_query():
    runs = spells("runs", means(), more("avg_level", 3))
    for table in (runs, means(), derive("more", AggregateQuery(means(), (COUNT,), ("site",)))):
        query = AggregateQuery(table, (COUNT,))
        found = before(always(query), 5_500).instance(0)

        assert innermost(found).selection.until == 5
        assert found.selection.until is None
        assert with_innermost(found, lambda each: replace(each, selection=Selection())) == query
