"""An answer without groups has one row; another number of rows is a wrong answer."""

import pytest

from simulator.data.query import Aggregate, AggregateQuery, DistinctQuery, Function
from simulator.data.workloads.iot import EVENTS
from simulator.errors import MismatchError
from simulator.verify.stored.statistics import one_row

COUNT = AggregateQuery(EVENTS, (Aggregate(Function.COUNT),))


@pytest.mark.parametrize("query", [COUNT, DistinctQuery(EVENTS, EVENTS.key)])
def test_the_one_row_is_returned_and_any_other_number_is_a_mismatch(query):
    assert one_row(query, [(7,)]) == (7,)
    for rows in ([], [(7,), (7,)]):
        words = f"events: count: expected an answer of one row, got {len(rows)} rows"
        with pytest.raises(MismatchError, match=words):
            one_row(query, rows)
