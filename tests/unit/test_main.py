"""The entry of the command line: help that is whole, arguments that are not text."""

import re
import signal
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from iotbench.commands.main import _run, commands
from iotbench.config.completion.known import asks_for_help, find_known
from iotbench.entry import choose
from simulator.errors import ConfigError
from tests import ROOT


@pytest.mark.parametrize("command", ["", *commands.commands])
def test_no_summary_in_the_help_is_cut(command):
    shown = CliRunner().invoke(commands, [*command.split(), "--help"], terminal_width=80)

    assert "Usage" in shown.output
    assert re.findall(r"^.*[a-z]\.\.\.$", shown.output, re.MULTILINE) == []  # FILE... may be many


@pytest.mark.parametrize("command", ["insert", "query", "check", "capacity", "validate"])
def test_a_command_without_its_target_is_shown_one_and_how_to_list_them(command):
    with pytest.raises(ConfigError) as error:
        CliRunner().invoke(commands, [command], catch_exceptions=False)
    problem, *_ = error.value.problems

    assert re.fullmatch(
        rf"--targets?: is required, as in `python run.py {command} --targets? sqlite.*`;"
        r" `python run.py targets` lists the targets",
        problem,
    )


@pytest.mark.parametrize(
    ("arguments", "reported"),
    [
        (["show", "\udcff.json"], "argument 2: expected text in UTF-8, got b'\\xff.json'"),
        (["insert", "-t", "lite", "--output=a\udc80b"], "argument 4: expected text in UTF-8"),
        (["\udcff" * 1000], "argument 1: expected text in UTF-8, got b'" + r"\xff" * 40 + "'; "),
    ],
)
def test_an_argument_that_is_no_text_is_refused_by_its_number(
    monkeypatch, capsys, arguments, reported
):
    monkeypatch.setattr(sys, "argv", ["run.py", *arguments])

    assert _run() == 2
    error = capsys.readouterr().err
    assert error.startswith(f"error: {reported}")
    assert error.endswith("; rename the file\n")


def test_any_text_may_be_an_argument(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "show", "é中😀\u202e.json"])

    assert _run() == 2
    assert "é中😀\\u202e.json: cannot be read" in capsys.readouterr().err


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize("name", commands.commands)
def test_the_help_of_a_command_is_known_word_by_word(name, width):
    def shown(command):
        parent = commands.make_context("run.py", [name], terminal_width=width)
        return command.get_help(click.Context(command, info_name=name, parent=parent))

    known = find_known(name)
    command = commands.commands[name]

    assert shown(known) == shown(command)
    assert asks_for_help([name, "--help"])
    assert not asks_for_help([name, "--help", "--quiet"])


def test_a_short_help_has_ten_options_examples_and_where_the_rest_is():
    runner = CliRunner()
    short = runner.invoke(commands, ["insert", "-h"]).stdout
    full = runner.invoke(commands, ["insert", "--help"]).stdout
    options = [line for line in short.splitlines() if line.startswith("  -")]

    assert 8 <= len(options) <= 12
    assert "Examples:" in short
    assert re.search(r"All \d+ options: `.* insert --help`", short)
    assert len(short.splitlines()) < len(full.splitlines()) / 4
    assert runner.invoke(commands, ["show", "-h"]).stdout == (
        runner.invoke(commands, ["show", "--help"]).stdout
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [(("--help",), "insert      Insert rows and measure"), (("insert", "-h"), "  --num-inserts ")],
)
def test_help_imports_no_command(arguments, text):
    words = [sys.executable, "-X", "importtime", str(ROOT / "run.py"), *arguments]
    done = subprocess.run(words, check=True, capture_output=True, text=True)

    assert text in done.stdout
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "iotbench.commands.main" in imported
    assert not imported & {"pydantic", "numpy", "rich", "iotbench.commands.insert"}


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ("--target postgresql -w 16 -r 1 --num-inserts 3125000 --batch 1000 --steps 10", "insert"),
        ("--target=postgresql --count 3", "query"),
        ("-t sqlite", "insert"),
    ],
)
def test_options_without_a_command_name_the_command_that_was_meant(
    monkeypatch, capsys, arguments, meant
):
    monkeypatch.setattr(sys, "argv", ["run.py", *arguments.split()])
    option = re.split("[ =]", arguments)[0]

    assert _run() == 2
    assert capsys.readouterr().err.startswith(
        f"error: {option}: no command is given; did you mean `python run.py {meant} {option} ...`?"
    )


def test_an_option_of_no_command_is_refused_as_ever(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["run.py", "--nosuch"])

    assert _run() == 2
    assert "No such option '--nosuch'" in capsys.readouterr().err


def test_windows_is_refused_before_anything_of_unix_is_imported(monkeypatch, capsys):
    monkeypatch.setattr(sys, "platform", "win32")

    with pytest.raises(SystemExit, match="2"):
        choose()

    assert capsys.readouterr().err.startswith("error: expected Linux, got Windows; use WSL 2")


def test_a_stop_is_a_stop_whatever_a_library_makes_of_it(monkeypatch, capsys):
    def load():
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ConfigError("no module named zoneinfo") from None  # as pyarrow does

    monkeypatch.setitem(commands.commands, "doctor", click.Command("doctor", callback=load))
    monkeypatch.setattr(sys, "argv", ["run.py", "doctor"])

    assert _run() == 130
    assert capsys.readouterr().err == ""
