"""`--drop-caches`, from the outside, with a file in place of the kernel's switch."""

from collections.abc import Callable

import pytest

from tests import ROOT
from tests.integration.conftest import CommandLine, Finished

SCRIPT = """
from pathlib import Path
from iotbench.machine import disk
from iotbench.commands.main import main

disk._DROP = Path("switch")
main()
"""
LITE = ("--target=sqlite", "--extra-option=path=bench.db", "--runs=1", "--workers=1")


@pytest.fixture
def run(cli: CommandLine) -> Callable[..., Finished]:
    """Run a command whose switch is the file `switch` in its folder."""
    cli.program = cli.folder / "program.py"
    cli.program.write_text(SCRIPT)
    cli.environment["PYTHONPATH"] = str(ROOT)
    return cli.run


def test_caches_are_dropped_before_inserts_and_queries(
    cli: CommandLine, run: Callable[..., Finished]
) -> None:
    switch = cli.folder / "switch"
    for words in (("insert", "--batch=500"), ("query", "--types=count-events")):
        switch.write_text("")
        done = run(*words, *LITE, "--drop-caches", "-v")

        assert done.code == 0, done.err
        assert switch.read_text() == "3"
        assert "system caches: dropped before each run" in done.out
        assert cli.results()[-1]["caches"] == "dropped"
