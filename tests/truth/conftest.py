"""A command line behind the proxy, and the table of what was compared."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.faults.behind import Behind, behind
from tests.faults.liar import Entry
from tests.integration.conftest import CommandLine, cli  # noqa: F401
from tests.servers import Server
from tests.truth import table
from tests.truth.figures import Deviations
from tests.truth.ledger import Account
from tests.truth.pulse import added, pulse

_NEEDS_SAMPLES = ("p99_ms", "p999_ms", "connect_p99_ms")
"""Figures that are empty if there are too few samples."""
_DEVIATIONS = pytest.StashKey[Deviations]()


@dataclass
class Reviewed(Behind):
    """A command line whose figures are compared with the proxy's account."""

    server: Server
    database: str
    deviations: Deviations
    wrong: list[str] = field(default_factory=list)
    """What is not as the account says."""
    added: Account = field(default_factory=dict)
    """What other work on this machine may have added to figures of the last command."""

    def run(self, command: str, *words: str, code: tuple[int, ...] = (0,)) -> Any:
        """Run a command from an empty account; return what it prints as JSON."""
        self.plot.entries.clear()
        with pulse() as late_ms:
            done = self.cli.run(command, "--target=lied", "--format=json", *words)
        self.added = added(late_ms)
        assert done.code in code, done.out + done.err
        return done.json

    def inserts(self) -> list[Entry]:
        """Requests that stored rows."""
        return [each for each in self.plot.entries if each.rows]

    def inserts_of(self, file: str) -> tuple[list[Entry], float]:
        """Return the requests that stored rows in the only run of a result.

        The time in ms by which the first came after the common start follows.
        """
        (run,) = json.loads((self.cli.output / file).read_text())["runs"]
        from_s = run["outcome"]["released_s"] - 0.002
        until_s = from_s + run["outcome"]["phases_s"]["insert"] + 0.004
        wall_s = self.plot.wall_s
        found = [e for e in self.inserts() if from_s <= e.began_s + wall_s < until_s]
        late_s = found[0].began_s + wall_s - run["outcome"]["released_s"]
        return found, 1000 * max(late_s, 0.0)

    @property
    def start_s(self) -> float:
        """The common start of the only run of the last result, by the proxy's clock."""
        released_s: float = self.cli.results()[-1]["runs"][0]["outcome"]["released_s"]
        return released_s - self.plot.wall_s

    def asks(self, phase: str) -> list[Entry]:
        """Return the queries and changes in a phase of the last result, by the wall clock."""
        outcome = self.cli.results()[-1]["runs"][0]["outcome"]
        from_s = outcome["released_s"] - 0.002
        until_s = from_s + outcome["phases_s"][phase] + 0.002
        return [
            each
            for each in self.plot.entries
            if not each.rows and from_s <= each.began_s + self.plot.wall_s < until_s
        ]

    def unsent(self) -> int:
        """Return how many queries of the last result fell due and were not asked."""
        workers = self.cli.results()[-1]["runs"][0]["outcome"]["workers"]
        return sum(each["unsent"] for worker in workers for each in worker["queries"])

    def unsent_batches(self) -> int:
        """Return how many batches of the last result fell due and were not sent."""
        workers = self.cli.results()[-1]["runs"][0]["outcome"]["workers"]
        return sum(worker["unsent"] for worker in workers)

    def changes(self) -> list[Entry]:
        """Return the requests of the last result's changes, by the wall clock."""
        workers = self.cli.results()[-1]["runs"][0]["outcome"]["workers"]
        found = [each for worker in workers for each in worker["changes"]]
        from_s = min(each["started_s"] for each in found) - 0.002
        until_s = max(each["ended_s"] for each in found) + 0.002
        return [e for e in self.plot.entries if from_s <= e.began_s + self.plot.wall_s < until_s]

    def compare(self, reported: Account, account: Account, unseen: Account | None = None) -> None:
        """Compare figures with the account; the test fails at its end if one is wrong.

        `unseen` is what the client's way to the proxy may add.
        """
        for name, own in account.items():
            if reported.get(name) is None and name in _NEEDS_SAMPLES:
                continue
            more = self.added.get(name, 0.0) + (unseen or {}).get(name, 0.0)
            wrong = self.deviations.add(name, self.server.name, reported[name], own, more)
            self.wrong += [wrong] if wrong else []


@pytest.fixture
def reviewed(
    cli: CommandLine,  # noqa: F811
    server: Server,
    server_database: str,
    request: pytest.FixtureRequest,
) -> Iterator[Reviewed]:
    cli.is_alone = True
    deviations = request.config.stash.setdefault(_DEVIATIONS, Deviations())
    with behind(cli, server, server_database) as found:
        made = Reviewed(found.cli, found.plot, found.proxy, server, server_database, deviations)
        yield made
    assert not made.wrong, "\n".join(made.wrong)


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "write the largest deviations into docs/method.md; run all servers of the suite"
    parser.addoption("--write-table", action="store_true", help=text)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    deviations = config.stash.get(_DEVIATIONS, None)
    if deviations:
        terminalreporter.section("largest deviation of figures from the proxy's account")
        terminalreporter.write_line("\n".join(deviations.lines()))
        if config.getoption("write_table"):
            table.write(deviations)
