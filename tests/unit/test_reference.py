"""The generated parts of the documentation agree with the code and the evidence."""

import re

import click
import pytest

from simulator.data.schema import Type
from simulator.modules import MODULES, database_class
from simulator.modules.evidence import evidence
from tests.unit.handed_over import read_handed_over
from tools.reference import DOCUMENTS, GENERATED, PAGES, PARTS, ROOT, every_command, renew


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
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
    for module in MODULES:
        for feature, reason in database_class(module).capabilities.unsupported.items():
            assert f"| queries for {feature} | {reason} |" in page_of(module)


def test_every_module_has_a_page_that_begins_with_the_same_sections():
    pages = {path.stem for path in PAGES.glob("*.md")} - {"README"}
    first = ["Install", "A role and a database", "Connection", "Options"]

    assert pages == {*MODULES}
    for module in MODULES:
        assert re.findall(r"^## (.+)$", page_of(module), re.MULTILINE)[: len(first)] == first


def page_of(module):
    return (PAGES / f"{module}.md").read_text()


def test_every_module_and_every_server_it_was_verified_on_stands_in_the_documentation():
    for module in MODULES:
        stores = database_class(module).capabilities.stores
        for record in evidence(module).records:
            assert f"| {record.server} | {record.cases} | {record.kill} |" in page_of(module)
        assert ("Draft:" in page_of(module)) == (stores and evidence(module).draft)


def test_every_version_that_was_tried_stands_on_the_page():
    for module in MODULES:
        for product, versions in evidence(module).versions.items():
            assert f"| {product} | {', '.join(versions)} |" in page_of(module)


def test_what_every_driver_hands_over_stands_in_the_documentation_for_every_type():
    handed = read_handed_over()

    assert {*handed} == {each for each in MODULES if database_class(each).capabilities.stores}
    assert {name for name, types in handed.items() if {*types} != {*Type}} == set()


def test_the_readme_names_as_many_drafts_as_there_are():
    stores = [name for name in MODULES if database_class(name).capabilities.stores]
    _, first = (ROOT / "README.md").read_text().split("\n\n")[:2]
    named = " ".join(first.split()).partition("except the drafts (")[2].partition(")")[0]

    assert len(named.split(", ")) == sum(evidence(name).draft for name in stores)
