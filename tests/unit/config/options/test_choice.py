"""The choice of targets, and the variables with their credentials."""

import os

import pytest

from iotbench.config.options.choice import Choice, ClusterOptions, Reach, resolve_several


@pytest.fixture
def config(tmp_path, monkeypatch):
    path = tmp_path / "config.yaml"
    entry = "{module: postgres, runner: local, connection_string: '${BOTH}'}"
    path.write_text(f"targets:\n  one: {entry}\n  two: {entry}\n")
    monkeypatch.setenv("BOTH", "host=db.example password=s3cret-word")
    return path


def test_targets_share_a_variable_and_no_child_process_inherits_it(config):
    problems = []
    choices = [Choice(name, Reach(config, None, ClusterOptions())) for name in ("one", "two")]
    found = resolve_several(choices, problems)

    assert problems == []
    assert [each.name for each in found] == ["one", "two"]
    assert "BOTH" not in os.environ


def test_a_target_that_is_no_name_is_not_repeated(config):
    problems = []
    dsn = "host=db.example password=s3cret-word"
    assert Choice(dsn, Reach(config, None, ClusterOptions())).resolve(problems) is None
    assert "s3cret" not in str(problems)
    assert "text of 36 characters is not in" in problems[0]
