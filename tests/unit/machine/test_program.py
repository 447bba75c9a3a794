"""Which name the program goes by, and where its files go."""

import sys
from pathlib import Path

import pytest

from iotbench.machine.program import program, program_name, state_folder


@pytest.mark.parametrize(
    ("called", "name", "words"),
    [
        ("run.py", "run.py", "python run.py"),
        ("/usr/local/bin/iotbench", "iotbench", "iotbench"),
        ("", "run.py", "python run.py"),
    ],
)
def test_messages_name_the_program_as_it_was_called(monkeypatch, called, name, words):
    monkeypatch.setattr(sys, "argv", [called])

    assert (program_name(), program()) == (name, words)


def test_the_state_folder_follows_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert state_folder() == tmp_path / "iotbench"

    monkeypatch.delenv("XDG_STATE_HOME")
    assert state_folder() == Path.home() / ".local" / "state" / "iotbench"
