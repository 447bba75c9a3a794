"""The configuration that `init` writes: it loads, and its comments are right."""

import re
from dataclasses import replace

import pytest
import yaml
from click.testing import CliRunner

from iotbench.commands.main import commands
from iotbench.config.targets.config import load
from iotbench.config.targets.starter import starter
from simulator.errors import ConfigError
from simulator.modules import MODULES, database_class
from tests import ROOT
from tests.unit.test_schemas import problems

TARGETS = list(yaml.safe_load((ROOT / "config.yaml").read_text())["targets"])


def loaded(tmp_path, text, name):
    path = tmp_path / "c.yaml"
    path.write_text(text)
    return facts(load(path).resolve(name, {}))


@pytest.fixture(scope="module")
def program():
    """The configuration of the program."""
    return load(ROOT / "config.yaml")


def facts(target):
    """All that a target is; the class of options whose credentials are in Secrets is its own."""
    return replace(target, options=None), target.options.public()


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_alone_is_the_one_of_the_program_with_every_default(
    tmp_path, monkeypatch, program, name
):
    text, names = starter([name])
    for variable in re.findall(r"\$\{(\w+)\}", text):
        monkeypatch.setenv(variable, "x")
    begin, _, further = text.partition("# Further options, with their defaults:\n")
    options = re.findall(r"^    # ((\w+):.*)$", further, re.MULTILINE)
    given = "".join(
        f"    {line}\n" for line, key in options if line != f"{key}:" and key != "runner"
    )

    expected = facts(program.resolve(name, {}))
    assert names == [name]
    assert loaded(tmp_path, text, name) == expected
    assert loaded(tmp_path, f"{begin}\n{given}", name) == expected
    fields = database_class(expected[0].module).options_model.model_fields
    assert [
        field for field in fields if not re.search(rf"^ +(# )?{field}(_from)?:", text, re.MULTILINE)
    ] == []


def test_a_module_means_its_first_target():
    text, names = starter(["postgres", "postgresql", "mysql"])

    assert names == ["postgresql", "mysql_innodb"]
    assert text.count("module: postgres\n") == 1
    assert [module for module in MODULES if not starter([module])[1]] == []


def test_editors_find_the_schema_and_nothing_to_complain_about():
    text, _ = starter(TARGETS)
    first = text.partition("\n")[0]

    assert first == f"# yaml-language-server: $schema={ROOT}/docs/config.schema.json"
    assert problems((ROOT / "docs/config.schema.json").read_text(), text) == []


def test_a_url_becomes_a_target_of_this_machine(tmp_path, monkeypatch):
    text, names = starter(["sqlite:rooms.db", "mysql://anna@h/app", "influxdb2://h/home"])

    assert names == ["sqlite-rooms.db", "mysql-h-app", "influxdb2-h-home"]
    assert "    password: ${MYSQL_PASSWORD}\n" in text
    assert "    token: ${INFLUXDB2_TOKEN}\n" in text
    monkeypatch.setenv("MYSQL_PASSWORD", "s3cret")
    (tmp_path / "c.yaml").write_text(text)
    target = load(tmp_path / "c.yaml").resolve("mysql-h-app", {})
    assert (target.runner, target.secrets()) == ("local", {"password": "s3cret"})


def run(*words):
    return CliRunner().invoke(
        commands, ["init", *words], catch_exceptions=False, standalone_mode=False
    )


def test_a_file_that_exists_is_never_overwritten(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "c.yaml"
    done = run(str(path))
    before = path.read_text()

    assert done.stdout.splitlines() == [
        f"wrote {path}: sqlite",
        "created folder results",
        f"next: `python run.py check --target sqlite --config {path}`",
    ]
    with pytest.raises(ConfigError, match=r"c\.yaml: exists, and is not overwritten"):
        run(str(path), "--targets=postgres")
    assert path.read_text() == before
    with pytest.raises(ConfigError, match="cannot be written: No such file"):
        run(str(tmp_path / "no" / "c.yaml"))


def test_every_unknown_target_is_named_and_nothing_is_written(tmp_path):
    with pytest.raises(ConfigError) as error:
        run(str(tmp_path / "c.yaml"), "--targets=sqlit,sqlite,postgrs")

    assert len(error.value.problems) == 2
    assert "did you mean 'sqlite'" in error.value.problems[0]
    assert list(tmp_path.iterdir()) == []
