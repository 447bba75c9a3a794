"""What bears a name in a database, made by this program or by somebody else."""

from dataclasses import dataclass

MOST_COUNTED = 1_000_000
"""Rows of something that is not ours are counted up to here."""


@dataclass(frozen=True, slots=True)
class Existing:
    """What bears a name."""

    kind: str
    """Such as "table", "view" or "bucket"."""
    alike: bool = True
    """Whether `create` makes the like, so that it may be ours and `drop` can remove it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """How much is stored in something; None: unknown."""

    rows: int | None = None
    """Up to MOST_COUNTED + 1; or points, where there are no rows."""
    size_bytes: int | None = None
    noun: str = "row"
    """What is counted."""

    @property
    def is_empty(self) -> bool:
        """True if it is certain that nothing is stored."""
        return self.rows == 0 or (self.rows is None and self.size_bytes == 0)
