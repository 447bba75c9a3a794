"""Objects that already have a name in a database, made by this program or by others."""

from dataclasses import dataclass

MOST_COUNTED = 1_000_000
"""Rows of something that is not ours are counted up to here."""


@dataclass(frozen=True, slots=True)
class Existing:
    """An object that already has a name."""

    kind: str
    """Such as "table", "view" or "bucket"."""
    alike: bool = True
    """True if `create` makes such objects: it may be ours, and `drop` can remove it."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Size of an object's contents; None: unknown."""

    rows: int | None = None
    """Up to MOST_COUNTED + 1; or points, where there are no rows."""
    size_bytes: int | None = None
    noun: str = "row"
    """The unit of the count."""

    @property
    def is_empty(self) -> bool:
        """True if it is certain that nothing is stored."""
        return self.rows == 0 or (self.rows is None and self.size_bytes == 0)
