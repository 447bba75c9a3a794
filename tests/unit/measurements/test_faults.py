"""Faults as options: when something fails, and what does not go together."""

import pytest
from pydantic import ValidationError

from iotbench.measurements.shared.faults import FaultMoment, Faults, format_moment, parse_moment

KILL = {"fault": "kill-database"}


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("30s", FaultMoment(30.0)),
        ("1m30s", FaultMoment(90.0)),
        ("50%", FaultMoment(share=0.5)),
        ("0", FaultMoment()),
    ],
)
def test_a_moment_is_a_time_or_a_share(text, moment):
    assert parse_moment(text) == moment
    assert parse_moment(format_moment(moment)) == moment


@pytest.mark.parametrize("text", ["soon", "100%", "-3s", "50%%"])
def test_what_is_no_moment_is_refused(text):
    with pytest.raises(ValueError, match="expected"):
        parse_moment(text)


@pytest.mark.parametrize(
    ("given", "instants"),
    [
        ({}, [18.0]),
        ({"at": "10s"}, [10.0]),
        ({"at": "10s", "every": "20s"}, [10.0, 30.0, 50.0]),
        ({"at": "10s", "every": "20s", "for": "10s"}, [10.0, 30.0]),
        ({"fault": "restart-database", "restart_with": "x", "at": "58s"}, [58.0]),
    ],
)
def test_it_fails_as_often_as_it_can_be_undone_within_the_time(given, instants):
    faults = Faults.model_validate(KILL | given)

    assert faults.instants_s(60.0) == instants
    assert faults.fault_problems(60.0) == []
    assert Faults().instants_s(60.0) == []


@pytest.mark.parametrize(
    ("given", "duration_s", "problem"),
    [
        ({"at": "3s"}, 60.0, "--at: says how the database fails; add --fault"),
        ({"for": "3s"}, 60.0, "--for: says how the database fails"),
        ({"restart_with": "x"}, 60.0, "--restart-with: says how the database fails"),
        (KILL, 0.0, "--fault: workers go on for a known time meanwhile; add --duration"),
        (KILL | {"at": "56s"}, 60.0, "--at, --for: the fault lasts until 61 s, and the measured"),
        (KILL | {"every": "5s"}, 60.0, "--every: expected more than the 5 s of --for, got 5s"),
        (
            {"fault": "pause-database", "restart_with": "x"},
            60.0,
            "--restart-with: is for --fault kill-database, restart-database, crash-node",
        ),
        ({"fault": "fill-disk"}, 60.0, "--fault fill-disk: add the folder"),
        ({"fault": "slow-network", "delay": "0s"}, 60.0, "--fault slow-network: neither"),
        ({"fault": "cut-network", "bandwidth": "1MB"}, 60.0, "--bandwidth: is for --fault slow"),
        ({"fault": "crash-node", "restart_with": "x"}, 60.0, "--fault crash-node: add the"),
        ({"fault": "kill-worker", "disk": "/x"}, 60.0, "--disk: is for --fault fill-disk"),
        ({"fault": "restart-database"}, 60.0, "--fault restart-database: add the command"),
    ],
)
def test_what_does_not_go_together_is_named(given, duration_s, problem):
    (found,) = Faults.model_validate(given).fault_problems(duration_s)

    assert found.startswith(problem)


def test_a_plan_says_what_fails_when():
    killed = Faults.model_validate(KILL | {"at": "10s", "every": "30s", "restart_with": "up"})
    restarted = Faults.model_validate({"fault": "restart-database", "restart_with": "up"})

    assert [*killed.outline(60.0)] == [
        "fault: kill-database at 10 s, 40 s of each run, for 5 s", "after each fault: up",
    ]  # fmt: skip
    assert next(restarted.outline(10.0)) == "fault: restart-database at 3 s of each run"


def test_an_unknown_fault_is_refused():
    with pytest.raises(ValidationError):
        Faults.model_validate({"fault": "eat-database"})


def test_words_of_a_command_say_the_same_again():
    faults = Faults.model_validate(KILL | {"at": "25%", "every": "1m", "restart_with": "up"})

    assert faults.stored() == {
        "fault": ("kill-database",), "at": ("25%",), "every": ("60s",), "restart-with": ("up",),
    }  # fmt: skip
