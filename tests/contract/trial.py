"""The shared cases on a user's database: the command `contract` runs them from here.

They need only pytest and the driver, none of the servers and stand-ins of the tests.
"""

import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simulator.data.workloads import WORKLOADS
from simulator.modules import database_class
from simulator.modules.contract import Database, Options
from tests import ROOT
from tests.contract.evidence import SHARED, Case, Recorder, Trial, target_of
from tests.contract.harness import Names, hosts_of
from tests.contract.targets import BY_ADDRESS, STORING, TARGETS, Target, tables_of_tests
from tests.contract.wide import Wide

_IPV4 = r"\d{1,3}(?:\.\d{1,3}){3}"
_SWITCHES = (
    "--config-file=/dev/null", f"--rootdir={ROOT}", "--import-mode=importlib", "--noconftest",
    "--disable-plugin-autoload", "-pno:cacheprovider", "-pno:terminal",
)  # fmt: skip
"""The user's own configuration of pytest does not count, and TrialRun prints the outcomes."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test on each target that stores rows, unless it names its targets itself.

    Not as the parameters of a fixture: this file is imported before addresses are known.
    """
    marks = metafunc.definition.iter_markers("parametrize")
    named = any("target" in mark.args[0] for mark in marks) or hasattr(metafunc.module, "target")
    if "target" in metafunc.fixturenames and not named:
        metafunc.parametrize("target", STORING.values(), ids=list(STORING))


@pytest.fixture
def database(request: pytest.FixtureRequest, target: Target) -> Database:
    """The target's database, empty."""
    return target.open(request)


class TrialRun(Recorder):
    """A pytest plugin that runs the cases of one target on a user's database."""

    def __init__(self, module: str, options: Options, show: Callable[[str], None]) -> None:
        """`show` prints a line about each case."""
        super().__init__(None)
        self._redact = options.redact
        self._hosts = re.compile("|".join([_IPV4, *map(re.escape, sorted(hosts_of(options)))]))
        self._open = lambda: database_class(module)(options)
        self._show = show
        self._names = Names(tables_of_tests)
        given = {each: getattr(options, each) for each in options.model_fields_set}
        self._given = given | {n: text for n, text in options.secrets().items() if n in given}
        self._module = module
        WORKLOADS[Wide.name] = Wide
        self._choose({})

    def _choose(self, settings: Mapping[str, str]) -> None:
        """Choose the module's row of TARGETS that describes a server with these settings."""
        self._name, row = _find_row(self._module, settings)
        self._target = replace(row.at("own", self._module), options=lambda _: {})
        if self._target.database.capabilities.embedded:
            self._target = replace(
                self._target,
                server=None,
                options=lambda request: self._given | row.options(request),
                by_address=False,
            )
        TARGETS[self._name] = self._target
        STORING.clear()
        STORING[self._name] = self._target

    def take_names(self) -> list[str]:
        """Return the tables that the cases create and drop; SetupError if a name is in use.

        There are none for an embedded engine, which has temporary files for each case.
        """
        if not self._target.server:
            return []
        database = self._open()
        facts = database.inspect()
        self._show(f"server: {facts.version}")
        self._choose(facts.settings)
        self._names.take(database)
        return sorted({table.name for table in tables_of_tests()})

    def run(self) -> Trial:
        """Run the cases."""
        files = [str(Path(__file__).with_name(name)) for name in SHARED]
        code = pytest.main([*_SWITCHES, *files], plugins=[sys.modules[__name__], self])
        if code is pytest.ExitCode.INTERRUPTED:
            raise KeyboardInterrupt
        return self.trial(self._name)

    # --- what pytest calls

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave out what tests the tests."""
        super().pytest_collection_modifyitems(items)
        items[:] = [item for item in items if target_of(item)]

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """End the run if a file cannot be imported."""
        if report.failed:
            raise RuntimeError(report.longreprtext)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Hide credentials and hosts, and print a case once it has ended."""
        super().pytest_runtest_logreport(report)
        cases = self._cases[self._name]
        if report.when == "teardown":
            case = cases[report.nodeid]
            hidden = {"reason": self._hosts.sub("HOST", self._redact(case.reason))}
            cases[report.nodeid] = case.model_copy(update=hidden)
            self._show(_format(cases[report.nodeid], self._name))

    @pytest.fixture
    def server(self) -> None:
        """Nothing: a user's server is not stopped."""
        pytest.skip("`contract` does not kill or pause a server")

    @pytest.fixture
    def server_options(self) -> Iterator[dict[str, Any]]:
        """The user's options; what a case creates is dropped at its end."""
        self._names.take(self._open())
        yield self._given
        self._names.drop(self._open())


def _find_row(module: str, settings: Mapping[str, str]) -> tuple[str, Target]:
    """Return the row for a server's settings, or else that with a module's name, or its first."""
    rows = {n: t for n, t in (TARGETS | BY_ADDRESS).items() if module in (n, t.module)}
    known = (n for n, t in rows.items() if t.settings and t.settings.items() <= settings.items())
    name = next(known, module if module in rows else next(iter(rows)))
    return name, rows[name]


def _format(case: Case, target: str) -> str:
    """Return a case as a line: its outcome, what it claims, with which parameters, and why not."""
    claim, _, parameters = case.name.rpartition("::test_")[2].rstrip("]").partition("[")
    shown = parameters.removeprefix(target).replace("-", " ").strip()
    reason = case.reason.partition("\n")[0]
    text = f"{case.outcome:8}{case.duration_s:6.1f} s  {claim.replace('_', ' ')}"
    return text + f" ({shown})" * bool(shown) + f": {reason}" * bool(reason)
