"""Invalid values are refused before anything is installed, with the fix."""

import json
import re
from pathlib import Path

import pytest
import yaml

from tests.chart.harness import CHART, container, mappings, pods

DIGEST = "sha256:" + "0" * 64
REFUSALS = yaml.safe_load(Path(__file__).with_name("refusals.yaml").read_text())
KUBERNETES_OWN = re.compile(r"/(affinity|requests|limits)/")
SCHEMA = json.loads((CHART / "values.schema.json").read_text())


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case["message"][:40])
def test_invalid_values_are_refused_with_a_sentence(helm, case):
    assert helm.refusal(case["values"]) == [case["message"]]


def test_all_problems_are_reported_at_once(helm):
    values = {
        "run": {"spec": "", "options": ["password", "password"]},
        "image": {"tag": "1", "digest": DIGEST},
        "worker": {"resources": {"requests": {"cpu": 2, "memory": "8Gi"}}},
        "podLabels": {"job-name": "x"},
    }

    assert len(helm.refusal(values)) == 6


@pytest.mark.parametrize(
    ("resource", "asked"),
    [
        *[("cpu", quantity) for quantity in ("1000m", "0.5", "1", 1, "1e0", "1000000u")],
        *[("memory", quantity) for quantity in ("4Gi", "4096Mi", "4294967296", "4G", 2**32, "4e9")],
    ],
)
def test_a_request_as_large_as_its_limit_may_be_written_in_any_unit(helm, resource, asked):
    objects = helm.render({"worker": {"resources": {"requests": {resource: asked}}}})

    assert container(pods(objects)["worker"])["resources"]["requests"][resource] == asked


@pytest.mark.parametrize(
    "run",
    [
        {"id": "Upper"},
        {"sweep": "-dash"},
        {"owner": "ada at laptop"},
        {"target": "a/b"},
        {"credentials": "Secret"},
        {"options": ["../token"]},
        {"secretOptions": [{"option": "a", "secret": "b", "key": "../c"}]},
        {"deadlineSeconds": 0},
    ],
)
def test_a_run_that_kubernetes_would_refuse_does_not_get_there(helm, run):
    [message] = helm.refusal({"run": run})

    assert message.startswith(f"at '/run/{next(iter(run))}")


def test_the_schema_lets_no_unknown_key_pass():
    objects = [node for _, node in mappings(SCHEMA) if node.get("type") == "object"]
    with_keys = [node for node in objects if "properties" in node]

    assert len(with_keys) > 10
    assert [node for node in with_keys if node["additionalProperties"] is not False] == []


def paths(schema, path=""):
    """Paths of all values in the schema; a list counts as one."""
    schema = SCHEMA["definitions"].get(schema.get("$ref", "").split("/")[-1], schema)
    for key, child in schema.get("properties", {}).items():
        yield f"{path}/{key}"
        yield from paths(child, f"{path}/{key}")


def test_every_value_has_its_place_in_values_yaml():
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    present = {f"{path}/{key}" for path, node in mappings(values) for key in node}

    missing = set(paths(SCHEMA)) - present
    assert {path for path in missing if not KUBERNETES_OWN.search(path)} == set()
