"""The record of a plan: the outcome of each item, and the measures of the repeats."""

import re
from collections.abc import Collection
from datetime import datetime
from typing import Any, Literal, TypeAlias

from pydantic import Field

from iotbench.figures.rows import describe_verdict
from iotbench.machine.bystanders import OtherWork
from iotbench.machine.machine import Machine
from iotbench.plans.settings import Sought
from iotbench.results.result import FileBeside
from simulator.errors import ConfigError, Interrupted, MismatchError, RunError, UnverifiableError
from simulator.frozen import Frozen
from simulator.protocol import verdict
from simulator.protocol.verdict import VerifyMode

OWN = re.compile(rb'\s*\{\s*"kind":\s*"plan",\s*"format_version":')
"""First bytes of a plan's record."""
FAILED = "failed"
"""Verdict of an item that did not end."""
Status: TypeAlias = Literal["done", "interrupted"]


class ItemRecord(Frozen):
    """One measurement of a setting on a target."""

    id: str
    target: str
    setting: str
    repeat: int
    verdict: str
    verify: VerifyMode | None = None
    """Extent of the comparison of stored rows; None: unknown."""
    cause: str = ""
    exit_code: int = 0
    """Exit code of the last sweep."""
    files: tuple[FileBeside, ...] = ()
    """Result files of the item."""
    other_work: OtherWork | None = None
    """Highest amount of other work during a run of the item; None: less than a tenth of the cores,
    or not measured.
    """


class CurvePoint(Frozen):
    """The measurements with one number of shards, or one size of a batch."""

    number: int
    values: tuple[float, ...]
    """Rows/s of each repeat."""
    verdict: str


class Curve(Frozen):
    """A search on one target, which ended where the rate clearly fell."""

    setting: str
    target: str
    sought: Sought = Sought.SHARDS
    points: tuple[CurvePoint, ...]
    best: int
    """Number with the highest mean rate."""


class PlanLine(Frozen):
    """The measurements of a setting on a target, over its repeats."""

    setting: str
    target: str
    repeats: int
    """Number of complete repeats."""
    measures: dict[str, tuple[float, ...]]
    """Name -> the value of each repeat; a name may include a query: `avg_ms groupby`."""
    verdict: str
    """Worst verdict of the repeats."""
    verify: VerifyMode | None = None
    """Smallest extent of the comparison of stored rows; None: unknown."""

    @property
    def judged(self) -> str:
        """Verdict for display; `verified` is followed by the extent of the comparison."""
        return describe_verdict(self.verdict, self.verify)


class InstallRecord(Frozen):
    """The installation and removal of a target's database."""

    target: str
    install: tuple[str, ...]
    remove: tuple[str, ...]
    """Commands that removed the database."""
    log: FileBeside
    """File with the output of the commands, next to the record."""
    seconds: float
    """Time until the database answered or the installation failed."""
    cause: str = ""
    """Reason why the database could not be used; all items of the target have the same cause."""
    left: str = ""
    """Commands of the removal that failed."""


class PlanRecord(Frozen):
    """The result file of a plan; each item has its own result files."""

    kind: Literal["plan"] = "plan"
    format_version: Literal[1] = 1
    program_version: str
    name: str
    plan: dict[str, Any]
    """The plan as read, with all defaults."""
    machine: Machine
    """The machine that wrote this record."""
    hardware: dict[str, int] = Field({})
    """Processor, cores and memory of local workers -> number of results."""
    status: Status
    first: datetime | None
    """Start of the oldest result."""
    last: datetime | None
    items: tuple[ItemRecord, ...]
    lines: tuple[PlanLine, ...]
    curves: tuple[Curve, ...]
    not_had: dict[str, str]
    """Target that could not be measured -> the reason."""
    refused: dict[str, str]
    """Target and setting -> why the target was not measured with this setting."""
    installs: tuple[InstallRecord, ...] = ()
    """Installations for the items that were not measured before."""

    @property
    def exit_code(self) -> int:
        """Worst exit code of the items, or the code of a failure if a database may remain."""
        code = exit_code_of(self.status, self.items)
        return code or (RunError.exit_code if any(each.left for each in self.installs) else 0)


def exit_code_of(status: Status, items: Collection[ItemRecord]) -> int:
    """Return the worst exit code of all items, or the code of a refusal of all items."""
    verdicts = {item.verdict for item in items}
    failures = {item.exit_code for item in items if item.verdict == FAILED}
    if status == "interrupted":
        return Interrupted.exit_code
    if verdict.Status.MISMATCH in verdicts:
        return MismatchError.exit_code
    if failures == {ConfigError.exit_code} and verdict.Status.INCOMPLETE not in verdicts:
        return ConfigError.exit_code
    if not verdicts or FAILED in verdicts or verdict.Status.INCOMPLETE in verdicts:
        return RunError.exit_code
    unverified = {verdict.Status.UNKNOWN, verdict.Status.UNCHECKED}
    return UnverifiableError.exit_code if unverified & {*verdicts} else 0
