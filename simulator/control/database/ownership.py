"""Ownership of the tables, and the origin of their rows.

Marks in the database name the objects that this program has made. An object is recognised before it
is touched: a claim alone is not enough, because another object may have taken the name. An object
with our signature is ours, whichever mark names it. Without a signature, only the newest mark of a
table counts, and the object must look like one of ours. Any other object is foreign: a run that
needs its name is refused.

    state      newest mark of a table             our objects among those with the needed names
    nothing    none                               none
    clearing   CLEARING, with dropped objects     those that the mark names and that still exist
    intended   CLEARING, `intended`               those with a signature; if the database has no
                                                  signatures, an empty table with our columns
    made       WRITING or later                   those with a signature; if the database has no
                                                  signatures, a table with our columns
    withdrawn  CLEARING, with remaining objects   those that the mark names: after an error

A crash leaves the state as it is. No mark records `--replace-table`.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

from simulator.control.database.marks import TABLE, MarkTable
from simulator.control.database.refusal import (
    LOOK_S,
    Foreign,
    explain_attached,
    explain_other_rows,
    explain_refusal,
    explain_writers,
    list_reserved,
)
from simulator.data.dataset import Dataset
from simulator.data.ranges import RowRange, merge
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table
from simulator.errors import BenchError, ConfigError, SetupError
from simulator.modules.contract import Database, Existing
from simulator.protocol.mark import UNFINISHED, Mark, Marks, State, same_rows
from simulator.protocol.messages import WATCH
from simulator.protocol.spec import RunSpec

RENEWED_S = 5.0
"""Pause between renewals: a row in the table of marks, over a connection of its own."""
_LOOK_PAUSE_S = 1.0


@dataclass(frozen=True, slots=True)
class Claim:
    """The objects that one mark names as ours for one table."""

    table: Table
    names: tuple[str, ...]
    mark: Mark
    is_newest: bool
    """True if no later mark names objects of this table."""


def _list_tables(mark: Mark, known: Mapping[str, Table]) -> dict[str, Table]:
    try:
        return {table.name: table for table in DatasetReader(mark.dataset).tables}
    except ConfigError:  # the mark is of a version with other rows
        parts = mark.dataset.parts
        return {n: replace(known[n], parts=parts) for n in mark.tables if n in known}


def recognise(
    database: Database, found: Mapping[str, Existing], claims: Sequence[Claim]
) -> dict[str, bool]:
    """Return the names of existing objects that are ours -> whether each has a signature."""
    alike = [name for name, each in found.items() if each.alike]
    signed = database.find_signed(alike) if alike else {}
    ours: dict[str, bool] = {}
    for claim in claims:
        for name in {*claim.names} & {*alike} - ours.keys():
            may_lack_it = claim.is_newest and not (claim.mark.signed and name in signed)
            if signed.get(name) or (may_lack_it and _is_alike(database, name, found[name], claims)):
                ours[name] = signed.get(name, False)
    return ours


def _is_alike(database: Database, name: str, found: Existing, claims: Sequence[Claim]) -> bool:
    """Return whether an object is like ours, and has no rows if its creation was only intended."""
    if not database.resembles(name, tables_of(name, claims)):
        return False
    newest = next(claim.mark for claim in claims if name in claim.names)
    return not newest.intended or database.contents(name, found).is_empty


def group_by_table(names: Iterable[str], claims: Sequence[Claim]) -> dict[str, tuple[str, ...]]:
    """Return names by table; the newest claim on a name decides."""
    found: dict[str, tuple[str, ...]] = {}
    for name in names:
        table = next(claim.table.name for claim in claims if name in claim.names)
        found[table] = (*found.get(table, ()), name)
    return found


def tables_of(name: str, claims: Sequence[Claim]) -> list[Table]:
    """Return an object's tables by the newest mark of its name; none if columns are unknown."""
    newest = next(claim.mark for claim in claims if name in claim.names)
    tables = [c.table for c in claims if c.mark is newest and name in c.names]
    return tables if all(table.columns for table in tables) else []


class Ownership:
    """Ownership of the tables of one run, and the origin of their rows."""

    def __init__(self, spec: RunSpec, database: Database, tables: Sequence[Table]) -> None:
        self._spec = spec
        self._database = database
        self._tables = {table.name: table for table in tables}
        self._book = MarkTable(database) if database.capabilities.stores else None
        self._opened = False
        self._unfinished: Mark | None = None
        """The mark of this run that is renewed; None before the first mark and after the last."""
        self.known: frozenset[int] | None = None
        """Times of the marks that were stored before the first mark of this run."""
        self._signed: bool | None = None
        """True if the existing objects of the tables have signatures; None: not known yet."""

    @property
    def no_mark(self) -> str:
        """Return the reason why no mark could be kept or read; empty if there is none."""
        return self._book.missing or self._book.unread if self._book else ""

    def read(self, *, visible: bool = False) -> Marks:
        """Return the marks of the database."""
        return self._book.read(visible=visible) if self._book else Marks()

    # --- who else writes them ------------------------------------------------------------------

    def expect_alone(self, enter: Callable[[str], None]) -> None:
        """Raise ConfigError if another sweep writes these tables now.

        An insert without an end was killed, unless it renews its mark in the phase WATCH, which
        `enter` announces. Only stored values are compared: clocks may differ.
        """
        first = self._read_writers()
        if first:
            enter(WATCH)
        deadline_s = time.monotonic() + LOOK_S
        writers = first
        while writers and time.monotonic() < deadline_s:
            time.sleep(_LOOK_PAUSE_S)
            writers = self._read_writers(visible=True)
            if writers and writers != first:
                raise ConfigError(
                    explain_writers(self._spec.target, [mark for mark, _ in writers.values()])
                )
        if first:
            enter("init")

    def _read_writers(self, *, visible: bool = False) -> dict[int, tuple[Mark, frozenset[int]]]:
        """Return the marks of other unfinished inserts of these tables, with their renewals."""
        marks = self.read(visible=visible)
        self.known = frozenset(mark.at_ms for mark in marks.entries if mark)
        if self._database.capabilities.max_workers:  # no other process can open the database
            return {}
        found = marks.find_unfinished(self._tables, self._spec.sweep_id)
        return {
            at_ms: (mark, marks.renewals.get(at_ms, frozenset())) for at_ms, mark in found.items()
        }

    def find_intruders(self) -> list[Mark]:
        """Return a mark of each other sweep that has begun to write these tables meanwhile."""
        if self.known is None:
            return []
        found = {
            mark.sweep_id: mark
            for mark in filter(None, self.read(visible=True).entries)
            if mark.at_ms not in self.known
            and mark.sweep_id != self._spec.sweep_id
            and self._tables.keys() & {*mark.tables}
        }
        return [*found.values()]

    def go_on(self, known: frozenset[int] | None) -> None:
        """Continue for a collector that was lost, with the marks that it had found."""
        self.known = known
        mark = self.read().newest(self._tables)
        if mark and mark.run_id == self._spec.run_id and mark.state in UNFINISHED:
            self._unfinished = mark

    def renew(self, *, ended: bool = False) -> None:
        """Show other inserts that this run still writes, or that it has ended without a last mark.

        Nothing is renewed where no other process can open the database.
        """
        mark = self._unfinished
        if ended:
            self._unfinished = None
        if self._book and mark and not self._database.capabilities.max_workers:
            with suppress(Exception):  # of any driver, while the database is away
                self._book.renew(mark, ended=ended)

    # --- which tables are ours -----------------------------------------------------------------

    @cached_property
    def _needed(self) -> dict[str, tuple[str, ...]]:
        """Table -> the names that the table needs in the database."""
        return {n: tuple(self._database.objects(table)) for n, table in self._tables.items()}

    @property
    def _drops(self) -> bool:
        """True if the run drops the tables that exist and creates them again."""
        return bool(self._spec.inserts) and self._spec.clean and not self._spec.dataset.ranges

    def expect_ours(self) -> None:
        """Raise ConfigError if a foreign object has a name that the run needs.

        Before that, the marks are read again, because marks of a killed process become visible
        late.
        """
        if not self._book:
            return
        if problems := list_reserved(self._tables.values()):
            raise ConfigError(problems)
        names = _flatten(self._needed)
        found = self._database.find_existing(names)
        obstacles = self._database.obstacles([*self._tables.values()])
        strange = self._foreign(found, self.read()) and self._foreign(
            found, self.read(visible=True)
        )
        marks = _leave_out(self._book.foreign(), self._spec.replace_tables)
        foreign = [
            *(Foreign(n, each, self._database.contents(n, each)) for n, each in strange.items()),
            *(Foreign(name, each) for name, each in obstacles.items()),
            *(Foreign(n, each, self._book.contents(n, each)) for n, each in marks.items()),
        ]
        if foreign:
            problem = explain_refusal(
                self._spec.target, foreign, prefixes=not marks, drops=self._drops
            )
            raise ConfigError(problem)
        # A foreign key may refer to a table that does not exist yet, and restrict its creation.
        if (self._drops or not found) and (attached := self._database.find_attached(names)):
            raise ConfigError(explain_attached(self._spec.target, attached))
        own = {*self._database.for_own_tables().objects(TABLE)}
        if own & {*self._spec.replace_tables} and self._book.foreign():
            self._book.replace()

    def _foreign(self, found: Mapping[str, Existing], marks: Marks) -> dict[str, Existing]:
        ours = recognise(self._database, found, self._claims(marks))
        replaced = self._spec.replace_tables if self._drops else ()
        foreign = {n: each for n, each in found.items() if n not in ours}
        self._signed = all(ours.values())
        return _leave_out(foreign, replaced)

    def _claims(self, marks: Marks) -> list[Claim]:
        """Return the claims of all marks, newest first.

        Marks of earlier versions name no objects; their datasets define the tables.
        """
        claims: list[Claim] = []
        named: set[str] = set()
        for mark in filter(None, marks.entries):
            stored = _list_tables(mark, self._tables)
            objects = {name: tuple(names) for name, names in mark.objects.items()}
            if not (objects or mark.signed):
                objects = {n: tuple(self._database.objects(t)) for n, t in stored.items()}
            for name, names in objects.items():
                table = stored.get(name) or Table(name, (), ())
                claims.append(Claim(table, names, mark, name not in named))
            named |= {*mark.tables} if mark.signed else mark.objects.keys()
        return claims

    # --- how they become ours ------------------------------------------------------------------

    def clear(self) -> None:
        """Drop the objects of earlier inserts for these tables, and objects that the user replaces.

        A mark is written first, without the objects that only the user's consent allows to drop. An
        object that takes one of the names later is left alone.
        """
        found, ours, claims = self._former()
        replaced = [n for n in self._spec.replace_tables if n in found and n not in ours]
        if not found or not (ours or replaced):
            return
        if ours:
            self._signed = all(ours.values())
            self._record(self._mark(State.CLEARING, objects=group_by_table(ours, claims)))
        if replaced:
            self._database.drop(replaced)
        # Unsigned objects go first: they may be views on the tables.
        if others := {n: tables_of(n, claims) for n, bears in ours.items() if not bears}:
            self._database.drop_unsigned(others)
        if signed := [name for name, bears in ours.items() if bears]:
            self._database.drop_signed(signed)

    def _former(self) -> tuple[dict[str, Existing], dict[str, bool], list[Claim]]:
        """Return the objects of these tables alone, our objects among them, and the claims."""
        claims = self._claims(self.read())
        mine = [claim for claim in claims if claim.table.name in self._tables]
        shared = {n for c in claims if c.is_newest and c not in mine for n in c.names}
        former = dict.fromkeys(n for c in mine for n in c.names if n not in shared)
        found = self._database.find_existing([*dict.fromkeys((*_flatten(self._needed), *former))])
        return found, recognise(self._database, found, mine), mine

    def intend(self) -> None:
        """Mark the tables as about to be created, if nothing has their names."""
        if self._drops or not self._database.find_existing(_flatten(self._needed)):
            self._signed = True
            self._record(self._mark(State.CLEARING).model_copy(update={"intended": True}))

    def withdraw(self) -> None:
        """Claim only the objects that are recognised, after `clear` or `create` has failed."""
        if not self._opened:
            return
        with suppress(Exception):  # the first error is the one to report
            _, ours, claims = self._former()
            self._signed = all(ours.values())
            self._record(self._mark(State.CLEARING, objects=group_by_table(ours, claims)))

    # --- the marks -----------------------------------------------------------------------------

    def record(
        self, state: State, stored: Dataset | None = None, uncertain: Sequence[RowRange] = ()
    ) -> None:
        """Record the state of the rows of this insert; by default `stored` is the plan."""
        mark = self._mark(state, stored)
        self._record(mark.model_copy(update={"uncertain": merge(uncertain)}))

    def _record(self, mark: Mark) -> None:
        if self._book and not self._opened:
            self._book.open()
            self._opened = True
        if not self._book or self._book.missing:
            return
        if mark.state in UNFINISHED:
            self._unfinished = self._book.write(mark)
        else:
            self._unfinished = None
            self._book.write_last(mark)

    def confirm(self, mark: Mark) -> None:
        """Record that every row of an unfinished insert is stored."""
        if self._book:
            known = {"state": State.COMPLETE, "uncertain": ()}
            self._book.write_last(mark.model_copy(update=known))

    def adopt(self) -> None:
        """Mark tables with exactly the rows of an insert by a version without marks."""
        with suppress(BenchError):  # the user may only be allowed to read, or not even the marks
            if self._book and not self._book.foreign():
                self.record(State.COMPLETE, self._spec.dataset)

    def _mark(
        self,
        state: State,
        stored: Dataset | None = None,
        objects: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Mark:
        spec = self._spec
        if self._signed is None:  # another process has created or checked the tables
            newest = self.read().newest(self._tables)
            self._signed = bool(newest and newest.signed)
        return Mark(
            sweep_id=spec.sweep_id,
            run_id=spec.run_id,
            state=state,
            tables=tuple(self._tables),
            dataset=stored or spec.after,
            objects=dict(self._needed if objects is None else objects),
            signed=self._signed,
            version=spec.version,
            by=spec.by,
            at_ms=0,
        )

    # --- which rows they hold ------------------------------------------------------------------

    def find_mark(self, *, visible: bool = False) -> Mark | None:
        """Return the mark of the expected rows, if there is one; SetupError if other rows are.

        Callers read the mark again with `visible` before they report wrong data.
        """
        mark = self.read(visible=visible).newest(self._tables)
        if mark and not same_rows(mark.dataset, self._spec.dataset):
            raise SetupError(explain_other_rows(self._spec.target, mark))
        return mark

    def is_interrupted(self, mark: Mark | None) -> bool:
        """Return whether the insert of the expected rows did not end, or stored only some rows."""
        return mark.state is not State.COMPLETE if mark else not self._spec.complete


def _flatten(names: Mapping[str, Iterable[str]]) -> list[str]:
    return [*dict.fromkeys(name for several in names.values() for name in several)]


def _leave_out(foreign: Mapping[str, Existing], replaced: Sequence[str]) -> dict[str, Existing]:
    """Return foreign objects, without those replaceable objects that the user replaces."""
    return {n: each for n, each in foreign.items() if not each.alike or n not in replaced}
