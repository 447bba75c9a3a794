"""Signatures: what distinguishes a thing that this program made from another one of its name.

The statement that creates a table, index or bucket also stores a text with it, where the database
has a place for one, such as a comment. The text holds the name: what is renamed is no longer ours.
"""

from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence

from simulator.data.schema import ID, Table
from simulator.modules.existing import Contents, Existing


def signature(name: str) -> str:
    """Return the text that is stored with what `create` makes under a name."""
    return f"iotbench made {name}, and drops it before the next insert"


def comment(table: Table, name: str) -> str:
    """Return the option of CREATE TABLE that signs a table; empty if it is not signed."""
    text = signature(name).replace("'", "''")
    return f"comment = '{text}'" if table.signed else ""


def same_columns(found: Iterable[str], table: Table) -> bool:
    """Return whether something has the columns of a table, except for the column of a key."""
    return _without_key(found) == _without_key(column.name for column in table.columns)


def _without_key(names: Iterable[str]) -> set[str]:
    return {name.lower() for name in names} - {ID.name}


class Signing:
    """How a database recognises and drops what `create` has made.

    By default it has no place for a text.
    """

    def signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return whether these things, which exist, bear their signature.

        Those are left out for which there is no place.
        """
        return {}

    def resembles(self, name: str, table: Table) -> bool:
        """Return whether an existing thing of this name has the columns that `create` gives it."""
        return True

    def drop_signed(self, names: Collection[str]) -> None:
        """Drop what bears its signature; leave alone what has taken a name meanwhile.

        A database with transactions does both in one.
        """
        signed = [name for name, bears in self.signed(names).items() if bears]
        if signed:
            self.drop(signed)

    def drop_unsigned(self, tables: Mapping[str, Table]) -> None:
        """Drop what still has the columns of a table by its name, and no place for a signature."""
        found = self.existing([*tables])
        alike = {name: tables[name] for name, each in found.items() if each.alike}
        names = [n for n, table in alike.items() if not table.columns or self.resembles(n, table)]
        if names:
            self.drop(names)

    @abstractmethod
    def existing(self, names: Collection[str]) -> dict[str, Existing]:
        """Return which of these names, at least one, are in use, and by what: ours or another's."""

    def obstacles(self, tables: Sequence[Table]) -> dict[str, Existing]:
        """Return what else would stop `create` or `create_indices`, which is never ours."""
        return {}

    def attached(self, names: Collection[str]) -> list[str]:
        """Return what of the user's keeps `drop` from dropping tables: "view v on events"."""
        return []

    def contents(self, name: str, found: Existing) -> Contents:
        """Return how much is stored in what bears a name; called for what is not ours."""
        return Contents()

    @abstractmethod
    def drop(self, names: Collection[str]) -> None:
        """Drop what `create` has made under these names, at least one, as far as it exists."""
