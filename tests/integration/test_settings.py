"""Both sets of settings of dbinstall/settings.yaml on real servers."""

from collections.abc import Callable
from typing import Any

import pytest

from iotbench.config.targets.advice import SUFFIX, ServerSize, SettingsChoice, advice
from tests.integration.conftest import CommandLine
from tests.integration.test_databases import arguments, edited
from tests.published.targets import OTHERS
from tests.servers.base import Server
from tests.settings import places

SMALL = ServerSize(memory_mib=2048, cores=2)
ADVISED = {
    target: place for target, place in places(*OTHERS) if place.choice is SettingsChoice.ADVISED
}


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("server_name", "target"),
    [
        pytest.param(
            place.server, target, id=target,
            marks=[] if place.server == "postgres" else [pytest.mark.rare],
        )
        for target, place in ADVISED.items()
    ],
)  # fmt: skip
def test_both_sets_start_store_verified_rows_and_promise_the_same(
    cli: CommandLine, own_server: Callable[..., Server], target: str
) -> None:
    base = target.removesuffix(SUFFIX)
    installed = outcome_on(cli, own_server, base, SettingsChoice.INSTALLED)
    advised = outcome_on(cli, own_server, base, SettingsChoice.ADVISED)

    assert advised["server"]["durability"] == installed["server"]["durability"]
    assert advised["server"]["durable"] == installed["server"]["durable"]
    for name, each in advice()[base].server.items():
        reported = [found["server"]["settings"].get(name) for found in (installed, advised)]
        assert reported == [None, None] or (reported[0] != reported[1]) == each.differs


def outcome_on(
    cli: CommandLine, own_server: Callable[..., Server], base: str, choice: SettingsChoice
) -> dict[str, Any]:
    """Insert and ask on a server with a set of settings; return the outcome of the insert."""
    target = f"{base}{SUFFIX}" if choice is SettingsChoice.ADVISED else base
    settings = advice()[base].server_settings(choice, SMALL)
    with own_server(**settings) as server, server.database() as database:
        cli.config = edited(target, server.options(database), cli)
        inserted = cli.run(
            "insert", f"--target={target}", "--workers=2", "--runs=1", "--batch=1000", "--quiet",
            *arguments(base),
        )  # fmt: skip
        asked = cli.run("query", f"--target={target}", "--runs=1", "--quiet")

    assert inserted.code == 0, inserted.err
    assert asked.code == 0, asked.err
    result = next(each for each in reversed(cli.results()) if each.get("kind") == "insert")
    assert result["target"] == target
    (run,) = result["runs"]
    assert run["outcome"]["verdict"]["status"] == "verified"
    outcome: dict[str, Any] = run["outcome"]
    return outcome
