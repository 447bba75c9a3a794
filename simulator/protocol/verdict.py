"""Verdicts: comparisons and their results, as plain records."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from simulator.errors import counted

_MAX_REASONS = 5


class Depth(NamedTuple):
    """A level of verification, described for people."""

    short: str
    """Words that follow the verdict `verified`."""
    compares: str
    means: str
    """Facts that the verdict `verified` states."""
    unseen: str = ""
    """Errors that the level does not detect; empty if there are none."""


_DEPTHS = {
    "none": Depth("nothing", "nothing", "no row was compared", "all of it"),
    "rows": Depth("number", "the number of rows", "rows were counted", "every value"),
    "counts": Depth(
        "sums",
        "number of rows, also with each combination of tags; sums, minima and maxima of columns;"
        " distinct keys",
        "rows were counted, and their sums agree",
        "which row has which value; texts that are not tags, between the least and the greatest;"
        " the sign of zero",
    ),
    "hashes": Depth(
        "hash",
        "the number of rows, and the sum of the hashes of all rows",
        "rows were counted, and their hashes agree",
    ),
    "full": Depth("every row", "the same, and every row", "every row is right"),
}


class VerifyMode(StrEnum):
    """The extent of the comparison (`--verify`)."""

    NONE = "none"
    ROWS = "rows"
    """Only the number of rows of each table is compared, for a file without a manifest."""
    COUNTS = "counts"
    HASHES = "hashes"
    """Level that COUNTS reaches if the database computes hashes of rows."""
    FULL = "full"

    @property
    def depth(self) -> Depth:
        """This level, described for people."""
        return _DEPTHS[self.value]


class Status(StrEnum):
    """A verdict in one word; the worst comes first."""

    MISMATCH = "mismatch"
    """Stored data or answers are wrong."""
    INCOMPLETE = "incomplete"
    """Each acknowledged row is stored, but some rows with an unknown outcome are not stored.

    After faults, acknowledged rows are lost, as the server announces."""
    UNKNOWN = "unknown"
    UNCHECKED = "not checked"
    """No truth is known, as for answers to a user's own queries."""
    OFF = "not verified"
    VERIFIED = "verified"
    """Each sent row is stored exactly once and unchanged.

    After faults, this applies only to acknowledged rows, and the outcome of each other row is
    known."""


class Check(BaseModel):
    """One comparison; `ok` is None if the truth is unknown."""

    model_config = ConfigDict(frozen=True)

    name: str
    expected: str
    found: str
    ok: bool | None


class Accounts(BaseModel):
    """The outcomes of all rows that were sent, and the other stored rows."""

    model_config = ConfigDict(frozen=True)

    kept: int
    """Number of rows that are acknowledged and stored."""
    lost: int
    """Number of rows that are acknowledged but not stored."""
    announced: bool
    """True if the server may lose acknowledged rows by its settings, or gives no guarantee."""
    present: int
    """Number of rows with an unknown outcome that are stored."""
    absent: int
    """Number of rows with an unknown outcome that are not stored."""
    doubled: int
    torn: int
    """Number of rows that are only partly stored."""
    foreign: int
    """Number of stored rows that were never sent."""


class Verdict(BaseModel):
    """The result of all checks: mismatch beats incomplete, which beats unknown, then verified."""

    model_config = ConfigDict(frozen=True)

    status: Status
    reason: str = ""
    checks: tuple[Check, ...] = ()
    not_compared: tuple[str, ...] = ()
    """Parts that were not compared, with the reasons; the other checks remain valid."""
    level: VerifyMode | None = None
    """Extent of the comparison of stored rows; None for answers, and in older results."""
    left_out: tuple[str, ...] = ()
    """Sums and differences that the database hides from this level, with the reasons."""
    uncertain_present: int = 0
    """Number of rows with an unknown outcome that are stored."""
    uncertain_absent: int = 0
    """Number of rows with an unknown outcome that are not stored."""
    accounts: Accounts | None = None
    """Accounts of a run with faults (--fault)."""

    @classmethod
    def of(
        cls,
        checks: Sequence[Check],
        not_compared: Sequence[str] = (),
        *,
        present: int = 0,
        absent: int = 0,
        accounts: Accounts | None = None,
    ) -> "Verdict":
        """Return the verdict of the checks; without checks, the verdict is unknown.

        `present` and `absent` are the numbers of rows with an unknown outcome that are stored, and
        that are not stored. If all rows are accounted for, an absent row is correct, because it was
        never acknowledged. Rows that are lost as the server announces are missing, not wrong.
        """
        missing, what = absent, "of unknown outcome: not stored"
        if accounts:
            missing = accounts.lost if accounts.announced else 0
            what = "acknowledged, and lost as the server announces"
        wrong = [check for check in checks if check.ok is False]
        unknown = [check for check in checks if check.ok is None]
        status = Status.VERIFIED
        reasons = [f"{c.name}: expected {c.expected}, found {c.found}" for c in (wrong or unknown)]
        if wrong:
            status = Status.MISMATCH
        elif missing:
            status = Status.INCOMPLETE
            reasons.insert(0, f"{counted(missing, 'row')} {what}")
        elif unknown or not checks:
            status = Status.UNKNOWN
        reason = "; ".join(reasons[:_MAX_REASONS])
        if len(reasons) > _MAX_REASONS:
            reason += f"; and {len(reasons) - _MAX_REASONS} more"
        return cls(
            status=status,
            reason=reason,
            checks=tuple(checks),
            not_compared=tuple(not_compared),
            uncertain_present=present,
            uncertain_absent=absent,
            accounts=accounts,
        )

    def beside(self, other: "Verdict") -> "Verdict":
        """Return the joint verdict of this verdict and another, with the worse status."""
        both = sorted((self, other), key=lambda each: [*Status].index(each.status))
        return Verdict(
            status=both[0].status,
            reason="; ".join(each.reason for each in both if each.reason),
            checks=self.checks + other.checks,
            not_compared=self.not_compared + other.not_compared,
            level=self.level or other.level,
            left_out=self.left_out + other.left_out,
            uncertain_present=self.uncertain_present + other.uncertain_present,
            uncertain_absent=self.uncertain_absent + other.uncertain_absent,
            accounts=self.accounts or other.accounts,
        )
