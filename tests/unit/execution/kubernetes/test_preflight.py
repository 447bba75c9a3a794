"""Problems of a cluster that are found before the first run, from the API's objects."""

import pytest

from iotbench.execution.kubernetes.preflight import explain_namespace


@pytest.mark.parametrize(
    ("namespace", "problem"),
    [
        ({}, "namespace nosuch does not exist: choose another with --namespace, or create it"),
        ({"status": {"phase": "Terminating"}}, "namespace nosuch is being deleted"),
    ],
)
def test_a_namespace_without_room_for_a_run_is_named(namespace, problem):
    assert explain_namespace("nosuch", namespace).startswith(problem)


@pytest.mark.parametrize("namespace", [None, {"status": {"phase": "Active"}}])
def test_a_namespace_that_cannot_be_read_or_is_there_is_no_problem(namespace):
    assert explain_namespace("bench", namespace) == ""
