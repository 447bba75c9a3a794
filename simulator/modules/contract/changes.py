"""Changes of stored rows: corrections by upserts, and deletions by time."""

from dataclasses import dataclass
from typing import ClassVar

from simulator.data.changes import Deleting
from simulator.data.dataset import Retag
from simulator.data.schema import PrimaryKey, Table

CORRECT = "correct"
"""Insert mode: a batch of rows, each in the place of the stored row that has its key."""


@dataclass(frozen=True, slots=True)
class Changes:
    """A module's ways to change stored rows, and the reasons where it has none."""

    corrects: str = ""
    """The statement that replaces stored rows, such as "INSERT ... ON CONFLICT"."""
    no_corrections: str = "this module does not replace rows"
    keys: frozenset[PrimaryKey] = frozenset({PrimaryKey.CLIENT})
    """Primary keys of the tables in which rows take the place of others."""
    merges: bool = False
    """True if a NULL leaves the stored value in its place, so that nullable fields are refused."""
    retags: str = ""
    """The statement that updates a tag of all rows of a series, such as "UPDATE"."""
    no_retags: str = "this module does not update rows"
    deletes: str = ""
    """The statement that deletes rows before a time, such as "DELETE"."""
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
"""Changes where a row replaces another row with the same series and time."""


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
        """Do the same by the database's special command, up to `Database.drops_until`."""
        raise NotImplementedError
