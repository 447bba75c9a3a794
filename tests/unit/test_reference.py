"""The generated parts of the documentation agree with the code and the evidence."""

import re

import click
import pytest

from simulator.data.schema import Type
from simulator.modules import MODULES, database_class
from simulator.modules.evidence import evidence
from tests.unit.handed_over import read_handed_over
from tools.reference import DOCUMENTS, GENERATED, PARTS, ROOT, every_command, renew


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_the_generated_parts_agree_with_the_code(path):
    text = path.read_text()

    assert text == renew(text), "run `make docs`"


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_the_generated_files_agree_with_the_code(path):
    assert path.read_text() == GENERATED[path](), "run `make docs`"


def test_every_generated_part_stands_in_one_document_and_is_not_empty():
    texts = [path.read_text() for path in DOCUMENTS]

    for name, make in PARTS.items():
        assert sum(text.count(f"<!-- {name} -->") for text in texts) == 1, name
        assert len(make().splitlines()) > 3, name


def test_every_command_and_option_has_help():
    bare = [
        f"{name} {parameter.name}"
        for name, command in every_command().items()
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.help
    ]

    assert bare == []
    assert [name for name, command in every_command().items() if not command.help] == []


def test_every_command_and_every_option_stands_in_the_documentation():
    text = (ROOT / "docs" / "options.md").read_text()

    for name, command in every_command().items():
        assert f"## {name}\n" in text
        for parameter in command.params:
            for option in parameter.opts if isinstance(parameter, click.Option) else ():
                assert re.search(rf"`[^`]*{re.escape(option)}\b", text), f"{name} {option}"


def test_every_unsupported_query_stands_in_the_documentation_with_its_reason():
    text = (ROOT / "docs" / "databases.md").read_text()
    table = text.split("<!-- unsupported queries -->")[1].split("<!-- /unsupported queries -->")[0]

    for module in MODULES:
        for feature, reason in database_class(module).capabilities.unsupported.items():
            rows = [row for row in table.splitlines() if row.startswith(f"| {feature} |")]
            (row,) = [row for row in rows if f"[{module}](#{module})" in row]
            assert row.endswith(f"| {reason} |")


def test_every_module_and_every_server_it_was_verified_on_stands_in_the_documentation():
    text = (ROOT / "docs" / "databases.md").read_text()

    for module in MODULES:
        section = text.split(f"\n## {module}\n")[1].split("\n## ")[0]
        stores = database_class(module).capabilities.stores
        for record in evidence(module).records:
            assert f"| {record.server} | {record.cases} | {record.kill} |" in section
        assert ("Draft" in section) == (stores and evidence(module).draft)


def test_every_version_that_was_tried_stands_in_the_table_and_drafts_are_named():
    text = (ROOT / "docs" / "databases.md").read_text()
    lines = text.split("<!-- versions -->")[1].split("<!-- /versions -->")[0].splitlines()

    for module in MODULES:
        rows = [line for line in lines if line.startswith(f"| [{module}](#{module}) |")]
        found = evidence(module)
        assert bool(rows) == database_class(module).capabilities.stores
        assert all("| never: draft |" in row for row in rows) == found.draft or not rows
        for product, versions in found.versions.items():
            assert any(f"| {product} | {', '.join(versions)} |" in row for row in rows)


def test_what_every_driver_hands_over_stands_in_the_documentation_for_every_type():
    handed = read_handed_over()

    assert {*handed} == {each for each in MODULES if database_class(each).capabilities.stores}
    assert {name for name, types in handed.items() if {*types} != {*Type}} == set()


def test_the_readme_names_as_many_drafts_as_there_are():
    stores = [name for name in MODULES if database_class(name).capabilities.stores]
    _, first = (ROOT / "README.md").read_text().split("\n\n")[:2]
    named = " ".join(first.split()).partition("except the drafts (")[2].partition(")")[0]

    assert len(named.split(", ")) == sum(evidence(name).draft for name in stores)
