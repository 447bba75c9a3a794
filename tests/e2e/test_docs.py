"""The commands of the README's section on clusters, on a cluster."""

import shlex

import pytest

from tests.e2e.harness import ClusterLine
from tests.integration.test_docs import BLOCKS

COMMANDS = [
    command
    for block in BLOCKS
    if (block.page, block.needs) == ("README.md", "cluster")
    for command in block.commands
    if command.startswith("python run.py ")
]


@pytest.mark.rare
@pytest.mark.timeout(600)
def test_the_commands_of_the_readme_run_on_a_cluster(cli: ClusterLine) -> None:
    """Label, image, Secret and database are there: the fixtures make them from the same files."""
    assert len(COMMANDS) == 3
    for command in COMMANDS:
        _, _, name, *options = shlex.split(command)
        done = cli.run(name, *options, within_s=180)
        assert done.code == 0, f"{command}\n{done.err}"
