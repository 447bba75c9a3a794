"""Schemas of vendors' operators, and their charts.

Some are Go modules and come from the same registry as the test cluster; the others exist in the
vendor's chart repository only. A machine that cannot reach it takes them from the folder that
E2E_BY_HAND names, where they have the names that `helm pull` gives them: `questdb-1.0.21.tgz`.
"""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.databases import BY_HAND, Database, by_hand
from tests.e2e.harness import Kubernetes
from tests.integration.conftest import ROOT

DBINSTALL = ROOT / "dbinstall"
_INSTALL = "helm upgrade --install "
_RENDERING = "--skip-tests --kube-version=1.34.0 --api-versions=policy/v1/PodDisruptionBudget"


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
    ("cockroachdb", "cockroachdb"): Module(
        "github.com/cockroachdb/helm-charts", "v0.0.0-20260828131910-3f65257a73c7", "cockroachdb",
        "22.0.3",
    ),
    ("elasticsearch", "eck-operator"): Module(
        "github.com/elastic/cloud-on-k8s/v3", "v3.5.0", "deploy/eck-operator",
        "`eck-operator` 3.5.0",
    ),
    ("elasticsearch", "eck-elasticsearch"): Module(
        "github.com/elastic/cloud-on-k8s/v3", "v3.5.0", "deploy/eck-stack/charts/eck-elasticsearch",
        "`eck-elasticsearch` | 0.20.0",
    ),
    ("mariadb", "mariadb-cluster"): Module(
        "github.com/mariadb-operator/mariadb-operator/v26", "v26.6.0",
        "deploy/charts/mariadb-cluster", "`mariadb-cluster` | 26.6.0",
    ),
}  # fmt: skip
"""A folder of dbinstall and a chart of its commands -> where the chart is."""


def kinds(kube: Kubernetes, folder: str) -> str:
    """Return the definitions of the custom kinds of a folder's manifests."""
    if folder not in OPERATORS:
        chart = _pulled(kube, _source(_command(folder, values=False)))
        return kube.run("helm", "template", str(chart), "--include-crds").stdout
    found = OPERATORS[folder].fetched()
    return found.read_text() if found.is_file() else kube.kubectl("kustomize", str(found))


def rendered(kube: Kubernetes, folder: str, values: str) -> str:
    """Return the objects of a folder's chart with values; nothing where it refuses them."""
    words = _command(folder, values=True)
    command = ("helm", "template", words[3], str(_chart(kube, folder, words)), "--values=-")
    return kube.run(*command, *_RENDERING.split(), given=values, check=False).stdout


def with_charts(kube: Kubernetes, folder: str, commands: str) -> str:
    """Return commands of a folder's README that install the same charts from this machine."""
    text = "\n".join(_joined(commands))
    for line in _installing(text):
        words = line.partition(" # ")[0].split()
        rest = words[4:]
        for word in _source(words):
            rest.remove(word)  # the first one: a namespace may have the chart's name
        local = " ".join([*words[:4], str(_chart(kube, folder, words)), *rest])
        text = text.replace(line, local)
    return text


def template_commands(kube: Kubernetes, database: Database) -> list[str]:
    """Return commands that print what a database's README installs by charts."""
    install, _ = database.commands()
    lines = _installing(with_charts(kube, database.name, install))
    return [line.replace(_INSTALL, f"helm template {_RENDERING} ") for line in lines]


def _installing(commands: str) -> list[str]:
    """Return the commands that install charts."""
    return [line for line in commands.splitlines() if line.startswith(_INSTALL)]


def _joined(text: str) -> list[str]:
    """Return the lines of a text, those continued in the next one in one."""
    return re.sub(r"\\\s+", "", text).splitlines()


def _command(folder: str, *, values: bool) -> list[str]:
    """Return the words of a README's first command that installs a chart, with values or not."""
    lines = map(str.strip, _joined((DBINSTALL / folder / "README.md").read_text()))
    found = (line for line in lines if line.startswith(_INSTALL))
    return next(line for line in found if ("--values" in line) == values).split()


def _source(words: list[str]) -> list[str]:
    """Return the words that name the chart of a command: its address, or its repository."""
    given = [word for word in words if word.startswith("https://") and word.endswith(".tgz")]
    if not given:
        given = [words[4]]
        for option in ("--repo", "--version"):
            given += [option, words[words.index(option) + 1]]
    return given


def _chart(kube: Kubernetes, folder: str, words: list[str]) -> Path:
    """Return the chart of a command."""
    source = _source(words)
    found = CHARTS.get((folder, source[0]))
    return found.fetched() if found and not _given(source) else _pulled(kube, source)


def _given(source: list[str]) -> Path | None:
    """Return a chart of E2E_BY_HAND."""
    file = f"{source[0]}-{source[-1]}.tgz" if source[1:] else source[0].rpartition("/")[2]
    return by_hand(file)


def _pulled(kube: Kubernetes, source: list[str]) -> Path:
    """Return a chart from E2E_BY_HAND or its repository; skip the test where neither has it."""
    given = _given(source)
    if given:
        return given
    target = Path("/var/tmp/bench-charts") / re.sub(r"\W+", "-", "-".join(source))
    if not any(target.glob("*/Chart.yaml")):
        pull = ("helm", "pull", *source, "--untar", f"--untardir={target}")
        done = kube.run(*pull, check=False)
        if done.returncode:
            pytest.skip(f"{BY_HAND} has no {source[0]}, and it cannot be downloaded: {done.stderr}")
    (found,) = (path.parent for path in target.glob("*/Chart.yaml"))
    return found
