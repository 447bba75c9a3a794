"""The documents and the plans of their experiments agree with each other and with the program."""

import re

import pytest

from iotbench.plans.items import Candidate
from iotbench.plans.published.documents import NAMES, ExperimentSize, plan_of, read_document
from simulator.errors import ConfigError
from simulator.modules import MODULES, database_class

PLANS = [(name, size) for name in NAMES for size in ExperimentSize]


@pytest.mark.parametrize("name", NAMES)
def test_every_figure_and_claim_has_a_row_of_the_inventory(name):
    document = read_document(name)

    for each in (*document.figures, *document.claims):
        assert re.fullmatch(r"[A-Z]\d\d\d?", each.row), each
    assert document.figures
    assert document.claims


@pytest.mark.parametrize(("name", "size"), PLANS)
def test_a_plan_measures_all_that_the_document_compares(name, size):
    plan, document = plan_of(name, size), read_document(name)
    claimed = {name for claim in document.claims for term in claim.terms for name in term.settings}
    if document.scaling:
        claimed |= {document.scaling.setting, *document.scaling.by_nodes.values()}
    figures = {
        name for figure in document.figures for name in (figure.setting, *figure.settings.values())
    }
    known = {setting.name for setting in plan.settings}

    assert plan.name == f"{name}-{size}"
    assert plan.repeats >= 3, "a claim could not be seen"
    assert claimed <= known
    assert known <= figures | claimed
    assert size is ExperimentSize.DEMO or figures <= known


@pytest.mark.parametrize(("name", "size"), PLANS)
def test_the_options_of_a_plan_are_options_of_some_module(name, size):
    for setting in plan_of(name, size).settings:
        known = {
            module: {*database_class(module).options_model.model_fields}
            for module in setting.only or MODULES
        }
        assert any({*setting.options} <= names for names in known.values()), setting.name
        for module, options in setting.modules.items():
            assert {*options} <= {*database_class(module).options_model.model_fields}, module


@pytest.mark.parametrize("name", NAMES)
def test_a_demo_has_a_setting_that_sqlite_can_do_with_two_workers(name):
    known = {*database_class("sqlite").options_model.model_fields}
    settings = plan_of(name, ExperimentSize.DEMO).settings

    assert all(setting.insert.most_workers <= 2 for setting in settings)
    assert any(
        setting.concerns("sqlite") and {*setting.options_of("sqlite")} <= known
        for setting in settings
    )


def test_a_system_is_known_by_its_module_and_options():
    document = read_document("iot")
    cassandra = {"aggregation_plan": "server", "max_sync_calls": 1}
    for module, options, systems in (
        ("postgres", {}, ["PostgreSQL"]),
        ("cassandra", cassandra, ["Cassandra"]),
        ("cassandra", {"aggregation_plan": "client"}, ["Yugabyte (YCQL)"]),
        ("sqlite", {}, []),
    ):
        candidate = Candidate("x", module, options)
        assert [n for n, each in document.systems.items() if each.has(candidate)] == systems


DOCUMENT = """
number: 1
title: t
measured_on: m
systems: {Lite: {modules: [sqlite]}}
figures:
  - {row: M1, title: f, setting: bulk, measure: rows_per_s, unit: "",
     published: {Lite: "up to [10,000] rows/s"}}
claims:
  - row: M2
    text: c
    of: [Lite]
    largest_first: [{setting: bulk, measure: rows_per_s}, {setting: single, measure: rows_per_s}]
"""


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("published: {Lite: ", "published: {Light: ", "figures.0: unknown system 'Light'"),
        (
            "setting: bulk, measure: rows_per_s, unit",
            "setting: bulk, measure: rows_per_s, settings: {Light: b}, unit",
            "figures.0: unknown system 'Light'",
        ),
        ('unit: ""', "unit: MB/s", "figures.0.unit: 'MB/s' is no unit of rows_per_s, which is in"),
        ("of: [Lite]", "of: [Light]", "claims.0: unknown system 'Light'"),
        ("measure: rows_per_s, un", "measure: row_per_s, un", "figures.0.measure: 'row_per_s'"),
        ("measure: rows_per_s, un", "measure: step_rows_per_s_reference 0, un", "figures.0.meas"),
        ("{setting: single, measure: rows_per_s}", "{setting: s, measure: wait_ms}", "claims.0: m"),
        (", {setting: single, measure: rows_per_s}]", "]", "claims.0: has either largest_first"),
        ("text: c", "txt: c", "claims.0.text: is required"),
        ("text: c", "text: c\n    gain: {least: 1, most: 2}", "claims.0.gain: needs `scaling`"),
        ("[10,000]", "10,000", "figures.0.published.Lite: expected a quotation with its number in"),
        ("[10,000]", "[many]", "figures.0.published.Lite: expected a quotation with its number in"),
    ],
)
def test_a_wrong_document_is_refused_with_the_place(tmp_path, old, new, problem):
    (tmp_path / "documents").mkdir()
    path = tmp_path / "documents" / "x.yaml"
    path.write_text(DOCUMENT)
    (figure,) = read_document("x", tmp_path).figures
    assert (figure.value_of("Lite"), figure.quote_of("Lite")) == (10_000, "up to 10,000 rows/s")
    path.write_text(DOCUMENT.replace(old, new))

    with pytest.raises(ConfigError) as error:
        read_document("x", tmp_path)
    assert error.value.problems[0].startswith(f"{path}: {problem}")
