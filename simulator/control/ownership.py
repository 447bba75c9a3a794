"""Whose the tables are, and whose rows they hold.

Marks in the database say which tables this program has made. What bears a name that a run needs
and is not named by a mark is not ours: such a run is refused before anything is touched.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property

from simulator.control.marks import TABLE, MarkTable
from simulator.control.refusal import Foreign, of_another, refused
from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.schema import Table
from simulator.errors import BenchError, ConfigError, SetupError
from simulator.modules.base import Database
from simulator.modules.existing import Existing
from simulator.protocol.mark import Mark, Marks, State, same_rows
from simulator.protocol.spec import RunSpec


class Ownership:
    """Whose the tables of one run are, and whose rows they hold."""

    def __init__(self, spec: RunSpec, database: Database, tables: Sequence[Table]) -> None:
        self._spec = spec
        self._database = database
        self._tables = {table.name: table for table in tables}
        self._book = MarkTable(database) if database.capabilities.stores else None
        self._opened = False

    @property
    def no_mark(self) -> str:
        """Why the database keeps no mark of an insert; empty if it does."""
        return self._book.missing if self._book else ""

    def read(self, *, visible: bool = False) -> Marks:
        """Return the marks of the database."""
        return self._book.read(visible=visible) if self._book else Marks()

    # --- whose the tables are ------------------------------------------------------------------

    @cached_property
    def _needed(self) -> dict[str, tuple[str, ...]]:
        """Table -> the names that it needs in the database."""
        return {n: tuple(self._database.objects(table)) for n, table in self._tables.items()}

    @property
    def _drops(self) -> bool:
        """Whether the run drops the tables that exist and creates them again."""
        return bool(self._spec.inserts) and self._spec.clean and not self._spec.dataset.ranges

    def expect_ours(self) -> None:
        """Raise ConfigError if something that is not ours bears a name that the run needs.

        Before anything is called foreign the marks are read again: those of a process that was
        killed are perhaps not visible yet.
        """
        if not self._book:
            return
        found = self._database.existing(_all(self._needed))
        strange = self._foreign(found, self.read()) and self._foreign(
            found, self.read(visible=True)
        )
        marks = self._foreign_marks()
        foreign = [
            *(Foreign(n, each, self._database.contents(n, each)) for n, each in strange.items()),
            *(Foreign(n, each, self._book.contents(n, each)) for n, each in marks.items()),
        ]
        if foreign:
            problem = refused(self._spec.target, foreign, prefixes=not marks, drops=self._drops)
            raise ConfigError(problem)
        if {*self._database.for_own_tables().objects(TABLE)} & {*self._spec.replace_tables}:
            self._replace_marks()

    def _foreign(self, found: Mapping[str, Existing], marks: Marks) -> dict[str, Existing]:
        ours = {*_all(self._owned(marks)), *(self._spec.replace_tables if self._drops else ())}
        return {n: each for n, each in found.items() if not each.alike or n not in ours}

    def _owned(self, marks: Marks) -> dict[str, tuple[str, ...]]:
        """Return what the marks name as ours, by table: the newest one of a table counts.

        Marks of earlier versions name no objects; their datasets say what their tables are.
        """
        owned: dict[str, tuple[str, ...]] = {}
        named: set[str] = set()
        for mark in filter(None, marks.entries):
            for table, objects in (mark.objects or self._of_dataset(mark)).items():
                if table not in named:
                    owned[table] = (*owned.get(table, ()), *objects)
            named |= mark.objects.keys()
        return owned

    def _of_dataset(self, mark: Mark) -> dict[str, tuple[str, ...]]:
        tables: Iterable[Table]
        try:
            tables = DatasetReader(mark.dataset).tables
        except ConfigError:  # of a version whose rows differ
            own = (table for name, table in self._tables.items() if name in mark.tables)
            tables = [replace(table, parts=mark.dataset.parts) for table in own]
        return {table.name: tuple(self._database.objects(table)) for table in tables}

    def _former(self) -> dict[str, tuple[str, ...]]:
        """Return what earlier inserts have made for these tables alone, in other parts."""
        owned = self._owned(self.read())
        shared = {*_all({table: n for table, n in owned.items() if table not in self._tables})}
        return {table: tuple(n for n in owned.get(table, ()) if n not in shared)
                for table in self._tables}  # fmt: skip

    def claim(self) -> list[str]:
        """Mark the tables as about to be created; return what was made for them before.

        The mark comes before any change: whatever happens then, the next insert knows its tables.
        """
        former = self._former()
        names = {table: tuple(dict.fromkeys((*self._needed[table], *former[table])))
                 for table in self._tables}  # fmt: skip
        self._record(self._mark(State.CLEARING, objects=names))
        found = self._database.existing(_all(names))
        return [name for name, each in found.items() if each.alike]

    # --- the marks -----------------------------------------------------------------------------

    def _foreign_marks(self) -> dict[str, Existing]:
        assert self._book
        foreign = self._book.foreign()
        replaced = {*self._spec.replace_tables}
        return {n: each for n, each in foreign.items() if not each.alike or n not in replaced}

    def _replace_marks(self) -> None:
        assert self._book
        if self._book.foreign():
            self._book.replace()

    def record(self, state: State, stored: Dataset | None = None) -> None:
        """Record in the database what is known about the rows of this insert; None: the planned."""
        self._record(self._mark(state, stored))

    def _record(self, mark: Mark) -> None:
        if self._book and not self._opened:
            self._book.open()
            self._opened = True
        if not self._book or self._book.missing:
            return
        if mark.state in (State.COMPLETE, State.INCOMPLETE):
            self._book.write_last(mark)
        else:
            self._book.write(mark)

    def confirm(self, mark: Mark) -> None:
        """Record that every row of an insert is stored, which did not end."""
        if self._book:
            self._book.write_last(mark.model_copy(update={"state": State.COMPLETE}))

    def adopt(self) -> None:
        """Mark tables that hold exactly the rows of an insert of a version without marks."""
        if self._book and not self._book.foreign():
            with suppress(BenchError):  # a user who may only read
                self.record(State.COMPLETE, self._spec.dataset)

    def _mark(
        self,
        state: State,
        stored: Dataset | None = None,
        objects: Mapping[str, tuple[str, ...]] | None = None,
    ) -> Mark:
        spec = self._spec
        return Mark(
            sweep_id=spec.sweep_id,
            run_id=spec.run_id,
            state=state,
            tables=tuple(self._tables),
            dataset=stored or spec.after,
            objects=dict(objects or self._needed),
            version=spec.version,
            by=spec.by,
            at_ms=0,
        )

    # --- whose rows they hold ------------------------------------------------------------------

    def found(self, *, visible: bool = False) -> Mark | None:
        """Return the mark of the expected rows, if there is one; SetupError if it is of others.

        Before a database is accused the mark is read again, `visible`.
        """
        mark = self.read(visible=visible).newest(self._tables)
        if mark and not same_rows(mark.dataset, self._spec.dataset):
            raise SetupError(of_another(self._spec.target, mark))
        return mark

    def interrupted(self, mark: Mark | None) -> bool:
        """Whether the insert of the expected rows did not end, or not all of them are stored."""
        return mark.state is not State.COMPLETE if mark else not self._spec.complete


def _all(names: Mapping[str, Iterable[str]]) -> list[str]:
    """Return the names of all tables, each once."""
    return [*dict.fromkeys(name for several in names.values() for name in several)]
