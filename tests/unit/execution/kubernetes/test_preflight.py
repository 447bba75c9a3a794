"""Problems of a cluster that are found before the first run, from the API's objects."""

from dataclasses import replace

import pytest
import yaml

from iotbench.execution.kubernetes.preflight import (
    PodGroup,
    VisibleObjects,
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


SEEN = VisibleObjects(ACTIVE, [node("a", workload="db"), node("b")], [])
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
    assert warned(VisibleObjects(None, None, None)) == []


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


# --- room for the largest run -------------------------------------------------------------------

COLLECTOR = pods("collector")


def test_workers_that_fit_beside_the_collector_are_no_problem():
    assert warned(SEEN, COLLECTOR, pods(count=3)) == []


def test_more_workers_than_the_nodes_have_cpus_for_are_a_warning():
    (found,) = warned(SEEN, COLLECTOR, pods(count=4))

    assert found.startswith("1 node may take workers, of 1 CPU and 1 GiB each: 3 of 4 workers fit")


def test_the_collector_is_placed_where_workers_lose_nothing():
    collector = replace(COLLECTOR, spec=COLLECTOR.spec | {"affinity": {}})

    assert warned(SEEN, collector, pods(count=4)) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"unschedulable": True},
        {"taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}]},
    ],
)
def test_a_node_that_keeps_pods_off_has_no_room(changed):
    other = node("b") | {"spec": changed}
    texts = warned(replace(SEEN, nodes=[node("a", workload="db"), other]))

    assert [text.partition(":")[0] for text in texts] == [
        "no node may take the collector",
        "no node may take the worker",
    ]


@pytest.mark.parametrize(
    "toleration",
    [{"key": "gpu", "value": "a"}, {"key": "gpu", "operator": "Exists"}, {"operator": "Exists"}],
)
def test_a_tolerated_taint_keeps_no_pod_off(toleration):
    taint = {"key": "gpu", "value": "a", "effect": "NoSchedule"}
    seen = replace(
        SEEN, nodes=[node("a", workload="db"), node("b") | {"spec": {"taints": [taint]}}]
    )
    tolerations = [toleration]

    groups = pods("collector", tolerations=tolerations), pods(tolerations=tolerations)
    assert warned(seen, *groups) == []


def test_a_selected_label_leaves_only_its_nodes():
    chosen = {"nodeSelector": {"disk": "fast"}}
    nodes = [*SEEN.nodes, node("c", disk="fast"), node("d", disk="slow")]

    (found,) = warned(replace(SEEN, nodes=nodes), COLLECTOR, pods(count=5, **chosen))
    assert found.startswith("1 node may take workers")
    assert "4 of 5 workers fit" in found


def quota(hard, used=None, **more):
    return {
        "metadata": {"name": "team"},
        "spec": {"hard": hard, **more},
        "status": {"hard": hard, "used": used or {}},
    }


def with_quota(*given, **more):
    return replace(SEEN, nodes=None, quotas=[quota(*given, **more)])


def test_a_quota_that_is_too_small_refuses_the_run():
    found = refused(with_quota({"requests.cpu": "3"}), COLLECTOR, pods(count=4))

    assert found.startswith(
        "quota team of the namespace has requests.cpu=3: 2 of 4 workers fit beside the collector"
    )


def test_all_problems_are_listed_at_once():
    seen = replace(with_quota({"cpu": "1", "pods": "2"}), missing=["create jobs (why)"])
    found = refused(seen, COLLECTOR, pods(count=4))

    assert "create jobs" in found
    assert "cpu=1" in found
    assert "pods=2: 1 of 4 workers fit" in found


def test_a_quota_that_others_use_is_a_warning():
    (found,) = warned(with_quota({"memory": "8Gi"}, {"memory": "5Gi"}), COLLECTOR, pods(count=4))

    assert "memory=8Gi, of which 5Gi are in use: 2 of 4 workers fit" in found


def test_a_quota_of_other_pods_or_resources_is_not_counted():
    assert warned(with_quota({"pods": "1"}, scopes=["BestEffort"])) == []
    assert warned(with_quota({"count/secrets": "1", "requests.storage": "1"})) == []
