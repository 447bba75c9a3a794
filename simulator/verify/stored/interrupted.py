"""Compares what is stored with the rows of an insert that did not end.

Which rows were acknowledged is not known then: any row of the dataset may be stored, once, and no
other row may be.
"""

from simulator.data.dataset import Dataset, DatasetReader
from simulator.data.schema import Table
from simulator.errors import counted
from simulator.modules.contract import Database, Unsupported
from simulator.protocol.verdict import Check, Status, Verdict
from simulator.verify.stored.accounting import PASS_ROWS, Account, Accountant
from simulator.verify.stored.reader import unreadable


def verify_interrupted(database: Database, dataset: Dataset, pass_rows: int = PASS_ROWS) -> Verdict:
    """Return how many rows of the dataset are stored, and whether any other row is."""
    checks, present = [], 0
    try:
        with database.connect() as session:
            for table in DatasetReader(dataset).tables:
                accountant = Accountant(
                    database, session, dataset, table, None, pass_rows=pass_rows
                )
                account = accountant.account()
                checks.append(_check(table, account))
                present += account.present
    except Unsupported as error:
        return Verdict(status=Status.UNKNOWN, reason=str(error))
    except ValueError as error:
        return Verdict.of([unreadable(error)])
    verdict = Verdict.of(checks, present=present, absent=dataset.rows - present)
    if verdict.status is not Status.INCOMPLETE:
        return verdict
    planned = counted(dataset.rows, "row")
    reason = f"the interrupted insert was to write up to {planned}: {present:,} are stored"
    return verdict.model_copy(update={"reason": reason})


def _check(table: Table, account: Account) -> Check:
    """Return whether every stored row is one of the dataset, and stored once."""
    return Check(
        name=f"{table.name}: rows of the interrupted insert",
        expected="no others",
        found=", ".join([f"{counted(account.present, 'row')} of it", *account.beyond()]),
        ok=account.is_clean,
    )
