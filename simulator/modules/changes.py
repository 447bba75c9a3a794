"""How stored rows are changed: corrected by upserts, and deleted by their time."""

from dataclasses import dataclass
from typing import ClassVar

from simulator.data.changes import Deleting
from simulator.data.dataset import Retag
from simulator.data.schema import PrimaryKey, Table

CORRECT = "correct"
"""Insert mode: a batch of rows, each in the place of the stored row that has its key."""


@dataclass(frozen=True, slots=True)
class Changes:
    """How a module changes stored rows; where it cannot, why not."""

    corrects: str = ""
    """How rows take the place of stored ones, such as "INSERT ... ON CONFLICT"."""
    no_corrections: str = "this module does not replace rows"
    keys: frozenset[PrimaryKey] = frozenset({PrimaryKey.CLIENT})
    """Primary keys of the tables in which rows take the place of others."""
    merges: bool = False
    """Whether a NULL leaves the stored value in its place, so that nullable fields are refused."""
    retags: str = ""
    """How a tag of all rows of a series is updated, such as "UPDATE"."""
    no_retags: str = "this module does not update rows"
    deletes: str = ""
    """How rows before a time are deleted, such as "DELETE"."""
    no_deletion: str = "this module does not delete rows by their time"
    drops: str = ""
    """The same in the database's own way, such as "drop_chunks"."""
    no_retention: str = "the tables of this module have no unit of storage that can be dropped"

    def how(self, by: Deleting) -> str:
        """Return how rows before a time are deleted; empty: not in this way."""
        return self.deletes if by is Deleting.STATEMENT else self.drops

    def why_not(self, by: Deleting) -> str:
        """Return why not."""
        return self.no_deletion if by is Deleting.STATEMENT else self.no_retention


BY_SERIES = Changes(
    keys=frozenset({PrimaryKey.DB}),
    merges=True,
    no_retags="tags name the series, and a series is not renamed",
)
"""Where a row takes the place of another one of its series and time."""


class Changing:
    """A session that changes stored rows."""

    correcting: ClassVar[str] = CORRECT
    """The insert mode of batches of corrected rows: BATCH where rows replace others anyway."""

    def delete_before(self, table: Table, until: int) -> None:
        """Delete the rows before a time, in the unit of the table; return once they are gone."""
        raise NotImplementedError

    def retag(self, table: Table, retag: Retag, name: str) -> int:
        """Give the rows of a series another value of a tag; return how many they were."""
        raise NotImplementedError

    def drop_before(self, table: Table, until: int) -> None:
        """Do the same in the database's own way, up to a time that `Database.drops_until` says."""
        raise NotImplementedError
