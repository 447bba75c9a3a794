"""A database that fails an item and does not answer then fails the others without being asked."""

from types import SimpleNamespace

import pytest

from iotbench.config.options.choice import ClusterOptions, Reach, RunOptions
from iotbench.execution import experiment
from iotbench.execution.experiment import measure_all
from iotbench.execution.measure import TimeLimit
from iotbench.execution.roster import Roster
from iotbench.plans.items import MeasuredItem
from tests.unit.plans.made import pairs_of, plan_of, target

PLAN = plan_of("a", "b", repeats=3)
ROSTER = Roster((), tuple(pairs_of(PLAN, target("one"), target("two"))), {})


class Measuring:
    """Every item of the first target fails."""

    reach = Reach(None, None, ClusterOptions())

    def __init__(self, output):
        self.run = RunOptions(output=output, quiet=True)
        self.items = []
        self.limit = TimeLimit()
        self.interrupts = SimpleNamespace(requested=False)

    def measure(self, item):
        self.items.append((item.target.name, item.setting.name, item.repeat))
        failed = item.target.name == "one"
        return MeasuredItem(
            ((None, SimpleNamespace(status="failed" if failed else "done", cause="")),)
        )


@pytest.fixture
def asked(monkeypatch):
    """The targets that were asked, and what each answers: nothing, as long as it is named."""
    found = SimpleNamespace(names=[], silent=set())

    def silence(target, *_):
        found.names.append(target.name)
        return "refused" if target.name in found.silent else ""

    monkeypatch.setattr(experiment, "wait_for_answer", silence)
    return found


def test_after_a_failure_the_others_are_measured_if_the_database_answers(tmp_path, asked):
    measuring = Measuring(tmp_path)
    found, status, _ = measure_all(PLAN, ROSTER, measuring)

    assert status == "done"
    assert len(measuring.items) == len(found) == 12
    assert asked.names == ["one"] * 5


def test_they_are_not_begun_if_it_is_gone(tmp_path, asked):
    asked.silent.add("one")
    measuring = Measuring(tmp_path)
    found, status, _ = measure_all(PLAN, ROSTER, measuring)

    assert status == "done"
    assert [item for item in measuring.items if item[0] == "one"] == [("one", "a", 1)]
    assert [item[0] for item in measuring.items].count("two") == 6
    assert asked.names == ["one"]
    assert len(found) == 12
    causes = [each.failure for item, each in found if item.target.name == "one"]
    assert causes[1:] == ["not begun, the database is gone: refused"] * 5


def test_a_stop_while_it_is_waited_for_ends_the_plan(tmp_path, monkeypatch):
    measuring = Measuring(tmp_path)

    def stopped(*_):
        measuring.interrupts.requested = True
        return "stopped by the user"

    monkeypatch.setattr(experiment, "wait_for_answer", stopped)
    found, status, _ = measure_all(PLAN, ROSTER, measuring)

    assert status == "interrupted"
    assert len(found) == len(measuring.items) == 1
