"""The CronJob of the chart runs a plan from inside the cluster, with the documented permissions."""

import copy
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from tests.e2e.harness import SMALL, ClusterLine, Namespace, kill_container, waited
from tests.integration.conftest import ROOT

NAME = "nightly"
NEVER = "0 0 29 2 1"
ROWS: dict[str, Any] = {"workload": "iot", "workers": 1}
SWEEP = {**ROWS, "num_inserts": 2000, "batch": 500}
SMALL_PLAN: dict[str, Any] = {
    "name": "small",
    "targets": ["postgresql"],
    "repeats": 1,
    "settings": [
        {"name": "asked", "insert": SWEEP, "query": {"count": 2}},
        {"name": "single", "insert": {**SWEEP, "batch": 50}},
    ],
}
LONG_PLAN = {
    **SMALL_PLAN,
    "name": "long",
    "settings": [{"name": "slow", "insert": {**ROWS, "batch": 100, "num_inserts": 200_000,
                                             "rate": 1000}}],
}  # fmt: skip
PRINT = """
import glob, pathlib, sys
for path in sorted(glob.glob(f"/results/{sys.argv[1]}/plan-*.json")):
    print(pathlib.Path(path).read_text())
"""


@dataclass(frozen=True)
class Nightly:
    """A release of the chart with the CronJob."""

    namespace: Namespace

    def values(self, plan: Mapping[str, Any], **values: Any) -> dict[str, Any]:
        image, _, tag = self.namespace.kube.image.rpartition(":")
        own = {
            "enabled": True,
            "schedule": NEVER,
            "storage": "64Mi",
            "plan": yaml.safe_dump(plan),
            "values": yaml.safe_dump(SMALL),
            "resources": SMALL["collector"]["resources"],
        }
        return {NAME: own | values, **({"image": {"name": image, "tag": tag}} if image else {})}

    def install(self, plan: Mapping[str, Any], **values: Any) -> None:
        given = self.values(plan, **values)
        self._helm(
            "upgrade", "--install", NAME, str(ROOT / "deployment"), "--values=-", given=given
        )

    def _helm(self, *words: str, given: Mapping[str, Any] | None = None) -> None:
        place = f"--namespace={self.namespace.name}"
        self.namespace.kube.run("helm", *words, place, given=json.dumps(given))

    def start(self, job: str) -> None:
        self.namespace.kubectl("create", "job", f"--from=cronjob/{NAME}", job)

    def run(self, job: str, within_s: float = 240) -> tuple[str, str]:
        """Start a Job; return how it ends, and its log."""
        self.start(job)
        return self.end(job, within_s), self.log(job)

    def end(self, job: str, within_s: float = 240) -> str:
        """Wait for the end of a Job; return the last condition."""

        def condition() -> str:
            found = self.namespace.json("job", job)["status"].get("conditions", [])
            return next((c["type"] for c in found if c["type"] in ("Complete", "Failed")), "")

        return str(waited(f"{job} ends", condition, within_s))

    def log(self, job: str) -> str:
        return self.namespace.log(f"job/{job}")

    def pod(self, job: str) -> Any:
        (found,) = self.namespace.json("pods", f"--selector=job-name={job}")["items"]
        return found

    def exit_code(self, job: str) -> int:
        (status,) = self.pod(job)["status"]["containerStatuses"]
        return int(status["state"]["terminated"]["exitCode"])

    def started_insert(self) -> bool:
        pods = self.namespace.pods("collector")
        logs = [self.namespace.log(pod["metadata"]["name"]) for pod in pods]
        return any('"phase":"insert"' in log for log in logs)

    def record(self, job: str) -> Any:
        """Return the plan's record in the claim, as a pod of the same CronJob reads it."""
        template = self.namespace.json("cronjob", NAME)["spec"]["jobTemplate"]["spec"]["template"]
        pod = copy.deepcopy(template)
        pod["spec"]["containers"][0].update(command=["python", "-c", PRINT, job], args=[])
        pod |= {"apiVersion": "v1", "kind": "Pod"}
        pod["metadata"] |= {"name": "reader", "labels": {"job-name": "reader"}}
        self.namespace.kubectl("apply", "--filename=-", given=json.dumps(pod))
        phase = "--for=jsonpath={.status.phase}=Succeeded"
        self.namespace.kubectl("wait", phase, "pod/reader", "--timeout=60s")
        found = json.loads(self.namespace.log("reader"))
        self.namespace.kubectl("delete", "pod/reader", "--now")
        return found

    def remove(self) -> None:
        self._helm("uninstall", NAME, "--ignore-not-found")
        jobs = "--selector=app.kubernetes.io/component=nightly"
        self.namespace.kubectl("delete", "jobs", jobs, "--cascade=foreground")
        self.namespace.kubectl("delete", f"pvc/{NAME}", "--ignore-not-found")

    def leftovers(self) -> list[str]:
        """Return what runs left, without what belongs to the CronJob."""
        names = [name for name in self.namespace.leftovers() if f"/{NAME}" not in name]
        own = ("job.batch/night", "pod/night", "sh.helm.release.v1.nightly")
        return [name for name in names if not any(each in name for each in own)]


@pytest.fixture
def nightly(cli: ClusterLine) -> Iterator[Nightly]:
    found = Nightly(cli.namespace)
    yield found
    found.remove()


def test_a_plan_is_measured_and_its_results_are_in_the_claim(nightly: Nightly) -> None:
    nightly.install(SMALL_PLAN)
    ended, log = nightly.run("night-1")

    assert ended == "Complete", log
    assert "verified" in log
    assert nightly.exit_code("night-1") == 0
    record = nightly.record("night-1")
    assert [item["verdict"] for item in record["items"]] == ["verified"] * 2
    assert nightly.leftovers() == []


def test_a_run_that_fails_is_a_failed_job_with_the_message_in_its_log(nightly: Nightly) -> None:
    target = {"module": "postgres", "connection_string": "host=postgres-rw dbname=app user=app",
              "password_from": {"secret": "nosuch", "key": "password"}}  # fmt: skip
    nightly.install(SMALL_PLAN, config=yaml.safe_dump({"targets": {"postgresql": target}}))
    ended, log = nightly.run("night-1")

    assert ended == "Failed"
    assert 'secret "nosuch" not found' in log
    assert nightly.exit_code("night-1") == 1
    assert nightly.leftovers() == []


def test_results_are_copied_to_a_database_and_a_later_night_copies_what_is_missing(
    nightly: Nightly,
) -> None:
    secret = {"secretKeyRef": {"name": "postgres-app", "key": "password"}}
    env = [{"name": "POSTGRESQL_PASSWORD", "valueFrom": secret}]
    nightly.install(SMALL_PLAN, env=env, copyTo="postgresql://app@postgres-rw/nosuch")
    ended, log = nightly.run("night-1")

    assert ended == "Failed"
    assert "verified" in log
    assert 'database "nosuch" does not exist' in log
    nightly.install(SMALL_PLAN, env=env, copyTo="postgresql://app@postgres-rw/app")
    ended, log = nightly.run("night-2")
    assert ended == "Complete", log
    assert "postgresql://app@postgres-rw/app: copied 8 results; 0 were already stored" in log
    stored = nightly.namespace.sql("SELECT folder, count(*) FROM iotbench_results GROUP BY 1")
    assert sorted(stored.split()) == ["night-1|4", "night-2|4"]
    nightly.namespace.sql("DROP TABLE iotbench_figures, iotbench_results")
    assert nightly.leftovers() == []


def test_a_run_beyond_its_deadline_removes_its_pods(nightly: Nightly) -> None:
    nightly.install(LONG_PLAN, deadlineSeconds=40)
    nightly.start("night-1")
    waited("rows are inserted", nightly.started_insert, 60)

    assert nightly.end("night-1") == "Failed"
    assert "interrupted" in nightly.log("night-1")
    assert nightly.exit_code("night-1") == 130
    assert nightly.leftovers() == []


@pytest.mark.usefixtures("powers")
def test_nothing_runs_beside_a_run_and_a_killed_one_does_not_stop_the_next(
    nightly: Nightly,
) -> None:
    nightly.install(LONG_PLAN)
    nightly.start("night-1")
    waited("rows are inserted", nightly.started_insert, 120)
    ended, log = nightly.run("night-2")
    assert ended == "Failed"
    assert "another run is in progress on this database" in log

    assert kill_container(nightly.pod("night-1"))
    assert nightly.end("night-1") == "Failed"
    assert nightly.leftovers()
    nightly.install(SMALL_PLAN)
    ended, log = nightly.run("night-3")
    assert ended == "Complete", log
    assert nightly.leftovers() == []
