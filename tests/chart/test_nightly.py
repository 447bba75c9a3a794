"""The CronJob that runs a plan from inside the cluster."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

import pytest
import yaml
from kubernetes import client

from iotbench.output.live.metrics import problem_with
from tests import ROOT
from tests.chart.harness import CHART, NIGHTLY, container, one

TEXT = "must be the text of a YAML file, got"


@pytest.fixture
def nightly(helm):
    """Render the CronJob with additional values."""

    def render(**values):
        return helm.render({"nightly": values}, base=NIGHTLY, release="night")

    return render


def pod_of(objects):
    return one(objects, "CronJob")["spec"]["jobTemplate"]["spec"]["template"]


def test_the_example_is_accepted_by_helm_and_known_to_kubernetes(helm, nightly):
    done = helm.lint(NIGHTLY, base=NIGHTLY)
    assert done.returncode == 0, done.stdout
    versions = {"CronJob", "ConfigMap", "PersistentVolumeClaim", "ServiceAccount", "Role"}
    objects = nightly()
    assert {each["kind"] for each in objects} == {*versions, "RoleBinding"}
    for each in objects:
        known = getattr(client, f"V1{each['kind']}").model_validate(each)
        assert known.metadata.name == "night"


def test_the_values_for_argo_cd_are_accepted(helm):
    source = yaml.safe_load((CHART / "argocd.yaml").read_text())["spec"]["source"]
    values = source["helm"]["valuesObject"]

    assert ROOT / source["path"] == CHART
    objects = helm.render(values, base=NIGHTLY)
    assert one(objects, "ConfigMap")["data"]["plan.yaml"] == values["nightly"]["plan"]


def test_a_run_ignores_the_values_of_the_cron_job(helm):
    assert helm.render(NIGHTLY) == helm.render({})


def test_one_run_at_a_time_and_a_failure_is_not_repeated(nightly):
    spec = one(nightly(), "CronJob")["spec"]

    assert spec["concurrencyPolicy"] == "Forbid"
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (3, 7)
    job = spec["jobTemplate"]["spec"]
    assert job["backoffLimit"] == 0
    assert job["template"]["spec"]["restartPolicy"] == "Never"


def test_the_deadline_is_the_pods_which_keeps_its_log_and_the_job_ends_a_pod_that_never_starts(
    nightly,
):
    job = one(nightly(deadlineSeconds=60), "CronJob")["spec"]["jobTemplate"]["spec"]

    assert job["template"]["spec"]["activeDeadlineSeconds"] == 60
    assert job["activeDeadlineSeconds"] == 960


def test_the_account_has_the_permissions_of_a_run_and_no_others(nightly):
    role, _ = yaml.safe_load_all((CHART / "rbac.yaml").read_text())
    objects = nightly()

    assert one(objects, "Role")["rules"] == role["rules"]
    binding = one(objects, "RoleBinding")
    assert (binding["roleRef"]["kind"], binding["roleRef"]["name"]) == ("Role", "night")
    (subject,) = binding["subjects"]
    assert (subject["kind"], subject["name"]) == ("ServiceAccount", "night")
    assert pod_of(objects)["spec"]["serviceAccountName"] == "night"


def test_an_existing_account_and_claim_are_used(nightly):
    objects = nightly(serviceAccount="bench", claim="figures")

    assert {each["kind"] for each in objects} == {"CronJob", "ConfigMap"}
    spec = pod_of(objects)["spec"]
    assert spec["serviceAccountName"] == "bench"
    claims = [
        each["persistentVolumeClaim"] for each in spec["volumes"] if each["name"] == "results"
    ]
    assert claims == [{"claimName": "figures"}]


def test_results_outlive_the_release(nightly):
    claim = one(nightly(storage="1Gi", storageClass="fast"), "PersistentVolumeClaim")

    assert claim["metadata"]["annotations"] == {
        "helm.sh/resource-policy": "keep",
        "argocd.argoproj.io/sync-options": "Prune=false",
        "argocd.argoproj.io/compare-options": "IgnoreExtraneous",
    }
    assert claim["spec"]["storageClassName"] == "fast"
    assert claim["spec"]["resources"] == {"requests": {"storage": "1Gi"}}


def test_the_pod_is_restricted_and_placed_like_a_collector(helm):
    values = {
        "collector": {"nodeSelector": {"pool": "clients"}},
        "image": {"pullSecrets": ["registry"]},
        "commonLabels": {"team": "data"},
    }
    objects = helm.render(values, base=NIGHTLY)
    pod, collector = pod_of(objects), helm.render(values)
    [job] = [each for each in collector if each["metadata"]["name"].endswith("-collector")]

    same = ("affinity", "imagePullSecrets", "nodeSelector", "securityContext")
    theirs = job["spec"]["template"]
    assert {key: pod["spec"][key] for key in same} == {key: theirs["spec"][key] for key in same}
    assert container(pod)["securityContext"] == container(theirs)["securityContext"]
    assert container(pod)["image"] == container(theirs)["image"]
    assert all(each["metadata"]["labels"]["team"] == "data" for each in [*objects, pod])


def test_the_command_gets_the_files_that_are_given_and_a_folder_for_each_job(nightly):
    objects = nightly(config="targets: {}", values="workers: 2", options=["--trust"])

    assert container(pod_of(objects))["args"] == [
        "--output=/results/$(JOB)",
        "--image=iot-database-benchmark:0.1.0",
        "--config=/etc/bench/config.yaml",
        "--values=/etc/bench/values.yaml",
        "--trust",
        "--namespace=default",
    ]
    assert one(objects, "ConfigMap")["data"]["config.yaml"] == "targets: {}"
    assert container(pod_of(nightly()))["args"] == [
        "--output=/results/$(JOB)",
        "--image=iot-database-benchmark:0.1.0",
        "--metrics-out=otlp+http://otel-collector.monitoring:4318",
        "--namespace=default",
    ]


PLAN = """
name: night
targets: [sqlite]
repeats: 1
settings:
  - name: slow
    insert: {workload: iot, workers: 1, batch: 10, rate: 100, num_inserts: %d}
"""


@pytest.fixture
def pod(nightly, tmp_path):
    """Start the container's command of a CronJob here, with the real program."""
    program = tmp_path / "bin/iotbench"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {ROOT}/run.py "$@"\n')
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}",
                   "XDG_STATE_HOME": str(tmp_path / "state")}  # fmt: skip

    def start(job, rows, to="", **values):
        given = {**values, "options": ["--runner=local"], "copyTo": to and "s3://bench/nights"}
        main = container(pod_of(nightly(**given)))
        options = [word for word in main["args"] if not word.startswith(("--image", "--namespace"))]
        (tmp_path / "plan.yaml").write_text(PLAN % rows)
        (tmp_path / "results").mkdir(exist_ok=True)
        words = [
            word.replace("/etc/bench", str(tmp_path))
            .replace("s3://bench/nights", to)
            .replace("/results", str(tmp_path / "results"))
            .replace("$(JOB)", job)
            for word in [*main["command"], *options]
        ]
        return subprocess.Popen(
            words, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
        )

    return start


def test_the_results_of_all_nights_are_copied_and_a_failure_fails_the_job(pod, tmp_path):
    kept = pod("night-1", 20, "sqlite:nowhere/x.db")
    _, said = kept.communicate(timeout=120)
    assert kept.returncode == 1, said
    assert "create the folder: mkdir -p nowhere; 0 of 2 results are stored" in said
    copied = pod("night-2", 20, "sqlite:nights.db")
    _, said = copied.communicate(timeout=120)

    assert copied.returncode == 0, said
    with closing(sqlite3.connect(tmp_path / "nights.db")) as connection:
        rows = connection.execute("SELECT folder, count(*) FROM iotbench_results GROUP BY folder")
        assert [*rows] == [("night-1", 2), ("night-2", 2)]


def test_old_results_are_removed_once_they_are_copied(pod, nightly, tmp_path):
    names = ("night-29512340", "night-29512341", "now", "nightly-29512340")
    for name in names:
        folder = tmp_path / "results" / name
        folder.mkdir(parents=True)
        if name != "night-29512341":
            os.utime(folder, (0, 0))

    def measure(job, **values):
        _, said = pod(job, 20, keepDays=90, **values).communicate(timeout=120)
        assert "Traceback" not in said
        return {path.name for path in (tmp_path / "results").iterdir() if path.is_dir()}

    assert measure("night-1", to="sqlite:nowhere/x.db") == {*names, "night-1"}
    assert measure("night-2", to="sqlite:nights.db") == {*names[1:], "night-1", "night-2"}
    (tmp_path / "results" / names[0]).mkdir()
    os.utime(tmp_path / "results" / names[0], (0, 0))
    assert measure("night-3") == {*names[1:], "night-1", "night-2", "night-3"}
    command = container(pod_of(nightly()))["command"]
    assert command == ["iotbench", "run", "/etc/bench/plan.yaml"]


def test_a_run_that_is_stopped_ends_orderly_and_its_results_are_copied(pod, tmp_path):
    stopped = pod("night-1", 100_000, "sqlite:nights.db")
    until = time.monotonic() + 60
    while not [*tmp_path.glob("results/night-1/2*.json")] and time.monotonic() < until:
        time.sleep(0.1)
    time.sleep(2)
    stopped.terminate()
    _, said = stopped.communicate(timeout=120)

    assert stopped.returncode == 130, said
    with closing(sqlite3.connect(tmp_path / "nights.db")) as connection:
        query = "SELECT content FROM iotbench_results WHERE file LIKE '2%'"
        ((content,),) = connection.execute(query)
    assert json.loads(content)["status"] == "interrupted"


def test_credentials_of_copies_come_from_secrets_only(helm):
    for url in ("postgresql://me:pw@host/db", "s3://key:pw@bucket", "s3://bucket?x=y", "/results"):
        assert any(
            "'/nightly/copyTo'" in line
            for line in helm.refusal({"nightly": {"copyTo": url}}, base=NIGHTLY)
        )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"plan": ""}, f'nightly.plan {TEXT} "": use --set-file nightly.plan=FILE'),
        (
            {"config": "c.yaml"},
            f'nightly.config {TEXT} "c.yaml": use --set-file nightly.config=FILE',
        ),
        (
            {"env": [{"name": "JOB", "valueFrom": {"secretKeyRef": {}}}]},
            'nightly.env sets "JOB", which is already set: remove it',
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"fieldRef": {}}}]},
            "at '/nightly/env/0/valueFrom': additional properties 'fieldRef' not allowed",
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"secretKeyRef": {}}, "value": "x"}]},
            "at '/nightly/env/0': additional properties 'value' not allowed",
        ),
    ],
)
def test_invalid_values_are_refused_with_a_sentence(helm, values, message):
    assert message in helm.refusal({"nightly": values}, base=NIGHTLY)


def test_a_release_with_too_long_a_name_is_refused(helm):
    [message] = helm.refusal({}, base=NIGHTLY, release="n" * 53)

    assert message.endswith("which has at most 52 characters: choose a shorter name")


def test_metrics_go_where_an_option_says_with_headers_of_a_secret(nightly, monkeypatch):
    (main,) = pod_of(nightly())["spec"]["containers"]
    (place,) = [each for each in main["args"] if each.startswith("--metrics-out=")]
    variables = {each["name"]: each for each in main["env"]}
    headers = variables["OTEL_EXPORTER_OTLP_HEADERS"]["valueFrom"]

    assert headers == {"secretKeyRef": {"name": "otel", "key": "headers"}}
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20Zx9Qw7Kp")
    assert not problem_with(place.partition("=")[2])
