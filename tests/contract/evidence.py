"""`--evidence`: writes what the shared contract cases have shown into simulator/modules/evidence.

A record is written only if every case of a target ran and none failed. Cases report what they saw
by `record_property`: "server" (product and version), "kill" (the value of a Kill), and, outside of
the shared files, "target".
"""

import datetime as dt
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

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


class Recorder:
    """A pytest plugin that collects the outcome of every case and writes the records at the end."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self._folder = folder
        self._cases: dict[str, set[str]] = {}
        self._passed: set[str] = set()
        self._failed: set[str] = set()
        self._skipped: set[str] = set()
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
            name = _target_of(item)
            if name and item.path.name in SHARED:
                self._cases.setdefault(name, set()).add(item.nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note how a case ended and what it reports."""
        if report.failed:
            self._failed.add(report.nodeid)
        elif report.skipped:
            self._skipped.add(report.nodeid)
        elif report.when == "call":
            self._passed.add(report.nodeid)
            seen: dict[str, Any] = dict(report.user_properties)
            name = seen.pop("target", None) or self._name_of(report.nodeid)
            if name:
                self._seen.setdefault(name, {}).update(seen)

    def _name_of(self, case: str) -> str | None:
        return next((name for name, cases in self._cases.items() if case in cases), None)

    def pytest_sessionfinish(self) -> None:
        """Write the record of each target all of whose cases ran and passed."""
        for name, cases in self._cases.items():
            passed, failed = len(cases & self._passed), len(cases & self._failed)
            missing = len(cases - self._passed - self._failed - self._skipped)
            if failed:
                self.lines.append(f"{name}: not written, {failed} cases failed")
            elif missing and passed:
                self.lines.append(f"{name}: not written, {missing} cases did not run")
            elif passed:
                self.lines.append(self._write(name, passed))

    def _write(self, name: str, cases: int) -> str:
        target, seen = STORING[name], self._seen.get(name, {})
        server = STAND_IN if target.stand_in else target.product or seen["server"]
        kill = Kill(seen.get("kill", Kill.NOT_TRIED))
        today = dt.datetime.now(dt.UTC).date()
        module = target.database.name
        reached = Reached.ADDRESS if target.by_address else Reached.STARTED
        record = EvidenceRecord(
            target=name,
            server=server,
            date=today,
            cases=cases,
            kill=kill,
            reached=reached,
            note=target.note,
        )
        write(evidence(module, self._folder).with_record(record), self._folder)
        return f"{name}: {server}, {cases} cases, after kill -9: {kill}"

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Print what was written and what was not."""
        terminalreporter.section("evidence")
        for line in [*self.lines, "run `make docs` next"] if self.lines else ["nothing ran"]:
            terminalreporter.line(line)


def _target_of(item: pytest.Item) -> str | None:
    target: Target | None = getattr(item, "callspec", None) and item.callspec.params.get("target")  # type: ignore[attr-defined]
    return next((name for name, each in STORING.items() if each is target), None)
