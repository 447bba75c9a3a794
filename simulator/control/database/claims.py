"""Claims of marks, and the claimed objects that the database recognises.

A claim alone makes nothing ours: something else may bear the name by now. What bears its signature
is ours, whichever mark names it. Without a signature, only the newest mark of a table counts, and
the thing must look like what this program makes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from simulator.data.dataset import DatasetReader
from simulator.data.schema import Table
from simulator.errors import ConfigError
from simulator.modules.contract import Database, Existing
from simulator.protocol.mark import Mark, Marks


@dataclass(frozen=True, slots=True)
class Claim:
    """The objects that one mark names as ours for one table."""

    table: Table
    names: tuple[str, ...]
    mark: Mark
    is_newest: bool
    """True if no later mark names objects of this table."""


def claims_of(marks: Marks, database: Database, tables: Mapping[str, Table]) -> Iterator[Claim]:
    """Yield the claims of all marks, newest first; `tables` are the tables of the run.

    Marks of earlier versions name no objects; their datasets define the tables.
    """
    named: set[str] = set()
    for mark in filter(None, marks.entries):
        stored = _tables_of(mark, tables)
        objects = {name: tuple(names) for name, names in mark.objects.items()}
        if not (objects or mark.signed):
            objects = {name: tuple(database.objects(table)) for name, table in stored.items()}
        for name, names in objects.items():
            table = stored.get(name) or Table(name, (), ())
            yield Claim(table, names, mark, name not in named)
        named |= {*mark.tables} if mark.signed else mark.objects.keys()


def _tables_of(mark: Mark, known: Mapping[str, Table]) -> dict[str, Table]:
    try:
        return {table.name: table for table in DatasetReader(mark.dataset).tables}
    except ConfigError:  # of a version whose rows differ
        parts = mark.dataset.parts
        return {n: replace(known[n], parts=parts) for n in mark.tables if n in known}


def recognise(
    database: Database, found: Mapping[str, Existing], claims: Sequence[Claim]
) -> dict[str, bool]:
    """Return which of the existing things are ours, and whether each bears its signature."""
    alike = [name for name, each in found.items() if each.alike]
    signed = database.find_signed(alike) if alike else {}
    ours: dict[str, bool] = {}
    for claim in claims:
        for name in {*claim.names} & {*alike} - ours.keys():
            may_lack_it = claim.is_newest and not (claim.mark.signed and name in signed)
            if signed.get(name) or (may_lack_it and _alike(database, name, found[name], claims)):
                ours[name] = signed.get(name, False)
    return ours


def _alike(database: Database, name: str, found: Existing, claims: Sequence[Claim]) -> bool:
    """Return whether it is like ours and, if it was only to be created, has no rows."""
    if not database.resembles(name, tables_of(name, claims)):
        return False
    newest = next(claim.mark for claim in claims if name in claim.names)
    return not newest.intended or database.contents(name, found).is_empty


def by_table(names: Iterable[str], claims: Sequence[Claim]) -> dict[str, tuple[str, ...]]:
    """Return names by the table that a claim gives them to, the newest one first."""
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        table = next(claim.table.name for claim in claims if name in claim.names)
        found[table] = (*found.get(table, ()), name)
    return found


def tables_of(name: str, claims: Sequence[Claim]) -> list[Table]:
    """Return the tables that the newest mark with a claim on a name gives it to.

    None, if their columns are not known.
    """
    newest = next(claim.mark for claim in claims if name in claim.names)
    tables = [c.table for c in claims if c.mark is newest and name in c.names]
    return tables if all(table.columns for table in tables) else []
