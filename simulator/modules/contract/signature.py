"""Signatures: texts that distinguish objects of this program from others of the same name.

The statement that creates a table, index or bucket also stores a text with it, where the database
has a place for one, such as a comment. The text holds the name: what is renamed is no longer ours.
"""

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from simulator.data.schema import ID, Table
from simulator.modules.contract.records import Contents, Existing

Columns: TypeAlias = Mapping[str, str]
"""Column name -> its type in the words of the catalogue; empty if it has no type."""


def signature(name: str) -> str:
    """Return the text that `create` stores with an object of this name."""
    return f"iotbench made {name}, and drops it before the next insert"


def comment(table: Table, name: str) -> str:
    """Return the option of CREATE TABLE that signs a table; empty if it is not signed."""
    text = signature(name).replace("'", "''")
    return f"comment = '{text}'" if table.signed else ""


def _same_columns(found: Columns, made: Columns, *, some: bool) -> bool:
    """Return whether an object has the columns that `create` makes, or (`some`) a subset of them.

    The column of a key is left out: the database may have made it.
    """
    here, there = _simplify(found), _simplify(made)
    if not (here.keys() <= there.keys() if some else here.keys() == there.keys()):
        return False
    return all(kind == there[name] or not (kind and there[name]) for name, kind in here.items())


def _simplify(columns: Columns) -> dict[str, str]:
    named = {name.lower(): kind.lower() for name, kind in columns.items()}
    return {name: kind for name, kind in named.items() if name != ID.name}


def _find_differing(name: str, made: Columns, found: Columns) -> list[tuple[str, str, str]]:
    """Return the columns of a table with another type than `create` gave them."""
    kinds = {column.lower(): kind for column, kind in found.items()}
    here = ((c, before, kinds.get(c.lower(), "no such column")) for c, before in made.items())
    return [
        (f"{name}.{column}", before, kind)
        for column, before, kind in here
        if before and kind and _bare_type(kind) != _bare_type(before)
    ]


def _bare_type(kind: str) -> str:
    """Return a type without its length: a longer text holds the same."""
    return re.sub(r"\([\d, ]+\)", "", kind.lower())


class Signing:
    """The part of a database that recognises and drops what `create` has made.

    By default it has no place for a text.
    """

    declares_columns: ClassVar[bool] = True
    """False if a table has only the columns of its rows, so that some may be missing."""
    shows_types: ClassVar[bool] = False
    """True if a test on a server has shown that its catalogue names types as `layouts` does."""

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return whether these things, which exist, bear their signature.

        Those are left out for which there is no place.
        """
        return {}

    def columns_in(self, name: str) -> Columns:
        """Return the columns of an existing object."""
        return {}

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        """Yield the columns that `create` gives what bears this name, for each way to store them.

        Nothing, where the catalogue shows no columns of it.
        """
        return ()

    def resembles(self, name: str, tables: Sequence[Table]) -> bool:
        """Return whether an existing object of this name looks as `create` makes it for tables."""
        layouts = [*self.layouts(name, tables)]
        if not layouts:
            return True
        found, some = self.columns_in(name), not self.declares_columns
        return any(_same_columns(found, each, some=some) for each in layouts)

    def find_altered(self, table: Table) -> list[tuple[str, str, str]]:
        """Return columns that have another type than `create` gave them, and both types."""
        altered: list[tuple[str, str, str]] = []
        for name in table.names if self.shows_types else ():
            if found := self.columns_in(name):
                layouts = [
                    _find_differing(name, made, found) for made in self.layouts(name, [table])
                ]
                nearest = min(layouts, key=len, default=None)
                altered += nearest or []
        return altered

    def drop_signed(self, names: Collection[str]) -> None:
        """Drop what bears its signature; leave alone what has taken a name meanwhile.

        A database with transactions does both in one.
        """
        signed = [name for name, bears in self.find_signed(names).items() if bears]
        if signed:
            self.drop(signed)

    def drop_unsigned(self, tables: Mapping[str, Sequence[Table]]) -> None:
        """Drop what is still like what `create` makes for tables, and has no signature."""
        found = self.find_existing([*tables])
        alike = {name: tables[name] for name, each in found.items() if each.alike}
        if names := [name for name, made_for in alike.items() if self.resembles(name, made_for)]:
            self.drop(names)

    @abstractmethod
    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        """Return the names in use, and what uses them: ours or another's. `names` is not empty."""

    def obstacles(self, tables: Sequence[Table]) -> dict[str, Existing]:
        """Return other obstacles to `create` or `create_indices`, which are never ours."""
        return {}

    def find_attached(self, names: Collection[str]) -> list[str]:
        """Return the user's objects that depend on tables, such as "view v on events".

        It keeps `drop` from dropping them, or `create` from creating them.
        """
        return []

    def contents(self, name: str, found: Existing) -> Contents:
        """Return how much is stored in an object; called for objects that are not ours."""
        return Contents()

    @abstractmethod
    def drop(self, names: Collection[str]) -> None:
        """Drop the existing objects that `create` made under these names (at least one)."""
