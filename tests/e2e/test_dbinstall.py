"""A real API server accepts the manifests of dbinstall, with the vendors' schemas and charts.

These are dry runs; test_databases.py installs databases.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e import vendors
from tests.e2e.harness import Kubernetes, waited
from tests.e2e.vendors import CHARTS, DBINSTALL, OPERATORS

FILES = sorted(DBINSTALL.rglob("*.yaml"))
VALUES = [path for path in FILES if path.name.startswith("values-")]
PATCHES = [DBINSTALL / "postgresql" / "own-volume.yaml"]
BUILT_IN = ("v1", "apps/v1")
DRY_RUN = ("apply", "--server-side", "--dry-run=server", "--validate=strict", "--filename=-")


def documents(path: Path) -> list[dict]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def is_built_in(path: Path) -> bool:
    return all(document.get("apiVersion") in BUILT_IN for document in documents(path))


MANIFESTS = [path for path in FILES if path not in VALUES and path not in PATCHES]
NATIVE = [path for path in MANIFESTS if is_built_in(path)]
CUSTOM = [path for path in MANIFESTS if path not in NATIVE]


def named(path: Path) -> str:
    return f"{path.parent.name}-{path.stem}"


@pytest.fixture
def accepted(kube: Kubernetes) -> Callable[[str], str]:
    """Validate manifests with the API server; an unknown field is an error."""
    return lambda text: kube.kubectl(*DRY_RUN, given=text)


@pytest.fixture(scope="module")
def kinds(kube: Kubernetes) -> Iterator[Callable[[str], None]]:
    """Define the kinds of a vendor's operator, without the operator."""
    defined: dict[str, str] = {}

    def define(folder: str) -> None:
        if folder in defined:
            return
        made = yaml.safe_load_all(vendors.kinds(kube, folder))
        items = [item for item in made if item and item["kind"] == "CustomResourceDefinition"]
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": items}, default=str)
        kube.kubectl("apply", "--server-side", "--filename=-", given=text)
        defined[folder] = text
        names = [f"crd/{item['metadata']['name']}" for item in items]
        established = ("wait", "--for=condition=Established", *names, "--timeout=30s")
        # kubectl fails while the conditions do not exist yet.
        waited("the kinds", lambda: kube.run("kubectl", *established, check=False).stdout)

    yield define
    for text in defined.values():
        kube.kubectl("delete", "--wait=false", "--filename=-", given=text)


@pytest.mark.parametrize("path", NATIVE, ids=named)
def test_kubernetes_accepts_a_manifest(accepted, path):
    answered = accepted(path.read_text())

    assert answered.count("serverside-applied") == len(documents(path))


def test_a_misspelt_field_is_refused(kube):
    (text,) = (path.read_text() for path in NATIVE if named(path) == "graphite-statefulset-lab")
    misspelt = text.replace("nodeSelector", "nodeSelectr")
    done = kube.run("kubectl", *DRY_RUN, given=misspelt, check=False)

    assert done.returncode != 0
    assert "nodeSelectr" in done.stderr


@pytest.mark.rare
@pytest.mark.usefixtures("powers")
@pytest.mark.parametrize("path", CUSTOM, ids=named)
def test_the_vendors_schema_accepts_a_manifest(accepted, kinds, path):
    kinds(path.parent.name)

    answered = accepted(path.read_text())

    assert answered.count("serverside-applied") == len(documents(path))


@pytest.mark.rare
@pytest.mark.parametrize("path", VALUES, ids=named)
def test_values_are_those_of_the_vendors_chart(kube, accepted, path):
    chart = vendors.chart(kube, path.parent.name)

    rendered = kube.run("helm", "template", path.parent.name, str(chart), f"--values={path}").stdout

    known = yaml.safe_load((chart / "values.yaml").read_text())
    assert unknown(documents(path)[0], known) == []
    assert "workload: db" in rendered
    native = [
        each for each in yaml.safe_load_all(rendered) if each and each["apiVersion"] in BUILT_IN
    ]
    accepted(json.dumps({"apiVersion": "v1", "kind": "List", "items": native}))


def unknown(given: dict, known: dict, path: str = "") -> list[str]:
    """Paths of values that a chart lacks; anything may stand below its empty values."""
    found = []
    for key, value in given.items():
        if key not in known:
            found.append(f"{path}/{key}")
        elif isinstance(value, dict) and known[key]:
            found += unknown(value, known[key], f"{path}/{key}")
    return found


@pytest.mark.parametrize("folder", [*OPERATORS, *CHARTS])
def test_the_readme_pins_the_version_that_is_checked(folder):
    source = (OPERATORS | CHARTS)[folder]

    assert source.shown in (DBINSTALL / folder / "README.md").read_text()
