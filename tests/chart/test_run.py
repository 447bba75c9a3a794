"""One run as the chart installs it: names, arguments of the pods, and how it ends."""

import json
import tarfile

import pytest
import yaml

from iotbench.execution.kubernetes.release import Release
from simulator import __version__
from simulator.protocol.records import VOLUME_FOLDER
from simulator.protocol.spec import InsertTask
from tests.chart.harness import CHART, container, one, pods, selects
from tests.unit.specs import run_spec

LONGEST_ID = "20261121-071516-ab12-10000-9999999-abcd"
LONGEST_NAME = 63


def values_of_run(**values):
    return {"run": values}


def names(objects):
    return {(each["kind"], each["metadata"]["name"]) for each in objects}


def secret_files(pod):
    """Path below the secrets' folder -> Secret and key."""
    [volume] = [each for each in pod["spec"]["volumes"] if each["name"] == "secrets"]
    secrets = [source["secret"] for source in volume["projected"]["sources"]]
    return {item["path"]: (s["name"], item["key"]) for s in secrets for item in s["items"]}


def test_the_chart_has_the_version_of_the_command_line():
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())

    assert (chart["version"], chart["appVersion"]) == (__version__, __version__)


def test_a_package_holds_the_chart_and_nothing_else(helm, tmp_path):
    with tarfile.open(helm.package(tmp_path)) as package:
        paths = [name.removeprefix("iot-bench/") for name in package.getnames()]

    assert {path for path in paths if not path.startswith("templates/")} == {
        ".helmignore",
        "Chart.yaml",
        "README.md",
        "rbac.yaml",
        "values.schema.json",
        "values.yaml",
    }


def test_clusters_without_what_the_jobs_rely_on_are_refused(helm):
    assert "incompatible with Kubernetes v1.28" in helm.template({}, "1.28.9").stderr
    assert helm.template({}, "1.29.0-gke.100").returncode == 0


def test_workers_are_numbered_and_all_start_at_once(helm):
    job = one(helm.render({"workers": 16}), "Job", "-worker")["spec"]

    assert job["completionMode"] == "Indexed"
    assert (job["completions"], job["parallelism"]) == (16, 16)


def test_without_workers_there_is_only_a_collector(helm):
    objects = helm.render({"workers": 0})

    assert list(pods(objects)) == ["collector"]
    assert names(objects) == {
        ("ConfigMap", "bench-20261121-071516-ab12-3-1"),
        ("Service", "bench-20261121-071516-ab12-3-1"),
        ("Job", "bench-20261121-071516-ab12-3-1-collector"),
    }


def test_a_failed_worker_does_not_take_the_others_with_it(helm):
    job = one(helm.render({"workers": 3}), "Job", "-worker")["spec"]

    assert job["backoffLimitPerIndex"] == 0
    assert not {"backoffLimit", "maxFailedIndexes"} & set(job)


def test_pods_get_their_arguments_and_their_node(helm):
    containers = {name: container(pod) for name, pod in pods(helm.render({})).items()}

    folders = ["--spec=/etc/bench/spec.json", "--secrets=/run/bench"]
    collector = "--collector=http://bench-20261121-071516-ab12-3-1:5000"
    assert containers["collector"]["args"] == ["collector", *folders, "--port=5000"]
    assert containers["worker"]["args"] == [
        "worker",
        *folders,
        collector,
        "--index=$(JOB_COMPLETION_INDEX)",
    ]
    for each in containers.values():
        assert each["env"] == [
            {"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}
        ]


def test_the_service_leads_to_the_collector_of_this_run_before_it_is_ready(helm):
    objects = helm.render({})
    service, mine = one(objects, "Service"), pods(objects)
    others = pods(helm.render(values_of_run(id="20261121-071516-ab12-3-2")))

    selector = service["spec"]["selector"]
    assert selects(selector, mine["collector"]["metadata"]["labels"])
    assert not selects(selector, mine["worker"]["metadata"]["labels"])
    assert not selects(selector, others["collector"]["metadata"]["labels"])
    assert service["spec"]["publishNotReadyAddresses"] is True
    [port], [listens] = service["spec"]["ports"], container(mine["collector"])["ports"]
    assert port["port"] == listens["containerPort"] == 5000
    assert port["targetPort"] == listens["name"]


def test_the_next_run_shares_no_name_with_the_last(helm):
    last = helm.render(values_of_run(id="20261121-071516-ab12-3-1"))
    following = helm.render(values_of_run(id="20261121-071516-ab12-3-2"))

    assert not names(last) & names(following)


def test_the_longest_names_fit(helm):
    objects = helm.render({**values_of_run(id=LONGEST_ID), "workers": 10000})
    worker, collector = one(objects, "Job", "-worker"), one(objects, "Job", "-collector")

    pod_names = [
        f"{worker['metadata']['name']}-9999-abcde",
        f"{collector['metadata']['name']}-abcde",
    ]
    assert max(map(len, pod_names)) == LONGEST_NAME
    assert [name for _, name in names(objects) if len(name) > LONGEST_NAME] == []


@pytest.mark.parametrize("target", ["x", "Elastic_8.15-tuned", "a" * 63])
def test_a_target_that_can_be_a_label_is_one(helm, target):
    labels = one(helm.render(values_of_run(target=target)), "Service")["metadata"]["labels"]

    assert labels["iot-bench/target"] == target


def test_long_targets_that_begin_alike_stay_apart(helm):
    targets = ["a" * 70 + "1", "a" * 70 + "2", "ends-with-a-dot.", "ends-with-a-dot"]

    services = [one(helm.render(values_of_run(target=target)), "Service") for target in targets]
    labels = [service["metadata"]["labels"]["iot-bench/target"] for service in services]
    assert len(set(labels)) == len(targets)
    assert [label for label in labels if len(label) > 63 or not label[-1].isalnum()] == []


def test_a_run_whose_id_reads_as_a_number_keeps_its_labels(helm):
    objects = helm.render(values_of_run(id="123", sweep="1e3", owner="true"))

    labels = one(objects, "Service")["metadata"]["labels"]
    assert [labels[f"iot-bench/{key}"] for key in ("run", "sweep", "owner")] == [
        "123",
        "1e3",
        "true",
    ]


def test_the_specification_arrives_as_it_was_sent(helm):
    spec = json.dumps({"text": "'\"\\ {{ .Values }} %s\n\t#: é 😀 <&>", "rows": [1.5, None]})
    objects = helm.render(values_of_run(spec=spec))

    config = one(objects, "ConfigMap")
    assert config["data"] == {"spec.json": spec}
    for pod in pods(objects).values():
        [volume] = [each for each in pod["spec"]["volumes"] if each["name"] == "spec"]
        assert volume["configMap"] == {"name": config["metadata"]["name"]}


def test_credentials_are_files_from_secrets_of_the_run_and_of_others(helm):
    existing = {"option": "user", "secret": "postgres-app", "key": "username"}
    objects = helm.render(values_of_run(options=["password"], secretOptions=[existing]))

    for pod in pods(objects).values():
        assert secret_files(pod) == {
            "token": ("bench-20261121-071516-ab12-3-1", "run-token"),
            "options/password": ("bench-20261121-071516-ab12-3-1", "option.password"),
            "options/user": ("postgres-app", "username"),
        }


def test_secrets_are_readable_for_the_pod_and_nobody_else(helm):
    for pod in pods(helm.render({})).values():
        [volume] = [each for each in pod["spec"]["volumes"] if each["name"] == "secrets"]
        assert volume["projected"]["defaultMode"] == 0o440
        assert pod["spec"]["securityContext"]["fsGroup"] == 65532


def test_jobs_end_by_themselves_and_are_deleted_with_their_logs_some_time_later(helm):
    limits = {"deadlineSeconds": 1_000_000, "ttlSeconds": 2_000_000}
    for given, expected in (({}, (1800, 1800)), (limits, (1_000_000, 2_000_000))):
        jobs = [
            each["spec"] for each in helm.render(values_of_run(**given)) if each["kind"] == "Job"
        ]
        ends = [(job["activeDeadlineSeconds"], job["ttlSecondsAfterFinished"]) for job in jobs]
        assert ends == [expected] * 2


def test_the_jobs_have_the_names_that_the_command_line_extends(helm):
    spec = run_spec(run_id="20261121-071516-ab12-3-1", workers=(InsertTask(),))
    jobs = [
        kind_and_name[1] for kind_and_name in names(helm.render({})) if kind_and_name[0] == "Job"
    ]

    assert sorted(jobs) == Release("20261121-071516-ab12", None).jobs(spec)


@pytest.mark.parametrize(
    ("image", "reference"),
    [
        ({}, f"iot-database-benchmark:{__version__}"),
        ({"name": "registry.example:5000/a/b", "tag": "7"}, "registry.example:5000/a/b:7"),
        ({"digest": "sha256:" + "0" * 64}, "iot-database-benchmark@sha256:" + "0" * 64),
    ],
)
def test_both_pods_have_the_image_that_is_asked_for(helm, image, reference):
    images = [container(pod)["image"] for pod in pods(helm.render({"image": image})).values()]

    assert images == [reference, reference]


def test_what_is_extra_reaches_both_pods(helm):
    objects = helm.render(
        {
            "extraEnv": [{"name": "PGSSLROOTCERT", "value": "/etc/database/ca.crt"}],
            "extraVolumes": [{"name": "ca", "secret": {"secretName": "postgres-ca"}}],
            "extraVolumeMounts": [{"name": "ca", "mountPath": "/etc/database"}],
            "image": {"pullSecrets": ["registry"]},
            "priorityClassName": "high",
            "serviceAccount": {"name": "bench"},
        }
    )

    for pod in pods(objects).values():
        assert container(pod)["env"][-1]["name"] == "PGSSLROOTCERT"
        assert pod["spec"]["volumes"][-1]["name"] == "ca"
        assert container(pod)["volumeMounts"][-1]["mountPath"] == "/etc/database"
        assert pod["spec"]["imagePullSecrets"] == [{"name": "registry"}]
        assert pod["spec"]["priorityClassName"] == "high"
        assert pod["spec"]["serviceAccountName"] == "bench"


def claims(pod):
    return [
        (volume["persistentVolumeClaim"], mount["mountPath"], mount["readOnly"])
        for volume in pod["spec"]["volumes"]
        for mount in container(pod)["volumeMounts"]
        if "persistentVolumeClaim" in volume and mount["name"] == volume["name"]
    ]


def test_a_volume_claim_is_mounted_read_only_by_those_who_read_the_file(helm):
    run = values_of_run(volumeClaim="fleet.data")
    mounted = [({"claimName": "fleet.data", "readOnly": True}, VOLUME_FOLDER, True)]

    inserting, scanning = pods(helm.render(run)), pods(helm.render({**run, "workers": 0}))
    assert {name: claims(pod) for name, pod in inserting.items()} == {
        "collector": [],
        "worker": mounted,
    }
    assert {name: claims(pod) for name, pod in scanning.items()} == {"collector": mounted}
    both = pods(helm.render(values_of_run(volumeClaim="fleet.data", collectorReads=True)))
    assert {name: claims(pod) for name, pod in both.items()} == {
        "collector": mounted,
        "worker": mounted,
    }
    assert not any(map(claims, pods(helm.render({})).values()))
    assert helm.template(values_of_run(volumeClaim="Fleet")).returncode != 0


def test_common_labels_and_annotations_are_on_every_object_and_pod(helm):
    common = {
        "commonLabels": {"kueue.x-k8s.io/queue-name": "benchmarks", "team": "data"},
        "commonAnnotations": {"owner": "ada"},
        "podLabels": {"team": "load"},
        "networkPolicy": {"enabled": True, "egress": [{"ports": [{"port": 5432}]}]},
    }
    objects = helm.render(common)

    assert sum(each["kind"] == "NetworkPolicy" for each in objects) == 2
    for each in objects:
        assert common["commonLabels"].items() <= each["metadata"]["labels"].items()
        assert each["metadata"]["annotations"] == {"owner": "ada"}
    for pod in pods(objects).values():
        assert pod["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "benchmarks"
        assert pod["metadata"]["labels"]["team"] == "load"
        assert pod["metadata"]["annotations"]["owner"] == "ada"


def test_fields_of_a_pod_reach_both_pods_only_if_they_are_given(helm):
    fields = {
        "priorityClassName": "high",
        "runtimeClassName": "gvisor",
        "schedulerName": "own",
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["192.0.2.1"]},
        "hostAliases": [{"ip": "192.0.2.7", "hostnames": ["db"]}],
        "initContainers": [{"name": "proxy", "image": "proxy:1", "restartPolicy": "Always"}],
    }

    for pod in pods(helm.render(fields)).values():
        assert {name: pod["spec"][name] for name in fields} == fields
    for pod in pods(helm.render({})).values():
        assert not fields.keys() & pod["spec"].keys()


def test_the_user_of_the_pods_may_be_left_to_the_cluster(helm):
    own = {"podSecurityContext": {"runAsUser": None, "runAsGroup": None, "fsGroup": None}}
    for pod in pods(helm.render(own)).values():
        assert pod["spec"]["securityContext"] == {
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        }


def test_workers_are_spread_as_the_values_say_and_the_collector_is_not(helm):
    zone = {
        "maxSkew": 2,
        "topologyKey": "topology.kubernetes.io/zone",
        "whenUnsatisfiable": "DoNotSchedule",
    }
    mine = pods(helm.render({"topologySpreadConstraints": [zone]}))

    [found] = mine["worker"]["spec"]["topologySpreadConstraints"]
    assert zone.items() <= found.items()
    assert selects(found["labelSelector"]["matchLabels"], mine["worker"]["metadata"]["labels"])
    assert "topologySpreadConstraints" not in mine["collector"]["spec"]


def test_with_rules_for_outgoing_traffic_pods_reach_collector_names_and_what_the_rules_allow(helm):
    rule = {"to": [{"ipBlock": {"cidr": "192.0.2.0/24"}}], "ports": [{"port": 5432}]}
    objects = helm.render({"networkPolicy": {"enabled": True, "egress": [rule]}})
    policy, mine = one(objects, "NetworkPolicy", "-egress")["spec"], pods(objects)
    others = pods(helm.render(values_of_run(id="20261121-071516-ab12-3-2")))

    assert policy["policyTypes"] == ["Egress"]
    guarded = policy["podSelector"]["matchLabels"]
    assert all(selects(guarded, pod["metadata"]["labels"]) for pod in mine.values())
    assert not any(selects(guarded, pod["metadata"]["labels"]) for pod in others.values())
    [collector, names_, last] = policy["egress"]
    [target] = collector["to"]
    labels = {name: pod["metadata"]["labels"] for name, pod in mine.items()}
    assert selects(target["podSelector"]["matchLabels"], labels["collector"])
    assert not selects(target["podSelector"]["matchLabels"], labels["worker"])
    assert collector["ports"] == [{"port": 5000}]
    assert {(each["port"], each["protocol"]) for each in names_["ports"]} == {
        (53, "UDP"),
        (53, "TCP"),
    }
    assert last == rule


def test_own_labels_and_annotations_come_on_top(helm):
    own = {"podLabels": {"team": "data"}, "podAnnotations": {"linkerd.io/inject": "disabled"}}
    plain, more = pods(helm.render({})), pods(helm.render(own))

    for component, pod in more.items():
        before = plain[component]["metadata"]
        assert pod["metadata"] == {
            "labels": before["labels"] | own["podLabels"],
            "annotations": before["annotations"] | own["podAnnotations"],
        }


def test_autoscalers_are_asked_to_leave_the_pods_alone(helm):
    for pod in pods(helm.render({})).values():
        assert pod["metadata"]["annotations"] == {
            "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
            "karpenter.sh/do-not-disrupt": "true",
        }


def test_with_the_network_policy_only_workers_of_this_run_reach_the_collector(helm):
    on = {"networkPolicy": {"enabled": True}}
    objects = helm.render(on)
    policy, mine = one(objects, "NetworkPolicy")["spec"], pods(objects)
    others = pods(helm.render(values_of_run(id="20261121-071516-ab12-3-2")))

    assert policy["policyTypes"] == ["Ingress"]
    guarded = policy["podSelector"]["matchLabels"]
    assert selects(guarded, mine["collector"]["metadata"]["labels"])
    assert not selects(guarded, mine["worker"]["metadata"]["labels"])
    [rule] = policy["ingress"]
    [source] = rule["from"]
    assert set(source) == {"podSelector"}
    assert selects(source["podSelector"]["matchLabels"], mine["worker"]["metadata"]["labels"])
    for pod in (mine["collector"], *others.values()):
        assert not selects(source["podSelector"]["matchLabels"], pod["metadata"]["labels"])
    assert rule["ports"] == [{"port": 5000}]
