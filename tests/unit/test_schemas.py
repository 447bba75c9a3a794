"""Schemas for editors: what is right passes, and what the program refuses does not."""

import json
import re

import pytest
import yaml

from iotbench.config.targets.config import load
from iotbench.measurements.insert.workload_file import read_workload
from iotbench.measurements.query.own import read_own
from iotbench.plans.plan import read_plan
from simulator.errors import ConfigError
from tests import ROOT
from tools.reference import RESULT_SCHEMA
from tools.schemas import config_schema, plan_schema, queries_schema, workload_schema

QUERIES = sorted((ROOT / "iotbench/plans/published/queries").glob("*.yaml"))
PAGES = sorted((ROOT / "docs").glob("*.md"))
PLANS = sorted((ROOT / "iotbench/plans/published/plans").glob("*.yaml"))


def problems(schema, text):
    """What an editor underlines; dates are text to it."""
    from jsonschema import Draft202012Validator  # noqa: PLC0415 - loads for 1.5 s

    content = json.loads(json.dumps(yaml.safe_load(text), default=str))
    return [
        each.json_path for each in Draft202012Validator(json.loads(schema)).iter_errors(content)
    ]


def test_the_configuration_of_the_program_passes():
    assert problems(config_schema(), (ROOT / "config.yaml").read_text()) == []


def test_editors_find_every_schema_by_the_first_line_of_a_file():
    files = [ROOT / "config.yaml", ROOT / "results/plan.yaml", *QUERIES, *PAGES]
    named = {
        ((ROOT if path in PAGES else path.parent) / schema).resolve()
        for path in files
        for schema in re.findall(r"(?m)^# yaml-language-server: \$schema=(.*)", path.read_text())
    }
    assert named == {*(ROOT / "docs").glob("*.schema.json")} - {RESULT_SCHEMA}


@pytest.mark.parametrize(
    "target",
    [
        "{module: sqlite, runner: local, busy_timeout_s: 30s, synchronous: full}",
        "{module: sqlite, runner: local, busy_timeout_s: '${WAIT}', synchronous: '${SYNC}'}",
        "{module: postgres, password_from: {secret: a, key: b}, connection_string: host=x}",
        "{module: postgres, password_from: {file: word}, connection_string: host=x}",
        "{module: 'my.own:Module', anything: 1}",
    ],
)
def test_a_right_target_passes(tmp_path, target):
    text = f"targets: {{lite: {target}}}"
    (tmp_path / "c.yaml").write_text(text)

    load(tmp_path / "c.yaml")
    assert problems(config_schema(), text) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("targets: {}", "$.targets"),
        ("target: {a: {module: sqlite}}", "$"),
        ("targets: {a: {module: sqlit}}", "$.targets.a.module"),
        ("targets: {a: {path: x.db}}", "$.targets.a"),
        ("targets: {a/b: {module: sqlite}}", "$.targets"),
        ("targets: {a: {module: sqlite, runner: locl}}", "$.targets.a.runner"),
        ("targets: {a: {module: sqlite, pth: x.db}}", "$.targets.a"),
        ("targets: {a: {module: sqlite, synchronous: sometimes}}", "$.targets.a.synchronous"),
        ("targets: {a: {module: sqlite, busy_timeout_s: soon}}", "$.targets.a.busy_timeout_s"),
        (
            "targets: {a: {module: postgres, password_from: {secret: a}}}",
            "$.targets.a.password_from",
        ),
        (
            "targets: {a: {module: postgres, password_from: {file: a, key: b}}}",
            "$.targets.a.password_from",
        ),
    ],
)
def test_a_wrong_configuration_is_refused_by_both(tmp_path, text, place):
    (tmp_path / "c.yaml").write_text(text)

    with pytest.raises(ConfigError):
        load(tmp_path / "c.yaml").resolve("a", {})
    assert place in problems(config_schema(), text)


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_the_plans_of_the_program_pass(path):
    assert problems(plan_schema(), path.read_text()) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{name: a}", "$"),
        ("{name: a, repeats: three, settings: [{name: b, insert: {workload: iot}}], x: 1}", "$"),
        (
            "{name: a, settings: [{name: b, insert: {workload: io}}]}",
            "$.settings[0].insert.workload",
        ),
        (
            "{name: a, settings: [{name: b, insert: {workload: iot, parameters: {device: 1}}}]}",
            "$.settings[0].insert.parameters",
        ),
        (
            "{name: a, settings: [{name: b, insert: {workload: iot}, only: [x]}]}",
            "$.settings[0].only[0]",
        ),
        ("{name: a, settings: [{name: B, insert: {workload: iot}}]}", "$.settings[0].name"),
    ],
)
def test_a_wrong_plan_is_refused_by_both(tmp_path, text, place):
    (tmp_path / "plan.yaml").write_text(text)

    with pytest.raises(ConfigError):
        read_plan(tmp_path / "plan.yaml")
    assert place in problems(plan_schema(), text)


def test_the_queries_of_the_documentation_pass():
    page = (ROOT / "docs/own-queries.md").read_text()
    text = page.partition("<<'EOF'\n")[2].partition("EOF\n")[0]

    assert "warm-minute:" in text
    assert problems(queries_schema(), text) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("{querys: {}}", "$"),
        ("{queries: {A: {columns: {n: int64}, text: {sql: x}}}}", "$.queries"),
        ("{queries: {a: {columns: {n: int}, text: {sql: x}}}}", "$.queries.a.columns.n"),
        ("{queries: {a: {columns: {n: int64}, text: {sqll: x}}}}", "$.queries.a.text"),
        (
            "{queries: {a: {columns: {n: int64}, text: {sql: x}, parameters: {p: {above: 1}}}}}",
            "$.queries.a.parameters.p",
        ),
    ],
)
def test_wrong_queries_are_refused_by_both(tmp_path, text, place):
    (tmp_path / "q.yaml").write_text(text)
    with pytest.raises(ConfigError):
        read_own(str(tmp_path / "q.yaml"))
    assert place in problems(queries_schema(), text)


def test_the_workload_of_the_documentation_passes(tmp_path):
    page = (ROOT / "docs/workloads.md").read_text()
    text = page.partition("<<'EOF'\n")[2].partition("EOF\n")[0]
    (tmp_path / "own.yaml").write_text(text)

    assert "series: 1000" in text
    assert problems(workload_schema(), text) == []
    assert read_workload(str(tmp_path / "own.yaml")).tables[0].series == 1000


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("duration: 1h", "durations: 1h", "$"),
        ("readings:", "Readings:", "$.tables"),
        ("float64", "double", "$.tables.readings.fields.watts.type"),
        ("meter-{}", "[meter]", "$.tables.readings.tags.meter"),
    ],
)
def test_a_wrong_workload_is_refused_by_both(tmp_path, old, new, place):
    page = (ROOT / "docs/workloads.md").read_text()
    text = page.partition("<<'EOF'\n")[2].partition("EOF\n")[0].replace(old, new, 1)
    (tmp_path / "own.yaml").write_text(text.replace('"[meter]"', "[meter]"))
    with pytest.raises(ConfigError):
        read_workload(str(tmp_path / "own.yaml"))
    found = problems(workload_schema(), text.replace('"[meter]"', "[meter]"))
    assert any(each.startswith(place) for each in found), found
