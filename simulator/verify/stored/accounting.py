"""Accounts for every row of a table: finds the sent rows that are stored, and all other rows.

An acknowledged row is present or lost; a row of unknown outcome is present or absent. Rows are
compared by their hashes, in passes, so that memory is bounded.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simulator.data.dataset import Dataset
from simulator.data.hashes import block_hashes
from simulator.data.mixer import Hashes
from simulator.data.query import RowsQuery, count_rows
from simulator.data.ranges import RowRange, find_held
from simulator.data.reader import DatasetReader
from simulator.data.schema import Table
from simulator.errors import counted
from simulator.modules.contract import Database, Session, Unsupported
from simulator.protocol.verdict import Accounts, Check, Status, Verdict
from simulator.verify.stored.checks import compare_types, uncountable
from simulator.verify.stored.reader import stream_hashes
from simulator.verify.stored.statistics import TableStatistics
from simulator.verify.truth.folding import VERIFY_BLOCK_ROWS

PASS_ROWS = 1 << 24
_MOST_SILENT = 1 << 22
"""Number of missing rows after which the rest of a range counts as not written."""
_MOST_SHOWN = 3
_Numbers = NDArray[np.int64]


@dataclass
class Account:
    """The numbers of rows of a table by outcome, and the first wrong rows."""

    kept: int = 0
    """Number of acknowledged rows that are stored."""
    lost: int = 0
    """Number of acknowledged rows that are not stored."""
    present: int = 0
    """Number of rows of unknown outcome that are stored."""
    absent: int = 0
    """Number of rows of unknown outcome that are not stored."""
    doubled: int = 0
    """Number of further copies of rows."""
    torn: int = 0
    """Number of rows stored in part: only some fields, in databases that store points."""
    foreign: int = 0
    """Number of stored rows that were never sent."""
    first: list[str] = field(default_factory=list)
    """The first foreign rows."""
    first_lost: list[int] = field(default_factory=list)
    """The numbers of the first lost rows that are not equal to a stored row."""

    @property
    def is_clean(self) -> bool:
        """True if every stored row was sent and is stored once; missing rows may be torn."""
        parts = self.torn <= self.lost + self.absent
        return parts and not self.doubled and not self.foreign

    @staticmethod
    def sum(accounts: Sequence["Account"], *, promised: bool) -> Accounts:
        """Return the sums over several tables; `promised` rows are not to be lost."""
        names = ("kept", "lost", "present", "absent", "doubled", "torn", "foreign")
        total = {name: sum(getattr(each, name) for each in accounts) for name in names}
        return Accounts(announced=not promised, **total)

    def beyond(self) -> Iterator[str]:
        """Describe all stored data except whole rows that are stored once."""
        if self.torn:
            yield f"{self.torn:,} stored in part"
        if self.doubled:
            yield f"{self.doubled:,} stored twice"
        if self.foreign:
            yield f"not expected {self.foreign:,}{_list_first(self.first, self.foreign)}"

    def __str__(self) -> str:
        lost = f"{self.lost:,} lost{_list_first(self.first_lost, self.lost)}"
        parts = [f"{counted(self.kept, 'acknowledged row')}", lost]
        parts += [f"{self.present:,} of unknown outcome"] * bool(self.present)
        return ", ".join([*parts, *self.beyond()])


def _list_first(shown: Sequence[object], number: int) -> str:
    """List the first of a number of rows in brackets."""
    more = ", ..." if number > len(shown) else ""
    return f" ({', '.join(map(str, shown))}{more})" if shown else ""


class Accountant:
    """Compares the stored rows of one table with a dataset."""

    def __init__(  # noqa: PLR0913
        self,
        database: Database,
        session: Session,
        dataset: Dataset,
        table: Table,
        uncertain: Sequence[RowRange],
        *,
        pass_rows: int = PASS_ROWS,
    ) -> None:
        """Store the ranges of the rows of unknown outcome."""
        self._session, self._dataset, self._table = session, dataset, table
        self._uncertain, self._pass_rows = uncertain, pass_rows
        self._own = DatasetReader(dataset).place(table)
        self._statement = database.render(RowsQuery(table))
        self._statistics = TableStatistics(database, session, dataset)

    def account(self) -> Account:
        """Read the table once in each pass, and again if it has rows that were never sent."""
        ((rows,),) = self._statistics.of(count_rows(self._table)).rows
        found, passes = Account(), int(rows) // self._pass_rows + 1
        for number in range(passes):
            self._compare(found, number, passes)
        found.absent = sum(len(r) for r in self._uncertain if r.table == self._own) - found.present
        return found

    def _compare(self, found: Account, number: int, passes: int) -> None:
        """Compare the rows with hashes that belong to this pass."""
        read = stream_hashes(self._session, self._statement)
        mine = (hashes[hashes % np.uint64(passes) == number] for hashes, _ in read)
        stored, copies = np.unique(
            np.concatenate([np.empty(0, np.uint64), *mine]), return_counts=True
        )
        sent = SentHashes(stored, copies)
        silent = Counter[int]()
        for place, numbers, hashes, is_uncertain in self._list_expected(silent, sent):
            chosen = hashes % np.uint64(passes) == number
            hit = sent.add(hashes[chosen], is_uncertain[chosen])
            lost = numbers[chosen][~hit & ~is_uncertain[chosen]]
            silent[place] = 0 if hit.any() else silent[place] + len(numbers)
            found.first_lost += lost[: _MOST_SHOWN - len(found.first_lost)].tolist()
        kept = np.minimum(copies, sent.certain)
        present = np.minimum(copies - kept, sent.uncertain)
        found.kept += int(kept.sum())
        found.lost += sent.certain_rows - int(kept.sum())
        found.present += int(present.sum())
        further, known = copies - kept - present, sent.certain + sent.uncertain > 0
        found.doubled += int(further[known].sum())
        if not known.all():
            self._count_unknown(found, stored[~known])

    def _list_expected(
        self, silent: Counter[int], sent: "SentHashes"
    ) -> Iterator[tuple[int, _Numbers, Hashes, NDArray[np.bool_]]]:
        """Yield blocks of the ranges in turn: place of a range, numbers, hashes, uncertainty mask.

        `silent` counts the rows of a range since its last stored row. A range of unknown outcome
        may have no bound: it ends after a long gap, or when every stored row is known.
        """
        reader = DatasetReader(self._dataset)
        mine = [item for item in self._dataset.ranges if item.table == self._own]
        turns = {p: reader.blocks((rows,), VERIFY_BLOCK_ROWS) for p, rows in enumerate(mine)}
        open_ended = {p for p in turns if any(mine[p] in item for item in self._uncertain)}
        while turns:
            for place, turn in [*turns.items()]:
                is_known = not sent.left and turns.keys() <= open_ended
                is_over = place in open_ended and (is_known or silent[place] > _MOST_SILENT)
                blocks = None if is_over else next(turn, None)
                if not blocks:
                    del turns[place]
                    continue
                for block in blocks:
                    unsure = find_held(self._uncertain, self._own, block.rows)
                    yield place, block.rows, block_hashes(self._statement.outputs, block), unsure

    def _count_unknown(self, found: Account, unknown: Hashes) -> None:
        """Count the foreign and the torn rows among hashes that were never sent."""
        never_null = [place for place, c in enumerate(self._table.columns) if not c.nullable]
        kinds = Counter[bool]()
        for hashes, raw in stream_hashes(self._session, self._statement):
            for index in np.flatnonzero(np.isin(hashes, unknown)).tolist():
                row = tuple(raw[index])
                torn = any(row[place] is None for place in never_null)
                kinds[torn] += 1
                if not torn and len(found.first) < _MOST_SHOWN:
                    found.first.append(str(row))
        found.torn += kinds[True]
        found.foreign += kinds[False]


class SentHashes:
    """The number of sent rows for each stored hash; the stored hashes are sorted."""

    def __init__(self, stored: Hashes, copies: _Numbers) -> None:
        self._stored, self._copies = stored, copies
        self.certain = np.zeros(len(stored), np.int64)
        self.uncertain = np.zeros(len(stored), np.int64)
        self.certain_rows = 0
        self.left = len(stored)
        """Hashes with more stored copies than sent rows."""

    def add(self, hashes: Hashes, is_uncertain: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Count sent rows; return a mask of the rows with the hash of a stored row."""
        self.certain_rows += int((~is_uncertain).sum())
        if not len(self._stored):
            return np.zeros(len(hashes), np.bool_)
        places = np.searchsorted(self._stored, hashes)
        places[places == len(self._stored)] = 0
        hit = self._stored[places] == hashes
        for counts, chosen in ((self.uncertain, is_uncertain), (self.certain, ~is_uncertain)):
            found, rows = np.unique(places[hit & chosen], return_counts=True)
            missing = self._find_missing(found)
            counts[found] += rows
            self.left -= int((missing & ~self._find_missing(found)).sum())
        return np.asarray(hit)

    def _find_missing(self, places: _Numbers) -> NDArray[np.bool_]:
        known = self.certain[places] + self.uncertain[places]
        return np.asarray(known < self._copies[places])


class Unsettled(NamedTuple):
    """Rows of an interrupted insert with an outcome that is unknown until they are counted."""

    ranges: tuple[RowRange, ...]
    """Rows that may be stored; a range may have no bound."""
    acknowledged: int
    """Number of these rows that are known to be acknowledged, but not which."""
    sent: int
    """Minimum number of these rows that were sent."""
    promised: bool
    """True if the server promises to keep acknowledged rows."""


def verify_interrupted(
    database: Database,
    dataset: Dataset,
    unsettled: Unsettled | None = None,
    *,
    pass_rows: int = PASS_ROWS,
) -> Verdict:
    """Return the verdict on an interrupted insert: the number of stored rows, and any others.

    Without `unsettled`, the outcome of every row is unknown. Otherwise, every row is accounted for.
    """
    tables = DatasetReader(dataset).tables
    checks, accounts = [*compare_types(database, tables)], list[Account]()
    uncertain = unsettled.ranges if unsettled else dataset.ranges
    try:
        with database.connect() as session:
            for table in tables:
                parts = database, session, dataset, table, uncertain
                account = Accountant(*parts, pass_rows=pass_rows).account()
                if unsettled:
                    check = account_check(table.name, account, promised=unsettled.promised)
                else:
                    found = [f"{counted(account.present, 'row')} of it", *account.beyond()]
                    check = Check(
                        name=f"{table.name}: rows of the interrupted insert",
                        expected="no others",
                        found=", ".join(found),
                        ok=account.is_clean,
                    )
                checks.append(check)
                accounts.append(account)
    except Unsupported as error:
        return Verdict(status=Status.UNKNOWN, reason=str(error))
    except ValueError as error:
        return Verdict.of([*checks, uncountable(database, error)])
    except Exception as error:
        if all(check.ok for check in checks):
            raise
        return Verdict.of(checks, [f"the rest, after an error: {database.explain(error)}"])
    total = Account.sum(accounts, promised=bool(unsettled and unsettled.promised))
    if unsettled:
        return _settle(unsettled, total, checks)
    verdict = Verdict.of(checks, present=total.present, absent=total.absent)
    if verdict.status is not Status.INCOMPLETE:
        return verdict
    planned = counted(dataset.rows, "row")
    reason = f"the interrupted insert was to write up to {planned}: {total.present:,} are stored"
    return verdict.model_copy(update={"reason": reason})


def _settle(unsettled: Unsettled, found: Accounts, checks: list[Check]) -> Verdict:
    """Return the verdict with the accounts of all rows, of lost workers' rows by their number."""
    known = min(unsettled.acknowledged, found.present)
    missing = unsettled.acknowledged - known
    if missing:
        acknowledged = counted(unsettled.acknowledged, "acknowledged row")
        checks.append(
            Check(
                name="rows of lost workers",
                expected=f"at least {acknowledged}",
                found=f"{found.present:,} stored",
                ok=not unsettled.promised,
            )
        )
    accounts = found.model_copy(
        update={
            "kept": found.kept + known,
            "lost": found.lost + missing,
            "present": found.present - known,
            "absent": max(unsettled.sent - max(found.present, unsettled.acknowledged), 0),
        }
    )
    verdict = Verdict.of(checks, present=accounts.present, absent=found.absent + accounts.lost)
    settled = {"accounts": accounts, "uncertain_absent": accounts.absent}
    if verdict.status is Status.INCOMPLETE:
        settled["reason"] = (
            f"the insert was interrupted: {accounts.kept + accounts.lost:,} rows acknowledged, of"
            f" which {accounts.lost:,} lost; {accounts.present:,} rows of unknown outcome stored"
        )
    return verdict.model_copy(update=settled)


def account_check(name: str, account: Account, *, promised: bool) -> Check:
    """Check that no other rows are stored and, if promised, all acknowledged rows."""
    is_kept = not account.lost or not promised
    return Check(
        name=f"{name}: every row",
        expected=f"{counted(account.kept + account.lost, 'acknowledged row')}, once each",
        found=str(account),
        ok=is_kept and account.is_clean,
    )
