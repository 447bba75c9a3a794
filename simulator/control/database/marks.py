"""Reads and writes the marks of a database, in a separate table.

Each module creates, writes and queries the table like the tables of a workload. The table has a row
for each integer of a mark. The rows are a second apart, because some databases keep one row a
second, and no row lies in the future. While an insert runs, its renewals are added at random
seconds of the day before it began, where no process adds a mark.
"""

import random
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property, partial
from itertools import count, islice

import numpy as np

from simulator.data.answer import answer
from simulator.data.block import Block, Values
from simulator.data.query import RowsQuery
from simulator.data.schema import Column, Role, Table, Type
from simulator.errors import BenchError, SetupError
from simulator.modules.contract import BATCH, MISSING, OWN, Contents, Database, Existing, Session
from simulator.modules.shared.waits import retry
from simulator.protocol.mark import ENDED, MOST_VALUE, RENEWAL, Mark, Marks, encode

TABLE = Table(
    f"{OWN}marks",
    (
        Column("time", Type.INT64, Role.TIME),
        Column("mark", Type.INT64, Role.FIELD),
        Column("part", Type.INT64, Role.FIELD),
        Column("value", Type.INT64, Role.FIELD),
    ),
    key=("time",),
    signed=True,
)
SPARE = replace(TABLE, name=f"{OWN}marks_kept")
"""Table with the newest marks while the main table is created again: a crash loses no mark."""
_BATCH_ROWS = 1000
_MOST_ROWS = 3000
"""Maximum number of rows; a larger table is created again, with only the newest marks."""
_LOOKS_S = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8)
_LATE_LOOKS_S = (0.0, 0.5, 1.0, 2.0, 4.0)
"""Pauses before queries for an acknowledged mark: at first, and once all rows are visible."""
_RECONNECT_PAUSE_S = 0.25
_RENEWED_S = (2 * 3600, 26 * 3600)
"""Bounds of the ages of renewals; all marks within 2 hours are younger, or were read before."""
_SINCE_MS, _UNTIL_MS = 10**12, 10**13
"""Bounds of the times of marks: 2001 and 2286."""


class MarkTable:
    """The table of marks in one database."""

    def __init__(self, database: Database) -> None:
        self._workload = database
        self._seconds: list[int] = []
        """Known times of rows."""
        self._began_s = int(time.time())  # noqa: TID251
        self._last_ms = 0
        self._is_lost = False
        """True if the connection of the last write was lost, or not opened."""
        self.missing = ""
        """Reason why the database cannot store marks; empty if it can."""
        self.unread = ""
        """Reason why the marks could not be read; empty if they were read, or do not exist."""

    @property
    def _database(self) -> Database:
        """The database with its options for tables of our own, and the current credentials."""
        return self._workload.for_own_tables()

    def read(self, *, visible: bool = False) -> Marks:
        """Return the marks; none if they cannot be read, for example in a new database.

        With `visible`, first wait until rows are visible, such as rows of a killed process.
        """
        if visible:
            with suppress(Exception):  # a database without marks, or one that is read-only
                self._database.visible([TABLE])
        try:
            with self._database.connect() as session:
                spared = self._read_rows(session, SPARE) if self._has_spare else []
                try:
                    rows = self._list_stored(session)
                except Exception:
                    if not spared:  # otherwise a crash came before the table was created again
                        raise
                    rows = []
        except Exception as error:  # noqa: BLE001 - a driver's error
            with suppress(Exception):
                found = self._database.find_existing(self._database.objects(TABLE))
                unread = found and self._may_be_ours(found, TABLE, error)
                self.unread = str(self._database.setup_error(error)) if unread else ""
            return Marks()
        self.unread = ""
        return _decode([*rows, *_select_marks(spared)])

    @cached_property
    def _has_spare(self) -> bool:
        """True if a rewrite has begun and not ended."""
        found = self._database.find_existing(self._database.objects(SPARE))
        return bool(found) and not self._is_foreign(found, SPARE)

    def foreign(self) -> dict[str, Existing]:
        """Return the foreign objects with the name of the table, by their names.

        Raises SetupError if an object resembles our table and cannot be read, because the object
        might be foreign.
        """
        found = self._database.find_existing(self._database.objects(TABLE))
        return found if self._is_foreign(found, TABLE) else {}

    def _is_foreign(self, found: Mapping[str, Existing], table: Table) -> bool:
        alike = all(each.alike for each in found.values())
        return not (alike and (not found or self._has_marks(found, table)))

    def contents(self, name: str, found: Existing) -> Contents:
        """Return the size of an object with the name of the table."""
        return self._database.contents(name, found)

    def _has_marks(self, found: Mapping[str, Existing], table: Table) -> bool:
        """Return whether an existing table has our columns, and rows in the form of our rows."""
        try:
            with self._database.connect() as session:
                rows = self._read_rows(session, table)
        except Exception as error:
            if not self._may_be_ours(found, table, error):
                return False
            raise SetupError(
                f"{self._database.setup_error(error)}: the marks in {', '.join(found)} cannot be"
                " read, so nothing of this program is recognised; nothing was changed"
            ) from error
        if rows:  # some databases show a row before all of its fields
            some = any(row["mark"] is not None for row in rows)
            timed = all(row["time"] is not None for row in rows)
            return some and timed and all(map(_may_be_of_mark, _drop_nulls(rows)))
        if not all(self._database.resembles(name, [table]) for name in found):
            return False
        stored = [self.contents(name, each) for name, each in found.items()]
        return not any(each.rows or (each.rows is None and each.size_bytes) for each in stored)

    def _may_be_ours(self, found: Iterable[str], table: Table, error: Exception) -> bool:
        """Return whether a table that cannot be read may have our columns and types."""
        is_missing = MISSING in str(self._database.setup_error(error))  # a column that ours has
        if is_missing or isinstance(error, ValueError):  # or a value of another type
            return False
        with suppress(Exception):  # the user may not read the columns either
            return all(self._database.resembles(name, [table]) for name in found)
        return True

    def replace(self) -> None:
        """Drop the objects with the name of the table, so that `open` creates the table."""
        self._database.drop(self._database.objects(TABLE))

    def open(self) -> None:
        """Create the table if it does not exist; after a failure, `missing` has the reason."""
        known = self.read().entries
        if known and self._has_spare:  # a crash has left both
            self._rewrite()
        if known:
            return
        try:
            self._database.create([TABLE], _BATCH_ROWS)
        except Exception as error:  # noqa: BLE001 - a driver's error
            words = str(error) if isinstance(error, BenchError) else self._database.explain(error)
            self.missing = words
            if "already exists" in words and not self.foreign():  # another process created it
                self.read()
                self.missing = self.unread

    def write(self, mark: Mark) -> Mark:
        """Write a mark; return it with its time after the acknowledgement."""
        return self._send(mark, look=False)

    def write_last(self, mark: Mark) -> Mark:
        """Write the last mark of a run, and return it once a query has found it.

        After the loss of the connection it is written again, as a later mark with the same content.
        """
        return retry(
            partial(self._write_last, mark),
            lambda _: self._is_lost,
            self._database.reconnect_s,
            _RECONNECT_PAUSE_S,
        )

    def _write_last(self, mark: Mark) -> Mark:
        self._is_lost = True
        if not self._database.find_existing(self._database.objects(TABLE)):
            self.open()  # the user may drop the marks at any time
        written = self._send(mark, look=True)
        if len(self._seconds) > _MOST_ROWS:
            self._rewrite()
        return written

    def renew(self, mark: Mark, *, ended: bool = False) -> None:
        """Write a row which shows that the writer of a mark still runs, or has ended."""
        known = {*self._seconds}
        second = next(s for s in self._draw_seconds() if s not in known)
        value = ENDED if ended else time.time_ns() // 10**6  # noqa: TID251
        with self._database.connect() as session:
            _send_rows(session, TABLE, [second], mark.at_ms, {RENEWAL: value})

    def _draw_seconds(self) -> Iterator[int]:
        while True:
            yield self._began_s - random.randrange(*_RENEWED_S)  # noqa: S311

    def _send(self, mark: Mark, *, look: bool) -> Mark:
        at_ms = self._last_ms = max(time.time_ns() // 10**6, self._last_ms + 1)  # noqa: TID251
        mark = mark.model_copy(update={"at_ms": at_ms})
        self._store(mark, TABLE, self._seconds, look=look)
        return mark

    def _store(self, mark: Mark, table: Table, taken: list[int], *, look: bool) -> None:
        """Write the rows of a mark, and add their times to `taken`."""
        values = dict(enumerate(encode(mark)))
        seconds = _free_seconds(len(values), taken)
        taken += seconds  # also after an error, when the rows may be stored
        try:
            with self._database.connect() as session:
                try:
                    _send_rows(session, table, seconds, mark.at_ms, values)
                    if look:
                        self._look_for(mark, table, session)
                finally:
                    self._is_lost = not session.alive
        except BenchError:
            raise
        except Exception as error:  # of any driver
            raise self._database.setup_error(error) from error

    def _look_for(self, mark: Mark, table: Table, session: Session) -> None:
        """Wait until a query finds the mark; SetupError if none does."""
        for pauses_s in (_LOOKS_S, _LATE_LOOKS_S):
            for pause_s in pauses_s:
                time.sleep(pause_s)  # some databases show a row late
                if mark in _decode(_select_marks(self._read_rows(session, table))).entries:
                    return
            self._database.visible([table])
        raise SetupError(
            f"{self._database.name}: table {table.name}: rows that were acknowledged cannot be read"
            " back; look at the server's log and at its free disk space, or drop the table"
        )

    def _read_rows(self, session: Session, table: Table) -> list[dict[str, int | None]]:
        names = [column.name for column in table.columns]
        statement = self._database.render(RowsQuery(table))
        found = answer(statement.outputs, session.run(statement)).rows
        return [dict(zip(names, row, strict=True)) for row in found]

    def _list_stored(self, session: Session) -> list[dict[str, int]]:
        rows = _select_marks(self._read_rows(session, TABLE))
        self._seconds = [row["time"] // 1000 for row in rows]
        self._last_ms = max([self._last_ms, *(row["mark"] for row in rows)])
        return rows

    def _rewrite(self) -> None:
        """Keep only the newest mark of each table, so that reading stays fast.

        At every moment, these marks are in one of two tables. If the second table cannot be
        created, or a foreign table has its name, all marks stay.
        """
        kept = [*reversed(self.read().claiming)]
        database, spare = self._database, self._database.objects(SPARE)
        if not self._has_spare:
            try:
                database.create([SPARE], _BATCH_ROWS)
                self._has_spare = True
            except Exception:  # noqa: BLE001 - a driver's error
                return
        with database.connect() as session:
            spared = _select_marks(self._read_rows(session, SPARE))
        times = [row["time"] // 1000 for row in spared]
        for mark in kept:
            if mark not in _decode(spared).entries:
                self._store(mark, SPARE, times, look=True)
        database.drop(database.objects(TABLE))
        database.create([TABLE], _BATCH_ROWS)
        self._seconds = []
        for mark in kept:
            self._store(mark, TABLE, self._seconds, look=True)
        database.drop(spare)
        self._has_spare = False


def _send_rows(
    session: Session, table: Table, seconds: Sequence[int], number: int, values: Mapping[int, int]
) -> None:
    """Write the values of a mark, by their part numbers, at these seconds."""
    columns = {
        "time": np.array(seconds, np.int64) * 1000,
        "mark": np.full(len(values), number),
        "part": np.array([*values], np.int64),
        "value": np.array([*values.values()], np.int64),
    }
    rows = np.arange(len(values))
    block = Block(table, 0, rows, {name: Values(array) for name, array in columns.items()})
    for payload in session.encode(block, BATCH, _BATCH_ROWS):
        session.send(payload)


def _free_seconds(rows: int, taken: Iterable[int]) -> list[int]:
    """Return the last seconds up to now that no stored row has."""
    last, known = int(time.time()), {*taken}  # noqa: TID251
    free = (second for second in count(last, -1) if second not in known)
    return [*islice(free, rows)][::-1]


def _decode(rows: Iterable[Mapping[str, int]]) -> Marks:
    return Marks.of((row["mark"], row["part"], row["value"]) for row in rows)


def _select_marks(rows: Iterable[Mapping[str, int | None]]) -> list[dict[str, int]]:
    return [row for row in _drop_nulls(rows) if _may_be_of_mark(row)]


def _drop_nulls(rows: Iterable[Mapping[str, int | None]]) -> list[dict[str, int]]:
    return [
        {name: value for name, value in row.items() if value is not None}
        for row in rows
        if None not in row.values()
    ]


def _may_be_of_mark(row: Mapping[str, int]) -> bool:
    """Return whether a row can belong to a mark, complete or incomplete."""
    whole = row["time"] % 1000 == 0 and _SINCE_MS <= row["mark"] < _UNTIL_MS
    return whole and row["part"] >= 0 and 0 <= row["value"] < MOST_VALUE
