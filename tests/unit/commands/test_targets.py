"""The command `targets`: what can be measured, at a glance and in full."""

import json

import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from simulator.errors import ConfigError
from simulator.modules import database_class


def reported(*words):
    done = CliRunner().invoke(commands, ["targets", *words], catch_exceptions=False)
    return done.stdout


def test_every_target_is_listed_with_the_servers_it_was_verified_on():
    listed = json.loads(reported("--format=json"))
    shown = reported()

    assert {"sqlite", "null", "postgresql"} <= {row["target"] for row in listed}
    for row in listed:
        assert row["target"] in shown
        assert row["verified_on"]
        assert row["draft"] == (row["verified_on"] == "draft")


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_no_name_is_split_and_no_line_is_too_long_whatever_the_width(monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = reported().splitlines()[:-1]
    names = [row["target"] for row in json.loads(reported("--format=json"))]

    assert max(map(len, lines)) <= width
    assert [name for name in names if not any(line.split()[:1] == [name] for line in lines)] == []


def test_one_target_is_reported_with_its_modes_keys_and_options():
    text = " ".join(reported("postgresql").split())
    can = database_class("postgres").capabilities

    for word in (*can.modes, *can.modes.values(), *can.primary_keys, "connect_timeout_s"):
        assert str(word) in text
    assert "busy_timeout_s" not in text


def test_the_nearest_target_is_named_for_one_that_is_not_there():
    with pytest.raises(ConfigError, match=r"target 'postgresq' is not in.*'postgresql'"):
        reported("postgresq")
