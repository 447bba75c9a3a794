"""Planned queries: every statement is sent, read and combined, whatever the database."""

import pytest

from simulator.data.query import Aggregate, AggregateQuery, Function, Output, RowsQuery, Statement
from simulator.data.schema import TimeUnit, Type
from simulator.data.workloads.iot import EVENTS
from simulator.errors import RunError
from simulator.modules.contract import Session
from simulator.modules.shared.client.partials import Collected, Distinct, Latest, Merged, Partial
from simulator.modules.shared.client.planned import Fetch, PlannedQuery, PlannedSession

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


def test_a_plan_shows_its_statements_and_is_answered_in_the_querys_columns():
    query = RowsQuery(EVENTS, ("temperature",))
    plan = PlannedQuery.of(query, [Fetch("A"), Fetch("B")], Collected, parameters=(1,))

    assert isinstance(plan, Statement)
    assert (plan.text, plan.parameters) == ("A\nB", (1,))
    assert [output.name for output in plan.outputs] == ["temperature"]
    assert issubclass(PlannedSession, Session)


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
