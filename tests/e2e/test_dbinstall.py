"""A real API server accepts the manifests of dbinstall, with the vendors' schemas and charts, and
the Application for Argo CD.

These are dry runs; test_databases.py installs databases.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e import vendors
from tests.e2e.harness import Kubernetes, waited
from tests.e2e.vendors import CHARTS, DBINSTALL, OPERATORS, Module
from tests.integration.conftest import ROOT

FILES = sorted(DBINSTALL.glob("*/*.yaml"))
VALUES = [path for path in FILES if path.name.startswith("values-")]
PATCHES = [DBINSTALL / "postgresql" / "own-volume.yaml"]
BUILT_IN = ("v1", "apps/v1", "batch/v1", "policy/v1", "rbac.authorization.k8s.io/v1")
DRY_RUN = ("apply", "--server-side", "--dry-run=server", "--validate=strict", "--filename=-")


def documents(path: Path) -> list[dict[str, Any]]:
    return [document for document in yaml.safe_load_all(path.read_text()) if document]


def is_built_in(path: Path) -> bool:
    return all(document.get("apiVersion") in BUILT_IN for document in documents(path))


MANIFESTS = [path for path in FILES if path not in VALUES and path not in PATCHES]
NATIVE = [path for path in MANIFESTS if is_built_in(path)]
CUSTOM = [path for path in MANIFESTS if path not in NATIVE] + [ROOT / "deployment" / "argocd.yaml"]


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
def test_kubernetes_accepts_a_manifest(accepted: Callable[[str], str], path: Path) -> None:
    answered = accepted(path.read_text())

    assert answered.count("serverside-applied") == len(documents(path))


def test_a_misspelt_field_is_refused(kube: Kubernetes) -> None:
    (text,) = (path.read_text() for path in NATIVE if named(path) == "graphite-statefulset-lab")
    misspelt = text.replace("nodeSelector", "nodeSelectr")
    done = kube.run("kubectl", *DRY_RUN, given=misspelt, check=False)

    assert done.returncode != 0
    assert "nodeSelectr" in done.stderr


@pytest.mark.rare
@pytest.mark.usefixtures("powers")
@pytest.mark.parametrize("path", CUSTOM, ids=named)
def test_the_vendors_schema_accepts_a_manifest(
    accepted: Callable[[str], str], kinds: Callable[[str], None], path: Path
) -> None:
    kinds(path.parent.name)

    answered = accepted(path.read_text())

    assert answered.count("serverside-applied") == len(documents(path))


@pytest.mark.rare
@pytest.mark.usefixtures("powers")
@pytest.mark.parametrize("path", VALUES, ids=named)
def test_every_value_has_an_effect_and_the_result_is_accepted(
    kube: Kubernetes, accepted: Callable[[str], str], kinds: Callable[[str], None], path: Path
) -> None:
    folder = path.parent.name

    def rendered(given: dict[str, Any]) -> str:
        return vendors.rendered(kube, folder, json.dumps(given))

    (given,) = documents(path)
    text = rendered(given)
    assert [leaf for leaf in leaves(given) if rendered(changed(given, leaf)) == text] == []

    items = [item for item in yaml.safe_load_all(text) if item]
    if any(item["apiVersion"] not in BUILT_IN for item in items):
        kinds(folder)
    accepted(json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


def leaves(given: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the paths of all values that are not mappings."""
    for key, value in given.items():
        if isinstance(value, dict):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key)


def changed(given: dict[str, Any], path: Sequence[str]) -> dict[str, Any]:
    """Return a copy with another value of the same type at a path."""
    key, *rest = path
    value = given[key]
    other: Any
    if rest:
        other = changed(value, tuple(rest))
    elif isinstance(value, bool):
        other = not value
    elif isinstance(value, int):
        other = value + 2
    elif isinstance(value, list):
        other = []
    else:
        other = "7Gi" if str(value).endswith("Gi") else f"{value}7"
    return {**given, key: other}


@pytest.mark.parametrize(
    ("folder", "source"),
    [
        pair
        for pair in (*OPERATORS.items(), *((each, chart) for (each, _), chart in CHARTS.items()))
        if pair[1].shown
    ],
)
def test_the_readme_pins_the_version_that_is_checked(folder: str, source: Module) -> None:
    assert source.shown in (DBINSTALL / folder / "README.md").read_text()
