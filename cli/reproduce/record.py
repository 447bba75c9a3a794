"""The record of a reproduction: our figures beside the document's, and its claims."""

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict

from cli.host.machine import Machine
from cli.reproduce.claims import Seen
from simulator.errors import Interrupted, MismatchError, RunError, UnverifiableError
from simulator.protocol.verdict import Status

FORMAT_VERSION: Literal[1] = 1
FAILED = "failed"
"""Verdict of an item that did not end."""


class _Frozen(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ItemRecord(_Frozen):
    """One setting on one target, once."""

    id: str
    target: str
    setting: str
    repeat: int
    verdict: str
    cause: str = ""
    files: tuple[str, ...] = ()
    """Its result files."""


class Line(_Frozen):
    """A figure of one system: what the document has, and what we measured."""

    row: str
    title: str
    setting: str
    measure: str
    unit: str
    system: str = ""
    """Empty: the document does not have it."""
    target: str = ""
    """Empty: none of the system was measured."""
    published: float | None = None
    published_percent: float | None = None
    values: tuple[float, ...] = ()
    """Of the repeats."""
    mean: float | None = None
    spread: float | None = None
    percent_of_best: float | None = None
    """Of the best target that we measured."""
    verdict: str = ""
    not_had: str = ""
    """Why there is no value."""


class Compared(_Frozen):
    """One side of a claim."""

    setting: str
    measure: str
    system: str
    target: str
    values: tuple[float, ...]
    published: float | None


class ClaimRecord(_Frozen):
    """A claim on one target, or across several."""

    row: str
    text: str
    target: str = ""
    system: str = ""
    seen: Seen
    sides: tuple[Compared, ...] = ()
    reason: str = ""
    """Why it could not be examined."""


class Reproduction(_Frozen):
    """The result file of a reproduction; each item has result files of its own."""

    format_version: Literal[1] = FORMAT_VERSION
    program_version: str
    document: str
    number: int
    size: str
    title: str
    measured_on: str
    machine: Machine
    status: Literal["done", "interrupted"]
    first: datetime | None
    """When the oldest of its results was started."""
    last: datetime | None
    items: tuple[ItemRecord, ...]
    lines: tuple[Line, ...]
    claims: tuple[ClaimRecord, ...]
    not_had: dict[str, str]
    """System, or target of the configuration, that could not be measured -> the reason."""
    refused: dict[str, str]
    """Target and setting -> why the target was not measured with this setting."""

    @property
    def exit_code(self) -> int:
        """The exit code; that a claim is not seen is no failure."""
        verdicts = {item.verdict for item in self.items}
        if self.status == "interrupted":
            return Interrupted.exit_code
        if Status.MISMATCH in verdicts:
            return MismatchError.exit_code
        if not verdicts or verdicts & {FAILED, Status.INCOMPLETE}:
            return RunError.exit_code
        return UnverifiableError.exit_code if Status.UNKNOWN in verdicts else 0
