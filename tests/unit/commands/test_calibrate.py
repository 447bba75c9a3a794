"""The command `calibrate`: what is refused before anything starts."""

import pytest
from click.testing import CliRunner

from iotbench.commands.main import commands
from simulator.errors import ConfigError


@pytest.mark.parametrize(
    ("words", "problems"),
    [
        (
            ("--sweeps=3", "--duration=100ms", "--workers=0"),
            [
                "--workers: must be at least 1, got 0",
                "--sweeps: must be at least 5, got 3",
                "--duration: must be at least 0.5, got 0.1",
            ],
        ),
        (("--sweeps=101",), ["--sweeps: must be at most 100, got 101"]),
    ],
)
def test_what_measures_too_little_is_refused_at_once(words, problems):
    with pytest.raises(ConfigError) as error:
        CliRunner().invoke(
            commands, ["calibrate", "--targets=sqlite", *words], catch_exceptions=False
        )

    assert [*error.value.problems] == problems
