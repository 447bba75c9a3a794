"""Placement of the pods of a run: apart from the database, and as the user sets it."""

import pytest

from tests.chart.harness import container, pods

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
NOT_ON_DB = {"key": "workload", "operator": "NotIn", "values": ["db"]}
ZONE_A = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}
ZONE_B = {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}
POSTGRES = {"cnpg.io/cluster": "postgres"}
NOT_BESIDE_POSTGRES = {
    "topologyKey": "kubernetes.io/hostname",
    "namespaceSelector": {},
    "labelSelector": {"matchLabels": POSTGRES},
}


def affinities(helm, values):
    return [pod["spec"].get("affinity") for pod in pods(helm.render(values)).values()]


def affinity_of_worker(helm, affinity, database=None):
    values = {"worker": {"affinity": affinity}, "database": database or {}}
    return pods(helm.render(values))["worker"]["spec"]["affinity"]


def test_no_pod_goes_to_a_node_of_the_database(helm):
    terms = {"nodeSelectorTerms": [{"matchExpressions": [NOT_ON_DB]}]}

    assert affinities(helm, {}) == [{"nodeAffinity": {REQUIRED: terms}}] * 2


def test_any_of_the_nodes_labels_keeps_the_pods_away(helm):
    more = {"database": {"nodeLabels": {"dedicated": "postgres"}}}

    for affinity in affinities(helm, more):
        [term] = affinity["nodeAffinity"][REQUIRED]["nodeSelectorTerms"]
        assert term["matchExpressions"] == [
            {"key": "dedicated", "operator": "NotIn", "values": ["postgres"]},
            NOT_ON_DB,
        ]


def test_no_pod_runs_beside_a_pod_of_the_database_in_any_namespace(helm):
    for affinity in affinities(helm, {"database": {"podLabels": POSTGRES}}):
        assert affinity["podAntiAffinity"] == {REQUIRED: [NOT_BESIDE_POSTGRES]}


@pytest.mark.parametrize("none", [{"nodeLabels": None}, {"nodeLabels": {"workload": None}}])
def test_on_a_single_node_nothing_is_kept_apart(helm, none):
    assert affinities(helm, {"database": none}) == [None, None]


def test_each_of_the_users_alternatives_stays_away_from_the_database(helm):
    mine = [{"matchExpressions": [ZONE_A]}, {"matchExpressions": [ZONE_B]}]
    affinity = affinity_of_worker(helm, {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": mine}}})

    assert affinity["nodeAffinity"][REQUIRED]["nodeSelectorTerms"] == [
        {"matchExpressions": [ZONE_A, NOT_ON_DB]},
        {"matchExpressions": [ZONE_B, NOT_ON_DB]},
    ]


def test_what_the_user_prefers_stays_and_so_does_the_separation(helm):
    wish = [{"weight": 1, "preference": {"matchExpressions": [ZONE_A]}}]
    beside = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "noisy"}}}
    mine = {
        "nodeAffinity": {PREFERRED: wish},
        "podAffinity": {REQUIRED: [beside]},
        "podAntiAffinity": {REQUIRED: [beside]},
    }
    affinity = affinity_of_worker(helm, mine, {"podLabels": POSTGRES})

    assert affinity == {
        "nodeAffinity": {
            PREFERRED: wish,
            REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [NOT_ON_DB]}]},
        },
        "podAffinity": {REQUIRED: [beside]},
        "podAntiAffinity": {REQUIRED: [beside, NOT_BESIDE_POSTGRES]},
    }


def test_without_separation_a_users_affinity_is_unchanged(helm):
    terms = {"nodeSelectorTerms": [{"matchExpressions": [ZONE_A]}]}
    mine = {"nodeAffinity": {REQUIRED: terms}}

    assert affinity_of_worker(helm, mine, {"nodeLabels": None}) == mine


def test_workers_spread_over_nodes_and_still_start_when_they_cannot(helm):
    rendered = pods(helm.render({"workers": 4}))

    [spread] = rendered["worker"]["spec"]["topologySpreadConstraints"]
    assert spread["topologyKey"] == "kubernetes.io/hostname"
    assert spread["whenUnsatisfiable"] == "ScheduleAnyway"
    labels = rendered["worker"]["metadata"]["labels"]
    assert spread["labelSelector"]["matchLabels"].items() <= labels.items()


def test_each_component_has_its_own_nodes_and_resources(helm):
    toleration = {"key": "workload", "operator": "Exists"}
    rendered = pods(
        helm.render({"worker": {"nodeSelector": {"a": "b"}, "tolerations": [toleration]}})
    )

    assert rendered["worker"]["spec"]["nodeSelector"] == {"a": "b"}
    assert rendered["worker"]["spec"]["tolerations"] == [toleration]
    assert not {"nodeSelector", "tolerations"} & set(rendered["collector"]["spec"])


def test_a_worker_is_guaranteed_what_it_asks_for_and_the_collector_is_not_throttled(helm):
    rendered = pods(helm.render({}))

    worker = container(rendered["worker"])["resources"]
    assert worker["requests"] == worker["limits"] == {"cpu": "1", "memory": "4Gi"}
    assert "cpu" not in container(rendered["collector"])["resources"]["limits"]


def test_the_memory_that_a_run_proposes_keeps_the_cpu_of_the_chart(helm):
    memory = {"memory": "1280Mi"}
    resources = {"requests": memory, "limits": memory}
    rendered = pods(helm.render({"worker": {"resources": resources}}))

    worker = container(rendered["worker"])["resources"]
    assert worker["requests"] == worker["limits"] == {"cpu": "1", "memory": "1280Mi"}
