"""An option is declared once, as a field of a model; everything else derives from it."""

from enum import StrEnum
from typing import Annotated, ClassVar

import click
import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from iotbench.config.input.options import Opt, Options
from iotbench.config.input.records import Record, read_record
from iotbench.config.input.values import Names, Seconds
from iotbench.config.options.basic import Command
from iotbench.config.options.declared import options_of
from iotbench.measurements.insert.options import Insert, InsertOptions
from iotbench.results.command import GivenCommand as StoredCommand
from simulator.errors import ConfigError


class Order(StrEnum):
    TIME = "time"
    RANDOM = "random"


class Pausing(Options):
    """The exercise of "Add an option" in CONTRIBUTING.md."""

    GROUP: ClassVar[str] = "Load"

    pause_s: Annotated[Seconds, Opt("-p", least=0, most=60)] = 0.5
    """Pause of a worker after each batch, such as
    500ms.
    """


class PausingInsert(Pausing, Insert):
    """A setting with one more option."""


class PausingOptions(Pausing, InsertOptions):
    """A command with one more option."""


class Setting(Record):
    insert: PausingInsert


def command_of(model):
    """A command that keeps what it gets."""
    kept = []

    @click.command(cls=Command)
    @options_of(model)
    def keep(*, options):
        kept.append(options)

    def run(*words):
        CliRunner().invoke(keep, words, catch_exceptions=False)
        return kept.pop()

    return keep, run


def test_an_option_that_is_declared_is_in_help_plan_schema_words_and_configuration(tmp_path):
    command, run = command_of(PausingOptions)
    shown = " ".join(CliRunner().invoke(command, ["--help"]).output.split())
    assert "-p, --pause DURATION Pause of a worker after each batch, such as 500ms." in shown
    assert "[default: 0.5s]" in shown

    key = Setting.model_json_schema()["$defs"]["PausingInsert"]["properties"]["pause"]
    assert key["description"] == "Pause of a worker after each batch, such as 500ms."
    assert key["default"] == 0.5
    plan = tmp_path / "plan.yaml"
    plan.write_text("insert: {pause: 2s}")
    insert = read_record(plan, Setting).insert

    assert insert.pause_s == run("--pause", "2s").pause_s == run("-p", "2").pause_s == 2
    assert insert.list_stored() == {"pause": ("2s",)}
    assert insert.configuration()["pause_s"] == 2
    assert "pause_s" in PausingOptions().describe(has_end=True)


def test_its_limits_hold_in_command_and_plan():
    _, run = command_of(PausingOptions)

    assert run("--pause", "61s").problems() == ["--pause: must be at most 60, got 61.0"]
    assert PausingInsert(pause_s=-1).problems() == ["--pause: must be at least 0, got -1.0"]


def test_what_was_not_given_has_its_default_and_is_not_given():
    _, run = command_of(PausingOptions)

    assert run().given == {}
    assert run().pause_s == 0.5
    assert run("--pause", "0.5").given == {"--pause": 0.5}
    assert run("--scale", "3", "--no-clean").given == {"--clean": False, "--scale": 3}


class Naming(Options):
    names: Names


def test_an_option_without_a_default_is_required():
    _, run = command_of(Naming)

    with pytest.raises(ConfigError, match=r"^--names: is required$"):
        run()
    assert run("--names", "a,b").names == ("a", "b")


class Kinds(Options):
    names: Names = ()
    """Of people."""
    order: Order = Order.TIME
    """Of rows."""
    files: tuple[str, ...] = ()
    """May be given several times."""
    fast: bool = False
    """True if to hurry."""
    tidy: bool = True
    """True if to clean up."""
    inner: Annotated[int, Opt(inner=True)] = 1


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--names", "a,b", "--order", "random"),
        ("--files", "x", "--files", "y", "--fast", "--no-tidy"),
    ],
)
def test_the_words_of_options_give_the_same_options(words):
    _, run = command_of(Kinds)
    found = run(*words)

    command = StoredCommand(name="x", options=found.list_stored())
    assert command.words[1:] == words
    assert run(*command.words[1:]) == found


def test_an_option_that_follows_from_others_is_none_of_a_command():
    command, _ = command_of(Kinds)

    assert [each.name for each in command.params] == ["names", "order", "files", "fast", "tidy"]


def test_a_key_with_the_name_of_the_field_is_unknown(tmp_path):
    plan = tmp_path / "plan.yaml"
    plan.write_text("insert: {pause_s: 2}")

    with pytest.raises(ConfigError, match=r"insert.pause_s: unknown key \(did you mean 'pause'"):
        read_record(plan, Setting)


@pytest.mark.parametrize("name", commands.commands)
def test_no_two_options_of_a_command_have_one_name(name):
    names = [each.name for each in commands.commands[name].params]

    assert len(names) == len({*names})
