"""Compares the stored rows with the dataset, after the clock has stopped.

`counts` compares the number of rows, the sums, minima and maxima of every column, the number of
distinct natural keys, and the rows with each combination of tags; `full` also reads every row.
The truth is computed from the dataset's own rows. A row of unknown outcome may be stored or not;
the comparison determines which. Every other row must be stored exactly once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simulator.data.block import Block
from simulator.data.dataset import Dataset
from simulator.data.hashes import block_hashes
from simulator.data.query import RowsQuery
from simulator.data.ranges import RowRange
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table
from simulator.errors import counted
from simulator.modules.contract import Alike, Database, Session, Unsupported
from simulator.protocol.verdict import Accounts, Check, Status, Verdict, VerifyMode
from simulator.verify.stored.accounting import Account, Accountant, account_check
from simulator.verify.stored.checks import (
    compare_types,
    format_rows,
    list_gone,
    uncountable,
)
from simulator.verify.stored.reader import StoredRows, stream_hashes, windows_of
from simulator.verify.stored.statistics import StoredCounts
from simulator.verify.stored.uncertain import absent_rows
from simulator.verify.stored.whole_tables import (
    HASHES,
    UNCLEAR,
    RowHashes,
    SeriesCounts,
    list_unseen,
)
from simulator.verify.truth.fingerprint import Fingerprint, buckets_of
from simulator.verify.truth.folding import VERIFY_BLOCK_ROWS, Folding, FoldTasks, fold_here, truths
from simulator.verify.truth.needed import statistics_of
from simulator.verify.truth.oracle import Oracle, Truth

_MAX_BUCKETS = 1000
_MANY_ROWS = 1 << 30
"""Number of rows above which the count is compared first, as the truth takes minutes."""


def verify(  # noqa: PLR0913
    database: Database,
    dataset: Dataset,
    uncertain: Sequence[RowRange],
    mode: VerifyMode,
    fold: Folding = fold_here,
    *,
    promised: bool | None = None,
) -> Verdict:
    """Compare the stored rows with the dataset; rows of `uncertain` may be absent.

    After faults, `promised` is True if acknowledged rows survive by promise of the server; mode
    `full` then accounts for every row. An error ends the comparison, but is not raised after wrong
    rows or answers.
    """
    with database.connect() as session:
        comparison = _Comparison(database, session, dataset, uncertain)
        try:
            comparison.compare(mode, fold, promised=promised)
        except ValueError as error:
            comparison.checks.append(uncountable(database, error))
        except Exception as error:
            if not any(check.ok is False for check in comparison.checks):
                if isinstance(error, Unsupported):
                    return Verdict(status=Status.UNKNOWN, reason=str(error), level=mode)
                comparison.checks += list_gone(database, comparison.reader.tables)
            if not any(check.ok is False for check in comparison.checks):
                raise
            why = database.explain(error)
            comparison.not_compared.insert(0, f"the rest, after an error: {why}")
    verdict = Verdict.of(
        comparison.checks,
        [*comparison.not_compared, *comparison.counts.not_compared],
        present=comparison.present,
        absent=comparison.absent,
        accounts=comparison.accounts,
    )
    level = VerifyMode.HASHES if comparison.hashed else mode
    left_out = (
        *comparison.left_out,
        *comparison.counts.left_out,
        *list_unseen(database, comparison.reader.tables, level),
    )
    return verdict.model_copy(update={"level": level, "left_out": left_out})


class _Comparison:
    """The stored rows, and the rows that should be stored."""

    def __init__(
        self,
        database: Database,
        session: Session,
        dataset: Dataset,
        uncertain: Sequence[RowRange],
    ) -> None:
        self.database = database
        self.session = session
        self.dataset = dataset
        self.reader = DatasetReader(dataset)
        self.counts = StoredCounts(database, session, dataset)
        self.uncertain = uncertain
        """Rows that may be absent."""
        self.checks: list[Check] = []
        self.not_compared: list[str] = []
        """Comparisons that were left out, with reasons; `counts` has further ones."""
        self.left_out: list[str] = []
        """Properties that are not compared, with reasons; `counts` has the sums."""
        self.present = 0
        """Rows of `uncertain` that are stored."""
        self.absent = 0
        self.accounts: Accounts | None = None
        self.hashed = False
        """True if the hashes of all rows are right."""
        self.differing: list[Check] = []
        """The failed checks of hashes."""

    def blocks(self, table: Table) -> Iterator[Block]:
        """Yield the dataset's rows of one table."""
        for rows in self.dataset.ranges:
            if self.reader.tables[rows.table].name == table.name:
                for blocks in self.reader.blocks((rows,), VERIFY_BLOCK_ROWS):
                    yield from blocks

    def maybe_of(self, table: Table) -> NDArray[np.int64]:
        """Return the numbers of a table's rows that may be absent."""
        place = self.reader.place(table)
        mine = [item.numbers() for item in self.uncertain if item.table == place]
        return np.concatenate([np.empty(0, np.int64), *mine])

    def compare(self, mode: VerifyMode, fold: Folding, *, promised: bool | None) -> None:
        """Compare every table, and collect the checks."""
        tables = self.reader.tables
        self.checks += compare_types(self.database, tables)
        if promised is not None and mode is VerifyMode.FULL:
            self._account(promised=promised)
        elif missing := [*filter(None, map(self._check_missing, tables))]:
            self.checks += missing
            self.not_compared.append("single rows and sums, since most of the rows are missing")
        elif mode is VerifyMode.ROWS:
            self.checks += map(self._compare_numbers, tables)
        elif mode is VerifyMode.FULL and not self.uncertain:
            self._compare_every_row(tables, fold)
        elif mode is not VerifyMode.COUNTS or not self._hashes_agree(tables, fold):
            self._compare_each(tables, mode, fold)

    def _hashes_agree(self, tables: Sequence[Table], fold: Folding) -> bool:
        """Compare the hashes of rows, if the database computes them; return whether they agree.

        If they do not agree, statistics or every row show the cause.
        """
        if self.uncertain:
            self.left_out.append(f"{HASHES}: {UNCLEAR}")
            return False
        stored = RowHashes(self.database, self.session, tables)
        if stored.why_not:
            self.left_out.append(f"{HASHES}: {stored.why_not}")
            return False
        checks = stored.checks(self.dataset, fold)
        self.hashed = all(check.ok for check in checks)
        if self.hashed:
            self.checks += checks
        else:
            self.differing = [check for check in checks if not check.ok]
        return self.hashed

    def _compare_each(self, tables: Sequence[Table], mode: VerifyMode, fold: Folding) -> None:
        """Compare statistics, and in mode `full` every row, table by table."""
        series = SeriesCounts(self.database, self.session)
        if mode is VerifyMode.COUNTS and not self.differing:
            for table in tables:
                series.want(table, next(self.blocks(table), None), UNCLEAR * bool(self.uncertain))
        queries = [*map(statistics_of, tables), *series.queries]
        found = truths(queries, self.dataset, fold)
        for table in tables:
            maybe, truth, error = self.maybe_of(table), found[statistics_of(table)], None
            if not len(maybe):
                error = self.counts.compare_twice(table, truth, self.checks)
            elif mode is VerifyMode.COUNTS:
                self.checks += self._compare_uncertain(table, truth, maybe)
            if mode is VerifyMode.FULL or error:
                self.checks += self._check_with(error, self.rows(table))
        self.checks += series.checks(found)
        self.left_out += series.left_out
        if self.differing and all(check.ok for check in self.checks):
            self.checks += self.differing
            names = {check.name for check in self.differing}
            differing = [each for each in tables if f"{each.name}: {HASHES}" in names]
            self._compare_every_row(differing, fold_here)

    def _compare_every_row(self, tables: Sequence[Table], fold: Folding) -> None:
        """Compare statistics and rows of tables; the outcome of every row is known.

        Several connections, also of workers, read from a server at once.
        """
        apart = not self.database.capabilities.embedded
        tasks = FoldTasks(
            [*map(statistics_of, tables), *map(RowsQuery, tables)],
            self.dataset,
            windows_of(self.database, self.dataset) if apart else (),
            StoredRows(self.database, self.dataset).fingerprint,
            signless=Alike.ZEROS in self.database.capabilities.alike,
        )
        fold(tasks)
        for table in tables:
            truth = tasks.truth(statistics_of(table))
            error = self.counts.compare_twice(table, truth, self.checks)
            stored = tasks.fingerprint_stored(table)
            if not apart:
                statement = self.database.render(RowsQuery(table))
                for hashes, _ in stream_hashes(self.session, statement):
                    stored.add(hashes)
            rows = self._compare_rows(table, tasks.fingerprint_expected(table), stored)
            self.checks += self._check_with(error, rows)

    def _compare_rows(self, table: Table, expected: Fingerprint, stored: Fingerprint) -> Check:
        name, rows = f"{table.name}: every row", counted(int(expected.counts.sum()), "row")
        buckets = expected.find_differing(stored)
        if not len(buckets):
            return Check(name=name, expected=rows, found=rows, ok=True)
        missing, extra = self._find_differences(table, buckets[:_MAX_BUCKETS])
        least = "at least " if len(buckets) > _MAX_BUCKETS else ""
        differences = (
            f"{counted(int(stored.counts.sum()), 'row')}; missing {least}{format_rows(missing)};"
            f" not expected {least}{format_rows(extra)}"
        )
        return Check(name=name, expected=rows, found=differences, ok=False)

    def _account(self, *, promised: bool) -> None:
        found = {table.name: self._account_for(table) for table in self.reader.tables}
        self.accounts = Account.sum([*found.values()], promised=promised)
        self.present, self.absent = self.accounts.present, self.accounts.absent
        self.checks += [
            account_check(name, each, promised=promised) for name, each in found.items()
        ]

    def _compare_numbers(self, table: Table) -> Check:
        least, most = self._find_bounds(table)
        found, check = self.counts.check_number(table, least, most)
        if check.ok:
            self._resolve(most - least, most - found)
        return check

    def _check_missing(self, table: Table) -> Check | None:
        """Return a failed check if most rows of a large table are missing, without the truth."""
        least, most = self._find_bounds(table)
        if least <= _MANY_ROWS:
            return None
        found, check = self.counts.check_number(table, least, most)
        return check if found < (least - _MANY_ROWS) / 2 else None

    def _find_bounds(self, table: Table) -> tuple[int, int]:
        place = self.reader.place(table)
        most = sum(len(rows) for rows in self.dataset.ranges if rows.table == place)
        return most - sum(len(rows) for rows in self.uncertain if rows.table == place), most

    def _compare_uncertain(
        self, table: Table, truth: Truth, maybe: NDArray[np.int64]
    ) -> list[Check]:
        """Compare statistics, and find out which rows of unknown outcome are stored."""
        try:
            with_all = self.counts.compare(table, truth)
        except Exception as error:
            if not self.counts.may_be_of_values(error):
                raise
            return self._check_with(error, self.rows(table))
        if all(check.ok for check in with_all):
            self.present += len(maybe)
            return with_all
        absent = absent_rows(self.database, self.session, self.dataset, table, self.uncertain)
        if absent is not None and len(absent):
            stored = Oracle([statistics_of(table)])
            for block in self.blocks(table):
                stored.add(block.take(np.flatnonzero(~np.isin(block.rows, absent))))
            without = self.counts.compare(table, stored.truth(statistics_of(table)))
            if all(check.ok for check in without):
                self._resolve(len(maybe), len(absent))
                return without
        return [self.rows(table)]

    def _check_with(self, error: Exception | None, rows: Check) -> list[Check]:
        """Return the check of rows, after a failed one if stored values caused an error.

        If every row is right, the error is raised, because no value caused it.
        """
        if error is None:
            return [rows]
        if rows.ok and not isinstance(error, ValueError):
            raise error
        return [uncountable(self.database, error), rows]

    def rows(self, table: Table) -> Check:
        """Account for every row of a table, some of which may be absent."""
        account = self._account_for(table)
        self.present += account.present
        self.absent += account.absent
        return account_check(table.name, account, promised=True)

    def _account_for(self, table: Table) -> Account:
        parts = self.database, self.session, self.dataset, table, self.uncertain
        return Accountant(*parts).account()

    def _resolve(self, uncertain: int, absent: int) -> None:
        self.absent += absent
        self.present += uncertain - absent

    def _find_differences(
        self, table: Table, buckets: NDArray[np.int64]
    ) -> tuple[list[int], list[Any]]:
        """Return the numbers of missing rows, and the unexpected stored rows."""
        statement = self.database.render(RowsQuery(table))
        expected: dict[int, list[int]] = {}
        for block in self.blocks(table):
            hashes = block_hashes(statement.outputs, block)
            for index in np.flatnonzero(np.isin(buckets_of(hashes), buckets)).tolist():
                expected.setdefault(int(hashes[index]), []).append(int(block.rows[index]))
        extra: list[Any] = []
        found: Counter[int] = Counter()
        for hashes, raw in stream_hashes(self.session, statement):
            for index in np.flatnonzero(np.isin(buckets_of(hashes), buckets)).tolist():
                key = int(hashes[index])
                found[key] += 1
                if found[key] > len(expected.get(key, ())):
                    extra.append(tuple(raw[index]))
        missing = [row for key, rows in expected.items() for row in rows[found[key] :]]
        return sorted(missing), extra
