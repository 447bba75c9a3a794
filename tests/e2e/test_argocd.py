"""The Application of deployment/argocd.yaml: Argo CD installs the CronJob from a Git repository.

A cluster of your own needs Argo CD, and E2E_GIT, a repository to which this machine can push and
which Argo CD can read; the test cluster gets both.
"""

import contextlib
import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from tests.e2e.databases import Operator
from tests.e2e.harness import ClusterLine, Kubernetes, report, waited
from tests.e2e.images import script
from tests.e2e.installing import name_image
from tests.e2e.test_nightly import NAME, NEVER, SMALL_PLAN, Nightly
from tests.e2e.vendors import OPERATORS, Module
from tests.integration.conftest import ROOT
from tests.servers.base import free_port

MODULE = OPERATORS["deployment"]
ARGOCD = Operator(
    "argocd",
    MODULE.name,
    version=MODULE.version.removeprefix("v"),
    package="cmd",
    packages=("git", "coreutils", "redis-server", "tini"),
    uses_helm=True,
)
PLACE = "--namespace=argocd"
# Argo CD's server, which core-install lacks, would create this project, and a key in the Secret.
PROJECT: dict[str, Any] = {
    "apiVersion": "argoproj.io/v1alpha1",
    "kind": "AppProject",
    "metadata": {"name": "default"},
    "spec": {
        "sourceRepos": ["*"],
        "destinations": [{"namespace": "*", "server": "*"}],
        "clusterResourceWhitelist": [{"group": "*", "kind": "*"}],
    },
}
SECRET = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "argocd-secret"}}
GIT = "E2E_GIT"
NEW = "Healthy|Progressing"
"""Health of an Application whose claim may wait for the first run to get a volume."""
REFRESH = "argocd.argoproj.io/refresh"
CLAIM = f"pvc/{NAME}"
PLAN = {**SMALL_PLAN, "settings": SMALL_PLAN["settings"][1:]}

pytestmark = pytest.mark.rare


@pytest.fixture(scope="module", autouse=True)
def argocd(kube: Kubernetes) -> Iterator[None]:
    """Argo CD on the cluster."""
    if kube.run("kubectl", "get", "crd/applications.argoproj.io", check=False).returncode == 0:
        yield
        return
    if not kube.own:
        pytest.skip("the cluster of KUBECONFIG has no Argo CD")
    folder = Module(MODULE.name, MODULE.version, "manifests/core-install", "").fetched()
    objects = kube.kubectl("kustomize", str(folder)).replace(
        "Policy: Always", "Policy: IfNotPresent"
    )
    script("load", str(ARGOCD.build()))
    name_image(kube, ARGOCD.image, objects)
    report(f"e2e: installing Argo CD {ARGOCD.version}")
    try:
        kube.kubectl("create", "namespace", "argocd")
        kube.kubectl("apply", "--server-side", PLACE, "--filename=-", given=objects)
        for made in (
            PROJECT,
            {**SECRET, "stringData": {"server.secretkey": secrets.token_hex(16)}},
        ):
            kube.kubectl("apply", PLACE, "--filename=-", given=json.dumps(made))
        for each in ("deployment/argocd-repo-server", "statefulset/argocd-application-controller"):
            kube.kubectl("rollout", "status", each, PLACE, "--timeout=120s")
        yield
    finally:
        kube.kubectl("delete", PLACE, "--ignore-not-found", "--filename=-", given=objects)
        kube.kubectl("delete", "namespace", "argocd", "--ignore-not-found")


@dataclass(frozen=True)
class Repository:
    """A branch of a Git repository with the chart of this checkout."""

    folder: Path
    """Its work tree."""
    remote: str
    """The repository to push to."""
    address: str
    """Where Argo CD reads it."""
    branch: str

    def git(self, *words: str) -> None:
        own = ("-c", "user.name=e2e", "-c", "user.email=e2e@example.com")
        subprocess.run(["git", *own, *words], cwd=self.folder, check=True, timeout=60)

    def push(self) -> None:
        """Commit what is in the work tree, and push it."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message=chart")
        self.git("push", "--quiet", self.remote, f"HEAD:refs/heads/{self.branch}")


@pytest.fixture(scope="module")
def repository(kube: Kubernetes, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """The repository, which on the test cluster is served by this machine."""
    if not kube.own and GIT not in os.environ:
        pytest.skip(f"{GIT} names no Git repository, for a cluster of your own")
    folder = tmp_path_factory.mktemp("git")
    with contextlib.ExitStack() as stack:
        remote = address = os.environ.get(GIT, "")
        if not remote:
            remote = str(folder / "chart.git")
            subprocess.run(["git", "init", "--quiet", "--bare", remote], check=True)
            address = stack.enter_context(_served(kube, folder)) + "/chart.git"
        made = Repository(folder / "work", remote, address, f"e2e-{secrets.token_hex(3)}")
        shutil.copytree(ROOT / "deployment", made.folder / "deployment")
        made.git("init", "--quiet")
        made.push()
        yield made
        made.git("push", "--quiet", made.remote, f":refs/heads/{made.branch}")


@contextlib.contextmanager
def _served(kube: Kubernetes, folder: Path) -> Iterator[str]:
    """Serve repositories at the address of the API server, which is that of the machine."""
    host, port = urlsplit(kube.server()["server"]).hostname, free_port()
    where = subprocess.run(["git", "--exec-path"], capture_output=True, text=True, check=True)
    listen = (f"--listen={host}", f"--port={port}", "--reuseaddr")
    process = subprocess.Popen(
        [Path(where.stdout.strip()) / "git-daemon", *listen, "--export-all",
         f"--base-path={folder}", str(folder)]
    )  # fmt: skip
    try:
        yield f"git://{host}:{port}"
    finally:
        process.terminate()
        process.wait(10)


@dataclass(frozen=True)
class Application(Nightly):
    """The CronJob, as Argo CD installs it."""

    repository: Repository

    def install(self, plan: Mapping[str, Any], **values: Any) -> None:
        """Apply the Application of the checkout, with its own repository, image and plan."""
        made = yaml.safe_load((ROOT / "deployment" / "argocd.yaml").read_text())
        source = made["spec"]["source"]
        source |= {"repoURL": self.repository.address, "targetRevision": self.repository.branch}
        source["helm"]["valuesObject"] |= self.values(plan, **values)
        if not self.namespace.kube.image:
            del source["helm"]["valuesObject"]["image"]
        made["spec"]["destination"]["namespace"] = self.namespace.name
        self.namespace.kube.kubectl("apply", PLACE, "--filename=-", given=json.dumps(made))

    def get(self) -> Any:
        """Return the Application, or None if there is none."""
        words = ("get", f"app/{NAME}", PLACE, "--ignore-not-found", "--output=json")
        return json.loads(self.namespace.kube.kubectl(*words) or "null")

    def syncs(self) -> list[Any]:
        found: list[Any] = self.get()["status"]["history"]
        return found

    def refresh(self) -> None:
        """Make Argo CD compare the cluster with Git now."""
        words = ("annotate", f"app/{NAME}", PLACE, f"{REFRESH}=normal")
        self.namespace.kube.kubectl(*words, "--overwrite")

    def is_in_sync(self, health: str) -> bool:
        found = self.get()
        status = found.get("status", {})
        sync = status.get("sync", {})
        return bool(
            REFRESH not in found["metadata"]["annotations"]
            and sync.get("comparedTo", {}).get("source") == found["spec"]["source"]
            and sync["status"] == "Synced"
            and re.fullmatch(health, status.get("health", {}).get("status", ""))
            and status.get("operationState", {}).get("phase") == "Succeeded"
        )

    def wait(self, health: str = "Healthy") -> None:
        what = f"the Application is Synced and {health}"
        waited(what, lambda: self.is_in_sync(health), 90)

    def delete(self) -> None:
        self.namespace.kube.kubectl("delete", f"app/{NAME}", PLACE, "--timeout=90s")

    def objects(self) -> set[str]:
        kinds = "cronjobs,configmaps,pvc,serviceaccounts,roles,rolebindings"
        selector = "--selector=app.kubernetes.io/component=nightly"
        return {*self.namespace.kubectl("get", kinds, selector, "--output=name").split()}

    def plan(self) -> Any:
        found = self.namespace.json("configmap", NAME)
        return yaml.safe_load(found["data"]["plan.yaml"])


@pytest.fixture
def application(cli: ClusterLine, repository: Repository) -> Iterator[Application]:
    found = Application(cli.namespace, repository)
    found.install(PLAN)
    try:
        found.wait(NEW)
        yield found
    finally:
        with contextlib.suppress(AssertionError):
            found.delete()
        # Without Argo CD the finalizer would stay.
        patch = '--patch={"metadata": {"finalizers": null}}'
        words = ("patch", f"app/{NAME}", PLACE, "--type=merge", patch)
        cli.namespace.kube.kubectl(*words, check=False)
        found.remove()


def test_a_run_is_verified_and_argo_cd_leaves_its_objects_alone(application: Application) -> None:
    before = application.syncs()
    ended, log = application.run("night-1")

    assert ended == "Complete", log
    assert [each["verdict"] for each in application.record("night-1")["items"]] == ["verified"]
    application.refresh()
    application.wait()
    assert application.syncs() == before
    assert application.leftovers() == []


def test_changes_of_the_plan_and_in_git_arrive_and_those_by_hand_are_put_back(
    application: Application,
) -> None:
    application.install(PLAN | {"repeats": 2})
    waited("the plan arrives", lambda: application.plan()["repeats"] == 2)

    chart = application.repository.folder / "deployment" / "templates" / "nightly.yaml"
    chart.write_text(chart.read_text().replace("backoffLimit: 0", "backoffLimit: 1"))
    application.repository.push()
    application.refresh()
    waited(
        "the chart arrives", lambda: cron_job(application)["jobTemplate"]["spec"]["backoffLimit"]
    )

    patch = json.dumps({"spec": {"schedule": "* * * * *"}})
    application.namespace.kubectl("patch", f"cronjob/{NAME}", f"--patch={patch}")
    waited("the schedule is put back", lambda: cron_job(application)["schedule"] == NEVER)
    application.wait(NEW)


def cron_job(application: Application) -> Any:
    return application.namespace.json("cronjob", NAME)["spec"]


def test_the_claim_with_the_results_outlives_the_cron_job_and_the_application(
    application: Application,
) -> None:
    (claim,) = (each for each in application.objects() if "persistentvolumeclaim" in each)
    before = application.namespace.json(CLAIM)["metadata"]["uid"]
    ended, log = application.run("night-1")
    assert ended == "Complete", log

    application.install(PLAN, claim="others")
    waited("the CronJob has the other claim", lambda: "others" in json.dumps(cron_job(application)))
    application.wait()
    assert claim in application.objects()
    application.delete()
    waited("only the claim is left", lambda: application.objects() == {claim})

    application.install(PLAN)
    application.wait()
    assert application.namespace.json(CLAIM)["metadata"]["uid"] == before
    assert [each["verdict"] for each in application.record("night-1")["items"]] == ["verified"]
