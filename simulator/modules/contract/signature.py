"""Signatures: texts that distinguish objects of this program from others of the same name.

The statement that creates a table, index or bucket also stores a text with it, such as a comment,
if the database can. The text contains the name, so that a renamed object is no longer ours.
"""

import re
from abc import abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from simulator.data.schema import ID, Table
from simulator.modules.contract.records import Contents, Existing

Columns: TypeAlias = Mapping[str, str]
"""Column name -> its type as the catalogue shows it; empty if it has no type."""


def signature(name: str) -> str:
    """Return the text that `create` stores with an object of this name."""
    return f"iotbench made {name}, and drops it before the next insert"


def comment(table: Table, name: str) -> str:
    """Return the option of CREATE TABLE that signs a table; empty if it is not signed."""
    text = signature(name).replace("'", "''")
    return f"comment = '{text}'" if table.signed else ""


def _same_columns(found: Columns, made: Columns, *, some: bool) -> bool:
    """Return whether an object has the columns that `create` makes, or (`some`) a subset of them.

    The key's column is ignored, because the database may have added it.
    """
    here, there = _simplify(found), _simplify(made)
    if not (here.keys() <= there.keys() if some else here.keys() == there.keys()):
        return False
    return all(kind == there[name] or not (kind and there[name]) for name, kind in here.items())


def _simplify(columns: Columns) -> dict[str, str]:
    named = {name.lower(): kind.lower() for name, kind in columns.items()}
    return {name: kind for name, kind in named.items() if name != ID.name}


def _find_differing(name: str, made: Columns, found: Columns) -> list[tuple[str, str, str]]:
    """Return the columns with another type than `create` gave them, and both types."""
    kinds = {column.lower(): kind for column, kind in found.items()}
    here = ((c, before, kinds.get(c.lower(), "no such column")) for c, before in made.items())
    return [
        (f"{name}.{column}", before, kind)
        for column, before, kind in here
        if before and kind and _bare_type(kind) != _bare_type(before)
    ]


def _bare_type(kind: str) -> str:
    """Return a type without its length."""
    return re.sub(r"\([\d, ]+\)", "", kind.lower())


class Signing:
    """The part of a database that recognises and drops objects that `create` made.

    By default the database cannot store signatures.
    """

    declares_columns: ClassVar[bool] = True
    """False if a table has only the columns that its rows fill, so that some may be missing."""
    shows_types: ClassVar[bool] = False
    """True if the catalogue names types as `layouts` does, as tests on a server have shown."""

    def find_signed(self, names: Collection[str]) -> Mapping[str, bool]:
        """Return whether each of these existing objects has its signature.

        Objects that cannot have one are left out.
        """
        return {}

    def columns_in(self, name: str) -> Columns:
        """Return the columns of an existing object."""
        return {}

    def layouts(self, name: str, tables: Sequence[Table]) -> Iterable[Columns]:
        """Yield the columns that `create` gives an object of this name, for each way of storing it.

        Nothing is yielded if the catalogue does not show them.
        """
        return ()

    def resembles(self, name: str, tables: Sequence[Table]) -> bool:
        """Return whether an object has a layout that `create` gives it for these tables."""
        layouts = [*self.layouts(name, tables)]
        if not layouts:
            return True
        found, some = self.columns_in(name), not self.declares_columns
        return any(_same_columns(found, each, some=some) for each in layouts)

    def find_altered(self, table: Table) -> list[tuple[str, str, str]]:
        """Return the columns with another type than `create` gave them, and both types."""
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
        """Drop the objects with their signature, but no other object that took a name meanwhile.

        A database with transactions checks and drops in one.
        """
        signed = [name for name, bears in self.find_signed(names).items() if bears]
        if signed:
            self.drop(signed)

    def drop_unsigned(self, tables: Mapping[str, Sequence[Table]]) -> None:
        """Drop objects without a signature that still look as `create` makes them for tables."""
        found = self.find_existing([*tables])
        alike = {name: tables[name] for name, each in found.items() if each.alike}
        if names := [name for name, made_for in alike.items() if self.resembles(name, made_for)]:
            self.drop(names)

    @abstractmethod
    def find_existing(self, names: Collection[str]) -> dict[str, Existing]:
        """Return the existing objects of these names (at least one), ours or not."""

    def obstacles(self, tables: Sequence[Table]) -> dict[str, Existing]:
        """Return further obstacles to `create` or `create_indices`; they are never ours."""
        return {}

    def find_attached(self, names: Collection[str]) -> list[str]:
        """Return the user's objects that depend on tables, such as "view v on events".

        They prevent dropping or creating the tables.
        """
        return []

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the size of an object that is not ours."""
        return Contents()

    @abstractmethod
    def drop(self, names: Collection[str]) -> None:
        """Drop the objects of these names (at least one), which exist and which `create` made."""
