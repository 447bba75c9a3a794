"""Query plans of two results: the same, changed, of one side only."""

from pathlib import Path

import pytest

from iotbench.comparison.query_plans import compare_plans
from iotbench.comparison.sides import Side
from simulator.protocol.events import QueryPlan, QueryPlans
from tests.unit.output.terminal.made import outcome, result, run

SCAN, INDEX = "Aggregate\n  Seq Scan on events", "Aggregate\n  Index Scan on events"


def side(**shapes):
    plans = tuple(
        QueryPlans(
            query=name,
            statements=tuple(
                QueryPlan(statement="", text="as printed", shape=shape) for shape in every
            ),
            problem="" if every else "no right to explain",
        )
        for name, every in shapes.items()
    )
    found = result([run(outcome(plans=plans))], sweep_id="a")
    return Side(((Path("a.json"), found),))


def lines(base, other):
    return list(compare_plans(base, other).lines)


def test_nothing_is_said_where_no_side_has_plans():
    assert lines(side(), side()) == []


def test_equal_plans_are_counted_and_a_change_is_shown_from_its_first_line():
    base = side(count=[SCAN], newest=[SCAN], oldest=[INDEX])

    assert lines(base, side(count=[SCAN], newest=[INDEX], oldest=[INDEX])) == [
        "query plan of newest changed: Seq Scan on events -> Index Scan on events",
        "the same query plans: 2 queries",
    ]


@pytest.mark.parametrize(
    ("other", "change"),
    [
        (["Aggregate"], "Seq Scan on events -> nothing more"),
        ([SCAN, SCAN], "nothing more -> Aggregate"),
        (["Aggregate\nSeq Scan on events"], "  Seq Scan on events -> Seq Scan on events"),
    ],
)
def test_parts_that_are_gone_or_new_or_elsewhere_are_changes(other, change):
    assert lines(side(count=[SCAN]), side(count=other)) == [
        f"query plan of count changed: {change}"
    ]


def test_queries_with_a_plan_on_one_side_only_are_named():
    assert lines(side(count=[SCAN]), side(count=[], newest=[SCAN])) == [
        "query plan of one side only: count, newest"
    ]
