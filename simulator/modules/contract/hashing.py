"""The hash of a row that a database computes, so that little verification sees every value."""

from typing import ClassVar

from simulator.data.query import Statement
from simulator.data.row_hash import RowHash


class Hashing:
    """A database that may hash rows in a query."""

    row_hash: ClassVar[RowHash | None] = None
    """The hash that `render` makes of a query for hashed rows; None: it makes none."""
    no_row_hash: ClassVar[str] = "this module has no hash of rows that its database computes"
    """Reason why there is none."""
    hash_probe: ClassVar[str] = ""

    def probe(self) -> Statement:
        """Return what a server that has the functions answers with `RowHash.known`."""
        return Statement(self.hash_probe, ())
