"""Evidence about a target from the shared contract cases.

`--evidence` writes a record of it into simulator/modules/evidence, only if every case of a target
ran and none failed. The command `contract` writes a Trial, which users send back:

    python -m tests.contract.evidence contract-NAME.json    ends a draft; run `make docs` next

Cases report what they saw by `record_property`: "server" (product and version), "kill" (the value
of a Kill), and, outside of the shared files, "target".
"""

import datetime as dt
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from iotbench.config.targets.packages import package_versions
from simulator import __version__
from simulator.frozen import Frozen
from simulator.modules.evidence import (
    FOLDER,
    STAND_IN,
    EvidenceRecord,
    Kill,
    Reached,
    evidence,
    write,
)
from tests.contract.targets import STORING, Target

SHARED = ("test_contract.py", "test_gone.py", "test_kill.py", "test_refused.py")
"""The files whose cases are the same for every module."""
NOT_RUN = "not run"


class Case(Frozen):
    """The outcome of one case."""

    name: str
    outcome: str = NOT_RUN
    """Outcome as pytest names it: passed, failed or skipped."""
    duration_s: float = 0.0
    reason: str = ""
    """Reason why it was skipped or failed."""

    def after(self, report: pytest.TestReport) -> "Case":
        """Return the case after a report; a case has one each for setup, call and teardown."""
        changes: dict[str, Any] = {"duration_s": round(self.duration_s + report.duration, 3)}
        if self.outcome != "failed" and (report.when == "call" or not report.passed):
            changes |= {"outcome": report.outcome, "reason": _reason_of(report)}
        return self.model_copy(update=changes)


def _reason_of(report: pytest.TestReport) -> str:
    if report.skipped:
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    text = f"{Path(crash.path).name}:{crash.lineno}: {crash.message}" if crash else report.longrepr
    return str(text or "")


class Trial(Frozen):
    """The cases of one target on one server."""

    kind: Literal["contract"] = "contract"
    module: str
    target: str
    """The target's name in tests/contract/targets.py."""
    server: str
    """Product and version as the server reports them, or STAND_IN."""
    packages: dict[str, str]
    """The driver, and what else the module imports -> version."""
    version: str = __version__
    """The version of this program."""
    date: dt.date
    kill: Kill
    reached: Reached
    note: str
    cases: tuple[Case, ...]

    @property
    def outcomes(self) -> Counter[str]:
        """Outcome -> number of cases."""
        return Counter(case.outcome for case in self.cases)

    @property
    def summary(self) -> str:
        """The number of cases of each outcome."""
        return ", ".join(f"{number} {outcome}" for outcome, number in self.outcomes.items())

    @property
    def problem(self) -> str:
        """Why it is not evidence; empty if it is."""
        if failed := self.outcomes["failed"]:
            return f"{failed} cases failed"
        if missing := self.outcomes[NOT_RUN]:
            return f"{missing} cases did not run"
        return "" if self.outcomes["passed"] else "no case passed"

    def record(self, folder: Path) -> str:
        """Add it to the evidence of its module; return a line about it."""
        if self.problem:
            return f"{self.target}: not written, {self.problem}"
        fields = self.model_dump(include={"target", "server", "date", "kill", "reached", "note"})
        passed = EvidenceRecord(cases=self.outcomes["passed"], **fields)
        write(evidence(self.module, folder).with_record(passed), folder)
        return f"{self.target}: {self.server}, {passed.cases} cases, after kill -9: {self.kill}"


class Recorder:
    """A pytest plugin that collects the outcome of every case, and writes records into a folder."""

    def __init__(self, folder: Path | None = FOLDER) -> None:
        self._folder = folder
        self._cases: dict[str, dict[str, Case]] = {}
        self._seen: dict[str, dict[str, str]] = {}
        self.lines: list[str] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        """Note every case of every target, before any is deselected."""
        collected = {item.path.name for item in items}
        missing = [name for name in SHARED if name not in collected]
        if missing:
            msg = f"--evidence: {', '.join(missing)} not collected; run all of tests/contract"
            raise pytest.UsageError(msg)
        for item in items:
            name = target_of(item)
            if name and item.path.name in SHARED:
                self._cases.setdefault(name, {})[item.nodeid] = Case(name=item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a case goes on and what it reports."""
        seen: dict[str, Any] = dict(report.user_properties) if report.when == "call" else {}
        own = next((name for name, cases in self._cases.items() if report.nodeid in cases), None)
        if own:
            self._cases[own][report.nodeid] = self._cases[own][report.nodeid].after(report)
        if report.passed and (name := seen.pop("target", own)):
            self._seen.setdefault(name, {}).update(seen)

    def trial(self, name: str) -> Trial:
        """Return what is known about a target."""
        target, seen = STORING[name], self._seen.get(name, {})
        return Trial(
            module=target.database.name,
            target=name,
            server=STAND_IN if target.stand_in else seen.get("server", ""),
            packages=package_versions(target.database),
            date=dt.datetime.now(dt.UTC).date(),
            kill=Kill(seen.get("kill", Kill.NOT_TRIED)),
            reached=Reached.ADDRESS if target.by_address else Reached.STARTED,
            note=target.note,
            cases=tuple(self._cases.get(name, {}).values()),
        )

    def pytest_sessionfinish(self) -> None:
        """Write the record of each target all of whose cases ran and passed."""
        for trial in map(self.trial, self._cases if self._folder else ()):
            if trial.outcomes.keys() & {"passed", "failed"}:
                self.lines.append(trial.record(self._folder))

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was written and what was not."""
        terminalreporter.section("evidence")
        for line in [*self.lines, "run `make docs` next"] if self.lines else ["nothing ran"]:
            terminalreporter.line(line)


def target_of(item: pytest.Item) -> str | None:
    target: Target | None = getattr(item, "callspec", None) and item.callspec.params.get("target")  # type: ignore[attr-defined]
    return next((name for name, each in STORING.items() if each is target), None)


if __name__ == "__main__":
    for file in sys.argv[1:]:
        sent = Trial.model_validate_json(Path(file).read_text("utf-8"))
        print(sent.record(FOLDER) if evidence(sent.module).draft else f"{sent.module}: no draft")
