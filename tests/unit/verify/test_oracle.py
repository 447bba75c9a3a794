"""The oracle: equal to plain Python, the same whatever the cut, exact to the last bit."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.data.answer import Answer
from simulator.data.block import Block, Values
from simulator.data.query import (
    ENDS,
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
from simulator.verify.truth.oracle import Oracle, Truth
from tests.contract import reference
from tests.fuzzing import try_cases
from tests.unit.verify.blocks import block_of

TABLE = Table(
    "wide",
    (
        Column("at", Type.INT64, Role.TIME),
        Column("tag", Type.TEXT, Role.TAG, nullable=True),
        Column("site", Type.TEXT, Role.TAG),
        Column("i", Type.INT64, Role.FIELD),
        Column("n", Type.INT16, Role.FIELD, nullable=True),
        Column("f", Type.FLOAT32, Role.FIELD, nullable=True),
        Column("d", Type.FLOAT64, Role.FIELD, exact=False),
        Column("b", Type.BOOL, Role.FIELD, nullable=True),
        Column("s", Type.TEXT, Role.FIELD, nullable=True),
    ),
    key=("at",),
)
EXACT = ("i", "n", "f", "b", "at")
TEXTS = ("tag", "site", "s")
ROW = {"at": 1, "tag": "a", "site": "x", "i": 1, **dict.fromkeys("nfbs"), "d": 0.5}
rows_of = st.lists(
    st.fixed_dictionaries(
        {
            "at": st.integers(-100, 100),
            "tag": st.none() | st.sampled_from(["a", "b", "Grüße", "A"]),
            "site": st.sampled_from(["x", "y", "long name"]),
            "i": st.integers(-(2**40), 2**40),
            "n": st.none() | st.integers(-(2**15), 2**15 - 1),
            "f": st.none() | st.integers(-128, 127).map(lambda number: number / 64),
            "d": st.floats(-1e6, 1e6),
            "b": st.none() | st.booleans(),
            "s": st.none() | st.sampled_from(["", "a", "Z", "ä", "zz"]),
        }
    ),
    max_size=30,
    unique_by=lambda row: row["at"],
)


def truth_of(batches, query):
    oracle = Oracle([query])
    for batch in batches:
        oracle.add(batch)
    return oracle.truth(query)


def every_function(columns):
    numbers = [(f, c) for c in columns if c not in TEXTS for f in Function if f not in ENDS]
    texts = [(f, c) for c in TEXTS for f in (Function.COUNT, Function.MIN, Function.MAX)]
    return (
        Aggregate(Function.COUNT),
        *(Aggregate(function, column) for function, column in (*numbers, *texts)),
    )


shapes = st.fixed_dictionaries(
    {
        "by": st.sampled_from([(), ("tag",), ("site",), ("tag", "site"), ("site", "tag")]),
        "bucket": st.sampled_from([None, 1, 7, 60]),
        "where": st.sampled_from(
            [(), (("tag", "a"),), (("tag", "Grüße"), ("site", "x")), (("site", "nowhere"),)]
        ),
        "since": st.none() | st.integers(-101, 101),
        "until": st.none() | st.integers(-101, 101),
    }
)


def aggregate_query(shape, columns=EXACT):
    one_of = tuple(OneOf(tag, (value,)) for tag, value in shape["where"])
    selection = Selection(one_of, since=shape["since"], until=shape["until"])
    by, bucket = shape["by"], shape["bucket"]
    return AggregateQuery(TABLE, every_function(columns), by, bucket, selection)


SELECTIONS = (
    Selection((OneOf("tag", ("a", "Grüße")),)),
    Selection((OneOf("site", ("long name",)),)),
    Selection(compared=(Condition("n", Operator.LESS, 0),)),
    Selection(compared=(Condition("n", Operator.AT_MOST, 0),)),
    Selection(compared=(Condition("f", Operator.EQUAL, 0.5),)),
    Selection(compared=(Condition("i", Operator.AT_LEAST, 5), Condition("at", Operator.MORE, -50))),
    Selection((OneOf("site", ("x", "y")),), since=-9, until=60),
)
FIRST_AND_LAST = tuple(
    Aggregate(function, column)
    for column in ("i", "n", "f", "b", "s")
    for function in (Function.FIRST, Function.LAST)
)
HIGHEST = (Aggregate(Function.MAX, "n"),)


@st.composite
def queries(draw):
    """Draw a query of any kind."""
    chosen, newest = draw(st.sampled_from(SELECTIONS)), draw(st.integers(1, 5))
    shape = draw(shapes)
    every = ("i", "n", "f", "d", "b", "s")
    return draw(
        st.sampled_from(
            [
                aggregate_query(shape),
                aggregate_query(shape, ("d",)),
                AggregateQuery(TABLE, FIRST_AND_LAST, ("tag",), 60, chosen),
                AggregateQuery(TABLE, HIGHEST, (), 7, chosen, newest=newest),
                *(NewestQuery(TABLE, tags, every) for tags in (("tag",), ("site",))),
                NewestQuery(TABLE, ("site", "tag"), ("i", "n", "s"), chosen),
                RowsQuery(TABLE, ("n", "s", "site", "f"), chosen),
                RowsQuery(TABLE, (), chosen, newest),
                *(DistinctQuery(TABLE, each) for each in (("site", "at"), ("site", "tag"))),
                *(DistinctQuery(TABLE, each) for each in (("site",), ("tag",))),
            ]
        )
    )


@given(rows=rows_of, query=queries(), cut=st.integers(0, 30), seed=st.integers(0, 99))
@try_cases(500)
def test_the_truth_is_that_of_plain_python(rows, query, cut, seed):
    parts = [block_of(TABLE, each, seed) for each in (rows[:cut], rows[cut:])]

    assert truth_of(parts, query).agrees(reference.answer_of(query, rows))


@pytest.mark.parametrize("columns", [("i",), ("site", "i")])
def test_distinct_needs_the_natural_key_or_tags(columns):
    with pytest.raises(ValueError, match="does not contain the natural key"):
        Oracle([DistinctQuery(TABLE, columns)])


def test_a_batch_of_another_table_is_passed_over():
    query = AggregateQuery(Table("other", TABLE.columns, ()), (Aggregate(Function.COUNT),))

    assert truth_of([block_of(TABLE, [ROW])], query).answer.rows == ((0,),)


def numbers(values, kind=Type.INT64, *, exact=True):
    """Fold one column into its count, sum, mean, minimum and maximum."""
    columns = (Column("at", Type.INT64, Role.TIME), Column("v", kind, Role.FIELD, exact=exact))
    table = Table("small", columns, ("at",))
    array = np.array(values)
    data = {"at": Values(np.arange(len(array))), "v": Values(array)}
    query = AggregateQuery(table, tuple(Aggregate(f, "v") for f in Function if f not in ENDS))
    return truth_of([Block(table, 0, np.arange(len(array)), data)], query)


@pytest.mark.parametrize(
    "values",
    [
        [2**63 - 1] * 1000,
        [-(2**63)] * 1000,
        [2**63 - 1, -(2**63)] * 3,
        [-1, 2**32, -(2**32), 2**31],
    ],
)
def test_sums_of_64_bit_integers_do_not_overflow(values):
    total = sum(values)

    assert numbers(values).answer.rows == (
        (len(values), total, total / len(values), min(values), max(values)),
    )


def test_nothing_has_a_count_and_no_other_aggregate():
    empty = numbers(np.empty(0, np.int64))

    assert empty.answer.rows == ((0, None, None, None, None),)


def test_a_column_of_nothing_but_null_has_a_count_and_no_other_aggregate():
    batch = block_of(TABLE, [ROW] * 3)
    query = AggregateQuery(TABLE, tuple(Aggregate(f, "n") for f in Function), by=("tag",))

    assert truth_of([batch], query).answer.rows == (("a", 0, *[None] * 6),)


def test_a_query_by_group_over_nothing_has_no_rows():
    query = AggregateQuery(TABLE, (Aggregate(Function.MAX, "i"),), by=("tag",))

    assert truth_of([], query).answer == Answer(("tag", "max_i"), ())


def test_of_exact_floats_only_the_mean_has_a_slack_of_its_last_two_bits():
    truth = numbers(np.arange(-1000, 2000) / 64, Type.FLOAT64)
    count, total, mean, least, most = truth.answer.rows[0]

    assert total == math.fsum(np.arange(-1000, 2000) / 64)
    assert truth.slack == ((0.0, 0.0, mean * 2.0**-51, 0.0, 0.0),)
    for units, agrees in ((1, True), (-2, True), (5, False)):
        found = (count, total, mean + units * math.ulp(mean), least, most)
        assert truth.agrees(Answer(truth.answer.names, (found,))) == agrees


INEXACT = [1e16, 1.0, -1e16, 0.1] * 50


@pytest.mark.parametrize("order", [INEXACT, sorted(INEXACT), INEXACT[::-1]])
def test_inexact_sums_may_differ_as_far_as_their_order_can_make_them(order):
    truth = numbers(INEXACT, Type.FLOAT64, exact=False)
    total = 0.0
    for value in order:
        total += value
    found = (200, total, total / 200, -1e16, 1e16)

    assert truth.agrees(Answer(truth.answer.names, (found,)))


@pytest.mark.parametrize("place", range(5))
def test_more_than_the_slack_is_wrong(place):
    truth = numbers([0.1, 0.2, 0.3] * 100, Type.FLOAT64, exact=False)
    row = list(truth.answer.rows[0])
    row[place] += 1e-9 if place else 1

    assert truth.agrees(Answer(truth.answer.names, truth.answer.rows))
    assert not truth.agrees(Answer(truth.answer.names, (tuple(row),)))


def test_null_in_place_of_an_inexact_sum_is_wrong():
    truth = numbers([0.1, 0.2], Type.FLOAT64, exact=False)
    count, _, *rest = truth.answer.rows[0]

    assert not truth.agrees(Answer(truth.answer.names, ((count, None, *rest),)))


def test_an_answer_with_another_number_of_rows_is_wrong():
    truth = Truth(Answer(("x",), ((1.5,),)), ((1e-9,),))

    assert not truth.agrees(Answer(("x",), ((1.5,), (1.5,))))
    assert not truth.agrees(Answer(("x",), ()))
