"""The truth of queries that read answers, and of quotients."""

import numpy as np
import pytest

from simulator.data.answer import Answer
from simulator.data.derived import derive, spells
from simulator.data.query import (
    Aggregate,
    AggregateQuery,
    Condition,
    DistinctQuery,
    Function,
    NewestQuery,
    Operator,
    RowsQuery,
    Selection,
)
from simulator.data.schema import Column, Role, Table, Type
from simulator.verify.truth.oracle import Oracle
from tests.contract.reference import answer_of
from tests.unit.verify.blocks import block_of

TABLE = Table(
    "points",
    (
        Column("at", Type.INT64, Role.TIME),
        Column("site", Type.TEXT, Role.TAG, nullable=True),
        Column("level", Type.FLOAT64, Role.FIELD),
        Column("raw", Type.FLOAT64, Role.FIELD, exact=False),
        Column("part", Type.INT16, Role.FIELD, nullable=True),
        Column("whole", Type.INT32, Role.FIELD, nullable=True),
    ),
    key=("site", "at"),
)
COUNT = Aggregate(Function.COUNT)
LENGTH = Aggregate(Function.SUM, "length")


def rows(number=400, seed=3):
    """Rows of three sites, one of which is NULL, at different times in no order."""
    drawn = np.random.default_rng(seed)
    return [
        {
            "at": int(at),
            "site": ("a", "b", None)[int(drawn.integers(3))],
            "level": float(drawn.integers(-8, 9) / 4),
            "raw": float(drawn.random()),
            "part": None if drawn.random() < 0.1 else int(drawn.integers(-3, 4)),
            "whole": None if drawn.random() < 0.1 else int(drawn.integers(-9, 10)),
        }
        for at in drawn.permutation(2 * number)[:number] - number
    ]


def truth_of(query, found):
    oracle = Oracle([query])
    whole = block_of(TABLE, found)
    for start in range(0, len(found), 90):
        oracle.add(whole.slice(start, start + 90))
    return oracle.truth(query)


def compared(column, operator, value, divisor=None):
    return Condition(column, Operator(operator), value, divisor)


def where(*conditions):
    return Selection(compared=conditions)


PERIODS = derive(
    "periods", AggregateQuery(TABLE, (Aggregate(Function.AVG, "level"), COUNT), ("site",), 7)
)


NEWEST = derive("newest", NewestQuery(TABLE, ("site",), ("level", "raw", "at")))
RUNS = spells("runs", PERIODS, compared("avg_level", ">", 0))
FEW_AND_HIGH = where(compared("avg_level", ">", 0.25), compared("count", "<", 4))
QUERIES = {
    "conditions on groups": RowsQuery(PERIODS, ("site", "bucket", "count"), FEW_AND_HIGH),
    "aggregates of groups": AggregateQuery(
        PERIODS,
        (COUNT, Aggregate(Function.AVG, "count"), Aggregate(Function.MAX, "count")),
        ("site",),
        70,
        where(compared("avg_level", "<=", 0)),
    ),
    "newest rows with a condition": RowsQuery(
        NEWEST, ("site", "newest_raw", "newest_at"), where(compared("newest_level", ">=", -1))
    ),
    **{
        f"quotients {operator}": AggregateQuery(
            TABLE, (COUNT,), (), None, where(compared("whole", operator, 1.5, "part"))
        )
        for operator in Operator
    },
    "spells": RowsQuery(RUNS, selection=where(compared("length", ">", 0))),
    "spells by tag": AggregateQuery(
        RUNS, (COUNT, Aggregate(Function.COUNT, "length"), LENGTH), ("site",)
    ),
}


@pytest.mark.parametrize("name", QUERIES)
def test_the_truth_is_that_of_plain_python(name):
    found = rows(900)
    truth = truth_of(QUERIES[name], found)
    expected = answer_of(QUERIES[name], found)

    assert truth.agrees(expected)
    assert truth.undecided == ""
    assert expected.rows
    assert expected.rows != ((0,),)


def test_an_aggregate_of_no_group_is_a_row_and_by_tags_none():
    nothing = where(compared("avg_level", ">", 99))
    for found in (rows(), []):
        total = AggregateQuery(
            PERIODS, (COUNT, Aggregate(Function.SUM, "count")), (), None, nothing
        )
        by_site = AggregateQuery(PERIODS, (COUNT,), ("site",), None, nothing)
        listed = RowsQuery(PERIODS, ("site",), nothing)

        assert truth_of(total, found).answer.rows == ((0, None),)
        assert truth_of(by_site, found).answer.rows == ()
        assert truth_of(listed, found).answer.rows == ()


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ([], []),
        ([1, 1, 1], []),
        ([0, 0], []),
        ([1, 0, 0], []),
        ([0, 1, 1], [(1, None)]),
        ([1, 0, 1, 1, 0], [(2, 2)]),
        ([0, 1, 0, 1, 0], [(1, 1), (3, 1)]),
    ],
)
def test_a_spell_begins_and_ends_with_a_change(levels, expected):
    table = derive(
        "periods", AggregateQuery(TABLE, (Aggregate(Function.MAX, "level"),), (), bucket=1)
    )
    held = spells("runs", table, compared("max_level", ">", 0.5))
    found = [{**rows(1)[0], "at": at, "level": level} for at, level in enumerate(levels)]
    functions = (COUNT, Aggregate(Function.COUNT, "length"), LENGTH)
    lengths = [length for _, length in expected if length is not None]

    assert truth_of(AggregateQuery(held, functions), found).answer.rows == (
        (len(expected), len(lengths), sum(lengths) if lengths else None),
    )
    by_start = truth_of(AggregateQuery(held, (LENGTH,), (), 1), found).answer.rows
    assert [*by_start] == expected


def test_a_sum_that_is_rounded_decides_only_away_from_the_limit():
    table = derive("means", AggregateQuery(TABLE, (Aggregate(Function.AVG, "raw"),), ("site",)))
    found = [{**row, "raw": 0.1 if row["site"] == "a" else 0.7} for row in rows(90)]

    def listed(limit):
        chosen = where(compared("avg_raw", "<", limit))
        return truth_of(RowsQuery(table, ("site",), chosen), found)

    assert listed(0.5).answer.rows == (("a",),)
    assert listed(0.5).undecided == ""
    assert listed(0.1).undecided.startswith("avg_raw < 0.1 depends on the order in which a sum")
    assert listed(0.1).verdict(Answer(("site",), (("a",), ("b",)))) is None
    assert listed(0.1).verdict(listed(0.1).answer) is True
    assert listed(0.5).verdict(Answer(("site",), ())) is False


def test_doubt_is_handed_up_and_exact_means_leave_none():
    found = [{**row, "raw": 0.1, "level": 0.25} for row in rows(90)]

    def doubt(column, limit):
        means = AggregateQuery(TABLE, (Aggregate(Function.AVG, column), COUNT), ("site",), 7)
        table = derive("means", means)
        condition = compared(f"avg_{column}", ">=", limit)
        counted = AggregateQuery(table, (COUNT,), ("site",), None, where(condition))
        upper = RowsQuery(derive("n", counted), selection=where(compared("count_", ">", 1)))
        runs = AggregateQuery(spells("runs", table, condition), (COUNT,))
        return [truth_of(query, found).undecided != "" for query in (counted, upper, runs)]

    assert doubt("raw", 0.1) == [True, True, True]
    assert doubt("raw", 0.2) == [False, False, False]
    assert doubt("level", 0.25) == [False, False, False]


def test_combinations_of_tags_of_a_derived_table_are_counted():
    found = truth_of(DistinctQuery(PERIODS, ("site",)), rows(9))

    assert found.answer.rows == ((len({row["site"] for row in rows(9)}),),)
