"""Whose rows the tables hold: marks them, and compares the mark with what a run expects."""

from simulator.control.marks import MarkTable
from simulator.data.dataset import Dataset
from simulator.errors import BenchError, MismatchError, SetupError, counted
from simulator.modules.base import Database
from simulator.protocol.mark import Mark, Marks, State, same_rows
from simulator.protocol.spec import RunSpec


class Tenure:
    """Whose rows the tables of one run hold."""

    def __init__(self, spec: RunSpec, database: Database, tables: tuple[str, ...]) -> None:
        self._spec = spec
        self._tables = tables
        self._book = MarkTable(database) if database.capabilities.stores else None
        self._opened = False

    @property
    def no_mark(self) -> str:
        """Why the database keeps no mark of an insert; empty if it does."""
        return self._book.missing if self._book else ""

    def read(self, *, visible: bool = False) -> Marks:
        """Return the marks of the database."""
        return self._book.read(visible=visible) if self._book else Marks()

    def most_parts(self) -> int:
        """Return the most parts that the marks know of these tables; 1 if there is no mark."""
        marks = (mark for mark in self.read().entries if mark)
        own = (mark.dataset.parts for mark in marks if {*self._tables} & {*mark.tables})
        return max(own, default=1)

    def record(self, state: State, stored: Dataset | None = None) -> None:
        """Record in the database what is known about the rows of this insert; None: the planned."""
        if self._book and not self._opened:
            self._book.open()
            self._opened = True
        if not self._book or self._book.missing:
            return
        if state in (State.COMPLETE, State.INCOMPLETE):
            self._book.write_last(self._mark(state, stored))
        else:
            self._book.write(self._mark(state, stored))

    def confirm(self, mark: Mark) -> None:
        """Record that every row of an insert is stored, which did not end."""
        if self._book:
            self._book.write_last(mark.model_copy(update={"state": State.COMPLETE}))

    def _mark(self, state: State, stored: Dataset | None = None) -> Mark:
        spec = self._spec
        return Mark(
            sweep_id=spec.sweep_id,
            run_id=spec.run_id,
            state=state,
            tables=self._tables,
            dataset=stored or spec.after,
            version=spec.version,
            by=spec.by,
            at_ms=0,
        )

    def found(self, *, visible: bool = False) -> Mark | None:
        """Return the mark of the expected rows, if there is one; SetupError if it is of others.

        Before a database is accused the mark is read again, `visible`.
        """
        mark = self.read(visible=visible).newest(self._tables)
        if mark and not same_rows(mark.dataset, self._spec.dataset):
            raise SetupError(self._of_another(mark))
        return mark

    def _of_another(self, mark: Mark) -> str:
        target = self._spec.target
        if mark.state in (State.CLEARING, State.WRITING):
            return (
                f"the tables of {target} were written by another insert, which did not end or still"
                f" runs: {mark.describe()}; wait for it, or run insert again"
            )
        return (
            f"the tables of {target} hold the rows of another insert: {mark.describe()}; name its"
            " result file with --dataset, or run insert again"
        )

    def interrupted(self, mark: Mark | None) -> bool:
        """Whether the insert of the expected rows did not end, or not all of them are stored."""
        return mark.state is not State.COMPLETE if mark else not self._spec.complete

    def refusal(self, mark: Mark | None) -> SetupError:
        """Return the error for rows of an insert that did not end."""
        which = f" ({mark.describe()})" if mark else ""
        if mark and mark.state is State.CLEARING:
            return SetupError(
                f"the last insert of {self._spec.target} did not end: it was interrupted while it"
                f" created the tables, which may hold anything{which}; run insert again"
            )
        return SetupError(
            f"the last insert of {self._spec.target} did not end, or not all of its rows are"
            f" stored{which}: run insert again, or `verify`, which counts the stored rows"
        )

    def wrong_count(self, mark: Mark | None, stored: int) -> BenchError:
        """Return the error for another number of rows than the expected one."""
        expected, target = self._spec.dataset.rows, self._spec.target
        if mark:
            return MismatchError(
                f"the tables of {target} hold {counted(stored, 'row')}, but their insert left"
                f" {expected:,} ({mark.describe()}): the data is wrong; `verify` names the rows"
            )
        return SetupError(
            f"the tables of {target} hold {counted(stored, 'row')}, but its last insert left"
            f" {expected:,}, and no mark in the database says whose rows they are: run insert"
            " again, or name the result file of the insert that wrote them with --dataset"
        )
