"""The first steps of a user: a configuration, a check of it and of the machine."""

import re

from tests.integration.conftest import CommandLine


def test_what_init_writes_can_be_checked_and_measured(cli: CommandLine) -> None:
    written = cli.run("init")
    checked = cli.run("check", "--target=sqlite", "--config=config.yaml")

    assert (written.code, written.err) == (0, "")
    assert (checked.code, checked.err) == (0, "")
    assert "create, insert, read and drop work" in checked.out
    assert "acknowledged" in checked.out
    assert re.search(r"^evidence +SQLite 3\S+: (tried|newer|older)", checked.out, re.MULTILINE)
