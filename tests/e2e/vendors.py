"""Schemas of vendors' operators, and their charts.

Some are Go modules and come from the same registry as the test cluster; the others exist in the
vendor's chart repository only, which not every machine can reach.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.harness import Kubernetes
from tests.integration.conftest import ROOT

DBINSTALL = ROOT / "dbinstall"


@dataclass(frozen=True)
class Module:
    """A part of a vendor's repository, as a Go module."""

    name: str
    version: str
    part: str
    """A folder or file in it."""
    shown: str
    """How the folder's README writes that version."""

    def fetched(self) -> Path:
        """Download the module; return the path of the part."""
        command = ["go", "mod", "download", "-json", f"{self.name}@{self.version}"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        found = json.loads(done.stdout or "{}")
        assert "Dir" in found, found.get("Error") or done.stderr
        return Path(found["Dir"]) / self.part


OPERATORS = {
    "cassandra": Module(
        "github.com/k8ssandra/cass-operator", "v1.31.0", "config/crd", "operator 1.31.0"
    ),
    "elasticsearch": Module(
        "github.com/elastic/cloud-on-k8s/v3", "v3.5.0", "config/crds/v1/all-crds.yaml", "3.5.0"
    ),
    "mongodb": Module(  # the last release that is a module; same kind
        "github.com/mongodb/mongodb-kubernetes-operator", "v0.13.0", "config/crd", ""
    ),
    "postgresql": Module(
        "github.com/cloudnative-pg/cloudnative-pg", "v1.30.1", "config/crd",
        "operator | 1.30.1",
    ),
    "mariadb": Module(
        "github.com/mariadb-operator/mariadb-operator/v26", "v26.6.0", "config/crd",
        "`mariadb-operator` 26.6.0",
    ),
    "deployment": Module(
        "github.com/argoproj/argo-cd/v3", "v3.1.0", "manifests/crds/application-crd.yaml", ""
    ),
}  # fmt: skip
"""The folder of a manifest -> where the schemas of its kinds are."""

CHARTS = {
    "cockroachdb": Module(
        "github.com/cockroachdb/helm-charts", "v0.0.0-20260828131910-3f65257a73c7", "cockroachdb",
        "22.0.3",
    ),
    "elasticsearch": Module(
        "github.com/elastic/cloud-on-k8s/v3", "v3.5.0", "deploy/eck-stack/charts/eck-elasticsearch",
        "`eck-elasticsearch` | 0.20.0",
    ),
    "mariadb": Module(
        "github.com/mariadb-operator/mariadb-operator/v26", "v26.6.0",
        "deploy/charts/mariadb-cluster", "`mariadb-cluster` | 26.6.0",
    ),
}  # fmt: skip
"""A folder of dbinstall -> its chart."""


def kinds(kube: Kubernetes, folder: str) -> str:
    """Return the definitions of the custom kinds of a folder's manifests."""
    if folder not in OPERATORS:
        chart = _pulled(kube, folder, values=False)
        return kube.run("helm", "template", str(chart), "--include-crds").stdout
    found = OPERATORS[folder].fetched()
    return found.read_text() if found.is_file() else kube.kubectl("kustomize", str(found))


def chart(kube: Kubernetes, folder: str) -> Path:
    """Return the chart of a folder's values."""
    if folder in CHARTS:
        return CHARTS[folder].fetched()
    return _pulled(kube, folder, values=True)


def release(folder: str) -> str:
    """Return the name of the release that the README of a folder's values gives."""
    return _command(folder, values=True)[3]


def _command(folder: str, *, values: bool) -> list[str]:
    """Return the words of a README's first command that installs a chart, with values or not."""
    readme = re.sub(r"\\\s+", "", (DBINSTALL / folder / "README.md").read_text())
    lines = [line for line in readme.splitlines() if "helm upgrade --install" in line]
    return next(line for line in lines if ("--values" in line) == values).split()


def _pulled(kube: Kubernetes, folder: str, *, values: bool) -> Path:
    """Return the chart of a README's command, from its repository; skip if that is out of reach."""
    words = _command(folder, values=values)
    name = words[3]
    # A chart is named by its repository, name and version, or by its address.
    given = [word for word in words if word.startswith("https://") and word.endswith(".tgz")]
    if not given:
        repository, version = (words[words.index(f"--{key}") + 1] for key in ("repo", "version"))
        given = [words[4], f"--repo={repository}", f"--version={version}"]
    target = Path("/var/tmp/bench-charts") / re.sub(r"\W+", "-", "-".join(given))
    if not any(target.glob("*/Chart.yaml")):
        pull = ["helm", "pull", *given, "--untar", f"--untardir={target}"]
        done = kube.run(*pull, check=False)
        if done.returncode:
            pytest.skip(f"the chart of {name} cannot be downloaded: {done.stderr}")
    (found,) = (path.parent for path in target.glob("*/Chart.yaml"))
    return found
