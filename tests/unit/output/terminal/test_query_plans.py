"""Query plans in a terminal: the beginning of each, several statements, a reason in their place."""

from iotbench.output.terminal.notes import plans_of
from simulator.protocol.events import QueryPlan, QueryPlans
from tests.unit.output.terminal.made import outcome, result, run


def plan(text, statement="SELECT 1"):
    return QueryPlan(statement=statement, text=text, shape="")


def shown(**fields):
    found = outcome(plans=(QueryPlans(query="count", **fields),))
    return list(plans_of(result([run(found)])))


def test_a_long_plan_is_shown_from_its_beginning():
    long = "\n".join(f"step {number}" for number in range(30))
    first, *lines, more, last = shown(statements=(plan(long),))

    assert (first, last) == ("count: query plan", "")
    assert lines == [f"  step {number}" for number in range(20)]
    assert more == "  and 10 more lines, which the result and its page have"


def test_each_of_several_statements_stands_above_its_plan():
    two = (plan("Scan a", "SELECT a"), plan("Scan b", "SELECT b"))

    assert shown(statements=two, more=True) == [
        "count: query plan",
        *("  SELECT a", "  ", "  Scan a", "  ", "  SELECT b", "  ", "  Scan b", "  "),
        "  and further statements, without plans",
        "",
    ]


def test_a_reason_stands_in_place_of_a_plan():
    assert shown(problem="no right to explain")[1] == "  none: no right to explain"


def test_a_result_without_plans_says_nothing():
    assert list(plans_of(result([run(outcome())]))) == []
