"""Problems of a cluster that are found before the first run, from the API's objects."""

from dataclasses import replace

import pytest
import yaml

from iotbench.execution.kubernetes.preflight import (
    PodGroup,
    Seen,
    database_nodes,
    expect,
    groups_of,
)
from simulator.errors import SetupError

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
APART = {"key": "workload", "operator": "NotIn", "values": ["db"]}
ACTIVE = {"status": {"phase": "Active"}}


def pods(part="worker", count=1, **spec):
    """The pods of a Job as the chart makes them."""
    terms = [{"matchExpressions": [APART]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}
    container = {"name": part, "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}
    return PodGroup(part, count, {"containers": [container], "affinity": affinity, **spec})


def node(name, **labels):
    return {
        "metadata": {"name": name, "labels": labels},
        "spec": {},
        "status": {
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


SEEN = Seen(ACTIVE, [node("a", workload="db"), node("b")])
UNLABELLED = replace(SEEN, nodes=[node("a"), node("b")])


def warned(seen, *groups, inside=True):
    return expect("bench", seen, groups or [pods("collector"), pods()], inside=inside)


def refused(seen, *groups):
    with pytest.raises(SetupError) as error:
        warned(seen, *groups)
    return str(error.value)


def test_the_pods_are_those_of_the_rendered_jobs():
    spec = {"containers": [{"name": "worker"}]}
    job = {"kind": "Job", "spec": {"completions": 3, "template": {"spec": spec}}}

    assert groups_of(yaml.safe_dump_all([job, {"kind": "Service"}, None])) == [
        PodGroup("worker", 3, spec)
    ]


# --- the namespace ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("namespace", "problem"),
    [
        ({}, "namespace bench does not exist: choose another with --namespace, or create it"),
        ({"status": {"phase": "Terminating"}}, "namespace bench is being deleted"),
    ],
)
def test_only_the_namespace_is_named_where_no_run_can_start(namespace, problem):
    seen = replace(UNLABELLED, namespace=namespace, missing=["create jobs"])

    found = refused(seen)
    assert found.startswith(problem)
    assert "permissions" not in found


def test_missing_permissions_are_listed():
    assert "bench:\n  create jobs (why)\n" in refused(replace(SEEN, missing=["create jobs (why)"]))


def test_what_cannot_be_read_is_no_problem():
    assert warned(Seen(None, None)) == []


# --- the database's nodes -----------------------------------------------------------------------


def test_a_cluster_without_a_node_for_the_database_is_a_warning():
    (found,) = warned(UNLABELLED)

    assert found.startswith(
        "no node has the label workload=db: workers may run beside the database"
    )


def test_a_labelled_node_is_the_databases():
    assert warned(SEEN) == []
    assert database_nodes(SEEN.nodes, [pods()]) == ["a"]


def test_a_database_elsewhere_or_kept_apart_by_its_pods_needs_no_labels():
    apart = pods().spec["affinity"] | {"podAntiAffinity": {REQUIRED: [{}]}}

    assert warned(UNLABELLED, inside=False) == []
    assert warned(UNLABELLED, pods(affinity=apart)) == []
    assert warned(UNLABELLED, pods(affinity={})) == []


def test_labels_that_only_workers_avoid_are_not_the_databases():
    other = {"key": "zone", "operator": "NotIn", "values": ["b"]}
    terms = [{"matchExpressions": [other, APART]}]
    affinity = {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": terms}}}

    (found,) = warned(UNLABELLED, pods("collector"), pods(affinity=affinity))
    assert "zone" not in found
