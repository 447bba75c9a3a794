"""The entry of the command line: help that is whole, arguments that are no text."""

import re
import sys

import pytest
from click.testing import CliRunner

from cli.main import _run, commands


@pytest.mark.parametrize("command", ["", *commands.commands])
def test_no_summary_in_the_help_is_cut(command):
    shown = CliRunner().invoke(commands, [*command.split(), "--help"], terminal_width=80)

    assert "Usage" in shown.output
    assert re.findall(r"^.*[a-z]\.\.\.$", shown.output, re.MULTILINE) == []  # FILE... may be many


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
