"""Verdicts: what was compared and what came of it, as plain records."""

from collections.abc import Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict

_MAX_TOLD = 5


class VerifyMode(StrEnum):
    """How much is compared (`--verify`)."""

    NONE = "none"
    COUNTS = "counts"
    FULL = "full"


class Status(StrEnum):
    """A verdict in one word."""

    VERIFIED = "verified"
    MISMATCH = "mismatch"
    UNKNOWN = "unknown"
    OFF = "not verified"


class Check(BaseModel):
    """One comparison: `ok` is None where the truth cannot be told."""

    model_config = ConfigDict(frozen=True)

    name: str
    expected: str
    found: str
    ok: bool | None


class Verdict(BaseModel):
    """What all checks together say: a mismatch beats an unknown, an unknown beats verified."""

    model_config = ConfigDict(frozen=True)

    status: Status
    reason: str = ""
    checks: tuple[Check, ...] = ()
    not_compared: tuple[str, ...] = ()
    """What this database cannot be asked, and why; it does not weaken the other checks."""

    @classmethod
    def of(cls, checks: Sequence[Check], not_compared: Sequence[str] = ()) -> "Verdict":
        """Return the verdict that follows from the checks; no checks at all are no evidence."""
        wrong = [check for check in checks if check.ok is False]
        open_ = [check for check in checks if check.ok is None]
        status = Status.MISMATCH if wrong else Status.UNKNOWN if open_ or not checks else None
        told = [f"{c.name}: expected {c.expected}, found {c.found}" for c in (wrong or open_)]
        reason = "; ".join(told[:_MAX_TOLD])
        if len(told) > _MAX_TOLD:
            reason += f"; and {len(told) - _MAX_TOLD} more"
        return cls(
            status=status or Status.VERIFIED,
            reason=reason,
            checks=tuple(checks),
            not_compared=tuple(not_compared),
        )


class RowSlice(BaseModel):
    """The rows of one send: start, start + step, ... below stop."""

    model_config = ConfigDict(frozen=True)

    start: int
    stop: int
    step: int

    def numbers(self) -> range:
        """Return the rows' numbers."""
        return range(self.start, self.stop, self.step)
